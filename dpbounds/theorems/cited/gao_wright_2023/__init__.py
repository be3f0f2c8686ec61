"""Gao & Wright 2023: private optimisation for smooth non-convex ERM; quoted by Ganesh et al. 2023."""
