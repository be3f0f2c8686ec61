r"""Every $(\varepsilon, \delta)$-DP algorithm has, for some distribution of convex, $G$-Lipschitz, $L$-smooth losses on
$\mathbb R^d$ with $F_P(w_0) - \inf F_P \le \Delta_F$, an expected norm of the population gradient of at least $s
\min\big(\frac1{12}, \frac{\sqrt{d\tau}}{144\,(e^\varepsilon - 1) n}\big)$, where $s = \min(G/2, \sqrt{2L\Delta_F})$ and
$\tau = \min\big(\ln \frac{e^\varepsilon - 1}{3\delta\sqrt d}, \frac d{128}\big) \ge \frac12$, $(e^\varepsilon - 1) n
\ge \frac12$; of at least $\frac s8 \min\big(1, \frac\lambda{(e^\varepsilon - 1)n}\big)$, $\lambda = \min\big((d -
2)\ln 2, \ln\frac{e^\varepsilon - 1}{4\delta}\big) \ge 0$; and, private or not, of at least $\frac s{5\sqrt n}$.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours._means import (
    ball_packing,
    fingerprint_level,
    fingerprint_room_of_draws,
    of_draws,
    packing_delta_of_draws,
)
from dpbounds.papers.ours.lower_bound_gradient_norm import slope
from dpbounds.theorems.language import Bound, Condition, Min, Rational, q, sqrt

THEOREM = PAPER.theorem(
    id="lower-bound/population-gradient-norm",
    title="a lower bound for private stationary points of the population, with constants",
    where="derived here",
    bounds="population-gradient-norm, lower, expectation",
    status="proved here",
    sampling="",
    assumptions="Lipschitz, smooth, convex, bounded risk, unconstrained, i.i.d. records",
    parts=(
        Bound(
            slope * Min(Rational(1, 12), of_draws(sqrt(q.d * fingerprint_level(128))) / 144),
            meaning="of the largest expected norm of the population gradient",
            conditions=fingerprint_room_of_draws(128),
            bases="loss length",
            increasing_in="d",
            decreasing_in="epsilon",
        ),
        Bound(
            slope / 8 * Min(1, of_draws(ball_packing)),
            "packing",
            "the same, in few dimensions",
            conditions=(Condition(q.d >= 2, "2^d points"), packing_delta_of_draws),
            bases="loss length",
        ),
        Bound(slope / (5 * sqrt(q.n)), "sampling", "every algorithm, private or not", bases="loss length"),
    ),
    derivation="lower_bounds.md",
    notes="""
    For losses that need not be convex every known private method has n^(-1/3) in place of 1/√n, and the square root of
    √d/(εn): both gaps are open.
    """,
)
