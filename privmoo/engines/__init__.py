"""Engines for tables that stay where they are: one folder each."""
