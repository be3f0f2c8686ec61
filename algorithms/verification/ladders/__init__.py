"""Proof traces: a theorem's proof line by line, with both sides measured in one run."""

from dpbounds.algorithms.verification.ladders.explaining import Explanation, demand_ladder, explain
from dpbounds.algorithms.verification.ladders.lines import Due, Line

__all__ = ["Due", "Explanation", "Line", "demand_ladder", "explain"]
