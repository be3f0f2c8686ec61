r"""Printed rates, derived again: the terms balanced or substituted, and whether the result is the printed one.

Each derivation starts from sums of monomials that the proofs state before a free parameter is chosen, and ends with the
order of growth after the best choice. It is compared with the record's own rate (constants put back where the record
has them). Logarithms are carried along only where the sum has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sympy import Rational, Symbol, log, sqrt

from dpbounds.rates.balancing import balance, fixed_point
from dpbounds.rates.orders import LOGARITHMS, Order
from dpbounds.rates.promises import order_of
from dpbounds.rates.regimes import compare
from dpbounds.rates.spaces import Space, standard, with_rank
from dpbounds.theorems.quantities import q
from dpbounds.theorems.record import Rate
from dpbounds.theorems.registry import theorem

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Derived:
    """The result of a derivation.

    Attributes:
        choices: The parameters that were chosen, each with its order (or orders, by regime).
    """

    value: Order
    choices: tuple[tuple[Symbol, Order], ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """One printed rate, derived.

    Attributes:
        text: The choice, or the substitution.
        constants: Quantities that are set to 1 before the comparison, because the paper hides them.
    """

    id: str
    part: str
    text: str
    derive: Callable[[], Derived]
    constants: tuple[Symbol, ...] = ()

    def printed(self) -> Order:
        """Return the record's order of growth, with constants where the record has them."""
        part = theorem(self.id).part(self.part)
        assert isinstance(part, Rate)
        restored = part.restored_expression
        found = order_of(part) if restored is None else Order.of(restored, logs_hidden=part.logs_hidden)
        return found.substituted({q.rho: Order.of(q.epsilon**2 / log(1 / q.delta))})

    def compared(self) -> tuple[Order, Order]:
        """Derived and printed, with the same quantities in both; logarithms left out."""
        left_out = (*self.constants, *LOGARITHMS)
        return self.derive().value.without(left_out), self.printed().without(left_out)

    def agrees(self) -> bool:
        """Return whether both are the same order of growth."""
        derived, printed = self.compared()
        return derived.terms == printed.terms

    def exceeds(self, space: Space | None = None) -> tuple[tuple[str, ...], ...]:
        """Return the inequalities of the regions where the derived order is larger than the printed one."""
        constants = (*_UNIT, q.quasar_convexity)
        derived, printed = (one.without(constants) for one in self.compared())
        chosen = space or (with_rank() if q.rank in derived.symbols else standard())
        return tuple(chosen.inequalities(cone) for cone in compare(derived, printed, chosen).larger)


def _noise() -> Order:
    """√(d ln(1/δ))/(nε): the error norm of one private full-batch gradient of unit sensitivity."""
    return Order.of(sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon))


def _projected_gradient() -> Derived:
    """L Δ/T + T d G² ln(1/δ)/(nε)², the mean square of the mapping."""
    square = Order.of(q.L * q.initial_gap / q.T).maximum(Order.of(q.T * q.G**2) * _noise() ** 2)
    found = balance(square, q.T)
    return Derived(found.value**_HALF, ((q.T, Order.single(found.choices[0].parameter)),))


def _spider() -> Derived:
    """L Δ/T + G² (T/q) a², a = √(d ln(1/δ))/(nε), with the longest phase q that keeps T q a² at 1."""
    noise = _noise()
    phase = noise**-2 * Order.of(1 / q.T)
    square = Order.of(q.L * q.initial_gap / q.T).maximum(Order.of(q.G**2 * q.T) * noise**2 / phase)
    found = balance(square, q.T)
    chosen = Order.single(found.choices[0].parameter)
    # a phase has at least one step: with q = 1 the noise of one estimate is what remains
    return Derived((found.value**_HALF).maximum(Order.of(q.G) * noise), ((q.T, chosen),))


def _warm(risk: Order) -> Derived:
    """Return the order of SPIDER from a start whose excess risk is ψ."""
    return Derived(_spider().value.substituted({q.initial_gap: risk}))


def _escape() -> Order:
    """E² with T = LB/E² steps and B/(Lκ) fresh gradients, full batch."""
    per_gradient = Order.of(q.G**2 * q.loss_range / (q.L * q.drift_threshold))
    per_difference = Order.of(q.drift_threshold * q.L**2 * q.L * q.loss_range / q.stationarity**2)
    return (per_gradient.maximum(per_difference)) * _noise() ** 2


def _empirical_second_order() -> Derived:
    """Stochastic Spider on the full batch: κ balances fresh gradients against differences; then E = order(E)."""
    found = balance(_escape(), q.drift_threshold)
    return Derived(
        fixed_point(found.value**_HALF, q.stationarity),
        ((q.drift_threshold, Order.single(found.choices[0].parameter)),),
    )


def _population_second_order() -> Derived:
    """Return the population order with fresh batches: sampling error and noise."""
    fresh = Order.of(q.loss_range / (q.L * q.drift_threshold))
    every = Order.of(q.L * q.loss_range / q.stationarity**2)
    noise, sampling = _noise(), Order.of(1 / sqrt(q.n))
    square = (
        (Order.of(q.G**2) * fresh * sampling**2)
        .maximum(Order.of(q.drift_threshold * q.L**2) * every * sampling**2)
        .maximum(Order.of(q.G**2) * fresh**2 * noise**2)
        .maximum(Order.of(q.drift_threshold * q.L**2) * every**2 * noise**2)
    )
    found = balance(square, q.drift_threshold)
    return Derived(
        fixed_point(found.value**_HALF, q.stationarity),
        tuple((q.drift_threshold, Order.single(choice.parameter)) for choice in found.choices),
    )


def _population_warm() -> Derived:
    """Return the first-order part of the population bound, from a start whose excess population risk is ψ."""
    start = Order.of(q.G * q.D * (q.d / (q.n * q.epsilon) + sqrt(q.d / q.n)))
    cold = Order.of((q.G * q.L * q.initial_gap / q.n) ** Rational(1, 3)).maximum(
        (Order.of(q.G * q.L**3 * q.initial_gap**3) ** _HALF * _noise() ** Fraction(3, 2)) ** Fraction(2, 7)
    )
    return Derived(cold.substituted({q.initial_gap: start}))


def _projected(rate: Order) -> Derived:
    """g(k) + 1/√k over the dimension k of a random projection; no more than the rank is needed."""
    free = balance(rate.maximum(Order.of(1 / sqrt(q.d))), q.d)
    by_rank = rate.substituted({q.d: Order.of(q.rank)})
    chosen = Order.single(free.choices[0].parameter)
    value = free.value.minimum(by_rank).maximum(Order.of(1 / sqrt(q.n)))
    return Derived(value, ((q.d, chosen.minimum(Order.of(q.rank))),))


_UNIT = (q.G, q.L, q.D, q.initial_gap, q.loss_range)

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
    Derivation(
        "lowy-ullman-wright-2024/theorem-3.2",
        "rate",
        "ψ for the initial gap in Lemma 3.1",
        lambda: _warm(Order.of(q.excess_risk)),
    ),
    Derivation(
        "lowy-ullman-wright-2024/corollary-4.3",
        "rate",
        "ψ = GD d/(nε) in Theorem 3.2",
        lambda: _warm(Order.of(q.G * q.D * q.d / (q.n * q.epsilon))),
    ),
    Derivation(
        "lowy-ullman-wright-2024/corollary-5.3",
        "sharper",
        "ψ = GD√(d ln(1/δ))/(nεq) in Theorem 3.2",
        lambda: _warm(Order.of(q.G * q.D / q.quasar_convexity) * _noise()),
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
        lambda: _projected(Order.of(q.d ** Rational(2, 3) / (q.n * q.epsilon))),
        constants=_UNIT,
    ),
    Derivation(
        "cited/arora-et-al-2023/theorem-6.1",
        "rate",
        "the projection's dimension k balances (√k/(nε))^(2/3) against 1/√k",
        lambda: _projected(Order.of(sqrt(q.d) / (q.n * q.epsilon)) ** Fraction(2, 3)),
        constants=_UNIT,
    ),
)


def corollary_by_kl_exponent(exponent: Fraction) -> tuple[Order, Order]:
    """Corollary 6.3 of Lowy, Ullman & Wright at one exponent k: derived from Theorem 3.2 and Lemma 6.2, and as printed.

    The exponent occurs in exponents, so that it needs a value: 1 <= k <= 2.
    """
    value = {q.kl_exponent: Rational(exponent)}
    risk = theorem("lowy-ullman-wright-2024/lemma-6.2").rate
    printed = theorem("lowy-ullman-wright-2024/corollary-6.3").rate
    assert risk is not None
    assert printed is not None
    derived = _warm(Order.of(risk.expression.subs(value))).value
    return derived, Order.of(printed.expression.subs(value))
