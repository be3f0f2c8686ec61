"""Gao & Wright 2023: private optimisation for smooth non-convex ERM; quoted by Ganesh et al. 2023."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/gao-wright-2023", read="as quoted by another paper")
