"""Xu, Tao, Ding, Fan & Wang 2026: private second-order points of minimax problems; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/xu-et-al-2026", relation=None, read="abstract only")
