r"""Every $(\varepsilon, \delta)$-DP algorithm has, for some $n$ convex, $G$-Lipschitz losses on a ball of diameter $D$
in $\mathbb R^d$, an expected excess empirical risk of at least $\frac{GD}{24} \min\big(1,
\frac{\sqrt{d\tau}}{48\,\varepsilon n}\big)$, $\tau = \min\big(\ln \frac{e^\varepsilon - 1}{3\delta\sqrt d}, \frac
d{1152}\big) \ge \max(1, \varepsilon)$, $\varepsilon n \ge 1$. For all $d$ it is at least $\frac{GD}{2 + 6e^\varepsilon}
\min(1, \frac1{\varepsilon n})$, and at least $\frac{GD}{60} \min(1, \frac\lambda{\varepsilon n})$ for $\lambda =
\min\big(\frac d8 - \ln 4, \ln\frac{e^\varepsilon - 1}{4\delta}\big) \ge \varepsilon$, its logarithm at least
$1 + \varepsilon$. The proof uses linear losses.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours._means import (
    fingerprint_level,
    fingerprint_room,
    of_records,
    packing_delta,
    sign_packing,
    sign_packing_room,
    two_points,
    two_points_overlap,
    two_points_room,
)
from dpbounds.theorems.language import Bound, Min, q, sqrt

span = q.G * q.D

THEOREM = PAPER.theorem(
    id="lower-bound/convex",
    title="a lower bound for private convex empirical risk, with constants",
    where="derived here; compare Bassily, Smith & Thakurta 2014",
    bounds="excess-empirical-risk, lower, expectation",
    status="proved here",
    sampling="",
    assumptions="Lipschitz, smooth, convex, bounded set",
    parts=(
        Bound(
            span / 24 * Min(1, of_records(sqrt(q.d * fingerprint_level(1152))) / 48),
            meaning="of the largest expected excess empirical risk",
            conditions=fingerprint_room(1152),
            bases="loss length",
            increasing_in="d",
            decreasing_in="epsilon",
        ),
        Bound(
            span / 60 * Min(1, of_records(sign_packing)),
            "packing",
            "the same, in few dimensions",
            conditions=(*sign_packing_room, packing_delta),
            bases="loss length",
            decreasing_in="epsilon",
        ),
        Bound(
            span / 2 * two_points_overlap * two_points,
            "two_points",
            "the same, in any",
            conditions=two_points_room,
            bases="loss length",
        ),
    ),
    derivation="lower_bounds.md",
)
