r"""Without constraint and with a smooth regulariser the rate of Theorem 2 is that of Wang, Ye & Xu 2017. The remark
adds that returning the iterate with the smallest $\|g_{C,k}\|_2$ would not be private; with the noisy $g_{C,k} = (x_k -
x_{k+1})/\gamma_k$ it is, because all iterates together are what the accounting covers.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Erratum

THEOREM = PAPER.theorem(
    title="which iterate to return",
    where="Low Dimension Case, Remark 1, and the two paragraphs after it",
    status="repaired",
    errata=Erratum(
        printed="if the iterate with the smallest ‖g_{C,k}‖ is returned, 'the algorithm will not be differentially "
        "private'",
        right="with the paper's g_{C,k}, which is the mapping at the noisy gradient, it is: g_{C,k} = (x_k - "
        "x_{k+1})/γ_k is a function of the iterates, all of which the noise pays for",
        severity="harmless",
        evidence="test_remark_1.py::test_the_smallest_noisy_mapping_is_read_off_the_iterates",
        survives="that the accounting does not cover a choice by the exact mapping; and the choice of R at random",
        relation="replace-one",
    ),
    notes="""
    Taylor's formula gives σ² ≈ 8G²T ln(1/δ)/(n²ε²): an approximation; zCDP certifies ε + ε²/(4 ln(1/δ)) for it.
    """,
)
