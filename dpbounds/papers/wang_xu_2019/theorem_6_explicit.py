r"""If gradients change by at most $L_1 \|w - w'\|_1$ in $\ell_\infty$ and $D_1$ is the l1 diameter of the hull of $N$
points, the output of DP-FW-L1 with budget $\varepsilon_0$ per step and step $0 < \gamma \le 1$ has an expected
Frank-Wolfe gap of at most $\frac{\Delta_F}{\gamma T} + \frac{L_1 \gamma D_1^2}2 + \frac{4 G_1 C_1}{n \varepsilon_0}
\ln N$. With $\varepsilon_0 = \sqrt{8\rho/T}$ the run is $\rho$-zCDP (bounded range), four times the printed budget.
"""

from fractions import Fraction

from dpbounds.papers.wang_xu_2019 import PAPER, step_fraction
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Bound, Condition, Min, Numbers, Parameter, Privacy, log, q, sqrt

selection = 4 * q.G_1 * q.C_1 / (q.n * q.epsilon_0) * log(q.N)
gap = q.Delta_F / (step_fraction * q.T) + q.L_1 * step_fraction * q.D_1**2 / 2 + selection
step_budget = sqrt(8 * q.rho / q.T)
best_fraction = Min(1, sqrt(2 * q.Delta_F / (q.L_1 * q.D_1**2 * q.T)))
travel = q.D_1 * sqrt(2 * q.L_1 * q.Delta_F)
best_steps = travel * q.n * sqrt(q.rho) / (sqrt(2) * q.G_1 * q.C_1 * log(q.N))
per_step = sqrt(2) * q.G_1 * q.C_1 * log(q.N) / (q.n * sqrt(q.rho))
tuned = travel / sqrt(best_steps) + per_step * sqrt(best_steps + 1)


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ExponentialMechanism(share * at.up(step_budget), relation=at.relation) ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="Frank-Wolfe gap of DP-FW-L1, with constants",
    bounds="frank-wolfe-gap, expectation",
    assumptions="smooth in l1, Lipschitz in l1, bounded risk, polytope",
    parts=(
        Bound(gap, meaning="expected gap of the output"),
        Bound(
            tuned,
            "tuned",
            "with the budget, steps (rounded up) and step size below",
            conditions=(
                Condition(q.N >= 2, "there is something to choose"),
                Condition(best_steps >= 2 * q.Delta_F / (q.L_1 * q.D_1**2), "then γ <= 1 is the best step"),
            ),
            increasing_in="N",
        ),
        Parameter(step_budget, "step_epsilon", "budget of one choice"),
        Parameter(best_fraction, "step_fraction", "γ"),
        Parameter(best_steps, "steps", "round up: best number of steps for a budget ρ"),
    ),
    privacy=Privacy(mechanism, "rho T"),
    algorithm="wang-xu-2019/algorithm-4",
    derivation="frank_wolfe.md",
)
