r"""For $k \ge 16$ coins and $n$ flips of each every choice, private or not, has for some probabilities an expected risk
of at least $\min\big(\frac18, \frac{\sqrt3}{16}\sqrt{\ln(k)/n}\big)$, by Fano's inequality.
"""

from sympy import Expr, Min, Rational, log, sqrt

from dpbounds.expressions.symbols import candidates, dataset_size
from dpbounds.theorems.assumptions import SAMPLED_RECORDS
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Read, Side, Status, Theorem


def bound() -> Expr:
    return Min(Rational(1, 8), sqrt(3) / 16 * sqrt(log(candidates) / dataset_size))


def enough_coins() -> tuple[Condition, ...]:
    return (Condition(holds=candidates >= 16, why="Fano's inequality loses ln 2"),)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.9/explicit",
    title="the risk of choosing a coin, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 5.9",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    assumptions=(SAMPLED_RECORDS,),
    conditions=enough_coins,
    parts=(
        Bound(
            formula=bound,
            meaning="of the largest expected risk",
            bases=("loss", "length"),
            increasing_in=(candidates,),
            decreasing_in=(dataset_size,),
        ),
    ),
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-5.9",
    derivation="lower_bounds.md",
)
