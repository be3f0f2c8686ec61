r"""Gradient descent with noise that decreases from step to step: if $F$ on $R^d$ is $L$-smooth and $\mu$-PL and every
record's gradient lies within $G$ of one common vector field, $w_{t+1} = w_t - \eta(\nabla F(w_t) + N(0, \sigma_t^2 I))$
with $0 < \eta < 2/L$, $c = 2\mu\eta(1 - L\eta/2)$, $\kappa = \sqrt{1-c}$ and $\sigma_t^2 = \frac{2G^2}{n^2\rho}
\frac{S}{\kappa^{T-1-t}}$, $S = \frac{1 - \kappa^T}{1-\kappa}$, is $\rho$-zCDP under replace-one after $T$ steps, and
$E F(w_T) - \inf F$ is at most $(1-c)^T \Delta_F + \frac{L d G^2 \eta^2}{n^2\rho} S^2$.

As $S \le 2/c$, the second term is at most $\frac{L d G^2}{\mu^2 (1 - L\eta/2)^2 n^2\rho}$: without the logarithm of $n$
of equal noise in all steps.
"""

from sympy import sqrt

from dpbounds.papers.ours import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import GRADIENT, Bound, Condition, Parameter, Privacy, q

c = 2 * q.mu * q.eta * (1 - q.L * q.eta / 2)
kappa = sqrt(1 - c)
total = (1 - kappa**q.T) / (1 - kappa)  # S
cost = q.L * q.d * q.G**2 / (q.n**2 * q.rho)
decay = (1 - c) ** q.T * q.Delta_F
contracts = (
    Condition(q.eta < 2 / q.L, "a step decreases the risk on average"),
    Condition(c < 1, "the risk does not vanish in one step"),
)
last = q.G / q.n * sqrt(2 * total / q.rho)

THEOREM = PAPER.theorem(
    title="falling noise under the Polyak-Łojasiewicz inequality",
    where="derived here; compare Wang, Chen & Xu 2019, Theorem 3",
    bounds="excess-empirical-risk, expectation",
    status="proved here",
    assumptions="smooth risk, gradients near a common field, Polyak-Łojasiewicz, all of space",
    parts=(
        Bound(
            decay + cost * q.eta**2 * total**2,
            meaning="mean excess empirical risk of the last iterate",
            conditions=contracts,
            increasing_in="L",
            decreasing_in="mu",
        ),
        Bound(
            decay + cost / (q.mu * (1 - q.L * q.eta / 2)) ** 2,
            "simple",
            "the same with S at its limit",
            conditions=contracts,
        ),
        Parameter(
            last, "noise_stddev", "σ of the last step", conditions=contracts, increasing_in="L", decreasing_in="mu"
        ),
        Parameter(
            last * kappa ** (-(q.T - 1) / 2),
            "first_noise_stddev",
            "σ₀ of the first",
            unit=GRADIENT,
            conditions=contracts,
            increasing_in="mu",
            decreasing_in="L",
        ),
    ),
    free="T eta",
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 / q.rho))), "rho"),
    derivation="geometric_noise_under_pl.md",
    notes="""
    - The T steps are composed into one Gaussian release: the sum of 1/σ_t² is n²ρ/(2G²).
    - Early noise is larger, because the later steps shrink it. A schedule gains nothing where the average of the
      squared gradients is bounded and not the last iterate.
    - The class is that of `dpbounds/langevin-under-pl`, whose tuned bound has ln n/2 besides.
    """,
)
