r"""Smaller batches would save gradient computations in the empirical case; the paper does not pursue it."""

from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/remark-4.3",
    title="smaller batches",
    statement=__doc__,
    where="Section 4.1, Remark 4.3",
    metric=Metric.COUNT,
    status=Status.CLAIMED,
    notes=(Note("No formula: no batch size is given, and nothing is proved."),),
)
