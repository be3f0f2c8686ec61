r"""With features in the unit $\ell_\infty$ ball and parameters in the unit l1 ball the output of DP-FW-L1 with budget
$\varepsilon_0$ per step, any $T \ge 1$ and $0 < \gamma \le 1$ has an expected excess population risk of at most $\mu
\big(\frac{\Delta_F}{\gamma T} + 2 L \gamma + \frac{4 G}{n\varepsilon_0} \ln 2d + 8 (L + G) \sqrt{\frac{2 \ln
2d}n}\big)$, with $\mu = C_\sigma/2c_\sigma$ for the generalised linear model and $C_\psi/2\kappa$ for robust regression
with $h(s) \ge \kappa s$ on $(0, 2]$. $\varepsilon_0 = \sqrt{8\rho/T}$ keeps $\rho$-zCDP.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    dimension,
    initial_gap,
    l1_diameter,
    l1_norm_bound,
    lipschitz_l1,
    rho,
    smoothness_l1,
    step_epsilon,
    steps,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import L1_GEOMETRY, SAMPLED_RECORDS
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
from dpbounds.theorems.wang_chen_xu_2019._assumptions import GLM_LINK
from dpbounds.theorems.wang_chen_xu_2019._quantities import (
    INFLUENCE_CONSTANT,
    LINK_CONSTANT,
    LINK_SLOPE,
    RESTORING_SLOPE,
    influence_constant,
    link_constant,
    link_slope,
    restoring_slope,
)
from dpbounds.theorems.wang_xu_2019 import theorem_6_explicit as on_the_sample
from dpbounds.theorems.wang_xu_2019._quantities import FRACTION


def _on_the_ball(expression: Expr) -> Expr:
    return expression.subs({l1_diameter: 2, l1_norm_bound: 1, candidates: 2 * dimension})


def _sampling_error() -> Expr:
    return 8 * (smoothness_l1 + lipschitz_l1) * sqrt(2 * log(2 * dimension) / dataset_size)


def risk() -> Expr:
    return link_constant / (2 * link_slope) * (_on_the_ball(on_the_sample.gap()) + _sampling_error())


def robust_risk() -> Expr:
    return influence_constant / (2 * restoring_slope) * (_on_the_ball(on_the_sample.gap()) + _sampling_error())


def tuned() -> Expr:
    return link_constant / (2 * link_slope) * (_on_the_ball(on_the_sample.tuned()) + _sampling_error())


def best_steps() -> Expr:
    return _on_the_ball(on_the_sample.best_steps())


def best_fraction() -> Expr:
    return _on_the_ball(on_the_sample.best_fraction())


def long_enough() -> tuple[Condition, ...]:
    return (Condition(holds=best_steps() >= initial_gap / (2 * smoothness_l1), why="then γ <= 1 is the best step"),)


_BASES = ("loss",)
_LOSS = Unit(loss=1)
_GAP = (initial_gap, smoothness_l1, lipschitz_l1, dimension)

THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-6/explicit",
    title="population risk of DP-FW-L1, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 6",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(GLM_LINK, SAMPLED_RECORDS, L1_GEOMETRY),
    local=(FRACTION, LINK_CONSTANT, LINK_SLOPE, INFLUENCE_CONSTANT, RESTORING_SLOPE),
    parts=(
        Bound(
            formula=risk,
            unit=_LOSS,
            meaning="generalised linear model",
            bases=_BASES,
            increasing_in=(*_GAP, link_constant),
            decreasing_in=(steps, dataset_size, step_epsilon, link_slope),
        ),
        Bound(
            formula=robust_risk,
            name="robust-regression",
            unit=_LOSS,
            meaning="robust regression with h(s) >= κs on (0, 2]",
            bases=_BASES,
            increasing_in=(*_GAP, influence_constant),
            decreasing_in=(steps, dataset_size, step_epsilon, restoring_slope),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="generalised linear model, with the budget, steps (rounded up) and step size below",
            bases=_BASES,
            conditions=long_enough,
            increasing_in=(link_constant,),
            decreasing_in=(dataset_size, rho, link_slope),
        ),
        Parameter(
            formula=on_the_sample.step_budget,
            name="step_epsilon",
            unit=Unit(samples=-1),
            meaning="budget of one choice",
            increasing_in=(rho,),
            decreasing_in=(steps,),
        ),
        Parameter(formula=best_fraction, name="step_fraction", meaning="γ", bases=_BASES, decreasing_in=(steps,)),
        Parameter(
            formula=best_steps, name="steps", meaning="round up: best number of steps for a budget ρ", bases=_BASES
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=on_the_sample.mechanism, needs=(rho, steps)),
    algorithm="wang-chen-xu-2019/algorithm-3",
    makes_explicit="wang-chen-xu-2019/theorem-6",
    relies_on=("wang-xu-2019/theorem-6/explicit",),
    derivation="population.md",
)
