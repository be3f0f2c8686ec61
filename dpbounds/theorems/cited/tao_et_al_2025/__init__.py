"""Tao et al. 2025: second-order convergence in private stochastic optimisation; the abstract was read."""
