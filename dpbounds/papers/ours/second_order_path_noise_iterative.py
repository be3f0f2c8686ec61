r"""Variant of `dpbounds/second-order-path-noise` that searches for negative curvature by noisy power steps and forms no
Hessian: $n$ is of the order of $\sqrt{GL\Delta_F d/\rho}\, \alpha^{-3/2} + G\sqrt{d/\rho}\, \alpha^{-1}$ besides $L
\sqrt{d \Delta_F/\rho}\, \rho_H^{-1/4} \alpha^{-5/4} + L\sqrt d (\rho \rho_H\alpha)^{-1/2}$, up to logarithms.

A search restarts up to $R$ times, all searches together $N$ times: $y \sim N(0, I)$; $m$ times normalise $y$, compare
its quotient $-y^\top \nabla^2 F y/L$, plus a Gumbel variable over $\eta$, with the largest one so far, and add to $y$
the release $-\nabla^2F y/L + s_h h$. The direction of the largest is then checked: it is taken if its quotient plus
$N(0, s_c^2)$ is at least $(c + w_2)\lambda$, $\lambda = \sqrt{\rho_H \alpha}/L$. With $n^2\rho \ge A_g + A_h$ all
this is $\rho$-zCDP under replace-one and, if $\rho \le 12$, $\sqrt{2\rho}$-GDP, as $N$ choices count as $N + 3 + \ln N$
Gaussian releases; and it returns an $\alpha$-SOSP with probability $1 - \zeta$.
"""

from fractions import Fraction

from sympy import And, Max, Min, ceiling, erfc, exp, log, pi, sqrt

from dpbounds.papers.ours import PAPER, searches
from dpbounds.papers.ours.second_order_path_noise import (
    ASSUMED,
    STANDING,
    bend,
    c,
    gradient_account,
    least_path,
    least_searches,
    moves,
    radius_square,
    s,
    w,
    window,
)
from dpbounds.privacy.mechanisms import ZCDP, Gaussian, Mechanism
from dpbounds.theorems.language import (
    COUNT,
    GRADIENT,
    PROBABILITY,
    PURE,
    SAMPLES,
    Bound,
    Condition,
    Domain,
    Numbers,
    Parameter,
    Privacy,
    q,
)

small = PAPER.quantity(
    "small_ball",
    "x_{0}",
    "below it a top component is too small",
    domain=Domain(Fraction(0), Fraction(1, 2), upper_open=False),
)
overgrown = PAPER.quantity("overgrowth", "p_{3}", "probability that all others outgrow it", domain=PROBABILITY)
nu = PAPER.quantity(
    "power_noise", r"\nu", "noise of the power steps, in units of the noise that the top component tolerates"
)
w_1 = PAPER.quantity("selection_error", "w_{1}", "largest loss by a selection, in λ", domain=PROBABILITY)
w_2 = PAPER.quantity("check_error", "w_{2}", "error of a check, in λ", domain=PROBABILITY)
b = PAPER.quantity("restart_ratio", "b", "a choice: where restarts are worst", domain=PROBABILITY)
m = PAPER.quantity("power_steps", "m", "points of one restart", domain=COUNT)
R = PAPER.quantity(
    "restarts_of_a_search",
    "R",
    "restarts of one search, at most",
    domain=Domain(Fraction(2), lower_open=False, whole=True),
)
N = PAPER.quantity("restarts", "N", "restarts of all searches, at most", domain=COUNT)

lam = bend / q.L
kept = c + w_1 + 2 * w_2  # φ
miss = sqrt(2 / pi) * small + nu * sqrt(pi / 2) * exp(nu**2 / 2) * erfc(nu / sqrt(2)) + nu**2 / (2 * q.d) + overgrown
beta = nu**2 * (1 + lam) * (1 - kept) / (1 + nu**2)
others = 1 - ((1 - kept) * (1 + lam) - beta) * lam / (1 + lam) ** 2  # their growth over that of the top component
growth = 1 + R * b ** (R - 1) * (1 - b) ** 2 / (1 - R * b ** (R - 1) + (R - 1) * b**R)  # e^θ
# S: supremum of E[e^(θ restarts); found] over all success probabilities of a restart
largest = (growth - b) * (1 - b**R) / (1 - b)
enough = Min(searches * R, R + ((searches - 1) * log(largest) + log(4 / q.zeta)) / log(growth))
scale = log(8 * N * m / q.zeta) / (w_1 * lam)
check_stddev = w_2 * lam / sqrt(2 * log(8 * N / q.zeta))
step_stddev = sqrt(beta * lam / q.d)
check_threshold = (c + w_2) * lam
least_power_steps = ceiling(log(q.d / (small**2 * overgrown)) / -log(others))
least_restarts_of_a_search = Max(2, ceiling(log(4 * searches / q.zeta) / -log(miss)))
gradients = gradient_account(q.zeta / 4)
gradient_stddev = w * q.alpha / sqrt(radius_square(q.zeta / 4))
choices = N + 3 + log(N)  # as Gaussian releases
account = N * (2 * (m - 1) / step_stddev**2 + 2 / check_stddev**2) + 2 * choices * scale**2
work = q.n * (1 + moves + N * (m + 1))
memory = (m + 8) * q.d
passes = Condition(kept < 1, "a direction that is too curved passes its check")
found = Condition(miss < 1, "a restart may find it")
OF_SEARCHES = (
    passes,
    Condition(q.d * others**m <= small**2 * overgrown, "all other components stay below the top one"),
    Condition(And(miss < 1, 4 * searches * miss**R <= q.zeta), "a search finds what is there"),
    Condition(N >= enough, "this many restarts are not used up"),
)
LARGEST_RHO = 12  # up to there a choice's range, √(2ρ) at most, is one that is known to count as Gaussian noise


def mechanism(at: Numbers) -> Mechanism:
    if at[q.rho] > LARGEST_RHO:
        return ZCDP(at[q.rho], relation=at.relation)
    return Gaussian(at.down(sqrt(2 / q.rho)))


THEOREM = PAPER.theorem(
    id="second-order-path-noise/iterative",
    title="a private second-order stationary point without Hessians",
    where="derived here; compare Xu et al. 2026",
    bounds="sample-size, probability",
    status="proved here",
    assumptions=ASSUMED,
    parts=(
        Bound(
            sqrt((gradients + account) / q.rho),
            meaning="how many records suffice",
            unit=SAMPLES,
            conditions=(*STANDING, *OF_SEARCHES),
        ),
        Bound(gradients, "gradient_account", "A_g: n²ρ that the gradients take", unit=PURE),
        Bound(account, "search_account", "A_h: n²ρ that the searches take", unit=PURE, conditions=passes),
        Bound(miss, "miss", "p_f: a restart finds nothing where curvature is too low", unit=PURE, increasing_in=(nu,)),
        Bound(moves, "steps", "within as many moves a point is returned"),
        Bound(
            work,
            "gradients",
            "gradients of one record, at most, a Hessian times a vector counted as one",
            unit=PURE,
            bases="loss length",
        ),
        Bound(memory, "memory", "numbers held beside the data: the points of a restart, and a few more", unit=PURE),
        Parameter(least_path, "path_length", "P, at least", conditions=STANDING[0]),
        Parameter(least_searches, "searches", "K, at least", conditions=STANDING[0]),
        Parameter(
            least_power_steps,
            "power_steps",
            "m, at least",
            conditions=passes,
            increasing_in=(q.d, q.L, nu, c, w_1, w_2),
            decreasing_in=(q.rho_H, q.alpha, small, overgrown),
        ),
        Parameter(
            least_restarts_of_a_search,
            "restarts_of_a_search",
            "R, at least, and 2",
            conditions=found,
            increasing_in=(searches, nu, small, overgrown),
            decreasing_in=(q.d, q.zeta),
        ),
        Parameter(ceiling(enough), "restarts", "N, at least", decreasing_in="zeta"),
        Parameter(gradient_stddev, "noise_stddev", "√V of the gradients", unit=GRADIENT),
        Parameter(step_stddev, "step_noise_stddev", "s_h", unit=PURE, conditions=passes),
        Parameter(scale, "selection_scale", "η", unit=PURE),
        Parameter(check_stddev, "check_noise_stddev", "s_c", unit=PURE),
        Parameter(check_threshold, "check_threshold", "a direction is taken above it", unit=PURE),
    ),
    free=(q.alpha, c, s, w, window, small, overgrown, nu, w_1, w_2, b),
    reaches="sosp",
    privacy=Privacy(mechanism, "rho"),
    derivation="second_order_path_noise.md",
    notes="""
    - Good parameters for d = 1000 and α = .01, where G = L = ρ_H = Δ_F = 1: c = .739, s = 1.28, w = .08, v = .00655,
      x_0 = .0635, p_3 = .0273, ν = .54, w_1 = .0377, w_2 = .0111, b = .749. There n√ρ = 4.7e6 with ζ = .01, and 1.2e7
      with Hessians; up to d = 80 Hessians need fewer records, and at d = 100 a fortieth of the gradients.
    - In every spectrum that was tried a restart fails far less often than p_f, so that the bound can be improved.
    """,
)
