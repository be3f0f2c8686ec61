r"""Theorem 3.4 again, as restated for its proof: basic composition, and a union bound over the failures of the two
algorithms, with $\psi$ in place of the initial gap of Lemma 3.3.
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Mode, Note, Side, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/theorem-c.1",
    title="Theorem 3.4, restated",
    statement=__doc__,
    where="Appendix C, Theorem C.1",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    relies_on=("lowy-ullman-wright-2024/theorem-3.4",),
    notes=(Note("The formulas are those of lowy-ullman-wright-2024/theorem-3.4, with its errata."),),
)
