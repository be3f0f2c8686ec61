r"""Wanted in a closed convex set of diameter $D$: a point with $\langle\nabla \hat F(w), u - w\rangle \ge -a$ for all
$u$ in it, and $(u - w)^T\nabla^2 \hat F(w)(u - w) \ge -b$ for those with $\langle\nabla \hat F(w), u - w\rangle = 0$
(in print $a = \alpha$, $b = \sqrt{\rho_H\alpha}$). Algorithm 6 with tests at $-a/2$ and $-\Phi b/2$, $\eta =
a/(2D^2L)$, $\theta = \Phi b/(2\rho_H D^3)$, $r = \Phi^2b^2/(96\rho_H D^3)$, half of a budget $\rho$ for gradients and
half for Hessians, is $\rho$-zCDP under replace-one. With probability $1 - \zeta$ it returns such a point within $T =
\lfloor \Delta_F \max(\frac{16D^2L}{a^2}, \frac{64\rho_H^2D^6}{\Phi^3b^3})\rfloor + 1$ steps, if $n$ is at least the
larger of $\frac{2 G D\sqrt T}{\sqrt\rho\, \min(a/8, r)} (\sqrt d + \sqrt{2\ln\frac{2T}\zeta})$ and $\frac{32 L D^2
\sqrt{d T}}{\sqrt\rho\,\Phi b} (\sqrt d + \sqrt{\ln\frac{4T}\zeta})$.
"""

from sympy import Expr, Max, Min, floor, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    approximation_ratio,
    dataset_size,
    diameter,
    dimension,
    failure_probability,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    rho,
    smoothness,
)
from dpbounds.expressions.symbols import (
    steps as iterations,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET
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
from dpbounds.theorems.wang_chen_xu_2019._assumptions import SECOND_ORDER
from dpbounds.theorems.wang_chen_xu_2019._quantities import (
    CURVATURE_TOLERANCE,
    GAP_TOLERANCE,
    curvature_tolerance,
    gap_tolerance,
)


def steps() -> Expr:
    first = 16 * diameter**2 * smoothness / gap_tolerance**2
    second = 64 * hessian_lipschitz**2 * diameter**6 / (approximation_ratio * curvature_tolerance) ** 3
    return floor(initial_gap * Max(first, second)) + 1


def first_share() -> Expr:
    return gap_tolerance / (2 * diameter**2 * smoothness)


def second_share() -> Expr:
    return approximation_ratio * curvature_tolerance / (2 * hessian_lipschitz * diameter**3)


def slack() -> Expr:
    return (approximation_ratio * curvature_tolerance) ** 2 / (96 * hessian_lipschitz * diameter**3)


def sample_size() -> Expr:
    gradients = 2 * lipschitz * diameter * sqrt(iterations / rho) / Min(gap_tolerance / 8, slack())
    hessians = 32 * smoothness * diameter**2 * sqrt(dimension * iterations / rho)
    return Max(
        gradients * (sqrt(dimension) + sqrt(2 * log(2 * iterations / failure_probability))),
        hessians
        * (sqrt(dimension) + sqrt(log(4 * iterations / failure_probability)))
        / (approximation_ratio * curvature_tolerance),
    )


def gradient_noise() -> Expr:
    return 2 * lipschitz * sqrt(iterations / rho) / dataset_size


def hessian_noise() -> Expr:
    return 2 * smoothness * sqrt(dimension * iterations / rho) / dataset_size


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(holds=first_share() <= 1, why="η is a share"),
        Condition(holds=second_share() <= 1, why="θ is a share"),
    )


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(2 * sqrt(iterations / rho))) ** (2 * at.count(iterations))


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-9/explicit",
    title="second-order stationary points in a set, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 9 and Algorithm 6",
    metric=Metric.SAMPLE_SIZE,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SECOND_ORDER, BOUNDED_SET),
    conditions=conditions,
    local=(GAP_TOLERANCE, CURVATURE_TOLERANCE),
    parts=(
        Bound(
            formula=sample_size,
            unit=Unit(samples=1),
            meaning="how many records suffice, with T of `steps`",
            increasing_in=(lipschitz, smoothness, dimension, iterations, hessian_lipschitz),
            decreasing_in=(rho, gap_tolerance, curvature_tolerance, approximation_ratio, failure_probability),
        ),
        Bound(
            formula=steps,
            name="steps",
            meaning="T: within as many steps a point is returned",
            increasing_in=(initial_gap, smoothness, hessian_lipschitz, diameter),
            decreasing_in=(gap_tolerance, curvature_tolerance, approximation_ratio),
        ),
        Parameter(
            formula=first_share,
            name="first_order_share",
            meaning="η",
            increasing_in=(gap_tolerance,),
            decreasing_in=(diameter, smoothness),
        ),
        Parameter(
            formula=second_share,
            name="second_order_share",
            meaning="θ",
            increasing_in=(approximation_ratio, curvature_tolerance),
            decreasing_in=(hessian_lipschitz, diameter),
        ),
        Parameter(
            formula=slack,
            name="slack",
            unit=Unit(loss=1),
            meaning="r",
            increasing_in=(approximation_ratio, curvature_tolerance),
            decreasing_in=(hessian_lipschitz, diameter),
        ),
        Parameter(
            formula=gradient_noise,
            name="noise_stddev",
            unit=Unit(1, -1),
            meaning="σ₁",
            increasing_in=(lipschitz, iterations),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=hessian_noise,
            name="hessian_noise_stddev",
            unit=Unit(1, -2),
            meaning="σ₂",
            increasing_in=(smoothness, dimension, iterations),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, iterations)),
    algorithm="wang-chen-xu-2019/algorithm-6",
    makes_explicit="wang-chen-xu-2019/theorem-9",
    derivation="second_order.md",
)
