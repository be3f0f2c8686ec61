r"""One sample of $\pi \propto e^{-\beta(F_D + \frac\mu2\|w\|^2)}$ with $\mu = \frac d{D^2\beta}$ and any $\beta > 0$
is pure $\frac{2\beta GD}n$-DP; its expected excess empirical risk is at most $\frac d\beta\big(\frac32 + \ln(1 +
\frac{\beta GD}d)\big)$, its population risk by $GD\tanh\frac{\beta GD}{2n}$ more. With $\ell = \frac32 + \ln(1 +
\sqrt{n/d})$ and $\beta = \frac1{GD}\min\big(\frac{\varepsilon n}2, \sqrt{dn\ell}\big)$ that is pure $\varepsilon$-DP
with a population risk of at most $GD\big(\frac{2d}{\varepsilon n}(\frac32 + \ln(1 + \frac{\varepsilon n}{2d})) +
1.7\sqrt{d\ell/n}\big)$: the order of Theorem 5.8, far below that of Theorem 5.6.
"""

from fractions import Fraction

from sympy import Expr, LambertW, Max, Min, Rational, exp, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    inverse_temperature,
    lipschitz,
)
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions_sampling import ORIGIN_IN_SET
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities_sampling import (
    TEMPERATURE_CONSTANT,
    temperature_constant,
)
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


def _warmth(share: Expr) -> Expr:
    return Rational(3, 2) + log(1 + share)


def _tangent(double: Expr) -> Expr:
    """tanh(x/2)."""
    return (exp(double) - 1) / (exp(double) + 1)


def empirical() -> Expr:
    return dimension / inverse_temperature * _warmth(inverse_temperature * lipschitz * diameter / dimension)


def population() -> Expr:
    span = lipschitz * diameter
    return empirical() + span * _tangent(inverse_temperature * span / dataset_size)


def level() -> Expr:
    return _warmth(sqrt(dataset_size / dimension))


def tuned_span() -> Expr:
    return Min(epsilon * dataset_size / 2, sqrt(dimension * dataset_size * level()))


def tuned() -> Expr:
    first = Max(2 * dimension / (epsilon * dataset_size), sqrt(dimension / (dataset_size * level())))
    share = Min(epsilon * dataset_size / (2 * dimension), sqrt(dataset_size * level() / dimension))
    stability = _tangent(Min(epsilon / 2, sqrt(dimension * level() / dataset_size)))
    return lipschitz * diameter * (first * _warmth(share) + stability)


def simple() -> Expr:
    share = 2 * dimension / (epsilon * dataset_size)
    sampling = Rational(17, 10) * sqrt(dimension * level() / dataset_size)
    return lipschitz * diameter * (share * _warmth(1 / share) + sampling)


def temperature() -> Expr:
    return tuned_span() / (lipschitz * diameter)


def printed_span() -> Expr:
    return temperature_constant * epsilon * log(dataset_size * dimension) / sqrt(log(1 / delta))


def at_the_printed_temperature() -> Expr:
    span = printed_span()
    return lipschitz * diameter * (dimension / span * _warmth(span / dimension) + _tangent(span / dataset_size))


def log_sobolev_temperature() -> Expr:
    budget = epsilon * dataset_size * sqrt(dimension) / (4 * sqrt(1 + 2 * log(1 / delta)))
    return 2 * LambertW(budget) / (lipschitz * diameter)


def printed_range() -> tuple[Condition, ...]:
    return (
        Condition(holds=dataset_size * dimension >= 2, why="β > 0"),
        Condition(holds=temperature_constant <= Rational(3, 10), why="(ε, δ)-DP by the printed route"),
        Condition(holds=epsilon < Rational(1, 2), why="stated range"),
        Condition(holds=delta < Rational(1, 2), why="stated range"),
    )


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor) / at.count(dataset_size)
    return ExponentialMechanism(share * at.up(tuned_span()), relation=at.relation)


_LOSS = Unit(loss=1)
SCALED = ("loss", "length")

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit",
    title="risks of the regularised Gibbs sample, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 5.6",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, BOUNDED_SET, ORIGIN_IN_SET, SAMPLED_RECORDS),
    local=(TEMPERATURE_CONSTANT,),
    parts=(
        Bound(
            formula=population,
            unit=_LOSS,
            meaning="expected excess population risk at any β",
            bases=SCALED,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size,),
        ),
        Bound(
            formula=empirical,
            name="empirical",
            unit=_LOSS,
            meaning="expected excess empirical risk at any β",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(inverse_temperature,),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="expected excess population risk at the β below",
            bases=SCALED,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size,),
        ),
        Bound(
            formula=simple,
            name="simple",
            unit=_LOSS,
            meaning="the same, looser and easier to read",
            bases=SCALED,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="β, pure ε-DP under replace-one",
            bases=SCALED,
            increasing_in=(epsilon, dataset_size, dimension),
            decreasing_in=(lipschitz, diameter),
        ),
        Bound(
            formula=at_the_printed_temperature,
            name="printed_temperature",
            unit=_LOSS,
            meaning="expected excess population risk at the β of Theorem 5.6",
            conditions=printed_range,
            bases=SCALED,
            increasing_in=(lipschitz, diameter),
        ),
        Parameter(
            formula=log_sobolev_temperature,
            name="log_sobolev_temperature",
            unit=Unit(loss=-1),
            meaning="largest β that the route by Theorem 5.1 shows to be (ε, δ)-DP",
            bases=SCALED,
            increasing_in=(epsilon, delta, dataset_size, dimension),
            decreasing_in=(lipschitz, diameter),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon, dataset_size, dimension)),
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-5.6",
    derivation="gibbs.md",
    notes=(
        Note("How long it takes to sample at that β is another question: the log-Sobolev constant is e^{βGD}D²/d."),
        Note("The temperature of the log-Sobolev route needs ε <= 1."),
    ),
)
