"""Tools that know nothing of privacy: files, arrays, digests, progress."""
