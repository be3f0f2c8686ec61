r"""Let $w_1, \dots, w_N \in W$ be an $r_n$-net of $W$, fixed in advance, and $\tilde w \in W$ a point with $|w -
\tilde w| \le D$ on $W$ and population excess risk at most $\psi$. Choosing $w_i$ with probability proportional to
$\exp(-\varepsilon n F(w_i)/(4GD))$, $F$ the empirical risk, is $\varepsilon$-DP under replace-one, and with
probability $1 - \zeta$ (over records and choice) the population excess risk of the chosen point is at most $\psi + G
r_n + \frac{4 G D}{\varepsilon n} \ln\frac{2N}{\zeta} + 2 G D \sqrt{\frac{2}{n} \ln\frac{4N}{\zeta}}$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    diameter,
    epsilon,
    excess_risk,
    failure_probability,
    lipschitz,
    net_radius,
)
from dpbounds.privacy.mechanisms import Mechanism, PureDP
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def selection() -> Expr:
    return 4 * lipschitz * diameter / (epsilon * dataset_size) * log(2 * candidates / failure_probability)


def deviation() -> Expr:
    return lipschitz * diameter * sqrt(2 * log(4 * candidates / failure_probability) / dataset_size)


def bound() -> Expr:
    return excess_risk + lipschitz * net_radius + selection() + 2 * deviation()


def mechanism(at: Numbers) -> Mechanism:
    return PureDP(at[epsilon], relation=Relation.REPLACE_ONE)  # proved in the derivation, step 1


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-e.3/explicit",
    title="exponential mechanism for the population risk, with constants",
    statement=__doc__,
    where="derived here; compare Lemma E.3",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(loss=1),
            meaning="D bounds the distance of every net point from w̃: half a diameter",
            bases=("loss", "length"),
            increasing_in=(lipschitz, diameter, candidates, net_radius, excess_risk),
            decreasing_in=(dataset_size, epsilon, failure_probability),
        ),
        Parameter(
            formula=deviation,
            name="deviation",
            unit=Unit(loss=1),
            meaning="p: every difference of risks is off by at most this, but for probability ζ/2",
            bases=("loss", "length"),
            increasing_in=(lipschitz, diameter, candidates),
            decreasing_in=(dataset_size, failure_probability),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    makes_explicit="lowy-ullman-wright-2024/lemma-e.3",
    derivation="lemma_e_3_explicit.md",
    notes=(Note("Neither the minimiser of the population risk nor an infimum of the empirical risk is used."),),
)
