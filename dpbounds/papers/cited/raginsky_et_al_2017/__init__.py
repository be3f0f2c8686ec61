"""Raginsky, Rakhlin & Telgarsky 2017: non-convex learning by Langevin dynamics; used by Wang, Chen & Xu 2019."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/raginsky-et-al-2017", read="as quoted by another paper")
