"""Ge, Huang, Jin & Yuan 2015: escaping from saddle points; quoted by Tholeti & Kalyani 2020."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/ge-et-al-2015", read="as quoted by another paper")
