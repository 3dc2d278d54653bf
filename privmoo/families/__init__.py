"""One front over every family of recodings."""

from __future__ import annotations

from privmoo.families.consistency import consistency_in_words, cost_of_consistency
from privmoo.families.trade_off import trade_off

__all__ = ["consistency_in_words", "cost_of_consistency", "trade_off"]
