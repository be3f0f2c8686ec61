r"""Assumption 1: $C = \mathbb R^d$ with the regulariser $r(w) = \frac\lambda2 \|w\|_2^2$, $\lambda > 0$; every loss is
$G$-Lipschitz, $f(0, z) \le A$, twice differentiable and $L$-smooth.

Consequences: the regularised empirical risk is $(L + \lambda)$-smooth and dissipative, $\langle w, \nabla \hat
F^r(w)\rangle \ge \frac\lambda2\|w\|^2 - \frac{G^2}{2\lambda}$, because $G\|w\| \le \frac\lambda2\|w\|^2 +
\frac{G^2}{2\lambda}$; its minimisers have norm at most $G/\lambda$, because there $\lambda w = -\nabla \hat F(w)$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import CURVATURE, LENGTH, LOSS, Bound, q

THEOREM = PAPER.theorem(
    title="regularised Lipschitz losses on the whole space",
    where="Section 4, Assumption 1",
    status="definition",
    assumptions="regularised Lipschitz loss",
    parts=(
        Bound(q.L + q.regularisation, "smoothness", "of the regularised risk", unit=CURVATURE),
        Bound(q.regularisation / 2, "dissipativity_slope", "m in <w, ∇F> >= m|w|² - b", unit=CURVATURE),
        Bound(q.G**2 / (2 * q.regularisation), "dissipativity_offset", "b in <w, ∇F> >= m|w|² - b", unit=LOSS),
        Bound(q.G / q.regularisation, "radius", "of a ball that holds every minimiser", unit=LENGTH),
    ),
    notes="""
    - A, λ, G and L are constants in the paper, left out of its O; λ = 2m explains the condition β >= 4/λ = 2/m of
      Theorem 2.
    - The paper assumes f(0,z) <= A only, but uses |f(0,z)| <= A, or a centred loss f(w,z) - f(0,z).
    """,
)
