"""Privacy filters, which refuse releases that would exceed a budget, and an odometer, for adaptive noise.

The certified accountant composes releases that were fixed in advance. If the noise of a release, its kind, or whether
there is another one, depends on earlier outputs, its answer for the sequence that happened to run proves nothing
(``filters.md`` has two releases for which it is wrong). What does add up over any history is a Rényi divergence of one
order fixed in advance: as long as the sum, at that order, of what each release costs given the history stays within a
budget, the whole interaction stays within it.

What a choice may depend on: earlier outputs, public numbers, coins of one's own. Not the data in any other way: exact
gradients, how many records were clipped, an answer that was computed and withheld.

Filters and odometers are frozen: ``spend`` returns a new one. The proofs are in ``filters.md`` beside this file.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, Protocol, Self, TypeVar

from dpbounds.errors import BudgetExceeded, InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact, positive_integer, to_decimal
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.core import listed
from dpbounds.privacy.notions.concentrated import (
    best_zcdp_order,
    renyi_budget,
    renyi_epsilon,
    zcdp_budget,
    zcdp_epsilon,
)
from dpbounds.privacy.notions.conversions import convert
from dpbounds.privacy.notions.gaussian import gaussian_budget, gaussian_epsilon
from dpbounds.privacy.notions.notions import Notion, RenyiDP, ZeroConcentratedDP, shown
from dpbounds.privacy.pairs.pairs import ShiftedGaussians
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.accountant import renyi_curve
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.privacy.values import Budget, above_one, at_least_zero, positive, promised_delta


class RenyiCurve(Protocol):
    """A release known by its Rényi divergences."""

    @property
    def relation(self) -> Relation:
        """The neighbouring relation that the curve holds for."""

    def renyi(self, order: Fraction) -> Fraction:
        """Return a proven upper bound on D_λ between any two neighbours in either order, given any earlier releases.

        Args:
            order: λ, a rational number greater than 1.

        Raises:
            UnsupportedMechanism: Nothing is proven at this order.
        """


# A release: a mechanism, sampled or not, a guarantee that is known of it, or anything else with a Rényi curve.
Chargeable = Mechanism | Notion | RenyiCurve
Known = TypeVar("Known", Notion, RenyiCurve)

_LONGEST_DENOMINATOR = 512  # bits of a denominator above which a running sum is rounded up
_SIGNIFICANT_BITS = 256


# --- what a step costs ---------------------------------------------------------------------------------------------


# If there are several classes of neighbours, the one that spends most counts, step by step: the record's class is the
# same throughout the run, and the sum of the maxima is at least the maximum of the sums (filters.md, section 1).


def squared_shift(step: Chargeable, relation: Relation) -> Fraction:
    """Return μ², exact, of a release that is full-batch Gaussian: several are summed, of blocks the worst counts."""
    found = _shift_of(step, relation) if isinstance(step, Mechanism) else None
    if found is None:
        raise UnsupportedMechanism(
            f"{step!r} is not made of full-batch Gaussian releases: use a RenyiFilter, which takes any mechanism with "
            "finite Rényi divergences, sampled ones too"
        )
    return found


def _shift_of(step: Mechanism, relation: Relation) -> Fraction | None:
    shifts = []
    for each in neighbour_classes(step, relation).every():
        pairs = [(pair, count) for pair, count in each.product if isinstance(pair, ShiftedGaussians)]
        if len(pairs) < len(each.product):
            return None
        shifts.append(sum((count * pair.squared_shift for pair, count in pairs), Fraction(0)))
    return max(shifts)


def zcdp_cost(step: Chargeable, relation: Relation) -> Fraction:
    """Return ρ of a release, rounded up; ``UnsupportedMechanism`` where no zCDP guarantee is proven for it."""
    if isinstance(step, Notion):
        found = convert(_comparable(step, relation), ZeroConcentratedDP).notion
        assert isinstance(found, ZeroConcentratedDP)
        return found.rho
    if isinstance(step, Mechanism):
        return zcdp_rho(step, relation)
    return squared_shift(step, relation) / 2


def renyi_cost(step: Chargeable, order: Fraction, relation: Relation) -> Fraction:
    """Return a bound on D_λ of a release, rounded up."""
    if isinstance(step, Notion):
        found = convert(_comparable(step, relation), RenyiDP, orders=(order,)).notion
        assert isinstance(found, RenyiDP)
        return found.points[0][1]
    if isinstance(step, Mechanism):
        return _divergence(step, order, relation)
    return at_least_zero(_of_this_relation(step, relation).renyi(order), "renyi(order)")


@lru_cache(maxsize=4096)  # a run spends the same step many times
def _divergence(step: Mechanism, order: Fraction, relation: Relation) -> Fraction:
    shift = _shift_of(step, relation)
    if shift is not None:
        return order * shift / 2
    try:
        found = renyi_curve(step, relation).upper(order)
    except NotCertified:  # out of reach at an extreme order: the bound for all orders, where there is one
        return order * zcdp_rho(step, relation)
    if isinstance(found, float):
        raise UnsupportedMechanism(
            f"{step!r} has no finite Rényi divergence at order {shown(order)}: leave that order out, or plan the whole "
            "run and compose it with the accountant"
        )
    return found


def _comparable(step: Notion, relation: Relation) -> Notion:
    if _of_this_relation(step, relation).group != 1:
        raise InvalidValue("group", step.group, "1", "a filter counts what single records spend")
    return step


def _of_this_relation(step: Known, relation: Relation) -> Known:
    if step.relation is not relation:
        advice = "convert the step's guarantee first, where that can be done"
        raise InvalidValue("the step's relation", step.relation, f"the filter's own, {relation}", advice)
    return step


def _added(spent: Fraction, cost: Fraction) -> Fraction:
    """Return the sum, exact while that is short; a long run of unlike fractions is rounded up now and then."""
    total = spent + cost
    if total.denominator.bit_length() <= _LONGEST_DENOMINATOR:
        return total
    scale = 1 << max(0, _SIGNIFICANT_BITS + total.denominator.bit_length() - total.numerator.bit_length())
    return Fraction(math.ceil(total * scale), scale)


def least_multiplier(squared: Fraction, relation: Relation) -> Fraction | None:
    """Return the least noise multiplier z with (factor/z)² <= ``squared``, rounded up in the 64th bit where irrational.

    None where no noise is enough (``squared`` <= 0).
    """
    if squared <= 0:
        return None
    ratio = relation.sensitivity_factor**2 / squared
    roots = math.isqrt(ratio.numerator), math.isqrt(ratio.denominator)
    if (roots[0] ** 2, roots[1] ** 2) == (ratio.numerator, ratio.denominator):
        return Fraction(*roots)
    bits = 64 + max(0, (ratio.denominator.bit_length() - ratio.numerator.bit_length()) // 2)
    return Fraction(math.isqrt(math.ceil(ratio * 4**bits) - 1) + 1, 1 << bits)


# --- filters -------------------------------------------------------------------------------------------------------


def _set_columns(record: RenyiFilter | Odometer, *names: str) -> None:
    """Check and convert the relation and the columns of a record, the first of them orders."""
    object.__setattr__(record, "relation", as_relation(record.relation))
    for name in names:
        read = above_one if name == names[0] else partial(exact, name=name)
        column = tuple(read(entry) for entry in listed(getattr(record, name), name, "numbers, one per order"))
        object.__setattr__(record, name, column)
    if len({len(getattr(record, name)) for name in names}) > 1 or not getattr(record, names[0]):
        raise InvalidValue(names[0], getattr(record, names[0]), f"at least one, as many as {' and '.join(names[1:])}")


class PrivacyFilter(Protocol):
    """A privacy filter: decides, before a release, whether the budget still has room for it."""

    def admits(self, step: Chargeable) -> bool:
        """Return whether the release may still be made."""

    def spend(self, step: Chargeable) -> Self:
        """Return the filter after the release; raise ``BudgetExceeded`` where it must not be made."""


class _Filter(ABC):
    __slots__ = ()

    relation: Relation

    @property
    @abstractmethod
    def _room(self) -> Fraction:
        """The largest (sensitivity/stddev)² with which one more full-batch Gaussian release fits."""

    @property
    def least_noise_multiplier(self) -> Fraction | None:
        """The least noise multiplier with which one more full-batch Gaussian release fits; None where none does."""
        return least_multiplier(self._room, self.relation)

    def _advice(self) -> str:
        least = self.least_noise_multiplier
        fits = f"the least noise multiplier that still fits, on the full batch, is {shown(least)}" if least else ""
        return f"({self.relation}): do not release it; {fits or 'nothing is left for any noise'}"


@dataclass(frozen=True, slots=True)
class _SumFilter(_Filter):
    """A filter on the sum of one number per release.

    Attributes:
        budget: The largest allowed sum, at least 0.
        relation: The neighbouring relation.
        spent: The sum so far.
    """

    budget: Fraction
    relation: Relation
    spent: Fraction = Fraction(0)

    _letter: ClassVar[str]

    def __post_init__(self) -> None:
        for name in ("budget", "spent"):
            object.__setattr__(self, name, exact(getattr(self, name), name))
        object.__setattr__(self, "relation", as_relation(self.relation))
        if not 0 <= self.spent <= self.budget:
            allowed = "0 <= spent <= budget"
            raise InvalidValue("budget, spent", (str(self.budget), str(self.spent)), allowed)

    @property
    def remaining(self) -> Fraction:
        """The rest of the budget, exact."""
        return self.budget - self.spent

    @abstractmethod
    def cost(self, step: Chargeable) -> Fraction:
        """Return the cost of the release, rounded up."""

    def admits(self, step: Chargeable) -> bool:
        """Return whether the release fits into the rest of the budget; errors as for ``spend``."""
        return self.cost(step) <= self.remaining

    def spend(self, step: Chargeable) -> Self:
        """Return the filter after the release.

        Raises:
            BudgetExceeded: The release does not fit. It must not be made, and the filter is as before.
            InvalidValue: The release's guarantee is for another relation, or for groups.
            UnsupportedMechanism: No cost is proven for it.
        """
        cost = self.cost(step)
        if cost > self.remaining:
            raise BudgetExceeded(
                f"the step would cost {self._letter} = {shown(cost)}, and {_down(self.remaining)} of "
                f"{_down(self.budget)} is left {self._advice()}"
            )
        return replace(self, spent=min(self.budget, _added(self.spent, cost)))


def _down(value: Fraction) -> str:
    return f"{float(to_decimal(value, 9, 'down')):.9g}"


@dataclass(frozen=True, slots=True)
class ZCDPFilter(_SumFilter):
    """A filter for zCDP: the sum of ρ stays within a budget, so that adaptive releases are ``budget``-zCDP.

    Steps: mechanisms with a finite ρ (a sample gains nothing here: see :class:`RenyiFilter`), and guarantees that imply
    one: pure, zCDP, Gaussian or bounded-range.
    Proof: ``filters.md``, section 2 (Rogers, Roth, Ullman & Vadhan 2016; Feldman & Zrnic 2021; Whitehouse et al. 2023).

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> budget = ZCDPFilter.of("1/8", "replace-one")
    >>> budget.spend(Gaussian(8)).spend(Gaussian(8)).remaining
    Fraction(1, 16)
    >>> budget.admits(Gaussian(4)), budget.admits(Gaussian("3.999"))
    (True, False)
    """

    _letter: ClassVar[str] = "ρ"

    @classmethod
    def of(cls, rho: ExactLike, relation: str | Relation) -> Self:
        """Return the filter with this budget, ρ >= 0."""
        return cls(at_least_zero(rho, "rho"), as_relation(relation))

    @classmethod
    def for_target(cls, epsilon: ExactLike, delta: ExactLike, relation: str | Relation) -> Self:
        """Return the filter with the largest ρ (rounded down) that gives (ε, δ), for ε >= 0 and 0 < δ < 1."""
        return cls(zcdp_budget(epsilon, delta), as_relation(relation))

    def cost(self, step: Chargeable) -> Fraction:
        """Return ρ of the release, rounded up."""
        return zcdp_cost(step, self.relation)

    @property
    def _room(self) -> Fraction:
        return 2 * self.remaining

    def epsilon(self, delta: ExactLike) -> Fraction:
        """Return ε at δ of the whole interaction, rounded up: that of the budget, even if a part of it was spent."""
        return zcdp_epsilon(self.budget, delta)


@dataclass(frozen=True, slots=True)
class GaussianFilter(_SumFilter):
    """A filter for full-batch Gaussian releases: the sum of (sensitivity/stddev)² stays within a budget μ².

    The whole is then μ-GDP, although the noise was chosen adaptively, as for noise that is fixed in advance. This holds
    for Gaussian releases only. Proof: ``filters.md``, section 4 (Smith & Thakurta 2022).
    """

    _letter: ClassVar[str] = "(sensitivity/stddev)²"

    @classmethod
    def of(cls, squared_mu: ExactLike, relation: str | Relation) -> Self:
        """Return the filter with this budget, μ² >= 0."""
        return cls(at_least_zero(squared_mu, "squared_mu"), as_relation(relation))

    @classmethod
    def for_target(cls, epsilon: ExactLike, delta: ExactLike, relation: str | Relation) -> Self:
        """Return the filter with the largest μ (rounded down) that gives (ε, δ), for ε >= 0 and 0 < δ < 1."""
        return cls(gaussian_budget(epsilon, delta) ** 2, as_relation(relation))

    def cost(self, step: Chargeable) -> Fraction:
        """Return (sensitivity/stddev)² of the release, exact."""
        return squared_shift(step, self.relation)

    @property
    def _room(self) -> Fraction:
        return self.remaining

    def epsilon(self, delta: ExactLike) -> Fraction:
        """Return ε at δ of the whole interaction, rounded up: that of the budget, even if a part of it was spent."""
        return gaussian_epsilon(self.budget, delta)


@dataclass(frozen=True, slots=True)
class RenyiFilter(_Filter):
    """A filter for (ε, δ) by fixed Rényi orders: a step is admitted while it fits at *some* order.

    The order that is left at the end depends on the releases, so that δ is split among the orders in advance: without
    the split, choosing the order afterwards would exceed δ (``filters.md``, section 3). A single order needs no split.

    Steps: any mechanism with finite Rényi divergences at the orders, also on samples, and guarantees that imply such a
    curve.

    >>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
    >>> budget, step = RenyiFilter.for_target([8], 2, "1e-5", "add-or-remove-one"), PoissonSampled(Gaussian(1), "0.01")
    >>> for _ in range(500):
    ...     budget = budget.spend(step)

    Attributes:
        orders: λ > 1, increasing.
        budgets: The largest allowed sum of D_λ at each order; negative if the order is useless for the target.
        relation: The neighbouring relation.
        spent: The sum of D_λ so far at each order; above its budget if only another order admitted a step.
        target_epsilon: ε of the whole interaction.
        target_delta: δ of the whole interaction.
    """

    orders: tuple[Fraction, ...]
    budgets: tuple[Fraction, ...]
    relation: Relation
    spent: tuple[Fraction, ...]
    target_epsilon: Fraction
    target_delta: Fraction

    def __post_init__(self) -> None:
        _set_columns(self, "orders", "budgets", "spent")
        for name in ("target_epsilon", "target_delta"):
            object.__setattr__(self, name, exact(getattr(self, name), name))

    @classmethod
    def for_target(
        cls,
        orders: Iterable[ExactLike],
        target_epsilon: ExactLike,
        target_delta: ExactLike,
        relation: str | Relation,
        weights: Iterable[ExactLike] | None = None,
    ) -> Self:
        """Return the filter for (ε, δ).

        Args:
            orders: At least one, each greater than 1, none twice.
            target_epsilon: At least 0.
            target_delta: In (0, 1).
            relation: The neighbouring relation.
            weights: The part of δ for each order, positive, 1 or less in all; equal parts if None.

        Raises:
            InvalidValue: A value is out of range, or no order has a budget above 0.
        """
        chosen = [above_one(order) for order in orders]
        if not chosen or len(set(chosen)) < len(chosen):
            raise InvalidValue("orders", [str(order) for order in chosen], "at least one, none of them twice")
        parts = [exact(part, "weights") for part in weights or ()] or [Fraction(1, len(chosen))] * len(chosen)
        if len(parts) != len(chosen) or min(parts) <= 0 or sum(parts) > 1:
            raise InvalidValue(
                "weights", [str(part) for part in parts], "one positive part per order, 1 or less in all"
            )
        target = Budget.of(target_epsilon, target_delta, relation)
        ordered, shares = zip(*sorted(zip(chosen, parts, strict=True)), strict=True)
        budgets = tuple(
            renyi_budget(order, target.epsilon, share * target.delta)
            for order, share in zip(ordered, shares, strict=True)
        )
        if max(budgets) <= 0:
            allowed = f"orders that leave a budget at epsilon = {shown(target.epsilon)}, delta = {shown(target.delta)}"
            raise InvalidValue("orders", [str(order) for order in ordered], allowed, "larger orders leave more")
        return cls(ordered, budgets, target.relation, (Fraction(0),) * len(ordered), target.epsilon, target.delta)

    @property
    def remaining(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Pairs (order, rest of its budget) for every order that can still admit a step."""
        return tuple(
            (order, budget - spent)
            for order, budget, spent in zip(self.orders, self.budgets, self.spent, strict=True)
            if budget >= spent
        )

    @property
    def _room(self) -> Fraction:
        return max((2 * left / order for order, left in self.remaining), default=Fraction(0))

    def cost(self, step: Chargeable) -> tuple[Fraction, ...]:
        """Return D_λ of the release at every order, rounded up."""
        return tuple(renyi_cost(step, order, self.relation) for order in self.orders)

    def admits(self, step: Chargeable) -> bool:
        """Return whether the release fits at some order; errors as for ``spend``."""
        return self._has_room_for(self.cost(step))

    def spend(self, step: Chargeable) -> Self:
        """Return the filter after the release.

        Raises:
            BudgetExceeded: The release fits at no order. It must not be made, and the filter is as before.
            InvalidValue: The release's guarantee is for another relation, or for groups.
            UnsupportedMechanism: No cost is proven for it at some order.
        """
        costs = self.cost(step)
        if not self._has_room_for(costs):
            lefts = [max(Fraction(0), budget - spent) for budget, spent in zip(self.budgets, self.spent, strict=True)]
            order, cost, left = min(zip(self.orders, costs, lefts, strict=True), key=lambda entry: entry[1] - entry[2])
            raise BudgetExceeded(
                f"the step would cost a divergence of {shown(cost)} at order {shown(order)}, where {_down(left)} is "
                f"left, and fits at no other order {self._advice()}"
            )
        return replace(self, spent=tuple(map(_added, self.spent, costs)))

    def _has_room_for(self, costs: tuple[Fraction, ...]) -> bool:
        return any(
            _added(spent, cost) <= budget for spent, cost, budget in zip(self.spent, costs, self.budgets, strict=True)
        )


# --- an odometer ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Odometer:
    """A privacy odometer: what has been spent so far, valid at any time, for steps that are chosen adaptively.

    It consists of filters, each with the order that suits one budget; the budgets grow geometrically, and δ is split
    among the filters. At any time, ε is the least value that a filter certifies for the releases so far. The claim, for
    every stopping time N and both orders of any neighbours: P(A) <= E_Q[1_A e^{ε_N}] + δ for every event A about the
    releases up to N; if ε_N stays below a number ε, this is (ε, δ)-DP. Proof: ``filters.md``, section 5.

    Attributes:
        orders: One for each filter.
        shares: The part of δ of each filter.
        relation: The neighbouring relation.
        losses: The sum of D_λ so far, at the order of each filter.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> odometer = Odometer.ladder("1e-6", "replace-one").spend(Gaussian(20)).spend(Gaussian(40))
    >>> [float(value) for value in odometer.spent()]
    [0.570..., 1e-06]
    """

    orders: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]
    relation: Relation
    losses: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        _set_columns(self, "orders", "shares", "losses")

    @classmethod
    def ladder(
        cls,
        delta: ExactLike,
        relation: str | Relation,
        *,
        smallest_rho: ExactLike = "1e-6",
        rungs: int = 24,
        ratio: ExactLike = 4,
    ) -> Self:
        """Return an odometer with nothing spent.

        Args:
            delta: In (0, 1); it is split equally among the filters.
            relation: The neighbouring relation.
            smallest_rho: The budget (as zCDP) of the first filter, greater than 0.
            rungs: The number of filters; beyond the last budget the bound still holds, and is loose.
            ratio: The ratio of consecutive budgets, greater than 1.

        Raises:
            InvalidValue: A value is out of range.
        """
        target, first, factor = promised_delta(delta), positive(smallest_rho, "smallest_rho"), exact(ratio, "ratio")
        count = positive_integer(rungs, "rungs")
        if factor <= 1:
            raise InvalidValue("ratio", ratio, "greater than 1")
        share = target / count
        orders = tuple(best_zcdp_order(first * factor**k, share) for k in range(count))
        return cls(orders, (share,) * count, as_relation(relation), (Fraction(0),) * count)

    def spend(self, step: Chargeable) -> Self:
        """Return the odometer after the release; no release is refused.

        Raises:
            InvalidValue: The release's guarantee is for another relation, or for groups.
            UnsupportedMechanism: No cost is proven for it at some order.
        """
        costs = (renyi_cost(step, order, self.relation) for order in self.orders)
        return replace(self, losses=tuple(map(_added, self.losses, costs)))

    def spent(self) -> tuple[Fraction, Fraction]:
        """Return (ε, δ) so far; ε rounded up."""
        rungs = zip(self.orders, self.losses, self.shares, strict=True)
        return min(renyi_epsilon([(order, loss)], share) for order, loss, share in rungs), sum(self.shares, Fraction(0))
