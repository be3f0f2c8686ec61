r"""$(\varepsilon, \delta)$-differential privacy: $P(M(S) \in A) \le e^\varepsilon P(M(S') \in A) + \delta$ for all
neighbours $S, S'$ and all events $A$.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="tholeti-kalyani-2020/definition-2",
    title="differential privacy",
    statement=__doc__,
    where="Section II, Definition 2 and equation (2)",
    metric=Metric.PRIVACY,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    notes=(Note("Neighbours differ in one entry (Definition 1), so the number of records is public."),),
)
