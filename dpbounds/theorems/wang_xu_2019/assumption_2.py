r"""Assumption 2: the gradient of the loss is $\tau$-sub-Gaussian: $E \exp\langle v, \nabla f(x, z) - E \nabla f(x,
z)\rangle \le \exp(\tau^2 \|v\|^2/2)$ for all $v$ and $x$.
"""

from dpbounds.theorems.assumptions import SAMPLED_RECORDS, SUB_GAUSSIAN_GRADIENTS
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/assumption-2",
    title="sub-Gaussian gradients",
    statement=__doc__,
    where="Extension to Population Risk, Assumption 2",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(SUB_GAUSSIAN_GRADIENTS, SAMPLED_RECORDS),
    notes=(Note("Together with Assumption 1 it holds with τ = G, by Hoeffding's lemma: |<v, ∇f>| <= G|v|."),),
)
