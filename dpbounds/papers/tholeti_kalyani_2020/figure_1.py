r"""The two balls of radius 1 around the gradients of two records, in two dimensions: the distributions of one noisy
gradient, and their overlap, which consists of two caps.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER

THEOREM = PAPER.theorem(
    title="two overlapping balls",
    where="Section IV.A, Figure 1",
    status="definition",
    notes="""
    The text at hand lacks the picture; it illustrates tholeti-kalyani-2020/equation-5 and
    tholeti-kalyani-2020/equation-6.
    """,
)
