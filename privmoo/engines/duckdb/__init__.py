"""Files on one machine, counted and copied by DuckDB."""
