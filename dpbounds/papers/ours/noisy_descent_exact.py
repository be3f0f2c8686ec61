r"""Noisy gradient descent $w_{t+1} = w_t - \eta(\nabla F(w_t) + \xi_t)$, $t < T$, on $\mathbb R^d$, with an $L$-smooth
$F$, $0 < \eta < 2/L$ and noise of mean 0 and second moment $d\sigma^2$ given the past. Let $R = t < T$ with probability
proportional to $\eta(1 - L\eta/2)$, and $R = T$ to $\frac1{2L}$. Then $$E \|\nabla F(w_R)\|^2 \le \frac{\Delta_F + T L
\eta^2 d\sigma^2/2}{T \eta (1 - L\eta/2) + 1/(2L)},$$ with equality for $F(w) = \frac L2 \|w\|^2$: for this choice of
the output the bound cannot be improved.
"""

from sympy import Expr, sqrt

from dpbounds.papers.ours import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import PURE, Bound, Condition, Parameter, Privacy, q

weight = q.eta * (1 - q.L * q.eta / 2)
weights = q.T * weight + 1 / (2 * q.L)
descends = Condition(q.eta < 2 / q.L, "a step decreases the risk on average")


def root(noise: Expr) -> Expr:
    """Return the square root of the bound, for a second moment of the noise."""
    return sqrt((q.Delta_F + q.T * q.L * q.eta**2 * noise / 2) / weights)


THEOREM = PAPER.theorem(
    title="the exact worst case of noisy gradient descent",
    where="derived here; compare Wang, Chen & Xu 2019, Algorithm 4",
    bounds="gradient-norm, expectation",
    status="proved here",
    assumptions="smooth risk, gradients near a common field, bounded risk, unconstrained",
    parts=(
        Bound(
            root(q.d * q.sigma**2),
            meaning="root mean square norm of the gradient at w_R",
            conditions=descends,
        ),
        Bound(
            root(2 * q.d * q.G**2 * q.T / (q.n**2 * q.rho)),
            "private",
            "the same at the noise of a budget ρ",
            conditions=descends,
        ),
        Parameter(q.G / q.n * sqrt(2 * q.T / q.rho), "noise_stddev", "σ"),
        Parameter(1 / (2 * q.L * weights), "last_weight", "P(R = T)", unit=PURE, conditions=descends),
    ),
    free="T eta",
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), "rho T"),
    derivation="noisy_descent_exact.md",
    notes="""
    - In the private class, too: the losses (L/2)|w|² + <z, w>, |z| ≤ G, have gradients within G of the field Lw. They
      are not G-Lipschitz: for Lipschitz losses the bound is exact for the noise that is given.
    - T releases are enough for T + 1 iterates; a run that returns one of T of them should pay for T - 1.
    - At η = 1/L all weights are equal.
    """,
)
