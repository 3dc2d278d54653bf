"""Small pieces of English sentences: a number with its noun, a list with "and"."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["count_noun", "join_words"]


def count_noun(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural unless the number is 1.

    Args:
        number: How many there are.
        noun: The noun in the singular; its plural must end in "s".

    >>> count_noun(1, "solution"), count_noun(1200, "solution")
    ('1 solution', '1,200 solutions')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def join_words(words: Iterable[str]) -> str:
    """Join parts of a sentence with commas and a final "and".

    >>> join_words(["k = 5", "ℓ = 2", "20 % loss"])
    'k = 5, ℓ = 2 and 20 % loss'
    """
    *firsts, last = [*words] or [""]
    return f"{', '.join(firsts)} and {last}" if firsts else last
