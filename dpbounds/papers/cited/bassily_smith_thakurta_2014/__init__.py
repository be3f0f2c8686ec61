"""Bassily, Smith & Thakurta 2014: private convex empirical risk minimisation, as quoted by two of the papers."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/bassily-smith-thakurta-2014", read="as quoted by another paper")
