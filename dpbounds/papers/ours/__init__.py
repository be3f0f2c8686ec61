"""Results of this library without a printed counterpart; a name begins with what the result is about."""

from dpbounds.theorems.language import COUNT, Paper

PAPER = Paper("dpbounds", sampling="full batch", read="derived here")

searches = PAPER.quantity("searches", "K", "searches for negative curvature, at most", domain=COUNT)
