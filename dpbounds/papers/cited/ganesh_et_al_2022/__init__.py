"""Ganesh, Thakurta & Upadhyay 2022: Langevin diffusion for private optimisation; quoted by Ganesh et al. 2023."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/ganesh-et-al-2022", read="as quoted by another paper")
