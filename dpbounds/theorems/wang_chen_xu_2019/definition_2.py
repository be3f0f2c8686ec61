r"""A loss is Lipschitz over the parameters (in l2, constant $G$; L in print) if $|f(w, z) - f(w', z)| \le G \|w -
w'\|_2$ for every record $z$.
"""

from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-2",
    title="Lipschitz losses",
    statement=__doc__,
    where="Preliminaries, Definition 2",
    metric=Metric.NONE,
    status=Status.DEFINITION,
)
