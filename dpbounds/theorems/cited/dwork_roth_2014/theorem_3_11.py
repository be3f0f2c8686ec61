r"""Utility of the exponential mechanism: if $m$ of $N$ candidates attain the best score, the chosen one falls short of
it by more than $\frac{2\Delta_u}{\varepsilon}\left(\ln\frac{N}{m} + t\right)$ with probability at most $e^{-t}$.
Proof: the candidates that fall short by $s$ weigh at most $N e^{-\varepsilon s / 2\Delta_u}$ times a best one, and $m$
best ones are there to be chosen.
"""

from fractions import Fraction

from sympy import Expr, Symbol, log

from dpbounds.expressions.symbols import (
    Domain,
    Quantity,
    Unit,
    candidates,
    failure_probability,
    score_sensitivity,
    step_epsilon,
)
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Read, Side, Status, Theorem

best_candidates = Symbol("best_candidates", integer=True, positive=True)
BEST = Quantity(
    name="best_candidates",
    symbol=best_candidates,
    domain=Domain(Fraction(1), lower_open=False, whole=True),
    unit=Unit(),
    meaning="how many candidates attain the best score (1 is always safe)",
    latex="m",
)


def shortfall() -> Expr:
    return 2 * score_sensitivity / step_epsilon * (log(candidates / best_candidates) + log(1 / failure_probability))


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=best_candidates <= candidates, why="the best ones are among the candidates"),)


THEOREM = Theorem(
    id="cited/dwork-roth-2014/theorem-3.11",
    title="utility of the exponential mechanism",
    statement=__doc__,
    where="Section 3.4, Theorem 3.11; with m = 1 it is Corollary 3.12",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    read=Read.QUOTED,
    conditions=conditions,
    parts=(
        Bound(
            formula=shortfall,
            unit=Unit(loss=1, samples=1),
            meaning="what the score falls short by, at most, with probability 1 - ζ (t = ln(1/ζ))",
            increasing_in=(score_sensitivity, candidates),
            decreasing_in=(step_epsilon, failure_probability, best_candidates),
        ),
    ),
    local=(BEST,),
)
