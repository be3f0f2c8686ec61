r"""Second-order stationary points of the population risk, by the two halves of Lowy, Ullman & Wright's Algorithm 4: the
exponential mechanism on a net of a compact set $W$ of diameter $D$, then noise along the path, both on all $n$ i.i.d.
records and each with half of a budget of $\rho$-zCDP, as in `second-order-path-noise/warm-start`. No iterate is further
than $R = D + P$ from a fixed point of $W$, and with probability at least $1 - \zeta/2$ the gradients and Hessians of
the empirical risk are there within $$u_1 = \frac G{\sqrt n} \Bigl(2 + \sqrt{2d \ln(1 + 4LR\sqrt n/G) + 2
\ln(4/\zeta)}\Bigr), \quad u_2 = \frac L{\sqrt n} \Bigl(1 + \tfrac{10}9 \sqrt{2d \ln(41 + 164 \rho_H R \sqrt n/L) +
2\ln(8/\zeta)}\Bigr)$$ of those of the population risk. So if $n$ is enough for an empirical $\alpha$-SOSP with failure
probability $\zeta/2$, the point is with probability at least $1 - \zeta$ a $\kappa$-SOSP of the population risk,
$\kappa = \max\bigl(\alpha + u_1, (\sqrt{\rho_H \alpha} + u_2)^2/\rho_H\bigr)$.
"""

from sympy import Expr, Max, Rational, log, sqrt

from dpbounds.papers.lowy_ullman_wright_2024 import NEAR_MINIMISER
from dpbounds.papers.ours import PAPER, second_order_path_noise as cold, second_order_path_noise_warm_start as empirical
from dpbounds.theorems.language import (
    CURVATURE,
    GRADIENT,
    LOSS,
    PURE,
    Bound,
    Condition,
    Parameter,
    Privacy,
    given,
    q,
)


def halved(formula: Expr) -> Expr:
    """Return a formula of the empirical statement for half of the failure probability."""
    return formula.xreplace({q.zeta: q.zeta / 2})


reach = q.D + cold.path  # R
net = q.d * log(1 + 4 * q.L * reach * sqrt(q.n) / q.G)
gradients = q.G / sqrt(q.n) * (2 + sqrt(2 * net + 2 * log(4 / q.zeta)))  # u_1
directions = q.d * log(41 * (1 + 4 * q.rho_H * reach * sqrt(q.n) / q.L))
hessians = q.L / sqrt(q.n) * (1 + Rational(10, 9) * sqrt(2 * directions + 2 * log(8 / q.zeta)))  # u_2
gradient_account, hessian_account = (halved(empirical.warm(one)) for one in (cold.gradients, cold.hessian_account))
enough = Condition(
    sqrt(2 * (gradient_account + hessian_account) / q.rho) <= q.n, "an α-SOSP of the empirical risk is found"
)
start_gap = halved(empirical.warm_risk)
STANDING = (*empirical.OF_THE_WALK, Condition(empirical.start >= start_gap, empirical.GOOD_START))

THEOREM = PAPER.theorem(
    id="second-order-path-noise/population",
    title="a private second-order stationary point of the population risk",
    where="derived here; compare Lowy, Ullman & Wright 2024, Algorithm 4 and Corollary 7.1",
    bounds="population-sosp, probability",
    status="proved here",
    assumptions=(
        *(
            given.LIPSCHITZ,
            given.SMOOTH,
            given.HESSIAN_LIPSCHITZ,
            given.BOUNDED_RISK,
            given.UNCONSTRAINED,
            given.SAMPLED_RECORDS,
        ),
        NEAR_MINIMISER,
    ),
    parts=(
        Bound(
            Max(q.alpha + gradients, (cold.bend + hessians) ** 2 / q.rho_H),
            meaning="κ",
            conditions=(*STANDING, enough),
            bases="loss length",
        ),
        Bound(gradients, "gradient_deviation", "u₁", unit=GRADIENT, bases="loss length"),
        Bound(hessians, "hessian_deviation", "u₂", unit=CURVATURE, bases="loss length"),
        Bound(
            cold.work,
            "gradients",
            "of one record, after the draw, at most, a Hessian counted as d",
            unit=PURE,
            bases="loss length",
        ),
        Parameter(start_gap, "start_gap", "ψ", unit=LOSS),
        Parameter(empirical.warm(cold.least_path), "path_length", "P, at least", conditions=STANDING[0]),
        Parameter(empirical.warm(cold.least_searches), "searches", "K, at least", conditions=STANDING[0]),
        Parameter(empirical.selection_epsilon, "epsilon", "ε_E of the exponential mechanism"),
    ),
    free=(q.alpha, cold.c, cold.s, cold.w, cold.window),
    privacy=Privacy(empirical.mechanism, "rho"),
    relies_on="dpbounds/second-order-path-noise/warm-start",
    derivation="second_order_path_noise.md",
    notes="""
    - The order, with searches that form no Hessian, is that of `dpbounds/second-order-path-noise/population/iterative`.
      Where d is so small that the points of a net can be compared, searches with Hessians need fewer records.
    - The data need not be split: a bound that holds at all points holds at a point that depends on the records.
    - In the assumption on the set, ε stands for ε_E, and the risk is that of the records that were drawn.
    """,
)
