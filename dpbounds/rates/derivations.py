r"""Printed rates, derived again: what is balanced or substituted, and whether the result is what is printed.

Each derivation starts from sums of monomials that the proofs state before a free parameter is chosen, and ends with the
order of growth after the best choice. It is compared with the record's own rate (constants put back where the record
has them). Logarithms are carried along only where the sum has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sympy import Rational, Symbol, log, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    diameter,
    dimension,
    drift_threshold,
    epsilon,
    excess_risk,
    initial_gap,
    kl_exponent,
    lipschitz,
    loss_range,
    quasar_convexity,
    rank,
    rho,
    smoothness,
    stationarity,
    steps,
)
from dpbounds.rates.balancing import balance, fixed_point
from dpbounds.rates.orders import LOGARITHMS, Order
from dpbounds.rates.promises import order_of
from dpbounds.rates.regimes import compare
from dpbounds.rates.spaces import Space, standard, with_rank
from dpbounds.theorems.record import Rate
from dpbounds.theorems.registry import theorem

_HALF, _THIRD = Fraction(1, 2), Fraction(1, 3)


@dataclass(frozen=True, slots=True)
class Derived:
    """What a derivation gives.

    Attributes:
        choices: The parameters that were chosen, each with its order (or orders, by regime).
    """

    value: Order
    choices: tuple[tuple[Symbol, Order], ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """One printed rate, derived.

    Attributes:
        text: What is chosen, or put in.
        constants: Quantities that are set to 1 before the comparison, because print hides them.
    """

    id: str
    part: str
    text: str
    derive: Callable[[], Derived]
    constants: tuple[Symbol, ...] = ()

    def printed(self) -> Order:
        """The record's order of growth, with constants where the record has them."""
        part = theorem(self.id).part(self.part)
        assert isinstance(part, Rate)
        restored = part.restored_expression
        found = order_of(part) if restored is None else Order.of(restored, logs_hidden=part.logs_hidden)
        return found.substituted({rho: Order.of(epsilon**2 / log(1 / delta))})

    def compared(self) -> tuple[Order, Order]:
        """Derived and printed, with the same quantities in both; logarithms left out."""
        left_out = (*self.constants, *LOGARITHMS)
        return self.derive().value.without(left_out), self.printed().without(left_out)

    def agrees(self) -> bool:
        """Whether both are the same order of growth."""
        derived, printed = self.compared()
        return derived.terms == printed.terms

    def exceeds(self, space: Space | None = None) -> tuple[tuple[str, ...], ...]:
        """Where the derived order is larger than the printed one: inequalities, one tuple per region."""
        constants = (*_UNIT, quasar_convexity)
        derived, printed = (one.without(constants) for one in self.compared())
        chosen = space or (with_rank() if rank in derived.symbols else standard())
        return tuple(chosen.inequalities(cone) for cone in compare(derived, printed, chosen).larger)


def _noise() -> Order:
    """√(d ln(1/δ))/(nε): what one full-batch gradient of unit sensitivity costs in norm."""
    return Order.of(sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon))


def _projected_gradient() -> Derived:
    """L Δ/T + T d G² ln(1/δ)/(nε)², the mean square of the mapping."""
    square = Order.of(smoothness * initial_gap / steps).maximum(Order.of(steps * lipschitz**2) * _noise() ** 2)
    found = balance(square, steps)
    return Derived(found.value**_HALF, ((steps, Order.single(found.choices[0].parameter)),))


def _spider() -> Derived:
    """L Δ/T + G² (T/q) a², a = √(d ln(1/δ))/(nε), with the longest phase q that keeps T q a² at 1."""
    noise = _noise()
    phase = noise**-2 * Order.of(1 / steps)
    square = Order.of(smoothness * initial_gap / steps).maximum(Order.of(lipschitz**2 * steps) * noise**2 / phase)
    found = balance(square, steps)
    chosen = Order.single(found.choices[0].parameter)
    # a phase has at least one step: with q = 1 the noise of one estimate is what remains
    return Derived((found.value**_HALF).maximum(Order.of(lipschitz) * noise), ((steps, chosen),))


def _warm(risk: Order) -> Derived:
    """What SPIDER reaches from a start whose excess risk is ψ."""
    return Derived(_spider().value.substituted({initial_gap: risk}))


def _warm_start() -> Derived:
    return _warm(Order.of(excess_risk))


def _exponential_mechanism() -> Derived:
    return _warm(Order.of(lipschitz * diameter * dimension / (dataset_size * epsilon)))


def _quasar_convex() -> Derived:
    return _warm(Order.of(lipschitz * diameter / quasar_convexity) * _noise())


def _escape() -> Order:
    """E² with T = LB/E² steps and B/(Lκ) fresh gradients, full batch."""
    per_gradient = Order.of(lipschitz**2 * loss_range / (smoothness * drift_threshold))
    per_difference = Order.of(drift_threshold * smoothness**2 * smoothness * loss_range / stationarity**2)
    return (per_gradient.maximum(per_difference)) * _noise() ** 2


def _empirical_second_order() -> Derived:
    """Stochastic Spider on the full batch: κ balances fresh gradients against differences; then E = order(E)."""
    found = balance(_escape(), drift_threshold)
    return Derived(
        fixed_point(found.value**_HALF, stationarity), ((drift_threshold, Order.single(found.choices[0].parameter)),)
    )


def _population_second_order() -> Derived:
    """The same with fresh batches, n/T₁ records for a gradient, n/T for a difference: sampling error and noise."""
    fresh = Order.of(loss_range / (smoothness * drift_threshold))
    every = Order.of(smoothness * loss_range / stationarity**2)
    noise, sampling = _noise(), Order.of(1 / sqrt(dataset_size))
    square = (
        (Order.of(lipschitz**2) * fresh * sampling**2)
        .maximum(Order.of(drift_threshold * smoothness**2) * every * sampling**2)
        .maximum(Order.of(lipschitz**2) * fresh**2 * noise**2)
        .maximum(Order.of(drift_threshold * smoothness**2) * every**2 * noise**2)
    )
    found = balance(square, drift_threshold)
    return Derived(
        fixed_point(found.value**_HALF, stationarity),
        tuple((drift_threshold, Order.single(choice.parameter)) for choice in found.choices),
    )


def _population_warm() -> Derived:
    """The first-order part of the population bound, from a start whose excess population risk is ψ."""
    start = Order.of(lipschitz * diameter * (dimension / (dataset_size * epsilon) + sqrt(dimension / dataset_size)))
    cold = Order.of((lipschitz * smoothness * initial_gap / dataset_size) ** _exact(_THIRD)).maximum(
        (Order.of(lipschitz * smoothness**3 * initial_gap**3) ** _HALF * _noise() ** Fraction(3, 2)) ** Fraction(2, 7)
    )
    return Derived(cold.substituted({initial_gap: start}))


def _exact(power: Fraction) -> Rational:
    return Rational(power.numerator, power.denominator)


def _projected(rate: Order) -> Derived:
    """g(k) + 1/√k over the dimension k of a random projection; no more than the rank is needed."""
    free = balance(rate.maximum(Order.of(1 / sqrt(dimension))), dimension)
    by_rank = rate.substituted({dimension: Order.of(rank)})
    chosen = Order.single(free.choices[0].parameter)
    value = free.value.minimum(by_rank).maximum(Order.of(1 / sqrt(dataset_size)))
    return Derived(value, ((dimension, chosen.minimum(Order.of(rank))),))


def _linear_models() -> Derived:
    return _projected(Order.of(dimension ** _exact(Fraction(2, 3)) / (dataset_size * epsilon)))


def _linear_models_before() -> Derived:
    return _projected(Order.of(sqrt(dimension) / (dataset_size * epsilon)) ** Fraction(2, 3))


_UNIT = (lipschitz, smoothness, diameter, initial_gap, loss_range)

DERIVATIONS = (
    Derivation("wang-xu-2019/theorem-2", "rate", "T balances LΔ/T against T dG² ln(1/δ)/(nε)²", _projected_gradient),
    Derivation(
        "ganesh-liu-oh-thakurta-2023/theorem-4.2",
        "rate",
        "κ balances B/(Lκ) fresh gradients against κ per difference; then E is solved for",
        _empirical_second_order,
        constants=_UNIT,
    ),
    Derivation(
        "ganesh-liu-oh-thakurta-2023/theorem-4.6",
        "rate",
        "κ balances fresh batches against batches of differences, sampling error and noise each; then E is solved for",
        _population_second_order,
        constants=_UNIT,
    ),
    Derivation(
        "lowy-ullman-wright-2024/lemma-3.1",
        "rate",
        "T balances LΔ/T against the noise of gradients that are taken anew every q steps, q as long as Tq allows",
        _spider,
    ),
    Derivation("lowy-ullman-wright-2024/theorem-3.2", "rate", "ψ for the initial gap in Lemma 3.1", _warm_start),
    Derivation("lowy-ullman-wright-2024/corollary-4.3", "rate", "ψ = GD d/(nε) in Theorem 3.2", _exponential_mechanism),
    Derivation(
        "lowy-ullman-wright-2024/corollary-5.3", "sharper", "ψ = GD√(d ln(1/δ))/(nεq) in Theorem 3.2", _quasar_convex
    ),
    Derivation(
        "lowy-ullman-wright-2024/corollary-7.1",
        "rate",
        "ψ = GD(d/(nε) + √(d/n)) in the first-order part of Lemma E.1",
        _population_warm,
    ),
    Derivation(
        "lowy-ullman-wright-2024/corollary-8.2",
        "rate",
        "the projection's dimension k balances k^(2/3)/(nε) against 1/√k",
        _linear_models,
        constants=_UNIT,
    ),
    Derivation(
        "cited/arora-et-al-2023/theorem-6.1",
        "rate",
        "the projection's dimension k balances (√k/(nε))^(2/3) against 1/√k",
        _linear_models_before,
        constants=_UNIT,
    ),
)


def corollary_by_kl_exponent(exponent: Fraction) -> tuple[Order, Order]:
    """Corollary 6.3 of Lowy, Ullman & Wright at one exponent k: derived from Theorem 3.2 and Lemma 6.2, and as printed.

    The exponent stands in exponents, so that it needs a value: 1 <= k <= 2.
    """
    value = {kl_exponent: _exact(exponent)}
    risk = theorem("lowy-ullman-wright-2024/lemma-6.2").rate
    printed = theorem("lowy-ullman-wright-2024/corollary-6.3").rate
    assert risk is not None
    assert printed is not None
    derived = _warm(Order.of(risk.expression.subs(value))).value
    return derived, Order.of(printed.expression.subs(value))
