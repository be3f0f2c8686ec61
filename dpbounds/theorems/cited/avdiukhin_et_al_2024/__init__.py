"""Avdiukhin, Dinitz, Fan & Yaroslavtsev 2024: second-order convergence of noisy SGD; the abstract was read."""
