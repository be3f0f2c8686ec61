"""Wang & Xu 2020: a private trust-region method; quoted by Ganesh, Liu, Oh & Thakurta 2023."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/wang-xu-2020", read="as quoted by another paper")
