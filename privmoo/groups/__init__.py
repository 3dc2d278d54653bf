"""The QI-groups of a population of candidates."""
