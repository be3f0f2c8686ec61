r"""On unit l2 balls the output of DP-FW-L2 with any $T \ge 1$ and $0 < \gamma \le 1$ has an expected excess
population risk of at most $\mu \big(\frac{\Delta_F}{\gamma T} + \sigma w_C + 2 L \gamma + \frac{8 (L + G)}{\sqrt
n}\big)$, with $\mu = C_\sigma/2c_\sigma$ for the generalised linear model and $\mu = C_\psi/2\kappa$ for robust
regression with $h(s) \ge \kappa s$ on $(0, 2]$. $G$ and $L$ bound the first two derivatives of the loss in $\langle
w, x\rangle$ (see assumption-2), and $w_C \le \sqrt d$.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    gaussian_width,
    initial_gap,
    lipschitz,
    noise_stddev,
    rho,
    smoothness,
    steps,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import SAMPLED_RECORDS
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
from dpbounds.theorems.wang_xu_2019 import theorem_4_explicit as on_the_sample
from dpbounds.theorems.wang_xu_2019._quantities import FRACTION


def _sampling_error() -> Expr:
    return 8 * (smoothness + lipschitz) / sqrt(dataset_size)


def _total() -> Expr:
    return on_the_sample.gap().subs(diameter, 2) + _sampling_error()


def risk() -> Expr:
    return link_constant / (2 * link_slope) * _total()


def robust_risk() -> Expr:
    return influence_constant / (2 * restoring_slope) * _total()


def tuned() -> Expr:
    return link_constant / (2 * link_slope) * (on_the_sample.tuned().subs(diameter, 2) + _sampling_error())


def best_steps() -> Expr:
    return on_the_sample.best_steps().subs(diameter, 2)


def best_fraction() -> Expr:
    return on_the_sample.best_fraction().subs(diameter, 2)


def long_enough() -> tuple[Condition, ...]:
    return (Condition(holds=best_steps() >= initial_gap / (2 * smoothness), why="then γ <= 1 is the best step"),)


_BASES = ("loss",)  # features and parameters are in unit balls, and the sampling error is not a matter of copies
_LOSS = Unit(loss=1)
_GAP = (initial_gap, noise_stddev, gaussian_width, smoothness, lipschitz)

THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-5/explicit",
    title="population risk of DP-FW-L2, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 5",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(GLM_LINK, SAMPLED_RECORDS),
    local=(FRACTION, LINK_CONSTANT, LINK_SLOPE, INFLUENCE_CONSTANT, RESTORING_SLOPE),
    parts=(
        Bound(
            formula=risk,
            unit=_LOSS,
            meaning="generalised linear model",
            bases=_BASES,
            increasing_in=(*_GAP, link_constant),
            decreasing_in=(steps, dataset_size, link_slope),
        ),
        Bound(
            formula=robust_risk,
            name="robust-regression",
            unit=_LOSS,
            meaning="robust regression with h(s) >= κs on (0, 2]",
            bases=_BASES,
            increasing_in=(*_GAP, influence_constant),
            decreasing_in=(steps, dataset_size, restoring_slope),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="generalised linear model, with the noise, steps (rounded up) and step size below",
            bases=_BASES,
            conditions=long_enough,
            increasing_in=(gaussian_width, link_constant),
            decreasing_in=(dataset_size, rho, link_slope),
        ),
        Parameter(formula=best_fraction, name="step_fraction", meaning="γ", bases=_BASES, decreasing_in=(steps,)),
        Parameter(
            formula=best_steps, name="steps", meaning="round up: best number of steps for a budget ρ", bases=_BASES
        ),
        Parameter(
            formula=on_the_sample.noise,
            name="noise_stddev",
            unit=Unit(1, -1),
            meaning="σ for a budget ρ and T steps",
            increasing_in=(lipschitz, steps),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=on_the_sample.mechanism, needs=(rho, steps)),
    algorithm="wang-chen-xu-2019/algorithm-2",
    makes_explicit="wang-chen-xu-2019/theorem-5",
    relies_on=("wang-xu-2019/theorem-4/explicit",),
    derivation="population.md",
)
