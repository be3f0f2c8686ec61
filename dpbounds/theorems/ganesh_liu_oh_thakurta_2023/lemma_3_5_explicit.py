r"""For any estimate with error $e_t = \nabla_t - \nabla F(x_t)$ and $x_{t+1} = x_t - \nabla_t/M$, $F(x_{t+1}) -
F(x_t)$ is at most $-\frac1{2M}(\|\nabla F(x_t)\|^2 - \|e_t\|^2)$, and at most $-\frac1{6M}\|\nabla_t\|^2 +
\frac3{4M}\|e_t\|^2$. The $\frac34$ cannot be made smaller as long as the $\frac16$ stays.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, smoothness
from dpbounds.theorems.assumptions import SMOOTH_RISK, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    ERROR,
    ESTIMATE_NORM,
    GRADIENT_NORM,
    estimate_norm,
    estimation_error,
    gradient_norm,
)
from dpbounds.theorems.record import Bound, Metric, Mode, Read, Side, Status, Theorem


def by_gradient() -> Expr:
    return (estimation_error**2 - gradient_norm**2) / (2 * smoothness)


def by_estimate() -> Expr:
    return (9 * estimation_error**2 - 2 * estimate_norm**2) / (12 * smoothness)


_LOSS = Unit(loss=1)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-3.5/explicit",
    title="one step of descent, for any error",
    statement=__doc__,
    where="derived here; compare Lemma 3.5",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    assumptions=(SMOOTH_RISK, UNCONSTRAINED),
    local=(ERROR, ESTIMATE_NORM, GRADIENT_NORM),
    parts=(
        Bound(
            formula=by_gradient,
            unit=_LOSS,
            meaning="change of F in one step, in terms of the true gradient",
            increasing_in=(estimation_error,),
            decreasing_in=(gradient_norm,),
        ),
        Bound(
            formula=by_estimate,
            name="by-estimate",
            unit=_LOSS,
            meaning="change of F in one step, in terms of the estimate",
            increasing_in=(estimation_error,),
            decreasing_in=(estimate_norm,),
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    makes_explicit="ganesh-liu-oh-thakurta-2023/lemma-3.5",
    derivation="spider.md",
)
