r"""A differentiable function is $L$-smooth if $\|\nabla g(w) - \nabla g(w')\|_2 \le L \|w - w'\|_2$ for all $w, w'$."""

from dpbounds.theorems.assumptions import SMOOTH
from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/definition-2.2",
    title="smooth functions",
    statement=__doc__,
    where="Section 2, Definition 2.2",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(SMOOTH,),
)
