"""A module that raises where it is imported."""

raise RuntimeError("this plug-in is out of order")
