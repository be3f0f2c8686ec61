r"""DP-FW-L1: on the convex hull of a finite set $A$, pick each Frank-Wolfe vertex by the exponential mechanism with
score $-\langle s, \nabla F(x_t) \rangle$ and a pure budget of $\varepsilon/\sqrt{8 T \ln(1/\delta)}$ per step, step
to $x_{t+1} = (1 - \gamma_t) x_t + \gamma_t \tilde x_t$, and return $x_R$, $R$ uniform. The score's sensitivity is $2
G \|C\|_1 / n$ under replace-one, with $G$ the l1 Lipschitz constant.
"""

from fractions import Fraction

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Numbers, Parameter, Privacy, Unit, log, q, sqrt

step_budget = q.epsilon / sqrt(8 * q.T * log(1 / q.delta))


def mechanism(at: Numbers) -> Mechanism:
    # the budget is meant for replace-one; adding or removing a record moves the scores by half as much
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ExponentialMechanism(share * at.up(step_budget), relation=at.relation) ** at.count(q.T)


THEOREM = PAPER.theorem(
    title="DP-FW-L1, Frank-Wolfe with the exponential mechanism",
    where="Further Reducing the Utility, Algorithm 4",
    bounds="frank-wolfe-gap",
    status="proved",
    assumptions="smooth risk, Lipschitz in l1, polytope",
    parts=(
        Parameter(step_budget, "step_epsilon", "pure budget of one choice"),
        Parameter(
            2 * q.G_1 * q.C_1 / q.n,
            "score_sensitivity",
            "how much a replaced record changes any score",
            unit=Unit(1, 0, -1),
        ),
    ),
    privacy=Privacy(mechanism, "epsilon delta T"),
    notes="""
    Because the exponential mechanism has bounded range, T choices with budget ε₀ are (T ε₀²/8)-zCDP: the printed budget
    is about four times smaller than needed, see wang-xu-2019/theorem-6/explicit.
    """,
)
