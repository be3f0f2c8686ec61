r"""DP-FW-L1: on a polytope with vertices $A$, pick each Frank-Wolfe vertex by the exponential mechanism with score
$-\langle s, \nabla \hat F(w_t)\rangle$ and a pure budget of $\varepsilon/\sqrt{8 T \ln(1/\delta)}$ per step, step to
$w_{t+1} = (1 - \gamma_t) w_t + \gamma_t \tilde w_t$, and return $w_R$, $R$ uniform. On the unit l1 ball with
$\|x\|_\infty \le 1$ a replaced record moves a score by at most $2 G_1/n$.
"""

from fractions import Fraction

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, delta, epsilon, l1_norm_bound, lipschitz_l1, steps
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ_L1, POLYTOPE
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Status, Theorem
from dpbounds.theorems.spending import Numbers


def step_budget() -> Expr:
    return epsilon / sqrt(8 * steps * log(1 / delta))


def score_sensitivity() -> Expr:
    return 2 * lipschitz_l1 * l1_norm_bound / dataset_size


def mechanism(at: Numbers) -> Mechanism:
    # the budget is meant for replace-one; adding or removing a record moves the scores by half as much
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ExponentialMechanism(share * at.up(step_budget()), relation=at.relation) ** at.count(steps)


THEOREM = Theorem(
    id="wang-chen-xu-2019/algorithm-3",
    title="DP-FW-L1, Frank-Wolfe with the exponential mechanism",
    statement=__doc__,
    where="Section 4, Algorithm 3",
    metric=Metric.EXCESS_POPULATION_RISK,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ_L1, POLYTOPE),
    parts=(
        Parameter(
            formula=step_budget,
            name="step_epsilon",
            unit=Unit(samples=-1),
            meaning="pure budget of one choice",
            increasing_in=(epsilon, delta),
            decreasing_in=(steps,),
        ),
        Parameter(
            formula=score_sensitivity,
            name="score_sensitivity",
            unit=Unit(1, 0, -1),
            meaning="how much a replaced record changes any score",
            increasing_in=(lipschitz_l1, l1_norm_bound),
            decreasing_in=(dataset_size,),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, steps)),
    notes=(
        Note(
            "T such choices are (ε²/64 ln(1/δ))-zCDP (bounded range): the printed budget is about four times smaller "
            "than needed, and is kept for ε <= 48 ln(1/δ)."
        ),
    ),
)
