r"""A randomised algorithm is $(\varepsilon, \delta)$-differentially private if for all data sets that differ in one
entry and all events, $P(A(D) \in S) \le e^\varepsilon P(A(D') \in S) + \delta$; with $\delta = 0$ it is
$\varepsilon$-differentially private.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-1",
    title="differential privacy",
    statement=__doc__,
    where="Preliminaries, Definition 1",
    metric=Metric.PRIVACY,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    notes=(Note("Differing in one entry is the replace-one relation; the number of records is public."),),
)
