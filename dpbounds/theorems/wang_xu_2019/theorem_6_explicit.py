r"""If gradients change by at most $L_1 \|w - w'\|_1$ in $\ell_\infty$ and $D_1$ is the l1 diameter of the hull of $N$
points, the output of DP-FW-L1 with budget $\varepsilon_0$ per step and step $0 < \gamma \le 1$ has an expected
Frank-Wolfe gap of at most $\frac{\Delta_F}{\gamma T} + \frac{L_1 \gamma D_1^2}2 + \frac{4 G_1 C_1}{n \varepsilon_0}
\ln N$. With $\varepsilon_0 = \sqrt{8\rho/T}$ the run is $\rho$-zCDP (bounded range), four times the printed budget.
"""

from fractions import Fraction

from sympy import Expr, Min, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    initial_gap,
    l1_diameter,
    l1_norm_bound,
    lipschitz_l1,
    rho,
    smoothness_l1,
    step_epsilon,
    steps,
)
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ_L1, POLYTOPE, SMOOTH_L1
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Metric,
    Mode,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.wang_xu_2019._quantities import FRACTION, step_fraction


def gap() -> Expr:
    selection = 4 * lipschitz_l1 * l1_norm_bound / (dataset_size * step_epsilon) * log(candidates)
    return initial_gap / (step_fraction * steps) + smoothness_l1 * step_fraction * l1_diameter**2 / 2 + selection


def step_budget() -> Expr:
    return sqrt(8 * rho / steps)


def best_fraction() -> Expr:
    return Min(1, sqrt(2 * initial_gap / (smoothness_l1 * l1_diameter**2 * steps)))


def best_steps() -> Expr:
    travel = l1_diameter * sqrt(2 * smoothness_l1 * initial_gap)
    return travel * dataset_size * sqrt(rho) / (sqrt(2) * lipschitz_l1 * l1_norm_bound * log(candidates))


def tuned() -> Expr:
    per_step = sqrt(2) * lipschitz_l1 * l1_norm_bound * log(candidates) / (dataset_size * sqrt(rho))
    travel = l1_diameter * sqrt(2 * smoothness_l1 * initial_gap)
    return travel / sqrt(best_steps()) + per_step * sqrt(best_steps() + 1)


def several() -> tuple[Condition, ...]:
    return (
        Condition(holds=candidates >= 2, why="there is something to choose"),
        Condition(
            holds=best_steps() >= 2 * initial_gap / (smoothness_l1 * l1_diameter**2), why="then γ <= 1 is the best step"
        ),
    )


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ExponentialMechanism(share * at.up(step_budget()), relation=at.relation) ** at.count(steps)


_LOSS = Unit(loss=1)

THEOREM = Theorem(
    id="wang-xu-2019/theorem-6/explicit",
    title="Frank-Wolfe gap of DP-FW-L1, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 6",
    metric=Metric.FRANK_WOLFE_GAP,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_L1, LIPSCHITZ_L1, BOUNDED_RISK, POLYTOPE),
    local=(FRACTION,),
    parts=(
        Bound(
            formula=gap,
            unit=_LOSS,
            meaning="expected gap of the output",
            increasing_in=(initial_gap, lipschitz_l1, candidates, l1_norm_bound),
            decreasing_in=(steps, dataset_size, step_epsilon),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="with the budget, steps (rounded up) and step size below",
            conditions=several,
            increasing_in=(lipschitz_l1, l1_norm_bound),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=step_budget,
            name="step_epsilon",
            unit=Unit(samples=-1),
            meaning="budget of one choice",
            increasing_in=(rho,),
            decreasing_in=(steps,),
        ),
        Parameter(formula=best_fraction, name="step_fraction", meaning="γ", decreasing_in=(steps,)),
        Parameter(formula=best_steps, name="steps", meaning="round up: best number of steps for a budget ρ"),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    algorithm="wang-xu-2019/algorithm-4",
    makes_explicit="wang-xu-2019/theorem-6",
    derivation="frank_wolfe.md",
)
