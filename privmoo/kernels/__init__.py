"""All compiled loops, and nothing but loops on arrays: these modules know numpy and numba only."""
