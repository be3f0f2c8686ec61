r"""A loss is $L$-smooth in a norm if $\|\nabla f(w, z) - \nabla f(w', z)\|_* \le L \|w - w'\|$ with the dual norm
on the left; then $f(w, z) \le f(w', z) + \langle \nabla f(w', z), w - w' \rangle + \frac L2 \|w - w'\|^2$.
"""

from dpbounds.theorems.assumptions import SMOOTH
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/definition-3",
    title="smooth losses",
    statement=__doc__,
    where="Preliminaries, Definition 3",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(SMOOTH,),
    notes=(
        Note("Print says 'if f is differentiable, this yields' the quadratic upper bound; the set must be convex."),
    ),
)
