"""Guessing what the columns of an unknown table are, as a job that its owner can edit."""

from __future__ import annotations

from privmoo.guessing.decisions import ColumnGuess
from privmoo.guessing.guess import Guess, guess
from privmoo.guessing.proposals import Proposal

__all__ = ["ColumnGuess", "Guess", "Proposal", "guess"]
