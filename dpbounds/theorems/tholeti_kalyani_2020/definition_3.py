r"""$(0, \delta)$-privacy: $|P(M(S) \in A) - P(M(S') \in A)| \le \delta$ for all neighbours and all events $A$. The
smallest such $\delta$ is the total variation distance of the two outputs; it gives $(\varepsilon, \delta)$-privacy for
every $\varepsilon \ge 0$.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Status, Theorem

THEOREM = Theorem(
    id="tholeti-kalyani-2020/definition-3",
    title="privacy in total variation",
    statement=__doc__,
    where="Section II, Definition 3 and equation (3)",
    metric=Metric.PRIVACY,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    notes=(
        Note("The absolute value adds nothing: the complement of an event gives the difference with the other sign."),
        Note(
            "Publishing one record in full, chosen at random out of N, satisfies it with δ = 1/N: only a δ far below "
            "1/N excludes that."
        ),
    ),
)
