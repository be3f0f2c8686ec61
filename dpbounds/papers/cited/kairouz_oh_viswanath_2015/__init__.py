"""Kairouz, Oh & Viswanath 2015: the exact privacy of the composition of (ε, δ)-DP releases."""

from dpbounds.papers.cited import dwork_roth_2014
from dpbounds.theorems.language import Paper

PAPER = Paper("cited/kairouz-oh-viswanath-2015", relation=None, read="as quoted by another paper")


step_delta = PAPER.borrowed(dwork_roth_2014.PAPER, "step_delta")
