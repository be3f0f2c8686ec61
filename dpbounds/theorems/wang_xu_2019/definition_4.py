r"""$(\varepsilon, \delta)$-differential privacy: $P(A(D) \in S) \le e^\varepsilon P(A(D') \in S) + \delta$ for all
neighbours $D, D'$ (data sets of the same size that differ in one entry) and all events $S$; pure if $\delta = 0$.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/definition-4",
    title="differential privacy",
    statement=__doc__,
    where="Preliminaries, Definition 4",
    metric=Metric.PRIVACY,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    notes=(Note("The relation is replace-one: a record moves the mean gradient by at most 2G/n, and n is public."),),
)
