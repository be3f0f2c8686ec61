r"""DP-FW-L1: on a polytope with vertices $A$, pick each Frank-Wolfe vertex by the exponential mechanism with score
$-\langle s, \nabla \hat F(w_t)\rangle$ and a pure budget of $\varepsilon/\sqrt{8 T \ln(1/\delta)}$ per step, step to
$w_{t+1} = (1 - \gamma_t) w_t + \gamma_t \tilde w_t$, and return $w_R$, $R$ uniform. On the unit l1 ball with
$\|x\|_\infty \le 1$ a replaced record moves a score by at most $2 G_1/n$.
"""

from fractions import Fraction

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Numbers, Parameter, Privacy, Unit, log, q, sqrt

step_budget = q.epsilon / sqrt(8 * q.T * log(1 / q.delta))


def mechanism(at: Numbers) -> Mechanism:
    # the budget is meant for replace-one; adding or removing a record moves the scores by half as much
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ExponentialMechanism(share * at.up(step_budget), relation=at.relation) ** at.count(q.T)


THEOREM = PAPER.theorem(
    id="algorithm-3",
    title="DP-FW-L1, Frank-Wolfe with the exponential mechanism",
    statement=__doc__,
    where="Section 4, Algorithm 3",
    bounds="excess-population-risk",
    status="proved",
    assumptions="Lipschitz in l1, polytope",
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
    T such choices are (ε²/64 ln(1/δ))-zCDP (bounded range): the printed budget is about four times smaller than needed,
    and is kept for ε <= 48 ln(1/δ).
    """,
)
