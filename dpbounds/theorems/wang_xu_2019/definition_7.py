r"""The Minkowski norm of a centrally symmetric convex set: $\|v\|_C = \min\{r > 0 : v \in r C\}$; its dual norm is
$\|v\|_{C^*} = \max_{w \in C} \langle w, v \rangle$.
"""

from dpbounds.theorems.assumptions import SYMMETRIC_SET
from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/definition-7",
    title="the norm of a set",
    statement=__doc__,
    where="High Dimension Case, Definition 7",
    metric=Metric.NONE,
    status=Status.DEFINITION,
    assumptions=(SYMMETRIC_SET,),
)
