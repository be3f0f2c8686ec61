"""Kornowski 2026: private bilevel optimisation; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/kornowski-2026", relation=None, read="abstract only")
