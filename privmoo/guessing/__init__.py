"""Guess the roles of the columns of an unknown table, as a job that its owner can edit."""

from __future__ import annotations

from privmoo.guessing.guess import Guess, guess
from privmoo.guessing.proposals import Proposal
from privmoo.guessing.role_guesses import ColumnGuess

__all__ = ["ColumnGuess", "Guess", "Proposal", "guess"]
