r"""Assumption 4: $F$ is differentiable and $L$-smooth in l2, every loss $f(\cdot, z)$ is $G$-Lipschitz in l1, and the
set is bounded, closed, convex, and the convex hull of a finite set.
"""

from dpbounds.theorems.assumptions import LIPSCHITZ_L1, POLYTOPE, SMOOTH_RISK
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/assumption-4",
    title="losses that are Lipschitz in l1, on a polytope",
    statement=__doc__,
    where="Further Reducing the Utility, Assumption 4",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(SMOOTH_RISK, LIPSCHITZ_L1, POLYTOPE),
    notes=(Note("Smoothness in l2 may grow with d where the losses are Lipschitz in l1: see theorem-6."),),
)
