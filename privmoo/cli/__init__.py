"""The command line: verbs in `job`, `publishing`, `looking`, `studies` and `catalogue`."""
