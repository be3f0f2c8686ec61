r"""A differentiable loss with a minimiser $w^*$ is $q_c$-quasar-convex, $0 < q_c \le 1$, if $g(w) - g(w^*) \le
\frac{1}{q_c} \langle \nabla g(w), w - w^* \rangle$ for every $w$: along the way to $w^*$ the gradient promises at
least the share $q_c$ of the gap. With $q_c = 1$ it is star-convex; every convex loss is.
"""

from dpbounds.theorems.assumptions import QUASAR_CONVEX, STAR_CONVEX
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/definition-5.1",
    title="quasar-convex losses",
    statement=__doc__,
    where="Section 5, Definition 5.1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(QUASAR_CONVEX, STAR_CONVEX),
    notes=(Note("Print writes q for this constant, and for the phase length of DP-SPIDER as well."),),
)
