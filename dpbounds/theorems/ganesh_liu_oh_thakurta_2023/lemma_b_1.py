r"""Quoted from Wang, Chen & Xu 2019: for $t \le \Gamma$, $\|x_{t+1} - x_0\|^2 \le 8\eta\Gamma(F(x_0) - F(x_\Gamma)) +
50\eta^2\Gamma\sum_i\|\nabla_i - \nabla F(x_i)\|^2$ with $\eta = 1/M$: who has moved far, or met large errors, has also
lowered the risk.

Proof for $t < \Gamma$, with 4 and 4 in place of 8 and 50: $\|\nabla_i\|^2 \le 2\|\nabla F(x_i)\|^2 + 2\|e_i\|^2$ and
$F(x_{i+1}) \le F(x_i) - \frac\eta2(\|\nabla F(x_i)\|^2 - \|e_i\|^2)$ give $\frac\eta4\sum\|\nabla_i\|^2 \le F(x_0) -
F(x_\Gamma) + \eta\sum\|e_i\|^2$, and $\|x_{t+1} - x_0\|^2 \le \eta^2\Gamma\sum\|\nabla_i\|^2$ by the Cauchy-Schwarz
inequality.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, smoothness
from dpbounds.theorems.assumptions import SMOOTH_RISK, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    DECREASE,
    ESCAPE_STEPS,
    SQUARED_ERRORS,
    decrease,
    escape_steps,
    squared_errors,
)
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Note, Side, Status, Theorem


def moved(by_risk: int, by_errors: int) -> Expr:
    return escape_steps * (by_risk * decrease / smoothness + by_errors * squared_errors / smoothness**2)


def printed() -> Expr:
    return moved(8, 50)


def sharper() -> Expr:
    return moved(4, 4)


def long_enough() -> tuple[Condition, ...]:
    return (Condition(holds=escape_steps >= 8, why="so that the last step, to x_{Γ+1}, is covered, too"),)


_SQUARE = Unit(length=2)
_MORE = (decrease, squared_errors, escape_steps)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-b.1",
    title="moving far lowers the risk",
    statement=__doc__,
    where="Appendix B.2, Lemma B.1",
    metric=Metric.DISTANCE,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    assumptions=(SMOOTH_RISK, UNCONSTRAINED),
    local=(DECREASE, ESCAPE_STEPS, SQUARED_ERRORS),
    parts=(
        Bound(
            formula=printed,
            unit=_SQUARE,
            meaning="squared distance from the start, as printed",
            conditions=long_enough,
            increasing_in=_MORE,
            decreasing_in=(smoothness,),
        ),
        Bound(
            formula=sharper,
            name="sharper",
            unit=_SQUARE,
            meaning="squared distance of x_1, ..., x_Γ from the start",
            increasing_in=_MORE,
            decreasing_in=(smoothness,),
        ),
    ),
    notes=(
        Note(
            "For t = Γ (the point x_{Γ+1}) add ‖∇F(x_Γ)‖ <= ‖∇F(x_{Γ-1})‖ + ‖∇_{Γ-1}‖: with weights 3 and 2 on the "
            "last two gradients and errors, the Cauchy-Schwarz inequality gives 2η²((Γ+8)ΣG + (Γ+4)ΣE), and for "
            "Γ >= 8 the constants 8 and 7."
        ),
        Note("The risk need not have fallen at every step: F(x₀) - F(x_Γ) is meant with its sign, and errors pay."),
    ),
)
