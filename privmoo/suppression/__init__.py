"""Suppression policies: which records a release leaves out. One policy per module."""

from __future__ import annotations

from privmoo.suppression.base import Suppression, policy_from
from privmoo.suppression.below_average import BelowAverage
from privmoo.suppression.below_threshold import BelowThreshold
from privmoo.suppression.budget import Budget
from privmoo.suppression.explicit_records import ExplicitRecords
from privmoo.suppression.joint_budget import JointBudget
from privmoo.suppression.kl_budget import KLBudget
from privmoo.suppression.no_suppression import NoSuppression
from privmoo.suppression.thresholds import Thresholds
from privmoo.suppression.violating_groups import ViolatingGroups

__all__ = [
    "BelowAverage",
    "BelowThreshold",
    "Budget",
    "ExplicitRecords",
    "JointBudget",
    "KLBudget",
    "NoSuppression",
    "Suppression",
    "Thresholds",
    "ViolatingGroups",
    "policy_from",
]
