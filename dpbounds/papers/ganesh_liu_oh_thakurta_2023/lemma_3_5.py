r"""A step $x_{t+1} = x_t - \nabla_t/M$ has $F(x_{t+1}) \le F(x_t) + \eta\|\nabla_t\|\,\|\nabla F(x_t) - \nabla_t\| -
\frac\eta2\|\nabla_t\|^2$. Where the estimate is within $\gamma/4$ of the gradient, and the gradient's norm is at
least $\gamma$, $F$ falls by at least $\eta\|\nabla_t\|^2/6$, and also by at least $\eta\gamma^2/6$.

Proof of the second part: let $a = \|\nabla F\| \ge \gamma$ and $e \le \gamma/4 \le a/4$. $F$ falls by at least
$\frac\eta2 (a^2 - e^2)$, which is at least $\frac{15}{32}\eta\gamma^2$; and $\|\nabla_t\| \le a + e$, so that it is
at least $\frac \eta2\frac{a - e}{a + e}\|\nabla_t\|^2 \ge \frac3{10}\eta\|\nabla_t\|^2$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, estimate_norm, estimation_error, gradient_accuracy
from dpbounds.theorems.language import Bound, Condition, Erratum, Rational, q

accurate = (
    Condition(estimation_error <= gradient_accuracy / 4, "the estimate is within γ/4; and |∇F| >= γ is assumed"),
    Condition(estimate_norm >= gradient_accuracy * Rational(3, 4), "which is what |∇F| >= γ leaves possible"),
)

THEOREM = PAPER.theorem(
    title="one step of descent",
    where="Section 3, Lemma 3.5; proof in Appendix B.3",
    bounds="excess-empirical-risk, always",
    status="repaired",
    assumptions="smooth risk, unconstrained",
    parts=(
        Bound((estimate_norm * estimation_error - estimate_norm**2 / 2) / q.L, meaning="change of F in one step"),
        Bound(
            -(estimate_norm**2) / (6 * q.L),
            "by-estimate",
            "change of F where |∇F| >= γ, in terms of the estimate's norm",
            conditions=accurate,
        ),
        Bound(-(gradient_accuracy**2) / (6 * q.L), "by-accuracy", "change of F where |∇F| >= γ", conditions=accurate),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    errata=Erratum(
        printed="F(x_{t+1}) - F(x_t) <= -η‖∇_t‖²/6 <= -ηγ²/6",
        right="the second inequality is wrong where ‖∇_t‖ < γ (it may be 3γ/4); both bounds hold on their own, even "
        "with 3/10 and 15/32 in place of 1/6",
        severity="harmless",
        evidence="test_lemma_3_5.py::test_the_printed_chain_breaks_in_its_middle",
        survives="both sides of the chain",
    ),
)
