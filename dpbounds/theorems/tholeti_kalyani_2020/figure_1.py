r"""The two balls of radius 1 around the gradients of two records, in two dimensions: the laws of one noisy gradient,
and their overlap, which consists of two caps.
"""

from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="tholeti-kalyani-2020/figure-1",
    title="two overlapping balls",
    statement=__doc__,
    where="Section IV.A, Figure 1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    notes=(
        Note(
            "The picture was not available in the text at hand; what it illustrates is in "
            "tholeti-kalyani-2020/equation-5 and tholeti-kalyani-2020/equation-6."
        ),
    ),
)
