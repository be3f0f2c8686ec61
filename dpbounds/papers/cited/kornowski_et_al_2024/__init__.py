"""Kornowski, Liu & Talwar 2024: private non-smooth, non-convex optimisation; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/kornowski-et-al-2024", relation=None, read="abstract only")
