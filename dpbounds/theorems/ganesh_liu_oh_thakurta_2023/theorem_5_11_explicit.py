r"""For $d \ge 4$ and $G$-Lipschitz losses on a ball of diameter $D$ every algorithm has, for some distribution, an
excess population risk of at least $\frac{GD}8\min\big(\frac18, \frac{\sqrt3}{16}\sqrt{d\ln 2/n}\big)$. Every
$(\varepsilon, \delta)$-DP one under replace-one has one of at least $\frac{GD}{16}\min\big(1,
\frac\lambda{n(e^\varepsilon - 1)}\big)$ with $\lambda = \min\big((d - 2)\ln 2, \ln\frac{e^\varepsilon -
1}{4\delta}\big)$, if positive; $\lambda = (d - 1)\ln 2$ if $\delta = 0$.
"""

from sympy import Expr, Max, Min, Rational, exp, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    lipschitz,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.record import Bound, Claim, Condition, Metric, Mode, Note, Read, Side, Status, Theorem


def _scaled(level: Expr) -> Expr:
    return lipschitz * diameter / 16 * Min(1, level / (dataset_size * (exp(epsilon) - 1)))


def sampling() -> Expr:
    return lipschitz * diameter / 8 * Min(Rational(1, 8), sqrt(3) / 16 * sqrt(dimension * log(2) / dataset_size))


def pure() -> Expr:
    return _scaled((dimension - 1) * log(2))


def approximate() -> Expr:
    return _scaled(Max(0, Min((dimension - 2) * log(2), log((exp(epsilon) - 1) / (4 * delta)))))


def both() -> Expr:
    return Max(sampling(), approximate())


def enough_dimensions() -> tuple[Condition, ...]:
    return (Condition(holds=dimension >= 4, why="2^d >= 16 coins"),)


_LOSS = Unit(loss=1)
SCALED = ("loss", "length")

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit",
    title="lower bounds for excess population risk, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 5.11",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS),
    parts=(
        Bound(
            formula=both,
            unit=_LOSS,
            meaning="(ε, δ)-DP: the larger of the two terms",
            conditions=enough_dimensions,
            bases=SCALED,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, delta),
        ),
        Bound(
            formula=sampling,
            name="sampling",
            unit=_LOSS,
            meaning="every algorithm",
            conditions=enough_dimensions,
            bases=SCALED,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size,),
        ),
        Bound(
            formula=approximate,
            name="privacy",
            unit=_LOSS,
            meaning="(ε, δ)-DP, what privacy alone costs",
            bases=SCALED,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, delta),
        ),
        Bound(
            formula=pure,
            name="pure_privacy",
            unit=_LOSS,
            under=Claim.PURE,
            meaning="ε-DP, what privacy alone costs",
            bases=SCALED,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-5.11",
    derivation="lower_bounds.md",
    relies_on=(
        "ganesh-liu-oh-thakurta-2023/theorem-5.9/explicit",
        "ganesh-liu-oh-thakurta-2023/theorem-5.10/explicit",
    ),
    notes=(Note("For ε <= 1 the second is of order GD min(d, ln(ε/δ))/(εn)."),),
)
