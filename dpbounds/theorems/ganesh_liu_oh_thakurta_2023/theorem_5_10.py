r"""If every $(\varepsilon, \delta)$-DP choice among $k$ coins has a risk of at least $R(k)$, every $(\varepsilon,
\delta)$-DP algorithm for 1-Lipschitz losses on the unit ball of $\mathbb R^d$ has one of at least $R(2^{\Theta(d)})$
(restated from Ganesh, Thakurta & Upadhyay 2022).
"""

from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions_sampling import NORMALISED_LOSS
from dpbounds.theorems.record import Metric, Mode, Note, Side, Status, Theorem

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.10",
    title="from choosing a coin to minimising a loss",
    statement=__doc__,
    where="Section 5.2, Theorem 5.10",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS, NORMALISED_LOSS),
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-5.10/explicit",),
    notes=(
        Note("A reduction for any function R: its formula, R(2^d)/4 on the unit ball, is in theorem-5.10/explicit."),
        Note("Print has no factor before R; R(2^{Θ(d)}) absorbs one only where R grows with k."),
    ),
)
