"""Dask DataFrames, counted and copied where their workers are."""

from privmoo.engines.dask.engine import DaskEngine

__all__ = ["DaskEngine"]
