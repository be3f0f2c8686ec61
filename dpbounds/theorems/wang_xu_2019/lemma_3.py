r"""Quoted from Dwork & Roth 2014: the exponential mechanism's score falls short of the best one by more than
$\frac{2\Delta_u}{\varepsilon}(\ln|\mathcal R| + t)$ with probability at most $e^{-t}$.
"""

from sympy import Expr, log

from dpbounds.expressions.symbols import Unit, candidates, failure_probability, score_sensitivity, step_epsilon
from dpbounds.theorems.record import Bound, Metric, Mode, Side, Status, Theorem


def shortfall() -> Expr:
    return 2 * score_sensitivity / step_epsilon * (log(candidates) + log(1 / failure_probability))


THEOREM = Theorem(
    id="wang-xu-2019/lemma-3",
    title="how good the exponential mechanism's choice is",
    statement=__doc__,
    where="Preliminaries, Lemma 3",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    parts=(
        Bound(
            formula=shortfall,
            unit=Unit(loss=1, samples=1),
            meaning="what the score falls short by, at most, with probability 1 - ζ (t = ln(1/ζ))",
            increasing_in=(score_sensitivity, candidates),
            decreasing_in=(step_epsilon, failure_probability),
        ),
    ),
    relies_on=("cited/dwork-roth-2014/theorem-3.11",),
)
