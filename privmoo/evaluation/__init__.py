"""The evaluation of candidates: a population in, measured values out."""
