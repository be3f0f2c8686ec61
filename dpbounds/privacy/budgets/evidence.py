"""Evidence on the ε or δ at one value of a parameter: estimates, which prove nothing, and proofs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.accountants.certified import account_at, prove_delta, prove_epsilon
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.pairs import Product, as_gaussian, holds_allocation, holds_shuffling
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import closed_form_delta, has_closed_form, squared_shift_of
from dpbounds.privacy.values import Budget

LOOSE, COARSE, FINE = 1e-2, 1e-3, 1e-4  # tolerances of proofs: from afar, near the crossing, where that is too wide
_WIDEST = 8  # largest useful width of a proof, in tolerances
_LEVELS = 96  # levels of a schedule that an estimate uses
_SEEN_IN_DOUBLES = Fraction(1, 10**30)  # δ below which integrals in floating point have no correct digits
_KNOWN_ORDER = 1e-2  # tolerance of the ε of shuffled batches in a known order, for an estimate
_LEAST = 1e-12  # smallest ε whose logarithm is taken


@dataclass(frozen=True, slots=True)
class Excess:
    """Proven logarithm of the ratio of a value's loss to the budget: negative if the budget is satisfied.

    Attributes:
        lower: Proven lower bound, rounded to a double.
        upper: Proven upper bound, rounded to a double.
        width: Distance of the bounds; of attacks, whose lower bound alone is known, what the tolerance allows.
        suffices: Whether the value is proven to keep the budget (of the exact bounds).
        fails: Whether it is proven not to.
        useful: Whether the bounds are about as close as the tolerance asked for.
    """

    lower: float
    upper: float
    width: float
    suffices: bool
    fails: bool
    useful: bool = True

    @property
    def middle(self) -> float:
        """The logarithm of the middle of both bounds."""
        return float(np.logaddexp(self.lower, self.upper)) - math.log(2)


class Evidence(Protocol):
    """The questions of a search for a crossing."""

    budget: Budget

    @property
    def unit(self) -> float:
        """The width of an excess for a tolerance of 1."""

    def estimate(self, value: Fraction) -> float:
        """Estimate the excess in floating point, as quickly as possible."""

    def precise(self, value: Fraction) -> float | None:
        """Estimate the excess as precisely as a search can afford; None where there is no better estimate."""

    def proven(self, value: Fraction, tolerances: Sequence[float]) -> Excess:
        """Prove bounds of the excess. The tolerances are tried in turn, until a proof decides."""

    def suffices_at_once(self, value: Fraction) -> bool:
        """Return whether a bound that takes milliseconds proves that a value suffices."""


@dataclass(slots=True)
class OfProducts:
    """Evidence from the largest δ(ε) of products, by the certified routes.

    Attributes:
        products: From the parameter to the products whose largest δ counts.
        budget: ε, and the target.
        of_attacks: Whether the products are attacks, whose lower bound counts: the upper one may be 1.
    """

    products: Callable[[Fraction], tuple[Product, ...]]
    budget: Budget
    of_attacks: bool = False
    _worst: int | None = None  # index of the product that spent most when last asked

    @property
    def unit(self) -> float:
        """Log 1/δ: tolerances are relative to it."""
        return max(1.0, -_log(self.budget.delta))

    def estimate(self, value: Fraction) -> float:
        """Estimate log δ(ε) - log δ of the product that spent most so far."""
        products = self.products(value)
        if self._worst is None or self._worst >= len(products):
            estimates = [expected(product, self.budget.epsilon) for product in products]
            self._worst = estimates.index(max(estimates))
            return max(estimates) - _log(self.budget.delta)
        return expected(products[self._worst], self.budget.epsilon) - _log(self.budget.delta)

    def precise(self, value: Fraction) -> float | None:
        """Estimate the same to about ten digits; None where there is no such estimate."""
        products = self.products(value)
        if self._worst is None or self._worst >= len(products) or self.budget.delta < _SEEN_IN_DOUBLES:
            return None
        found = _precise(products[self._worst], self.budget.epsilon)
        return None if found is None else found - _log(self.budget.delta)

    def proven(self, value: Fraction, tolerances: Sequence[float]) -> Excess:
        """Prove bounds of the largest δ(ε)."""
        target = self.budget.delta
        lower, upper = self._enclosed(self.products(value), tolerances)
        logs = _log(lower), _log(upper)
        if self.of_attacks and upper >= 1:  # nothing is known from above
            width, useful = tolerances[-1] * max(1.0, -logs[0]), lower > 0
            logs = logs[0], logs[0]
        else:
            width = logs[1] - logs[0]
            useful = width <= _WIDEST * tolerances[-1] * max(1.0, -logs[1])
        return Excess(
            logs[0] - _log(target), logs[1] - _log(target), width, upper <= target, lower > target, bool(useful)
        )

    def suffices_at_once(self, value: Fraction) -> bool:
        """Return whether the record is drawn so rarely that no loss of its draws exceeds the budget."""
        products = self.products(value)
        if any(map(has_closed_form, products)):  # δ itself is as quick
            return False
        from dpbounds.privacy.routes.drawn_steps import delta_ends

        found = [as_gaussian(product) for product in products]
        return all(
            product is not None and delta_ends(product, self.budget.epsilon)[1] <= self.budget.delta
            for product in found
        )

    def _enclosed(self, products: tuple[Product, ...], tolerances: Sequence[float]) -> tuple[Fraction, Fraction]:
        """Return proven bounds on the largest δ(ε) of the products; of the first one that overspends, if any.

        Each bound is refined until it decides, beginning with the product that spent most last time.
        """
        lower, upper = Fraction(0), Fraction(0)
        for index in sorted(range(len(products)), key=lambda i: i != self._worst):
            first_look = (LOOSE,) if lower > 0 and holds_allocation(products[index]) else ()  # it may spend far less
            for tolerance in (*first_look, *tolerances):
                proven = prove_delta(products[index], self.budget.epsilon, tolerance).enclosure
                low, high = Fraction(proven.exact_lower), Fraction(proven.exact_upper)
                if high <= lower or (tolerance not in first_look and not low <= self.budget.delta < high):
                    break
            if low > lower:
                self._worst = index
            lower, upper = max(lower, low), max(upper, high)
            if low > self.budget.delta:
                break
        return lower, upper


@dataclass(slots=True)
class OfShuffling:
    """Evidence from ε(δ) of shuffled batches, for which only an upper bound is known.

    The proven ε jumps where clones start to help; the estimate computes the same bounds in floating point.
    """

    factory: Callable[[Fraction], Mechanism]
    budget: Budget

    @property
    def unit(self) -> float:
        """1: tolerances are relative to ε."""
        return 1.0

    def estimate(self, value: Fraction) -> float:
        """Estimate log ε(δ) - log ε."""
        from dpbounds.privacy.routes.shuffling.enclosed import expected_epsilon, in_known_order

        checkpoint()
        delta, worst = self.budget.delta, 0.0
        for each in neighbour_classes(self.factory(value), self.budget.relation).every():
            plain = prove_epsilon(in_known_order(each.product), delta, _KNOWN_ORDER).enclosure.upper
            clones = holds_shuffling(each.product)
            worst = max(worst, expected_epsilon(each.product, float(delta), plain) if clones else plain)
        return self._excess(worst)

    def precise(self, value: Fraction) -> float | None:
        """Estimate log ε(δ) - log ε: there is no better estimate."""
        return self.estimate(value)

    def proven(self, value: Fraction, tolerances: Sequence[float]) -> Excess:
        """Prove an upper bound on the loss."""
        spent: Enclosure = account_at(self.factory(value), self.budget.at_delta, self.budget.relation).enclosure
        over = self._excess(spent.upper)
        return Excess(over, over, 0.0, spent.exact_upper <= self.budget.epsilon, fails=False, useful=over < math.inf)

    def suffices_at_once(self, value: Fraction) -> bool:
        """Return False: every record is in a batch."""
        return False

    def _excess(self, epsilon: float) -> float:
        return math.log(max(epsilon, _LEAST) / max(float(self.budget.epsilon), _LEAST))


def _log(number: Fraction) -> float:
    if number <= 0:
        return -math.inf
    shift = number.numerator.bit_length() - number.denominator.bit_length()
    return math.log(number / Fraction(2) ** shift) + shift * math.log(2)


def _precise(product: Product, epsilon: Fraction) -> float | None:
    """Log δ(ε) in floating point to about ten digits, where that takes milliseconds; else None."""
    from dpbounds.privacy.routes.contour.estimate import quick_log_delta

    if has_closed_form(product):
        return _by_closed_form(product, epsilon)
    gaussian = as_gaussian(product) if len(product) <= _LEVELS else None
    return None if gaussian is None else quick_log_delta(gaussian, float(epsilon), precise=True)


def expected(product: Product, epsilon: Fraction) -> float:
    """Return log δ(ε) in floating point, by the quickest method."""
    from dpbounds.privacy.routes.contour.estimate import quick_log_delta
    from dpbounds.privacy.routes.grouping import between
    from dpbounds.privacy.routes.lattice.estimates import expected_log_delta
    from dpbounds.privacy.routes.outcomes import has_few_outcomes, log_delta_by_outcomes

    if holds_allocation(product):
        from dpbounds.privacy.routes.allocation.engine import rough

        product = rough(product)
    if has_closed_form(product):
        return _by_closed_form(product, epsilon)
    gaussian = as_gaussian(between(product, _LEVELS).dearer if len(product) > _LEVELS else product)
    if gaussian is not None:
        return quick_log_delta(gaussian, float(epsilon), precise=False)
    if has_few_outcomes(product) and squared_shift_of(product):
        with contextlib.suppress(Declined):
            return log_delta_by_outcomes(product, epsilon)
    return expected_log_delta(product, float(epsilon))


def _by_closed_form(product: Product, epsilon: Fraction) -> float:
    return _log(ball_end(closed_form_delta(product[0][0], epsilon, 50)[0], "up"))
