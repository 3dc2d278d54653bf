"""Dask DataFrames, counted and copied where their workers are."""
