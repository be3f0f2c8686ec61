r"""With features in the unit $\ell_\infty$ ball and parameters in the unit l1 ball the output of DP-FW-L1 with budget
$\varepsilon_0$ per step, any $T \ge 1$ and $0 < \gamma \le 1$ has an expected excess population risk of at most $\mu
\big(\frac{\Delta_F}{\gamma T} + 2 L \gamma + \frac{4 G}{n\varepsilon_0} \ln 2d + 8 (L + G) \sqrt{\frac{2 \ln
2d}n}\big)$, with $\mu = C_\sigma/2c_\sigma$ for the generalised linear model and $C_\psi/2\kappa$ for robust regression
with $h(s) \ge \kappa s$ on $(0, 2]$. $\varepsilon_0 = \sqrt{8\rho/T}$ keeps $\rho$-zCDP.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, influence_constant, link_constant, link_slope, restoring_slope
from dpbounds.papers.wang_xu_2019 import theorem_6_explicit as on_the_sample
from dpbounds.theorems.language import Bound, Condition, Expr, Parameter, Privacy, log, q, sqrt


def _on_the_ball(expression: Expr) -> Expr:
    return expression.subs({q.D_1: 2, q.C_1: 1, q.N: 2 * q.d})


_sampling_error = 8 * (q.L_1 + q.G_1) * sqrt(2 * log(2 * q.d) / q.n)
risk = link_constant / (2 * link_slope) * (_on_the_ball(on_the_sample.gap) + _sampling_error)
robust_risk = influence_constant / (2 * restoring_slope) * (_on_the_ball(on_the_sample.gap) + _sampling_error)
best_steps = _on_the_ball(on_the_sample.best_steps)

THEOREM = PAPER.theorem(
    title="population risk of DP-FW-L1, with constants",
    bounds="excess-population-risk, expectation",
    assumptions="monotone link, i.i.d. records, l1 ball or simplex",
    parts=(
        Bound(risk, meaning="generalised linear model", bases="loss"),
        Bound(robust_risk, "robust-regression", "robust regression with h(s) >= κs on (0, 2]", bases="loss"),
        Bound(
            link_constant / (2 * link_slope) * (_on_the_ball(on_the_sample.tuned) + _sampling_error),
            "tuned",
            "generalised linear model, with the budget, steps (rounded up) and step size below",
            conditions=Condition(best_steps >= q.Delta_F / (2 * q.L_1), "then γ <= 1 is the best step"),
            bases="loss",
        ),
        Parameter(on_the_sample.step_budget, "step_epsilon", "budget of one choice"),
        Parameter(_on_the_ball(on_the_sample.best_fraction), "step_fraction", "γ", bases="loss"),
        Parameter(best_steps, "steps", "round up: best number of steps for a budget ρ", bases="loss"),
    ),
    privacy=Privacy(on_the_sample.mechanism, "rho T"),
    algorithm="wang-chen-xu-2019/algorithm-3",
    relies_on="wang-xu-2019/theorem-6/explicit",
    derivation="population.md",
)
