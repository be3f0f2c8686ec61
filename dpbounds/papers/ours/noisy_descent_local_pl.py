r"""Noisy gradient descent on $\mathbb R^d$ under the Polyak-Łojasiewicz inequality on a ball: $F$ is $L$-smooth, every
record's gradient lies within $G$ of one common vector field, and $\|\nabla F(w)\|^2 \ge 2\mu(F(w) - \inf F)$ wherever
$\|w - w_0\| \le r$. Let $w_{t+1} = w_t - \eta(\nabla F(w_t) + N(0, \sigma^2 I))$ with $\eta \le \frac1L$, and $A =
\sigma(\sqrt{dT} + \sqrt{2\ln(3/\zeta)})$. If $$r \ge \sqrt{\eta T(2\Delta_F + \eta A^2)} + \eta\sigma \sqrt T
(\sqrt d + \sqrt{2 \ln(6/\zeta)}),$$ all iterates lie in the ball and $$F(w_T) - \inf F \le (1 - \eta\mu)^T \Delta_F +
\frac{\sigma^2}{2\mu} \bigl(\sqrt d + \sqrt{2\eta\mu \ln(3/\zeta)}\bigr)^2$$ with probability at least $1 - \zeta$.

$T$ steps with $\sigma^2 = \frac{2G^2T}{n^2\rho}$ are $\rho$-zCDP under replace-one, wherever the walk goes. At
$\eta T\mu$ of the order of $\ln n$ the distance is about $\sqrt{2\Delta_F \ln(n)/\mu}$ as $n$ grows.
"""

from sympy import log, sqrt

from dpbounds.papers.ours import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import LENGTH, Bound, Condition, Parameter, Privacy, q

radius = PAPER.quantity("pl_radius", "r", "distance from the first iterate up to which PL holds", unit=LENGTH)

energy = (q.sigma * (sqrt(q.d * q.T) + sqrt(2 * log(3 / q.zeta)))) ** 2  # A²
walk = q.eta * q.sigma * sqrt(q.T) * (sqrt(q.d) + sqrt(2 * log(6 / q.zeta)))
distance = sqrt(q.eta * q.T * (2 * q.Delta_F + q.eta * energy)) + walk
floor = q.sigma**2 / (2 * q.mu) * (sqrt(q.d) + sqrt(2 * q.eta * q.mu * log(3 / q.zeta))) ** 2
conditions = (
    Condition(q.eta * q.L <= 1, "a step pays for its own noise"),
    Condition(q.eta * q.mu < 1, "the gap does not vanish in one step"),
    Condition(distance <= radius, "the walk stays where PL holds"),
)

THEOREM = PAPER.theorem(
    title="noisy gradient descent where PL holds in a ball around the start",
    where="derived here; compare Lowy, Ullman & Wright 2024, Section 3.2, and Menart et al. 2024",
    bounds="excess-empirical-risk, probability",
    status="proved here",
    assumptions="smooth risk, gradients near a common field, Polyak-Łojasiewicz near the start, bounded risk, "
    "unconstrained",
    parts=(
        Bound(
            (1 - q.eta * q.mu) ** q.T * q.Delta_F + floor,
            meaning="excess empirical risk of the last iterate, but for a probability ζ",
            conditions=conditions,
        ),
        Bound(distance, "distance", "no iterate is further from the first", unit=LENGTH, conditions=conditions[:2]),
        Parameter(q.G / q.n * sqrt(2 * q.T / q.rho), "noise_stddev", "σ"),
    ),
    free="T eta",
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), "rho T"),
    derivation="noisy_descent_local_pl.md",
    notes="""
    - Outside of the ball F may have other local minima, saddles and maxima.
    - inf F is over all of R^d: a ball around a local minimum that is not global does not satisfy it.
    """,
)
