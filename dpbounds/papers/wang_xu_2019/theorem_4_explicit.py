r"""For a compact convex set of diameter $D$ and Gaussian width $w_C$, every $T \ge 1$ and step $0 < \gamma \le 1$, the
output of DP-FW-L2 has an expected Frank-Wolfe gap of at most
$\frac{\Delta_F}{\gamma T} + \sigma w_C + \frac{L \gamma D^2}2$.

With $\sigma^2 = 2G^2T/(n^2\rho)$ ($\rho$-zCDP under replace-one) and $\gamma = \min(1, \sqrt{2\Delta_F/(L D^2 T)})$ the
first and the last term are together at most $\sqrt{2 L D^2 \Delta_F / T}$ once $T \ge 2\Delta_F/(L D^2)$, and
$T = D\sqrt{L \Delta_F \rho}\, n/(w_C G)$ balances them with the noise.
"""

from dpbounds.papers.wang_xu_2019 import PAPER, step_fraction
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import Bound, Condition, Min, Numbers, Parameter, Privacy, q, sqrt

curvature = q.L * step_fraction * q.D**2 / 2
gap = q.Delta_F / (step_fraction * q.T) + q.sigma * q.w_C + curvature
best_fraction = Min(1, sqrt(2 * q.Delta_F / (q.L * q.D**2 * q.T)))
best_steps = q.D * sqrt(q.L * q.Delta_F * q.rho) * q.n / (q.w_C * q.G)
per_step = sqrt(2) * q.G * q.w_C / (q.n * sqrt(q.rho))  # σ w_C = per_step √T
travel = q.D * sqrt(2 * q.L * q.Delta_F)
tuned = travel / sqrt(best_steps) + per_step * sqrt(best_steps + 1)
noise = q.G / q.n * sqrt(2 * q.T / q.rho)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * q.T / q.rho))) ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="Frank-Wolfe gap of DP-FW-L2, with constants",
    bounds="frank-wolfe-gap, expectation",
    assumptions="smooth risk, Lipschitz, bounded risk, bounded set",
    parts=(
        Bound(gap, meaning="expected gap of the output"),
        Bound(
            tuned,
            "tuned",
            "with the noise, steps (rounded up) and step size below",
            conditions=Condition(best_steps >= 2 * q.Delta_F / (q.L * q.D**2), "then γ <= 1 is the best step"),
        ),
        Parameter(best_fraction, "step_fraction", "γ"),
        Parameter(best_steps, "steps", "round up: best number of steps for a budget ρ"),
        Parameter(noise, "noise_stddev", "σ for a budget ρ and T steps"),
    ),
    privacy=Privacy(mechanism, "rho T"),
    algorithm="wang-xu-2019/algorithm-2",
    derivation="frank_wolfe.md",
)
