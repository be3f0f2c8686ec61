r"""An $(\varepsilon, \delta)$-DP algorithm that returns an $\alpha$-second-order stationary point with probability at
least $1 - \zeta$, $\zeta \le \frac1{24}$, for all $n$ losses that are $G$-Lipschitz, $L$-smooth and $\rho_H$-Hessian-
Lipschitz with $F(w_0) - \inf F \le \Delta_F$, has $\alpha \ge s \min\big(\frac1{24},
\frac{\sqrt{d\tau}}{384\,\varepsilon n}\big)$, where $s = \min(G/2, \sqrt{L\Delta_F}, \sqrt[3]{\Delta_F^2 \rho_H})$ and
$\tau$ is that of the lower bound for the gradient's norm. Likewise $\alpha \ge \frac s8 \min(1,
\frac\lambda{\varepsilon n})$ with its $\lambda$, and $\alpha \ge s \min(1, \frac1{\varepsilon n})$ for
$\varepsilon \le 1$. The proof uses convex losses, for which the second-order condition always holds.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours._means import (
    ball_packing,
    ball_packing_room,
    fingerprint_level,
    fingerprint_room,
    of_records,
    packing_delta,
    two_points,
    two_points_room,
)
from dpbounds.theorems.language import Bound, Condition, Min, Rational, q, root, sqrt

slope = Min(q.G / 2, sqrt(q.L * q.Delta_F), root(q.Delta_F**2 * q.rho_H, 3))
seldom_missed = Condition(q.zeta <= Rational(1, 24), "a promise that is kept often enough")
small_epsilon = Condition(q.epsilon <= 1, "2ζ is less than what the two outputs share")

THEOREM = PAPER.theorem(
    id="lower-bound/sosp",
    title="a lower bound for private second-order stationary points, with constants",
    where="derived here",
    bounds="sosp, lower, probability",
    status="proved here",
    sampling="",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, convex, bounded risk, unconstrained",
    conditions=seldom_missed,
    parts=(
        Bound(
            slope * Min(Rational(1, 24), of_records(sqrt(q.d * fingerprint_level(128))) / 384),
            meaning="the α of the point, at least",
            conditions=fingerprint_room(128),
            bases="loss length",
            increasing_in="d",
            decreasing_in="epsilon",
        ),
        Bound(
            slope / 8 * Min(1, of_records(ball_packing)),
            "packing",
            "the same, in few dimensions",
            conditions=(*ball_packing_room, packing_delta),
            bases="loss length",
            decreasing_in="epsilon",
        ),
        Bound(
            slope * two_points,
            "two_points",
            "the same, in any",
            conditions=(*two_points_room, small_epsilon),
            bases="loss length",
        ),
    ),
    derivation="lower_bounds.md",
    notes="""
    The proof bounds the gradient's norm only. Whether a second-order stationary point needs more records than a
    first-order one is open.
    """,
)
