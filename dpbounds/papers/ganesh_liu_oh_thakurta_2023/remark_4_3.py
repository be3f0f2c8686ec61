r"""Smaller batches would save gradient computations in the empirical case; the paper does not pursue it."""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    title="smaller batches",
    where="Section 4.1, Remark 4.3",
    bounds="count",
    status="claimed",
    notes="No formula: no batch size is given, and nothing is proved.",
)
