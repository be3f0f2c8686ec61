r"""Noisy gradient descent on an $L$-smooth risk with steps $0 < \eta < 2/L$ has, at a random one of its iterates $w_1,
\dots, w_T$ (and so at the best of them), a root mean square gradient norm of at most $\sqrt{\frac{\Delta_F/(\eta T) +
\frac{L\eta}2 d \sigma^2}{1 - L\eta/2}}$. At the printed $\eta = 1/L$ that is $\sqrt{2 L \Delta_F/T + d\sigma^2}$.

With $\sigma^2 = 2G^2T/(n^2\rho)$ ($\rho$-zCDP under replace-one) and $\eta = s/T$, $s = \frac nG \sqrt{\Delta_F \rho/(L
d)}$, $T > L s/2$, it is $\big(\frac{2 G \sqrt{d L \Delta_F/\rho}}{n (1 - L s/2T)}\big)^{1/2}$, no worse the more steps
are taken.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    initial_gap,
    lipschitz,
    noise_stddev,
    rho,
    smoothness,
    step_size,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH_RISK, UNCONSTRAINED
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


def norm() -> Expr:
    curvature = smoothness * step_size / 2
    travel = initial_gap / (step_size * steps)
    return sqrt((travel + curvature * dimension * noise_stddev**2) / (1 - curvature))


def at_the_printed_step() -> Expr:
    return sqrt(2 * smoothness * initial_gap / steps + dimension * noise_stddev**2)


def time() -> Expr:
    return dataset_size / lipschitz * sqrt(initial_gap * rho / (smoothness * dimension))


def best_step() -> Expr:
    return time() / steps


def tuned() -> Expr:
    limit = 2 * lipschitz * sqrt(dimension * smoothness * initial_gap / rho) / dataset_size
    return sqrt(limit / (1 - smoothness * time() / (2 * steps)))


def noise() -> Expr:
    return lipschitz / dataset_size * sqrt(2 * steps / rho)


def short_steps() -> tuple[Condition, ...]:
    return (Condition(holds=step_size < 2 / smoothness, why="a step decreases the risk on average"),)


def enough_steps() -> tuple[Condition, ...]:
    return (Condition(holds=steps > smoothness * time() / 2, why="η = s/T < 2/L"),)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


_GRADIENT = Unit(1, -1)

THEOREM = Theorem(
    id="wang-chen-xu-2019/algorithm-4/explicit",
    title="gradient norm of DP-GD, with constants",
    statement=__doc__,
    where="derived here; compare Algorithm 4 and the paragraph after Theorem 7",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_RISK, UNCONSTRAINED),
    parts=(
        Bound(
            formula=norm,
            unit=_GRADIENT,
            meaning="root mean square gradient norm at a random iterate",
            conditions=short_steps,
            increasing_in=(initial_gap, smoothness, dimension, noise_stddev),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=at_the_printed_step,
            name="printed_step",
            unit=_GRADIENT,
            meaning="the same at η = 1/L",
            increasing_in=(initial_gap, smoothness, dimension, noise_stddev),
            decreasing_in=(steps,),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_GRADIENT,
            meaning="the same with the step size and the noise below",
            conditions=enough_steps,
            decreasing_in=(steps,),
        ),
        Parameter(
            formula=best_step,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="η = s/T",
            increasing_in=(dataset_size, initial_gap, rho),
            decreasing_in=(lipschitz, smoothness, dimension, steps),
        ),
        Parameter(
            formula=noise,
            name="noise_stddev",
            unit=_GRADIENT,
            meaning="σ for a budget ρ and T steps",
            increasing_in=(lipschitz, steps),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    algorithm="wang-chen-xu-2019/algorithm-4",
    makes_explicit="wang-chen-xu-2019/algorithm-4",
    derivation="algorithm_4_explicit.md",
)
