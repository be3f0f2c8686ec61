r"""An $(\varepsilon, \delta)$-DP algorithm that returns an $\alpha$-second-order stationary point of the population
risk with probability at least $1 - \zeta$, $\zeta \le \frac1{24}$, for every distribution of losses that are
$G$-Lipschitz, $L$-smooth and $\rho_H$-Hessian-Lipschitz with $F_P(w_0) - \inf F_P \le \Delta_F$, has $\alpha \ge s
\min\big(\frac1{24}, \frac{\sqrt{d\tau}}{288\,(e^\varepsilon - 1) n}\big)$, where $s = \min(G/2, \sqrt{L\Delta_F},
\sqrt[3]{\Delta_F^2 \rho_H})$; $\alpha \ge \frac s4 \min\big(1, \frac\lambda{(e^\varepsilon - 1) n}\big)$, with $\tau$,
$\lambda$ and their conditions those of the lower bound for the population gradient's norm; and, private or not,
$\alpha \ge \frac s{2\sqrt n}$.
"""

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours._means import (
    ball_packing,
    fingerprint_level,
    fingerprint_room_of_draws,
    of_draws,
    packing_delta_of_draws,
)
from dpbounds.papers.ours.lower_bound_sosp import seldom_missed, slope
from dpbounds.theorems.language import Bound, Condition, Min, Rational, q, sqrt

THEOREM = PAPER.theorem(
    id="lower-bound/population-sosp",
    title="a lower bound for private second-order stationary points of the population, with constants",
    where="derived here",
    bounds="population-sosp, lower, probability",
    status="proved here",
    sampling="",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, convex, bounded risk, unconstrained, i.i.d. records",
    conditions=seldom_missed,
    parts=(
        Bound(
            slope * Min(Rational(1, 24), of_draws(sqrt(q.d * fingerprint_level(128))) / 288),
            meaning="the α of the point, at least",
            conditions=fingerprint_room_of_draws(128),
            bases="loss length",
            increasing_in="d",
            decreasing_in="epsilon",
        ),
        Bound(
            slope / 4 * Min(1, of_draws(ball_packing)),
            "packing",
            "the same, in few dimensions",
            conditions=(Condition(q.d >= 2, "2^d points"), packing_delta_of_draws),
            bases="loss length",
        ),
        Bound(slope / (2 * sqrt(q.n)), "sampling", "every algorithm, private or not", bases="loss length"),
    ),
    derivation="lower_bounds.md",
    notes="The proof bounds the gradient's norm only: no lower bound is known that is special to saddle points.",
)
