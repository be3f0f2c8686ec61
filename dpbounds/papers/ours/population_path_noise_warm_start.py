r"""The exponential mechanism on a net of a compact set $W$ of diameter $D$, then `population-path-noise` from the point
it draws, each with half of a budget of $\rho$-zCDP and on all $n$ i.i.d. records. Except with probability $\zeta/4$,
the first point is at most $\psi$ above the infimum, with the $\psi$ of `second-order-path-noise/warm-start` for
$\zeta/2$ in place of $\zeta$. So if $n^2\rho \ge 2 A_g$ with $\psi$ for $\Delta_F$ and a failure probability of
$\zeta/4$ for the walk, the gradient of the population risk is with probability at least $1 - \zeta$ at most
$\alpha + u$ at the point that is returned; $u$ is that of a ball of radius $D + P$.

At a budget of $(\varepsilon, \delta)$, with $\nu = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$, that is of the order of
$G\sqrt{d/n} + (G^2LD\sqrt d)^{1/3} \nu + G\nu$, up to logarithms: $\sqrt{d/n} + d^{2/3}/(\varepsilon n)$ at constants
1.
"""

from sympy import sqrt

from dpbounds.papers.lowy_ullman_wright_2024 import NEAR_MINIMISER
from dpbounds.papers.ours import (
    PAPER,
    population_path_noise as cold,
    second_order_path_noise as along,
    second_order_path_noise_warm_start as start,
)
from dpbounds.papers.ours.second_order_path_noise_population import start_gap
from dpbounds.papers.ours.second_order_path_noise_warm_start import warm
from dpbounds.papers.ours.second_order_path_noise_warm_start_rate import path as order
from dpbounds.theorems.language import GRADIENT, LOSS, PURE, Bound, Condition, Parameter, Privacy, Rate, given, q

account = warm(cold.account)
deviation = cold.deviation(q.D + along.path)

THEOREM = PAPER.theorem(
    id="population-path-noise/warm-start",
    title="a private small gradient of the population risk by noise along the path, from a good point",
    where="derived here; compare Lowy, Ullman & Wright 2024, Algorithm 4 and Corollary 7.1",
    bounds="population-gradient-norm, probability",
    status="proved here",
    assumptions=(
        *(given.LIPSCHITZ, given.SMOOTH, given.BOUNDED_RISK, given.UNCONSTRAINED, given.SAMPLED_RECORDS),
        NEAR_MINIMISER,
    ),
    parts=(
        Bound(
            q.alpha + deviation,
            meaning="κ",
            conditions=(
                Condition(warm(cold.LONG_ENOUGH.holds), cold.LONG_ENOUGH.why),
                Condition(start.start >= start_gap, start.GOOD_START),
                Condition(sqrt(2 * account / q.rho) <= q.n, cold.FOUND),
            ),
            bases="loss length",
        ),
        Bound(deviation, "gradient_deviation", "u", unit=GRADIENT, bases="loss length"),
        Bound(account, "gradient_account", "A_g: n²ρ/2 that the gradients take", unit=PURE),
        Bound(cold.moves, "steps", "within as many moves a point is returned", unit=PURE, bases="loss length"),
        Bound(cold.work, "gradients", "of one record, after the draw, at most", unit=PURE, bases="loss length"),
        Rate(cold.sampling + order, meaning="κ", conditions=cold.LARGE_DELTA, logs_hidden=True, bases="loss length"),
        Parameter(start_gap, "start_gap", "ψ", unit=LOSS),
        Parameter(warm(cold.least_path), "path_length", "P, at least"),
        Parameter(start.selection_epsilon, "epsilon", "ε_E of the exponential mechanism"),
    ),
    free=cold.THEOREM.free,
    privacy=Privacy(start.mechanism, "rho"),
    relies_on="dpbounds/population-path-noise dpbounds/second-order-path-noise/warm-start",
    derivation="population_path_noise.md",
    notes="""
    - The order is that of `dpbounds/second-order-path-noise/population/iterative` without the terms of ρ_H. Where
      n ≥ d and n ε ≥ d, at constants 1, both are the same.
    - In the assumption on the set, ε stands for ε_E, and the risk is that of the records that were drawn.
    """,
)
