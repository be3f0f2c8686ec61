"""Abadi et al. 2016: deep learning with differential privacy, as quoted by three of the five papers."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/abadi-et-al-2016", sampling="Poisson", read="as quoted by another paper")
