r"""How much ball noise helps gradient descent at a fixed $(0, \delta)$. Each of $T$ steps uses the mean gradient of $b$
of $N$ records, drawn without replacement, plus noise uniform on the $d$-ball of radius $r_u$; gradients have norm at
most $G$, and $F$ is $L$-smooth. A step costs at most $\frac bN \delta_1$ with the total variation $\delta_1$ of two
balls at distance $2G/b$, so $T = \lfloor N\delta / (b\delta_1) \rfloor$ steps are $(0, \delta)$-private, and at the
best step size a random iterate has
$E\|\nabla F\|^2 \le 4 \sqrt{L \Delta_F K / (N\delta)}$, $K = (G^2 + b \tfrac{d}{d+2} r_u^2)\, \delta_1$.

For single records, $b = 1$, $K \ge G^2$ at every radius, and $K \ge 2\sqrt{d/(d+2)}\, G^2$ at every radius above $G$,
the only ones at which noise protects anything: within this upper bound no noise at all is best. With
$b > 8d/\pi$ records, $K < G^2$ at the radius $G\sqrt{(d+2)/(bd)}$.
"""

from fractions import Fraction

from sympy import And, Expr, Rational, pi, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    batch_size,
    dataset_size,
    delta,
    dimension,
    initial_gap,
    lipschitz,
    radius,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Mechanism, SampledWithoutReplacement, UniformBall
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH_RISK, UNCONSTRAINED
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.tholeti_kalyani_2020._ball import lost


def _share() -> Expr:
    return dimension / (dimension + 2)


def _lost() -> Expr:
    return lost(2 * lipschitz / batch_size)


def batch_factor() -> Expr:
    return (1 + batch_size * _share() * radius**2 / lipschitz**2) * _lost()


def single_factor() -> Expr:
    return batch_factor().subs(batch_size, 1)


def least_single_factor() -> Expr:
    return 2 * sqrt(_share())


def elementary() -> Expr:
    return 4 * sqrt(dimension / (2 * pi * batch_size))


def helpful_radius() -> Expr:
    return lipschitz * sqrt((dimension + 2) / (batch_size * dimension))


def most_steps() -> Expr:
    return dataset_size * delta / (batch_size * _lost())


def bound() -> Expr:
    cost = batch_factor() * lipschitz**2
    return 2 * (smoothness * initial_gap * cost / (dataset_size * delta)) ** Rational(1, 4)


def a_part() -> tuple[Condition, ...]:
    return (Condition(holds=batch_size <= dataset_size, why="a batch is drawn without replacement"),)


def enough_steps() -> tuple[Condition, ...]:
    variance = lipschitz**2 / batch_size + _share() * radius**2
    return (
        Condition(
            holds=And(most_steps() >= 1, most_steps() * variance >= 4 * smoothness * initial_gap),
            why="δ must allow a step, and so many that the best step size is at most 1/L",
        ),
    )


def above() -> tuple[Condition, ...]:
    return (Condition(holds=radius > lipschitz, why="smaller balls around opposite gradients do not meet"),)


def mechanism(at: Numbers) -> Mechanism:
    batch = int(at[batch_size])
    noise = UniformBall(at.down(radius * batch_size / lipschitz), int(at[dimension]))  # on the sum, per unit of G
    return SampledWithoutReplacement(noise, batch, int(at[dataset_size])) ** at.count(steps)


THEOREM = Theorem(
    id="dpbounds/ball-noise-at-fixed-delta",
    title="what ball noise gains at a fixed δ",
    statement=__doc__,
    where="derived here; compare Tholeti & Kalyani 2020, Algorithm 1",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="batches drawn without replacement in each step",
    assumptions=(UNCONSTRAINED, LIPSCHITZ, SMOOTH_RISK, BOUNDED_RISK),
    conditions=a_part,
    parts=(
        Bound(
            formula=bound,
            unit=Unit(1, -1, Fraction(-1, 4)),
            meaning="root mean square of the gradient norm at (0, δ) and the best step size",
            conditions=enough_steps,
            increasing_in=(initial_gap, smoothness, dimension),
            decreasing_in=(dataset_size, delta),
        ),
        Bound(
            formula=single_factor,
            name="single-factor",
            meaning="K/G² for b = 1: never below 1",
            increasing_in=(dimension,),
        ),
        Bound(
            formula=batch_factor,
            name="batch-factor",
            meaning="K/G², to which the fourth power of the bound is proportional: below 1 noise helps",
            increasing_in=(dimension,),
        ),
        Bound(
            formula=least_single_factor,
            name="least-single-factor",
            meaning="a lower bound of K/G² for b = 1 at radii above G",
            conditions=above,
            increasing_in=(dimension,),
        ),
        Bound(
            formula=elementary,
            name="elementary",
            meaning="an upper bound of K/G² at the radius below",
            increasing_in=(dimension,),
            decreasing_in=(batch_size,),
        ),
        Parameter(
            formula=helpful_radius,
            name="radius",
            unit=Unit(1, -1),
            meaning="a radius that helps for b > 8d/π; not the best one",
            increasing_in=(lipschitz,),
            decreasing_in=(batch_size, dimension),
        ),
        Parameter(
            formula=most_steps,
            name="steps",
            unit=Unit(samples=1),
            meaning="round down: steps that are (0, δ)-private by summing",
            increasing_in=(dataset_size, delta, radius),
            decreasing_in=(lipschitz, dimension),
        ),
    ),
    privacy=Privacy(
        claim=Claim.TOTAL_VARIATION,
        mechanism=mechanism,
        needs=(radius, lipschitz, dimension, dataset_size, batch_size, steps),
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    derivation="ball_noise_at_fixed_delta.md",
    notes=(
        Note(
            "Nothing is said about the smallest gradient norm that any private algorithm reaches, nor about saddle "
            "points, which is what the noise is there for: these are statements about one upper bound."
        ),
        Note(
            "Without noise a run at (0, δ) publishes Nδ random gradients as they are: allowed by the definition, and "
            "hardly what one wants. The comparison says more about (0, δ)-privacy than about noise."
        ),
        Note(
            "Smallest K/G² over the radius: 0.816 (d = 1, b = 2), 0.365 (1, 10), 0.95 (5, 10), 0.315 (5, 100), 0.349 "
            "(50, 1000). The δ of one step at a given radius still grows with b."
        ),
    ),
)
