"""Tholeti & Kalyani 2020: privacy of gradient descent with noise uniform on a ball, meant to escape saddle points.

The text read here is an extraction (LaTeX-like) of the whole paper; of the figures only captions and what is said of
them. Δx of the paper is ``sensitivity`` where it bounds the distance of two records' gradients, and ``distance`` where
it is that of two given ones; the radius of the noise, 1 in the paper, is ``radius``, so that formulas scale; N is
``dataset_size``, β ``smoothness``, ρ ``hessian_lipschitz``, ζ ``failure_probability``, and B, a bound on |f|, half of
``loss_range`` at least. Databases that differ by one entry are datasets of one size: replace-one.
"""

from dpbounds.theorems.language import Paper

PAPER = Paper("tholeti-kalyani-2020", sampling="one uniformly random record per step")
