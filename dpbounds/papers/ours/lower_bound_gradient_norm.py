r"""Every $(\varepsilon, \delta)$-DP algorithm has, for some $n$ convex, $G$-Lipschitz, $L$-smooth losses on $\mathbb
R^d$ with $F(w_0) - \inf F \le \Delta_F$, an expected gradient norm of at least $s \min\big(\frac1{12},
\frac{\sqrt{d\tau}}{192\,\varepsilon n}\big)$, where $s = \min(G/2, \sqrt{2L\Delta_F})$ and $\tau = \min\big(\ln
\frac{e^\varepsilon - 1}{3\delta\sqrt d}, \frac d{128}\big) \ge \max(1, \varepsilon)$, $\varepsilon n \ge 1$. For all
$d$ it is at least $\frac s{1 + 3e^\varepsilon} \min(1, \frac1{\varepsilon n})$, and at least $\frac s{16} \min(1,
\frac\lambda{\varepsilon n})$ for $\lambda = \min\big((d - 2)\ln 2, \ln\frac{e^\varepsilon - 1}{4\delta}\big) \ge
\varepsilon$, its logarithm at least $1 + \varepsilon$.
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
    two_points_overlap,
    two_points_room,
)
from dpbounds.theorems.language import Bound, Min, Rational, q, sqrt

slope = Min(q.G / 2, sqrt(2 * q.L * q.Delta_F))

THEOREM = PAPER.theorem(
    id="lower-bound/gradient-norm",
    title="a lower bound for private stationary points, with constants",
    where="derived here; compare Arora et al. 2023, Theorem 4.3",
    bounds="gradient-norm, lower, expectation",
    status="proved here",
    sampling="",
    assumptions="Lipschitz, smooth, convex, bounded risk, unconstrained",
    parts=(
        Bound(
            slope * Min(Rational(1, 12), of_records(sqrt(q.d * fingerprint_level(128))) / 192),
            meaning="of the largest expected norm of the empirical gradient",
            conditions=fingerprint_room(128),
            bases="loss length",
            increasing_in="d",
            decreasing_in="epsilon",
        ),
        Bound(
            slope / 16 * Min(1, of_records(ball_packing)),
            "packing",
            "the same, in few dimensions",
            conditions=(*ball_packing_room, packing_delta),
            bases="loss length",
            decreasing_in="epsilon",
        ),
        Bound(
            slope * two_points_overlap * two_points,
            "two_points",
            "the same, in any",
            conditions=two_points_room,
            bases="loss length",
        ),
    ),
    derivation="lower_bounds.md",
    notes="""
    - The first is the largest for d above ln(1/δ), up to constants; the second below it; the third for d = 1.
    - For convex losses √(d ln(1/δ))/(εn) is reached up to logarithms. For losses that need not be convex the best known
      order is its 2/3-th power, or d^(2/3)/(εn): the optimal order is open.
    """,
)
