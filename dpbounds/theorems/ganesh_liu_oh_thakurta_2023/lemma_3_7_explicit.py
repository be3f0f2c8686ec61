r"""A run of $T$ steps, without kicks, with a drift that includes the last step, takes at most $1 + (6B/M +
\frac92\sum_t\|e_t\|^2/M^2)/\kappa$ fresh estimates; if all errors are at most $e$, at most $1 + (6B/M + \frac92
Te^2/M^2)/\kappa$. $B$ may be the risk of the first iterate minus the infimum.
"""

from sympy import Expr, Rational

from dpbounds.expressions.symbols import drift_threshold, loss_range, smoothness, steps
from dpbounds.theorems.assumptions import SMOOTH_RISK, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import BOUNDED_RANGE
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    ERROR,
    SQUARED_ERRORS,
    estimation_error,
    squared_errors,
)
from dpbounds.theorems.record import Bound, Metric, Mode, Read, Side, Status, Theorem


def count(errors: Expr) -> Expr:
    travel = 6 * loss_range / smoothness + Rational(9, 2) * errors / smoothness**2
    return 1 + travel / drift_threshold


def by_sum() -> Expr:
    return count(squared_errors)


def by_largest() -> Expr:
    return count(steps * estimation_error**2)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit",
    title="number of fresh estimates, with constants",
    statement=__doc__,
    where="derived here; compare Lemma 3.7",
    metric=Metric.COUNT,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    assumptions=(SMOOTH_RISK, BOUNDED_RANGE, UNCONSTRAINED),
    local=(ERROR, SQUARED_ERRORS),
    parts=(
        Bound(
            formula=by_largest,
            meaning="fresh estimates if every error is at most e",
            increasing_in=(loss_range, steps, estimation_error),
            decreasing_in=(smoothness, drift_threshold),
        ),
        Bound(
            formula=by_sum,
            name="by-sum",
            meaning="fresh estimates, in terms of the sum of squared errors",
            increasing_in=(loss_range, squared_errors),
            decreasing_in=(smoothness, drift_threshold),
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    makes_explicit="ganesh-liu-oh-thakurta-2023/lemma-3.7",
    derivation="spider.md",
)
