r"""Variant of `dpbounds/second-order-path-noise/population` whose searches form no Hessian: if $n$ is enough for an
empirical $\alpha$-SOSP by `second-order-path-noise/warm-start/iterative` with failure probability $\zeta/2$, the point
is with probability at least $1 - \zeta$ a $\kappa$-SOSP of the population risk, $\kappa = \max\bigl(\alpha + u_1,
(\sqrt{\rho_H \alpha} + u_2)^2/\rho_H\bigr)$, with the same $u_1$ and $u_2$.

At a budget of $(\varepsilon, \delta)$, with $\nu = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$, that is of the order of
$G\sqrt{d/n} + L^2d/(\rho_H n) + (G^2LD\sqrt d)^{1/3} \nu + (L^2GD)^{2/5} \rho_H^{-1/5} d^{1/5} \nu^{6/5} + L^2
\nu^2/\rho_H + G\nu$, up to logarithms.
"""

from sympy import Max, ceiling

from dpbounds.papers.ours import (
    PAPER,
    searches,
    second_order_path_noise as cold,
    second_order_path_noise_iterative as search,
    second_order_path_noise_population as full,
    second_order_path_noise_warm_start as start,
    second_order_path_noise_warm_start_iterative as empirical,
)
from dpbounds.papers.ours.second_order_path_noise_population import halved
from dpbounds.papers.ours.second_order_path_noise_warm_start_rate import order
from dpbounds.theorems.language import (
    CURVATURE,
    GRADIENT,
    LOSS,
    PURE,
    Bound,
    Condition,
    Parameter,
    Privacy,
    Rate,
    log,
    q,
    sqrt,
)

STANDING = (
    *(Condition(halved(one.holds), one.why) for one in empirical.OF_THE_WALK),
    Condition(start.start >= full.start_gap, start.GOOD_START),
)
enough = Condition(
    sqrt(2 * (halved(empirical.gradients) + halved(empirical.account)) / q.rho) <= q.n,
    "an α-SOSP of the empirical risk is found",
)

THEOREM = PAPER.theorem(
    id="second-order-path-noise/population/iterative",
    title="a private second-order stationary point of the population risk without Hessians",
    where="derived here; compare Lowy, Ullman & Wright 2024, Algorithm 4 and Corollary 7.1",
    bounds="population-sosp, probability",
    status="proved here",
    assumptions=full.THEOREM.assumptions,
    parts=(
        Bound(
            Max(q.alpha + full.gradients, (cold.bend + full.hessians) ** 2 / q.rho_H),
            meaning="κ",
            conditions=(*STANDING, enough),
            bases="loss length",
        ),
        Bound(full.gradients, "gradient_deviation", "u₁", unit=GRADIENT, bases="loss length"),
        Bound(full.hessians, "hessian_deviation", "u₂", unit=CURVATURE, bases="loss length"),
        Bound(
            search.work,
            "gradients",
            "of one record, after the draw, at most, a Hessian times a vector counted as one",
            unit=PURE,
            bases="loss length",
        ),
        Bound(search.memory, "memory", "numbers held beside the data and the net", unit=PURE),
        Rate(
            q.G * sqrt(q.d / q.n) + q.L**2 * q.d / (q.rho_H * q.n) + order,
            meaning="κ",
            conditions=Condition(q.epsilon <= log(1 / q.delta), "ρ is of the order of ε²/ln(1/δ)"),
            logs_hidden=True,
            bases="loss length",
        ),
        Parameter(full.start_gap, "start_gap", "ψ", unit=LOSS),
        Parameter(start.warm(cold.least_path), "path_length", "P, at least", conditions=cold.STANDING[0]),
        Parameter(start.warm(cold.least_searches), "searches", "K, at least", conditions=cold.STANDING[0]),
        empirical.power_steps,
        Parameter(
            halved(start.warm(search.least_restarts_of_a_search)),
            "restarts_of_a_search",
            "R, at least, and 2",
            conditions=search.found,
            increasing_in=(searches, search.nu, search.small, search.overgrown),
            decreasing_in=(q.d, q.zeta),
        ),
        Parameter(ceiling(halved(start.warm(search.enough))), "restarts", "N, at least", decreasing_in="zeta"),
        Parameter(start.selection_epsilon, "epsilon", "ε_E of the exponential mechanism"),
    ),
    free=search.THEOREM.free,
    privacy=Privacy(empirical.mechanism, "rho"),
    relies_on="dpbounds/second-order-path-noise/warm-start/iterative",
    derivation="second_order_path_noise.md",
    notes="""
    - Lowy et al.'s Corollary 7.1 stays disputed: its first term, (d^(1/2)/n^(3/2))^(1/3) where
      privacy is cheap, is smaller than √(d/n) by d^(1/3), as it compares gradients along the path and not everywhere;
      for constant d both are 1/√n. Its second term is of a larger order in n than those here.
    - The searches concern the empirical risk. Whether they use noisy products or Hessians does not change the distance
      of empirical and population derivatives.
    - In the assumption on the set, ε stands for ε_E, and the risk is that of the records that were drawn.
    """,
)
