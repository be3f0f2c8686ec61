r"""Private empirical risk minimisation: find $w$ in a closed convex set $C$ that makes
$F^r(w) = \frac1n \sum_i f(w, z_i) + r(w)$ small, with $r$ a simple convex regulariser, differentially privately.
For convex losses utility is the expected excess of $F^r$ (empirical) or of $E_z f$ (population) over its minimum.
"""

from dpbounds.theorems.assumptions import CLOSED_CONVEX_SET, CONVEX_REGULARISER
from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/definition-1",
    title="private empirical risk minimisation",
    statement=__doc__,
    where="Introduction, Definition 1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(CLOSED_CONVEX_SET, CONVEX_REGULARISER),
)
