r"""Noisy SGD on a bounded set, of which only the last iterate is released: its Rényi privacy loss stays bounded as the
number of steps grows, for losses that need be neither convex nor smooth, as long as their gradients are Hölder
continuous; for smooth, strongly convex losses the bound is smaller than those known before.
"""

from dpbounds.papers.cited.chien_li_2024 import PAPER

THEOREM = PAPER.theorem(
    title="the privacy loss of a hidden state converges",
    where="Abstract",
    bounds="privacy, upper",
    status="claimed",
    sampling="mini-batches, last iterate only",
    assumptions="bounded set",
    notes="""
    - The abstract states no formula, so there is nothing to evaluate. An accountant that counts every step remains
      valid for an observer of the last iterate alone, but may overestimate ε.
    - Of the five papers' algorithms it could concern those on a bounded set that release one iterate.
    """,
)
