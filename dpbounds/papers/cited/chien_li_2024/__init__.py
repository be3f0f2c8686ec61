"""Chien & Li 2024: the privacy loss of noisy SGD converges; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/chien-li-2024", read="abstract only")
