"""Talwar, Thakurta & Zhang 2014: private empirical risk minimisation and the geometry of the set."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/talwar-thakurta-zhang-2014", read="as quoted by another paper")
