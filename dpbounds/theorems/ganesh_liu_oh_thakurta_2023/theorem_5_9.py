r"""Quoted as folklore: whoever chooses one of $k$ coins from $n$ flips of each, privately or not, has for some
probabilities an expected risk $p_i - \min p$ of $\tilde\Omega\big(\sqrt{\ln(k)/n}\big)$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import candidates, dataset_size
from dpbounds.theorems.assumptions import SAMPLED_RECORDS
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Side, Status, Theorem


def rate() -> Expr:
    return sqrt(log(candidates) / dataset_size)


def enough_flips() -> tuple[Condition, ...]:
    return (Condition(holds=log(candidates) <= dataset_size, why="a risk is at most 1"),)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.9",
    title="the risk of choosing a coin",
    statement=__doc__,
    where="Section 5.2, Theorem 5.9",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    assumptions=(SAMPLED_RECORDS,),
    conditions=enough_flips,
    parts=(
        Rate(
            formula=rate,
            logs_hidden=True,
            bases=("loss", "length"),
            increasing_in=(candidates,),
            decreasing_in=(dataset_size,),
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-5.9/explicit",),
    notes=(
        Note("Proven in theorem-5.9/explicit for k >= 16, without hidden logarithms; fewer coins are as hard as two."),
        Note("Print does not say ln(k) <= n, without which the bound would exceed 1."),
    ),
)
