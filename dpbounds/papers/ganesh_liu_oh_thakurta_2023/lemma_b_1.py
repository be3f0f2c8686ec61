r"""Quoted from Wang, Chen & Xu 2019: for $t \le \Gamma$, $\|x_{t+1} - x_0\|^2 \le 8\eta\Gamma(F(x_0) - F(x_\Gamma)) +
50\eta^2\Gamma\sum_i\|\nabla_i - \nabla F(x_i)\|^2$ with $\eta = 1/M$: a run that moves far lowers the risk, or has
large errors.

Proof for $t < \Gamma$, with 4 and 4 in place of 8 and 50: $\|\nabla_i\|^2 \le 2\|\nabla F(x_i)\|^2 + 2\|e_i\|^2$ and
$F(x_{i+1}) \le F(x_i) - \frac\eta2(\|\nabla F(x_i)\|^2 - \|e_i\|^2)$ give $\frac\eta4\sum\|\nabla_i\|^2 \le F(x_0) -
F(x_\Gamma) + \eta\sum\|e_i\|^2$, and $\|x_{t+1} - x_0\|^2 \le \eta^2\Gamma\sum\|\nabla_i\|^2$ by the Cauchy-Schwarz
inequality.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, decrease, escape_steps, squared_errors
from dpbounds.theorems.language import Bound, Condition, Expr, Unit, q


def moved(by_risk: int, by_errors: int) -> Expr:
    return escape_steps * (by_risk * decrease / q.L + by_errors * squared_errors / q.L**2)


_SQUARE = Unit(length=2)

THEOREM = PAPER.theorem(
    title="moving far lowers the risk",
    where="Appendix B.2, Lemma B.1",
    bounds="distance, always",
    status="proved",
    assumptions="smooth risk, unconstrained",
    parts=(
        Bound(
            moved(8, 50),
            meaning="squared distance from the start, as printed",
            unit=_SQUARE,
            conditions=Condition(escape_steps >= 8, "so that the last step, to x_{Γ+1}, is covered, too"),
        ),
        Bound(moved(4, 4), "sharper", "squared distance of x_1, ..., x_Γ from the start", unit=_SQUARE),
    ),
    notes="""
    - For t = Γ (the point x_{Γ+1}) add ‖∇F(x_Γ)‖ <= ‖∇F(x_{Γ-1})‖ + ‖∇_{Γ-1}‖: with weights 3 and 2 on the last two
      gradients and errors, the Cauchy-Schwarz inequality gives 2η²((Γ+8)ΣG + (Γ+4)ΣE), and for Γ >= 8 the constants 8
      and 7.
    - The risk need not fall at every step: F(x₀) - F(x_Γ) may be negative, and the errors then make up for it.
    """,
)
