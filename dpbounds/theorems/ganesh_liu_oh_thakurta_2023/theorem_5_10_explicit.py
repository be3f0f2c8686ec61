r"""If every $(\varepsilon, \delta)$-DP choice among $2^d$ coins has a risk of at least $R$, every $(\varepsilon,
\delta)$-DP algorithm for $G$-Lipschitz losses on a ball of diameter $D$ in $\mathbb R^d$ has an excess population
risk of at least $\frac{GDR}8$ for some distribution of the records.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, diameter, dimension, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities_sampling import SELECTION_RISK, selection_risk
from dpbounds.theorems.record import Bound, Metric, Mode, Read, Side, Status, Theorem


def bound() -> Expr:
    return lipschitz * diameter * selection_risk / 8


def coins() -> Expr:
    return 2**dimension


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.10/explicit",
    title="from choosing a coin to minimising a loss, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 5.10",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS),
    local=(SELECTION_RISK,),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(loss=1),
            meaning="of the largest excess population risk",
            increasing_in=(lipschitz, diameter, selection_risk),
        ),
        Bound(
            formula=coins,
            name="candidates",
            meaning="number of coins: that many points of the unit ball are more than 1/2 apart",
            increasing_in=(dimension,),
        ),
    ),
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-5.10",
    derivation="lower_bounds.md",
)
