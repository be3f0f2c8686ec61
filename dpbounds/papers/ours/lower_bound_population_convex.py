r"""Every $(\varepsilon, \delta)$-DP algorithm has, for some distribution of convex, $G$-Lipschitz losses on a ball of
diameter $D$ in $\mathbb R^d$, an expected excess population risk of at least $\frac{GD}{24} \min\big(1,
\frac{\sqrt{d\tau}}{34\,(e^\varepsilon - 1) n}\big)$, $\tau = \min\big(\ln \frac{e^\varepsilon - 1}{3\delta\sqrt d},
\frac d{1152}\big) \ge \frac12$, $(e^\varepsilon - 1) n \ge \frac12$; of at least $\frac{GD}{30} \min\big(1,
\frac\lambda{(e^\varepsilon - 1) n}\big)$, $\lambda = \min\big(\frac d8 - \ln 4, \ln\frac{e^\varepsilon -
1}{4\delta}\big) \ge 0$; and, private or not, of at least $\frac{GD}{10\sqrt n}$. The proof uses linear losses.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours._means import (
    fingerprint_level,
    fingerprint_room_of_draws,
    of_draws,
    packing_delta_of_draws,
    sign_packing,
)
from dpbounds.papers.ours.lower_bound_convex import span
from dpbounds.theorems.language import Bound, Condition, Min, log, q, sqrt

THEOREM = PAPER.theorem(
    id="lower-bound/population-convex",
    title="a lower bound for private convex population risk, with constants",
    where="derived here; compare Bassily, Feldman, Talwar & Thakurta 2019",
    bounds="excess-population-risk, lower, expectation",
    status="proved here",
    sampling="",
    assumptions="Lipschitz, smooth, convex, bounded set, i.i.d. records",
    parts=(
        Bound(
            span / 24 * Min(1, of_draws(sqrt(q.d * fingerprint_level(1152))) / 34),
            meaning="of the largest expected excess population risk",
            conditions=fingerprint_room_of_draws(1152),
            bases="loss length",
            increasing_in="d",
            decreasing_in="epsilon",
        ),
        Bound(
            span / 30 * Min(1, of_draws(sign_packing)),
            "packing",
            "the same, in few dimensions",
            conditions=(Condition(q.d >= 8 * log(4), "e^(d/8) points"), packing_delta_of_draws),
            bases="loss length",
        ),
        Bound(span / (10 * sqrt(q.n)), "sampling", "every algorithm, private or not", bases="loss length"),
    ),
    derivation="lower_bounds.md",
)
