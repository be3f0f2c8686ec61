"""Zhou, Chen, Hong, Wu & Banerjee 2020: private stochastic non-convex optimisation; the abstract was read."""

from dpbounds.theorems.language import Paper

PAPER = Paper("cited/zhou-et-al-2020", relation=None, read="abstract only")
