"""Tao et al. 2025: second-order convergence in private stochastic optimisation; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/tao-et-al-2025", read="abstract only")
