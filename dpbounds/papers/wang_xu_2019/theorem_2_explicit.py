r"""For every $T \ge 1$, step size $0 < \gamma < 2/L$ and noise $\sigma$ per coordinate, the output $x_R$ of DP-PGD
satisfies $\sqrt{E \|P_R\|^2} \le \sqrt{A}$ for the noisy mapping and $\sqrt{E \|\bar P_R\|^2} \le \sqrt{A} +
\sigma\sqrt d$ for the mapping at the true gradient, with $A = \frac{\Delta_F}{\gamma a T} + \frac{d \sigma^2}{a}$, $a
= 1 - L\gamma/2$, and $\Delta_F \ge F^r(x_1) - \inf_C F^r$ (the regulariser included).

With $\sigma^2 = 2G^2 T/(n^2\rho)$ ($\rho$-zCDP under replace-one), $\gamma = 1/(2L)$ and $T = \lceil \frac nG
\sqrt{\rho L \Delta_F / d} \rceil$ steps, $A \le \frac{16}3 \frac Gn \sqrt{L \Delta_F d/\rho} + \frac83 \frac{d
G^2}{n^2\rho}$ (the second term pays for rounding $T$ up).
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Bound, Condition, Parameter, Privacy, Rational, q, sqrt

shrink = 1 - q.L * q.step_size / 2
mean_square = q.Delta_F / (q.step_size * shrink * q.T) + q.d * q.sigma**2 / shrink
at_the_gradient = sqrt(mean_square) + q.sigma * sqrt(q.d)
first = Rational(16, 3) * q.G * sqrt(q.L * q.Delta_F * q.d / q.rho) / q.n
short_step = Condition(q.step_size < 2 / q.L, "each step must decrease the risk")

THEOREM = PAPER.theorem(
    title="projected gradient of DP-PGD, with constants",
    bounds="projected-gradient-norm, expectation",
    assumptions="smooth risk, Lipschitz, bounded risk, closed convex set, convex regulariser",
    parts=(
        Bound(at_the_gradient, meaning="root mean square of the mapping at the true gradient", conditions=short_step),
        Bound(
            sqrt(mean_square),
            "noisy",
            "root mean square of the mapping at the noisy gradient (bounded by Theorem 2)",
            conditions=short_step,
        ),
        Bound(
            sqrt(first + Rational(8, 3) * q.d * q.G**2 / (q.n**2 * q.rho)),
            "tuned",
            "the noisy mapping with the noise, step size and steps below",
        ),
        Parameter(
            q.n / q.G * sqrt(q.rho * q.L * q.Delta_F / q.d), "steps", "round up: best number of steps for a budget ρ"
        ),
        Parameter(q.G / q.n * sqrt(2 * q.T / q.rho), "noise_stddev", "σ for a budget ρ and T steps"),
    ),
    in_text=((q.step_size, r"\gamma"),),
    free="T step_size",
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T), "rho T"),
    algorithm="wang-xu-2019/algorithm-1",
    derivation="theorem_2_explicit.md",
    notes="The constant step size 2/(3L) is slightly better: 27L/8 in place of 32L/9 in the product of both terms.",
)
