"""Wang, Ye & Xu 2017: private ERM, faster and more general; quoted by two of the papers."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/wang-ye-xu-2017", sampling="full batch", read="as quoted by another paper")
