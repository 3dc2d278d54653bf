"""Suppression policies: which records a release leaves out."""
