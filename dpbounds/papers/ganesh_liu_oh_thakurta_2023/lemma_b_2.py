r"""Claimed, from Wang, Chen & Xu 2019: around a point with $\|\nabla F\| \le \alpha$ and an eigenvalue of the Hessian
below $-\sqrt{\rho\gamma}$, the points of the ball of radius $\eta\alpha$ from which the run of Lemma 3.4 gets stuck
form a set whose width along the eigenvector is at most $\frac{\omega\eta\gamma}{\log(1/\omega)}\sqrt{2\pi/d}$. For
errors that are only bounded by $\gamma$ this is false: from every point near the saddle point the run gets stuck.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, gradient_accuracy
from dpbounds.theorems.language import LENGTH, Bound, Erratum, Min, log, pi, q, sqrt

share = q.zeta / log(1 / q.zeta)

THEOREM = PAPER.theorem(
    title="the region where a run gets stuck is thin",
    where="Appendix B.2, Lemma B.2",
    bounds="distance, always",
    status="false",
    assumptions="smooth, Hessian-Lipschitz, unconstrained",
    parts=(
        Bound(
            share * gradient_accuracy / q.L * sqrt(2 * pi / q.d),
            meaning="claimed width of the stuck region",
            unit=LENGTH,
        ),
        Bound(
            2 * Min(q.alpha / q.L, gradient_accuracy / sqrt(q.rho_H * q.alpha)),
            "counterexample",
            "width of the stuck region in the example of Lemma 3.4, at least",
            unit=LENGTH,
            side="lower",
            status="proved",
            relies_on="",
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/lemma-3.4",
    errata=Erratum(
        printed="the width of the stuck region is at most ωηγ/log(1/ω) √(2π/d)",
        right="for errors within γ, in the example of Lemma 3.4: at least 2 min(ηα, γ/√(ρα))",
        severity="false",
        evidence="test_lemma_b_2.py::test_a_wide_region_is_stuck",
        survives="false as it is used here, for any errors within γ. It quotes a lemma for independent Gaussian "
        "noise, shared by both runs that are compared, about which nothing is shown; see Lemma 3.4 for what an "
        "author of this paper has since acknowledged",
    ),
    notes="The paper has √(ργ) here where Lemma 3.4 has √(ρα); B_x(r) is called the unit ball of radius r.",
)
