r"""$(\varepsilon, \delta)$-differential privacy, $\varepsilon \ge 0$ and $\delta \in [0, 1)$, for data sets of the same
size $n$ that differ in one record: neighbours replace a record.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/definition-2.5",
    title="differential privacy",
    statement=__doc__,
    where="Section 2, Definition 2.5",
    metric=Metric.PRIVACY,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    notes=(Note("So a record moves a mean of n gradients of norm at most G by at most 2G/n."),),
)
