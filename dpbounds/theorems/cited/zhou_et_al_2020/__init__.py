"""Zhou, Chen, Hong, Wu & Banerjee 2020: private stochastic non-convex optimisation; the abstract was read."""
