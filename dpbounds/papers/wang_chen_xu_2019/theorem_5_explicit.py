r"""On unit l2 balls the output of DP-FW-L2 with any $T \ge 1$ and $0 < \gamma \le 1$ has an expected excess
population risk of at most $\mu \big(\frac{\Delta_F}{\gamma T} + \sigma w_C + 2 L \gamma + \frac{8 (L + G)}{\sqrt
n}\big)$, with $\mu = C_\sigma/2c_\sigma$ for the generalised linear model and $\mu = C_\psi/2\kappa$ for robust
regression with $h(s) \ge \kappa s$ on $(0, 2]$. $G$ and $L$ bound the first two derivatives of the loss in $\langle
w, x\rangle$ (see assumption-2), and $w_C \le \sqrt d$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, influence_constant, link_constant, link_slope, restoring_slope
from dpbounds.papers.wang_xu_2019 import theorem_4_explicit as on_the_sample
from dpbounds.theorems.language import Bound, Condition, Parameter, Privacy, q, sqrt

_sampling_error = 8 * (q.L + q.G) / sqrt(q.n)
_total = on_the_sample.gap.subs(q.D, 2) + _sampling_error
risk = link_constant / (2 * link_slope) * _total
best_steps = on_the_sample.best_steps.subs(q.D, 2)

# features and parameters are in unit balls, and the sampling error is not a matter of copies: only losses have units
THEOREM = PAPER.theorem(
    title="population risk of DP-FW-L2, with constants",
    bounds="excess-population-risk, expectation",
    assumptions="monotone link, i.i.d. records",
    parts=(
        Bound(risk, meaning="generalised linear model", bases="loss"),
        Bound(
            influence_constant / (2 * restoring_slope) * _total,
            "robust-regression",
            "robust regression with h(s) >= κs on (0, 2]",
            bases="loss",
        ),
        Bound(
            link_constant / (2 * link_slope) * (on_the_sample.tuned.subs(q.D, 2) + _sampling_error),
            "tuned",
            "generalised linear model, with the noise, steps (rounded up) and step size below",
            conditions=Condition(best_steps >= q.Delta_F / (2 * q.L), "then γ <= 1 is the best step"),
            bases="loss",
        ),
        Parameter(on_the_sample.best_fraction.subs(q.D, 2), "step_fraction", "γ", bases="loss"),
        Parameter(best_steps, "steps", "round up: best number of steps for a budget ρ", bases="loss"),
        Parameter(on_the_sample.noise, "noise_stddev", "σ for a budget ρ and T steps"),
    ),
    privacy=Privacy(on_the_sample.mechanism, "rho T"),
    algorithm="wang-chen-xu-2019/algorithm-2",
    relies_on="wang-xu-2019/theorem-4/explicit",
    derivation="population.md",
)
