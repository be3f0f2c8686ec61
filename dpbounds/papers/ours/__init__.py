"""Results of this library that no paper states. Names begin with the subject of the result."""

from dpbounds.theorems.language import COUNT, Paper

PAPER = Paper("dpbounds", sampling="full batch", read="derived here")

searches = PAPER.quantity("searches", "K", "searches for negative curvature, at most", domain=COUNT)
