r"""Every $(\varepsilon, \delta)$-DP algorithm has, for some $n$ $\mu$-strongly convex, $G$-Lipschitz losses on a ball
of diameter at most $D$ in $\mathbb R^d$, an expected excess empirical risk of at least $\frac{\min(G, \mu D)^2}{384\mu}
\min\big(1, \frac{\sqrt{d\tau}}{16\,\varepsilon n}\big)^2$, $\tau = \min\big(\ln \frac{e^\varepsilon -
1}{3\delta\sqrt d}, \frac d{128}\big) \ge \max(1, \varepsilon)$, $\varepsilon n \ge 1$. For all $d$ it is at least
$\frac{\min(G, \mu D)^2}{8\mu (1 + 3e^\varepsilon)} \min(1, \frac1{\varepsilon n})^2$, and at least $\frac{\min(G, \mu
D)^2}{1024\mu} \min(1, \frac\lambda{\varepsilon n})^2$ for $\lambda = \min\big((d - 2)\ln 2, \ln\frac{e^\varepsilon -
1}{4\delta}\big) \ge \varepsilon$, its logarithm at least $1 + \varepsilon$.
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
from dpbounds.theorems.language import Bound, Min, q, sqrt

scale = Min(q.G, q.mu * q.D) ** 2 / (8 * q.mu)

THEOREM = PAPER.theorem(
    id="lower-bound/strongly-convex",
    title="a lower bound for private strongly convex empirical risk, with constants",
    where="derived here; compare Bassily, Smith & Thakurta 2014",
    bounds="excess-empirical-risk, lower, expectation",
    status="proved here",
    sampling="",
    assumptions="Lipschitz, smooth, strongly convex, bounded set",
    parts=(
        Bound(
            scale / 48 * Min(1, of_records(sqrt(q.d * fingerprint_level(128))) / 16) ** 2,
            meaning="of the largest expected excess empirical risk",
            conditions=fingerprint_room(128),
            bases="loss length",
            increasing_in="d",
            decreasing_in="epsilon",
        ),
        Bound(
            scale / 128 * Min(1, of_records(ball_packing)) ** 2,
            "packing",
            "the same, in few dimensions",
            conditions=(*ball_packing_room, packing_delta),
            bases="loss length",
            decreasing_in="epsilon",
        ),
        Bound(
            scale * two_points_overlap * two_points**2,
            "two_points",
            "the same, in any",
            conditions=two_points_room,
            bases="loss length",
        ),
    ),
    derivation="lower_bounds.md",
    notes="The losses are μ-smooth, too, so that their condition number is 1.",
)
