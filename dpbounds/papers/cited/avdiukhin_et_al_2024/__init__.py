"""Avdiukhin, Dinitz, Fan & Yaroslavtsev 2024: second-order convergence of noisy SGD; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/avdiukhin-et-al-2024", relation=None, read="abstract only")
