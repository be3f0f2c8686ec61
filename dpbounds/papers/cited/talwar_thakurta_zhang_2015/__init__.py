"""Talwar, Thakurta & Zhang 2015: a nearly optimal private LASSO; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/talwar-thakurta-zhang-2015", read="abstract only")
