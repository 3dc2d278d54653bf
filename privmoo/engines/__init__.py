"""Engines for tables that are not read into memory: one folder each."""
