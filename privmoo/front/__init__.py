"""The front, its solutions, and the answers to a publisher's questions."""

from __future__ import annotations

from privmoo.front.answer import Answer
from privmoo.front.front import Front
from privmoo.front.solution import Solution

__all__ = ["Answer", "Front", "Solution"]
