r"""The exponential mechanism on a net of a compact set $W$ of diameter $D$, then path noise from the point it draws,
each with half of a budget of $\rho$-zCDP. With $\varepsilon_E = 2\sqrt\rho$ and a point of $W$ at most
$GDd/(\varepsilon_E n)$ above the infimum, the first point is with probability at least $1 - \zeta/2$ at most $$\psi =
\frac{2GD}{\varepsilon_E n} \Bigl(d + d \ln\bigl(1 + \sqrt2\, \varepsilon_E n/d\bigr) + \ln(2/\zeta)\Bigr)$$ above the
infimum. So if $n^2\rho \ge 2(A_g + A_h)$ with $\psi$ for $\Delta_F$ and $\zeta/2$ for $\zeta$ in
`second-order-path-noise`, the whole is $\rho$-zCDP under replace-one, and with probability at least $1 - \zeta$ it
returns an $\alpha$-SOSP. As $\psi$ falls with $n$, $n\sqrt\rho$ is of the order of $(G^2LD d^2)^{1/3} \alpha^{-1} +
G\sqrt d\, \alpha^{-1}$ besides $(d^3L^2GD \rho_H^{-1/2})^{1/3} \alpha^{-5/6} + dL(\rho_H\alpha)^{-1/2}$ for the
Hessians, up to logarithms, where no warm start needs $\alpha^{-3/2}$: $\alpha$ falls like $d^{2/3}/(n\sqrt\rho)$.
"""

from sympy import Expr, log, sqrt

from dpbounds.papers.lowy_ullman_wright_2024 import NEAR_MINIMISER
from dpbounds.papers.ours import PAPER, second_order_path_noise as cold
from dpbounds.privacy.mechanisms import ExponentialMechanism, Gaussian, Mechanism
from dpbounds.theorems.language import LOSS, PURE, SAMPLES, Bound, Condition, Numbers, Parameter, Privacy, given, q

start = PAPER.quantity("start_gap", r"\psi", "risk of the first point above the infimum, at most", unit=LOSS)

selection_epsilon = 2 * sqrt(q.rho)
size = selection_epsilon * q.n / q.d
warm_risk = 2 * q.G * q.D / (selection_epsilon * q.n) * (q.d + q.d * log(1 + sqrt(2) * size) + log(2 / q.zeta))


def warm(formula: Expr) -> Expr:
    """Return a formula of the statement without a warm start, for an initial gap of ψ and failure probability ζ/2."""
    return formula.xreplace({q.Delta_F: start, q.zeta: q.zeta / 2})


def selection(at: Numbers) -> Mechanism:
    share = at.relation.sensitivity_factor  # ε_E is for replace-one; an added record moves the risk by half as much
    return ExponentialMechanism(at.up(selection_epsilon * share / 2), relation=at.relation)


def mechanism(at: Numbers) -> Mechanism:
    return selection(at) @ Gaussian(at.down(2 / sqrt(q.rho)))


GOOD_START = "the first point is known to be as good"
OF_THE_WALK = tuple(Condition(warm(one.holds), one.why) for one in cold.STANDING)
STANDING = (*OF_THE_WALK, Condition(start >= warm_risk, GOOD_START))

THEOREM = PAPER.theorem(
    id="second-order-path-noise/warm-start",
    title="a private second-order stationary point by noise along the path, from a good point",
    where="derived here; compare Lowy, Ullman & Wright 2024, Algorithms 2 and 4, Corollaries 4.4 and 7.1",
    bounds="sample-size, probability",
    status="proved here",
    assumptions=(
        *(given.LIPSCHITZ, given.SMOOTH, given.HESSIAN_LIPSCHITZ, given.BOUNDED_RISK, given.UNCONSTRAINED),
        NEAR_MINIMISER,
    ),
    parts=(
        Bound(
            sqrt(2 * (warm(cold.gradients) + warm(cold.hessian_account)) / q.rho),
            meaning="how many records suffice, if n is as large",
            unit=SAMPLES,
            conditions=STANDING,
        ),
        Bound(warm(cold.gradients), "gradient_account", "A_g: n²ρ/2 that the gradients take", unit=PURE),
        Bound(warm(cold.hessian_account), "hessian_account", "A_h: n²ρ/2 that the Hessians take", unit=PURE),
        Bound(cold.moves, "steps", "within as many moves a point is returned"),
        Bound(
            cold.work,
            "gradients",
            "after the draw, at most, a Hessian counted as d of them",
            unit=PURE,
            bases="loss length",
        ),
        Parameter(warm_risk, "start_gap", "ψ", unit=LOSS),
        Parameter(warm(cold.least_path), "path_length", "P, at least", conditions=STANDING[0]),
        Parameter(warm(cold.least_searches), "searches", "K, at least", conditions=STANDING[0]),
        Parameter(selection_epsilon, "epsilon", "ε_E of the exponential mechanism, with temperature ε_E n/(2GD)"),
    ),
    free=(q.alpha, cold.c, cold.s, cold.w, cold.window),
    reaches="sosp",
    privacy=Privacy(mechanism, "rho"),
    relies_on="dpbounds/second-order-path-noise lowy-ullman-wright-2024/lemma-4.2/explicit",
    derivation="second_order_path_noise.md",
    notes="""
    - It concerns the empirical risk, and is a proven form of Lowy et al.'s Corollary 4.4, whose order rests on the
      false Lemma 3.4 of Ganesh et al. Their Corollary 7.1, on the population risk, stays disputed.
    - The net has up to (1 + √2 ε_E n/d)^d points.
    - In the assumption on the set, ε stands for ε_E.
    """,
)
