r"""A function $g$ on $R^d$ is $G$-Lipschitz if $|g(w) - g(w')| \le G \|w - w'\|_2$ for all $w, w'$."""

from dpbounds.theorems.assumptions import LIPSCHITZ
from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/definition-2.1",
    title="Lipschitz functions",
    statement=__doc__,
    where="Section 2, Definition 2.1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(LIPSCHITZ,),
)
