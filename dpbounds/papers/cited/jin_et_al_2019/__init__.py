"""Jin, Netrapalli, Ge, Kakade & Jordan 2019: sums of norm-sub-Gaussian vectors; quoted by Ganesh et al. 2023."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/jin-et-al-2019", read="as quoted by another paper")
