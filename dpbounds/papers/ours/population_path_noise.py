r"""On $\mathbb R^d$, with one estimate $g$ of $\nabla F(w)$ as in `second-order-path-noise`: while
$\|g\| > (1-w)\alpha$ move by $-g/L$; else return $w$. Return $w$ also before a move that would exceed the path $P$. If
$n^2\rho \ge A_g$ this is $\rho$-zCDP under replace-one (and $\sqrt{2\rho}$-GDP: all releases are Gaussian). For i.i.d.
records the gradients of empirical and population risk are with probability at least $1 - \zeta/2$ within $$u = \frac
G{\sqrt n} \Bigl(2 + \sqrt{2d \ln(1 + 4LP\sqrt n/G) + 2 \ln(2/\zeta)}\Bigr)$$ of each other at every point that the run
can reach. So with probability at least $1 - \zeta$ the gradient of the population risk is at most $\alpha + u$ at the
point that is returned. There is no search for negative curvature, and no assumption on Hessians.

At a budget of $(\varepsilon, \delta)$, with $\nu = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$, that is of the order of
$G\sqrt{d/n} + (\nu\sqrt{GL\Delta_F})^{2/3} + G\nu$, up to logarithms.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.papers.ours import PAPER
from dpbounds.papers.ours.second_order_path_noise import gradient_account, path, radius_square, w, window
from dpbounds.papers.ours.second_order_path_noise_rate import noise
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import GRADIENT, PURE, Bound, Condition, Parameter, Privacy, Rate, q

drop = (1 - 3 * w) / 2  # least decrease of F by a move, in units of its length times α
least_path = q.Delta_F / (drop * q.alpha)
gradient_threshold = (1 - w) * q.alpha
moves = q.L * path / gradient_threshold
work = q.n * (1 + moves)
account = gradient_account(q.zeta / 2)
gradient_stddev = w * q.alpha / sqrt(radius_square(q.zeta / 2))


def deviation(reach: Expr) -> Expr:
    """Return u for a ball of the given radius around a fixed point."""
    net = q.d * log(1 + 4 * q.L * reach * sqrt(q.n) / q.G)
    return q.G / sqrt(q.n) * (2 + sqrt(2 * net + 2 * log(2 / q.zeta)))


LONG_ENOUGH = Condition(path >= least_path, "the risk cannot fall for longer")
FOUND = "a small gradient of the empirical risk is found"
LARGE_DELTA = Condition(q.epsilon <= log(1 / q.delta), "ρ is of the order of ε²/ln(1/δ)")
sampling = q.G * sqrt(q.d / q.n)

THEOREM = PAPER.theorem(
    title="a private small gradient of the population risk by noise along the path",
    where="derived here; compare Lowy, Ullman & Wright 2024, Algorithm 4, and Arora et al. 2023, Theorem 3.2",
    bounds="population-gradient-norm, probability",
    status="proved here",
    assumptions="gradients near a common field, smooth, bounded risk, unconstrained, i.i.d. records",
    parts=(
        Bound(
            q.alpha + deviation(path),
            meaning="κ",
            conditions=(LONG_ENOUGH, Condition(sqrt(account / q.rho) <= q.n, FOUND)),
            bases="loss length",
        ),
        Bound(deviation(path), "gradient_deviation", "u", unit=GRADIENT, bases="loss length"),
        Bound(account, "gradient_account", "A_g: n²ρ that the gradients take", unit=PURE),
        Bound(moves, "steps", "within as many moves a point is returned", unit=PURE, bases="loss length"),
        Bound(work, "gradients", "gradients of one record, at most", unit=PURE, bases="loss length"),
        Rate(
            sampling + (noise * sqrt(q.G * q.L * q.Delta_F)) ** Rational(2, 3) + q.G * noise,
            meaning="κ",
            conditions=LARGE_DELTA,
            logs_hidden=True,
            bases="loss length",
        ),
        Parameter(least_path, "path_length", "P, at least"),
        Parameter(gradient_stddev, "noise_stddev", "√V", unit=GRADIENT),
        Parameter(gradient_threshold, "gradient_threshold", "a move is made above it", unit=GRADIENT),
    ),
    free=(q.alpha, w, window),
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 / q.rho))), "rho"),
    derivation="population_path_noise.md",
    notes="""
    - Δ_F bounds the gap of the empirical risk, for the records that were drawn.
    - At constants 1 its order is (√d/(nε))^(2/3) where d n ε⁴ ≤ 1. For n ε between √d and d that is below
      (√d/(nε))^(1/2), the best order of the other statements.
    """,
)
