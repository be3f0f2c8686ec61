r"""A loss is $G$-Lipschitz in a norm if $|f(w, z) - f(w', z)| \le G \|w - w'\|$ for every record $z$ and all
$w, w' \in C$; the paper uses the l2 norm for its first three algorithms and the l1 norm for the fourth. Linear
regression with bounded entries is its example of a loss whose l1 constant does not grow with the dimension.
"""

from dpbounds.theorems.assumptions import LIPSCHITZ, LIPSCHITZ_L1
from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/definition-2",
    title="Lipschitz losses",
    statement=__doc__,
    where="Preliminaries, Definition 2",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(LIPSCHITZ, LIPSCHITZ_L1),
)
