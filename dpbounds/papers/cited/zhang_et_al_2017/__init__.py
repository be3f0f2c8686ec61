"""Zhang, Zheng, Mou & Wang 2017: efficient private ERM for smooth objectives; quoted by Wang & Xu 2019."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/zhang-et-al-2017", read="as quoted by another paper")
