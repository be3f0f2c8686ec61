"""Tran & Cutkosky 2022: momentum aggregation for private non-convex ERM; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/tran-cutkosky-2022", relation=None, read="abstract only")
