r"""Without constraint and with a smooth regulariser the rate of Theorem 2 is that of Wang, Ye & Xu 2017. The remark
adds that returning the iterate with the smallest $\|g_{C,k}\|_2$ would not be private; with the noisy $g_{C,k} = (x_k
- x_{k+1})/\gamma_k$ it is, because all iterates together are what the accounting covers.
"""

from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/remark-1",
    title="which iterate to return",
    statement=__doc__,
    where="Low Dimension Case, Remark 1, and the two paragraphs after it",
    metric=Metric.NONE,
    status=Status.DISPUTED,
    notes=(
        Note(
            "'The algorithm will not be differentially private' holds for the smallest exact mapping, which is "
            "not covered "
            "by the accounting. The smallest noisy mapping is a function of the released iterates."
        ),
        Note(
            "Taylor's formula gives σ² ≈ 8G²T ln(1/δ)/(n²ε²): an approximation; zCDP certifies ε + ε²/(4 ln(1/δ))"
            " for it."
        ),
    ),
)
