r"""For a compact convex set of diameter $D$ and Gaussian width $w_C$, every $T \ge 1$ and step $0 < \gamma \le 1$, the
output of DP-FW-L2 has an expected Frank-Wolfe gap of at most
$\frac{\Delta_F}{\gamma T} + \sigma w_C + \frac{L \gamma D^2}2$.

With $\sigma^2 = 2G^2T/(n^2\rho)$ ($\rho$-zCDP under replace-one) and $\gamma = \min(1, \sqrt{2\Delta_F/(L D^2 T)})$ the
first and the last term are together at most $\sqrt{2 L D^2 \Delta_F / T}$ once $T \ge 2\Delta_F/(L D^2)$, and
$T = D\sqrt{L \Delta_F \rho}\, n/(w_C G)$ balances them with the noise.
"""

from sympy import Expr, Min, sqrt

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
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, BOUNDED_SET, LIPSCHITZ, SMOOTH_RISK
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
    curvature = smoothness * step_fraction * diameter**2 / 2
    return initial_gap / (step_fraction * steps) + noise_stddev * gaussian_width + curvature


def best_fraction() -> Expr:
    return Min(1, sqrt(2 * initial_gap / (smoothness * diameter**2 * steps)))


def best_steps() -> Expr:
    return diameter * sqrt(smoothness * initial_gap * rho) * dataset_size / (gaussian_width * lipschitz)


def tuned() -> Expr:
    per_step = sqrt(2) * lipschitz * gaussian_width / (dataset_size * sqrt(rho))  # σ w_C = per_step √T
    travel = diameter * sqrt(2 * smoothness * initial_gap)
    return travel / sqrt(best_steps()) + per_step * sqrt(best_steps() + 1)


def long_enough() -> tuple[Condition, ...]:
    return (
        Condition(
            holds=best_steps() >= 2 * initial_gap / (smoothness * diameter**2), why="then γ <= 1 is the best step"
        ),
    )


def noise() -> Expr:
    return lipschitz / dataset_size * sqrt(2 * steps / rho)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


_LOSS = Unit(loss=1)

THEOREM = Theorem(
    id="wang-xu-2019/theorem-4/explicit",
    title="Frank-Wolfe gap of DP-FW-L2, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 4",
    metric=Metric.FRANK_WOLFE_GAP,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_RISK, BOUNDED_SET),
    local=(FRACTION,),
    parts=(
        Bound(
            formula=gap,
            unit=_LOSS,
            meaning="expected gap of the output",
            increasing_in=(initial_gap, noise_stddev, gaussian_width, diameter, smoothness),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="with the noise, steps (rounded up) and step size below",
            conditions=long_enough,
            increasing_in=(lipschitz, gaussian_width),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(formula=best_fraction, name="step_fraction", meaning="γ", decreasing_in=(steps,)),
        Parameter(formula=best_steps, name="steps", meaning="round up: best number of steps for a budget ρ"),
        Parameter(formula=noise, name="noise_stddev", unit=Unit(1, -1), meaning="σ for a budget ρ and T steps"),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    algorithm="wang-xu-2019/algorithm-2",
    makes_explicit="wang-xu-2019/theorem-4",
    derivation="frank_wolfe.md",
)
