"""Mei, Bai & Montanari 2016: the landscape of empirical risk; quoted by Wang & Xu 2019."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/mei-bai-montanari-2016", read="as quoted by another paper")
