r"""Assumption 1: the risk $F$ is differentiable and $L$-smooth in l2, and every loss $f(\cdot, z)$ is $G$-Lipschitz in
l2.
"""

from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH_RISK
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/assumption-1",
    title="smooth risk, Lipschitz losses",
    statement=__doc__,
    where="Low Dimension Case, Assumption 1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(SMOOTH_RISK, LIPSCHITZ),
    notes=(
        Note("Smoothness is asked of the mean only: enough for one gradient at a time, not for their differences."),
    ),
)
