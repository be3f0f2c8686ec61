r"""The 2-Wasserstein distance of two laws with finite second moments is the smallest root mean square distance
$(E \|V - W\|_2^2)^{1/2}$ over all couplings of $V \sim \mu$ and $W \sim \nu$.
"""

from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-5",
    title="Wasserstein distance",
    statement=__doc__,
    where="Preliminaries, Definition 5",
    metric=Metric.DISTANCE,
    status=Status.DEFINITION,
)
