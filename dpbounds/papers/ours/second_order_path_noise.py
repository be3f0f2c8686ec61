r"""On $\mathbb R^d$, keep one estimate $g$ of $\nabla F(w)$: after a move of length $l$ from $w$ to $w'$, with
$u = Ll/G$, $g \leftarrow e^{-u} g + [\nabla F(w') - e^{-u} \nabla F(w)] + \sqrt{V(1 - e^{-2u})}\, h$, $h \sim N(0, I)$.
A path of length $P$ then costs $\frac2{n^2V}(G^2 + 2GLP)$ of zCDP, however many moves it has. While
$\|g\| > (1-w)\alpha$ move by $-g/L$; else release the Hessian with noise $N(0, s_H^2)$ on and $N(0, s_H^2/2)$ off the
diagonal, and if its smallest eigenvalue is below $-\frac{1+c}2 \sqrt{\rho_H \alpha}$ move by $s\sqrt{\alpha/\rho_H}$
along its eigenvector, in the direction whose inner product with $g$ is not positive; else return $w$. Return $w$ also
before a release that would exceed the path $P$ or $K$ Hessians.

If $n^2\rho \ge A_g + A_h$ this is $\rho$-zCDP under replace-one (and $\sqrt{2\rho}$-GDP: all releases are Gaussian),
and with probability $1 - \zeta$ it returns an $\alpha$-SOSP. So $n$ is of the order of $\sqrt{GL\Delta_F d/\rho}\,
\alpha^{-3/2} + G\sqrt{d/\rho}\, \alpha^{-1}$, besides $d L \sqrt{\Delta_F/\rho}\, \rho_H^{-1/4} \alpha^{-5/4} + d L
(\rho \rho_H\alpha)^{-1/2}$ for the Hessians, up to logarithms.
"""

from fractions import Fraction

from sympy import Expr, Rational, exp, floor, log, sqrt

from dpbounds.papers.ours import PAPER, searches
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import (
    CURVATURE,
    GRADIENT,
    LENGTH,
    PROBABILITY,
    PURE,
    SAMPLES,
    Bound,
    Condition,
    Domain,
    Parameter,
    Privacy,
    q,
)

c = PAPER.quantity("curvature_kept", "c", "share of √(ρ_H α) that a direction found has", domain=PROBABILITY)
s = PAPER.quantity(
    "curvature_length", "s", "length of a curvature move, in √(α/ρ_H)", domain=Domain(Fraction(0), Fraction(3))
)
w = PAPER.quantity(
    "gradient_error",
    "w",
    "largest error of a gradient, in α",
    domain=Domain(Fraction(0), Fraction(1, 4), upper_open=False),
)
window = PAPER.quantity("window", "v", "length of the windows of the maximal inequality, in u")
path = PAPER.quantity("path_length", "P", "length of all moves together, at most", unit=LENGTH)

bend = sqrt(q.rho_H * q.alpha)
drop = c * s / 2 - s**2 / 6 - w  # c_s: a move lowers F by its length times α times this, at least
least_path = q.Delta_F / (drop * q.alpha)
_searches = q.Delta_F * sqrt(q.rho_H) / (s * drop * q.alpha ** Rational(3, 2))
least_searches = floor(_searches) + 1
moves = q.L * path / ((1 - w) * q.alpha) + searches
work = q.n * (1 + moves + q.d * searches)


def radius_square(failure: Expr) -> Expr:
    """Return a²: with probability 1 - failure no error along the path exceeds a√V."""
    tail = log(2 * (floor(q.L * path / (q.G * window)) + 1) / failure)
    return exp(2 * window) * (q.d + 2 * sqrt(q.d * tail) + 2 * tail)


def gradient_account(failure: Expr) -> Expr:
    """Return A_g, the n²ρ that the gradients need."""
    return 2 * radius_square(failure) * (q.G**2 + 2 * q.G * q.L * path) / (w * q.alpha) ** 2


gradients = gradient_account(q.zeta / 2)
gradient_stddev = w * q.alpha / sqrt(radius_square(q.zeta / 2))
gradient_threshold = (1 - w) * q.alpha
curvature_threshold = -(1 + c) / 2 * bend
curvature_move = s * sqrt(q.alpha / q.rho_H)
hessian_radius = sqrt(q.d) + sqrt(log(4 * searches / q.zeta))  # operator norm of the noise, over √2 s_H
hessian_error = (1 - c) / 2 * bend
hessian_stddev = hessian_error / (sqrt(2) * hessian_radius)
hessian_account = 4 * q.d * searches * (q.L * hessian_radius / hessian_error) ** 2

STANDING = (
    Condition(drop > 0, "moves lower the risk by more than their errors may raise it"),
    Condition(q.alpha * q.rho_H <= q.L**2, "beyond that no curvature is too low"),
    Condition(path >= least_path, "the risk cannot fall for longer"),
    Condition(searches >= _searches, "nor be lowered by more curvature moves"),
)
ASSUMED = "gradients near a common field, smooth, Hessian-Lipschitz, bounded risk, unconstrained"

THEOREM = PAPER.theorem(
    title="a private second-order stationary point by noise along the path",
    where="derived here; compare Ganesh, Liu, Oh & Thakurta 2023, Lemma 3.6 and Theorem 4.2, and Xu et al. 2026",
    bounds="sample-size, probability",
    status="proved here",
    assumptions=ASSUMED,
    parts=(
        Bound(
            sqrt((gradients + hessian_account) / q.rho),
            meaning="how many records suffice",
            unit=SAMPLES,
            conditions=STANDING,
        ),
        Bound(gradients, "gradient_account", "A_g: n²ρ that the gradients take", unit=PURE),
        Bound(hessian_account, "hessian_account", "A_h: n²ρ that the Hessians take", unit=PURE),
        Bound(moves, "steps", "within as many moves a point is returned"),
        Bound(
            work,
            "gradients",
            "gradients of one record, at most, a Hessian counted as d of them",
            unit=PURE,
            bases="loss length",
        ),
        Parameter(least_path, "path_length", "P, at least", conditions=STANDING[0]),
        Parameter(least_searches, "searches", "K, at least", conditions=STANDING[0]),
        Parameter(gradient_stddev, "noise_stddev", "√V", unit=GRADIENT),
        Parameter(hessian_stddev, "hessian_noise_stddev", "s_H, on the diagonal", unit=CURVATURE),
        Parameter(gradient_threshold, "gradient_threshold", "a gradient step is taken above it", unit=GRADIENT),
        Parameter(curvature_threshold, "curvature_threshold", "a curvature move is made below it", unit=CURVATURE),
        Parameter(curvature_move, "curvature_move", "length of a curvature move", unit=LENGTH),
    ),
    free=(q.alpha, c, s, w, window),
    reaches="sosp",
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 / q.rho))), "rho"),
    derivation="second_order_path_noise.md",
    notes="""
    - Good parameters (c, s, w, v) for G = L = ρ_H = Δ_F = 1, at α = .1, .01 and .001: (.787, 1.346, .102, .02), (.823,
      1.374, .124, .02), (.858, 1.397, .147, .018) for d = 10; (.707, 1.292, .058, .006), (.742, 1.309, .075, .009),
      (.777, 1.335, .096, .009) for d = 100. The algorithm looks for its own.
    - P and K suffice for the worst problem. Runs on other problems may use a thousandth of them; the rest of the budget
      is spent all the same, because the budget is that of the longest run.
    - The exponent 2/3 of α in d^(1/2)/n is claimed by Ganesh et al. 2023 and, for minimax problems, by Xu et al. 2026.
    """,
)
