r"""Variant of `dpbounds/second-order-path-noise/warm-start` that searches for negative curvature, after the exponential
mechanism, by the noisy power steps of `second-order-path-noise/iterative`. With probability at least $1 - \zeta/2$ the
first point is at most $\psi$ above the infimum. So if $n^2\rho \ge 2(A_g + A_h)$ with $\psi$ for $\Delta_F$ and
$\zeta/2$ for $\zeta$ in the statement without a warm start, the whole is $\rho$-zCDP under replace-one, and with
probability at least $1 - \zeta$ it returns an $\alpha$-SOSP. If $\rho \le 24$, what follows the exponential mechanism
is $\sqrt\rho$-GDP.

$n\sqrt\rho$ is of the order of $(G^2LD d^2)^{1/3} \alpha^{-1} + G\sqrt d\, \alpha^{-1}$ besides $(d^2L^2GD
\rho_H^{-1/2})^{1/3} \alpha^{-5/6} + L\sqrt d (\rho_H\alpha)^{-1/2}$ for the searches, up to logarithms. Where $\alpha
\le \rho_H G^2/L^2$ the searches need no more than the gradients, so that $\alpha$ falls like $d^{2/3}/(n\sqrt\rho)$.
"""

from sympy import ceiling

from dpbounds.papers.ours import (
    PAPER,
    searches,
    second_order_path_noise as cold,
    second_order_path_noise_iterative as search,
    second_order_path_noise_warm_start as start,
)
from dpbounds.papers.ours.second_order_path_noise_warm_start import warm
from dpbounds.privacy.mechanisms import ZCDP, Mechanism
from dpbounds.theorems.language import LOSS, PURE, SAMPLES, Bound, Condition, Numbers, Parameter, Privacy, q, sqrt


def mechanism(at: Numbers) -> Mechanism:
    if at[q.rho] > 2 * search.LARGEST_RHO:
        return start.selection(at) @ ZCDP(at[q.rho] / 2, relation=at.relation)
    return start.mechanism(at)


OF_THE_WALK = (*start.OF_THE_WALK, *(Condition(warm(one.holds), one.why) for one in search.OF_SEARCHES))
gradients, account = warm(search.gradients), warm(search.account)
power_steps = Parameter(
    search.least_power_steps,
    "power_steps",
    "m, at least",
    conditions=search.passes,
    increasing_in=(q.d, q.L, search.nu, cold.c, search.w_1, search.w_2),
    decreasing_in=(q.rho_H, q.alpha, search.small, search.overgrown),
)
restarts_of_a_search = Parameter(
    warm(search.least_restarts_of_a_search),
    "restarts_of_a_search",
    "R, at least, and 2",
    conditions=search.found,
    increasing_in=(searches, search.nu, search.small, search.overgrown),
    decreasing_in=(q.d, q.zeta),
)

THEOREM = PAPER.theorem(
    id="second-order-path-noise/warm-start/iterative",
    title="a private second-order stationary point without Hessians, from a good point",
    where="derived here; compare Lowy, Ullman & Wright 2024, Algorithm 2 and Corollary 4.4",
    bounds="sample-size, probability",
    status="proved here",
    assumptions=start.THEOREM.assumptions,
    parts=(
        Bound(
            sqrt(2 * (gradients + account) / q.rho),
            meaning="how many records suffice, if n is as large",
            unit=SAMPLES,
            conditions=(*OF_THE_WALK, Condition(start.start >= start.warm_risk, start.GOOD_START)),
        ),
        Bound(gradients, "gradient_account", "A_g: n²ρ/2 that the gradients take", unit=PURE),
        Bound(account, "search_account", "A_h: n²ρ/2 that the searches take", unit=PURE, conditions=search.passes),
        Bound(cold.moves, "steps", "within as many moves a point is returned"),
        Bound(
            search.work,
            "gradients",
            "after the draw, at most, a Hessian times a vector counted as one",
            unit=PURE,
            bases="loss length",
        ),
        Bound(search.memory, "memory", "numbers held beside the data and the net", unit=PURE),
        Parameter(start.warm_risk, "start_gap", "ψ", unit=LOSS),
        Parameter(warm(cold.least_path), "path_length", "P, at least", conditions=cold.STANDING[0]),
        Parameter(warm(cold.least_searches), "searches", "K, at least", conditions=cold.STANDING[0]),
        power_steps,
        restarts_of_a_search,
        Parameter(ceiling(warm(search.enough)), "restarts", "N, at least", decreasing_in="zeta"),
        Parameter(start.selection_epsilon, "epsilon", "ε_E of the exponential mechanism"),
    ),
    free=search.THEOREM.free,
    reaches="sosp",
    privacy=Privacy(mechanism, "rho"),
    relies_on="dpbounds/second-order-path-noise/iterative dpbounds/second-order-path-noise/warm-start",
    derivation="second_order_path_noise.md",
    notes="""
    - At constants 1 searches with Hessians decide the order up to n√ρ = d^(8/3), these only up to n√ρ = d^(2/3), where
      ψ is still larger than 1.
    - The net has up to (1 + √2 ε_E n/d)^d points. Where d is so small that they can be compared, searches with Hessians
      need fewer records.
    - In the assumption on the set, ε stands for ε_E.
    """,
)
