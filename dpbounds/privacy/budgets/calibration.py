"""Calibration: the smallest noise, or the most steps or largest rate, for a budget, with a proof of both sides.

The search runs in floating point; the result depends on two certified evaluations only, one on each side. That no
smaller noise (more steps, higher rate) would do either follows from monotonicity, proven in ``pairs.md``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from types import NoneType
from typing import get_args

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import DpboundsError, InvalidValue, NotCertified, demand_function, demand_one_of, shortened
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import (
    Direction,
    ExactLike,
    brief,
    exact,
    positive_integer,
    to_decimal,
)
from dpbounds.expressions.time_limit import (
    Limit,
    TimeIsUp,
    is_limited,
    time_limited,
    without_time_limit,
)
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account_at
from dpbounds.privacy.budgets.crossing import CLOSE, Crossing
from dpbounds.privacy.budgets.evidence import OfProducts, OfShuffling
from dpbounds.privacy.budgets.held import Held, improved, least_by_moments, proven_at_once
from dpbounds.privacy.budgets.parameter import PROBES, RANGES, WHOLE, Solve, log_of_safety, parameter_at
from dpbounds.privacy.budgets.pure import calibrated_purely
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.domination.many_choices import with_gaussian_choices
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.pairs.pairs import Product, holds_shuffling
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.at_once import METHOD as AT_ONCE
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.values import Budget, demand_fields, practical_epsilon

_SPARE = 1e-8  # margin in log noise where the last digits of the noise do not matter
_CLOSE_BY_CLONES = 2e-5  # distance in log(parameter) at which the search with clones ends
_CLOSE_TO_ATTACKS = 2e-3  # distance for attacks on shuffled batches, which are far below the upper bound
_NARROW = Fraction(1, 10**9)  # relative width of proofs of ε that a value at a distance of ``CLOSE`` makes up for
TOLERANCE = Fraction(1, 1000)  # relative distance of the sufficient and the failing value at which a search ends


@dataclass(frozen=True, slots=True, repr=False)
class Calibration(Displayed):
    """A parameter that satisfies the budget, and a neighbouring one that does not, both proven.

    Attributes:
        value: A noise multiplier, a number of steps, or a sample rate that suffices: by the dominating pairs or, if
            these are not attained, by Rényi divergences, whichever needs less noise.
        fails_at: A value that does not suffice; None if even the largest sample rate, 1, suffices, or if no attack is
            known. If the dominating pairs are not attained, an explicit attack shows it, and it may be far from
            ``value``.
        epsilon: Certified interval of ε for ``value`` at the target δ.
        target_epsilon: The budget.
        target_delta: The budget.
        relation: The neighbouring relation.
        solve: The kind of ``value``: "noise", "steps", "sample-rate" or "batches".
        mechanism: The calibrated mechanism.
        failing: The mechanism at ``fails_at``, or None.
        complete: False if a time limit ended the search: ``value`` suffices, and better ones may.
        group_size: The number of records that are protected together.
    """

    value: Fraction
    fails_at: Fraction | None
    epsilon: Enclosure
    target_epsilon: Fraction
    target_delta: Fraction
    relation: Relation
    solve: Solve
    mechanism: Mechanism
    failing: Mechanism | None
    complete: bool = True
    group_size: int = 1

    def __post_init__(self) -> None:
        demand_fields(self, value=Fraction, fails_at=(Fraction, NoneType), epsilon=Enclosure, target_epsilon=Fraction)
        demand_fields(self, target_delta=Fraction, relation=Relation, solve=str, mechanism=Mechanism)
        demand_fields(self, failing=(Mechanism, NoneType), complete=bool, group_size=int)

    @property
    def gap(self) -> Fraction | None:
        """Relative distance of ``value`` from the best value, at most; None if no value is known to fail.

        The least noise is at least ``(1 - gap) * value``, the largest rate at most ``(1 + gap) * value``. 0 if nothing
        is in between: consecutive whole numbers, a rate of 1, one batch.
        """
        if self.fails_at is None:
            return Fraction(0) if self.solve in ("sample-rate", "batches") and self.value == 1 else None
        apart = abs(self.fails_at - self.value) - (1 if self.solve in WHOLE else 0)
        return apart / self.value

    @property
    def within_tolerance(self) -> bool:
        """Whether the gap is known and at most 1/1000. Otherwise ``value`` suffices, and better ones may."""
        return self.gap is not None and self.gap <= TOLERANCE

    def _sheet(self) -> Sheet:
        value, fails_at = self._rounded()
        facts = (
            (self.solve, f"{value} (proven to suffice)"),
            ("fails at", fails_at or "unknown"),
            ("epsilon", f"{self.epsilon.decimals(10)[1]} (proven, rounded up), of {number(self.target_epsilon)}"),
            ("delta", number(self.target_delta)),
            ("relation", str(self.relation)),
            *(() if self.group_size == 1 else (("records protected together", str(self.group_size)),)),
            ("mechanism", shortened(repr(self.mechanism))),
            *(() if self.complete else (("time limit", "it ended the search: better values may suffice"),)),
            *(() if self.within_tolerance else (("not within tolerance", self.in_words),)),
        )
        return Sheet("calibration", facts)

    def __str__(self) -> str:
        value, fails_at = self._rounded()
        fails = "" if fails_at is None else f" ({fails_at} does not)"
        who = self.relation if self.group_size == 1 else f"{self.relation}, {self.group_size} at once"
        budget = f"epsilon = {brief(self.target_epsilon)}, delta = {brief(self.target_delta)} ({who})"
        wide = "" if self.within_tolerance else f"; not within tolerance: {self.in_words}"
        return f"{self.solve} {value} suffices{fails} for {budget}{wide}"

    @property
    def in_words(self) -> str:
        """The gap in words, rounded up."""
        side = "less" if self.solve in ("noise", "batches") else "more"
        if self.gap is None:
            return f"nothing is proven to fail, and {side} may suffice"
        return f"up to {to_decimal(100 * self.gap, 3, 'up')} % {side} may suffice"

    def _rounded(self) -> tuple[str, str | None]:
        """Return the values that suffice and fail, rounded so that they still do."""
        safe: Direction = "up" if self.solve in ("noise", "batches") else "down"
        unsafe: Direction = "down" if safe == "up" else "up"
        return to_decimal(self.value, 12, safe), None if self.fails_at is None else to_decimal(
            self.fails_at, 12, unsafe
        )


def calibrate(
    factory: Callable[[Fraction], Mechanism],
    target_epsilon: ExactLike,
    target_delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    solve: Solve = "noise",
    group_size: int = 1,
    time_limit: ExactLike | None = None,
) -> Calibration:
    """Find the smallest noise, or the largest number of steps or rate, that satisfies an (ε, δ) budget.

    Args:
        factory: Maps the parameter, an exact number, to a mechanism. It must be monotone: more noise spends less, and
            more steps or a higher rate spend more.
        target_epsilon: At least 0.
        target_delta: At least 0 and less than 1. At 0 the losses must be bounded, as those of Laplace noise are.
        relation: The neighbouring relation.
        solve: "noise" or "batches" for the smallest, "steps" or "sample-rate" for the largest value that suffices.
        group_size: The largest number of records of one person, which are protected together.
        time_limit: Seconds after which the best value that is proven by then is returned (None: no limit).

    Returns:
        The value and a neighbouring one that fails. Noise and rate are doubles, steps and batches whole numbers.

    Raises:
        InvalidValue: A target is not allowed, or no value of the parameter keeps the budget.
        NotCertified: The proof did not close on either side, or not within the time.

    >>> found = calibrate(lambda z: Gaussian(z) ** 100, target_epsilon=1, target_delta="1e-6")
    >>> float(found.value) > float(found.fails_at)
    True
    """
    demand_one_of("solve", solve, get_args(Solve))
    demand_function("factory", factory)
    budget = Budget.of(practical_epsilon(target_epsilon), target_delta, relation, pure=True)
    return calibrate_within(factory, budget, solve, time_limit, positive_integer(group_size, "group_size"))


@working(OUTER_PRECISION)
def calibrate_within(
    factory: Callable[[Fraction], Mechanism],
    budget: Budget,
    solve: Solve = "noise",
    time_limit: ExactLike | None = None,
    group_size: int = 1,
) -> Calibration:
    """Calibrate for a budget that was checked before."""
    with time_limited(time_limit) as limit:
        if budget.delta == 0:
            value, fails_at, spent = calibrated_purely(factory, budget, solve, group_size)
        else:
            value, fails_at, spent = _nearest(factory, budget, solve, group_size, limit)
    return Calibration(
        value=value,
        fails_at=fails_at,
        # what suffices spends no more than the budget (the proof may be of δ at that ε), whatever else was proven of it
        epsilon=replace(
            spent,
            exact_upper=min(spent.exact_upper, budget.epsilon),
            method="stopped by the time limit" if limit.passed else spent.method,
        ),
        target_epsilon=budget.epsilon,
        target_delta=budget.delta,
        relation=budget.relation,
        solve=solve,
        mechanism=factory(value),
        failing=None if fails_at is None else factory(fails_at),
        complete=not limit.passed,
        group_size=group_size,
    )


@working(OUTER_PRECISION)
def sufficient_noise(factory: Callable[[Fraction], Mechanism], budget: Budget) -> Fraction:
    """Return a noise that is proven to suffice, and larger than the least by a relative 1e-8 or so.

    For searches over other parameters, which need no noise that is proven to fail. Where the pairs are not attained, it
    is the noise of a whole calibration.
    """
    if neighbour_classes(factory(PROBES["noise"]), budget.relation).tight:
        with contextlib.suppress(Declined, NotCertified):  # a whole calibration has further ways
            evidence = OfProducts(_dominating(factory, budget), budget)
            found, _ = Crossing(evidence, "noise", "safe", close=_SPARE).search()
            assert found is not None
            return found
    return calibrate_within(factory, budget).value


_Found = tuple[Fraction, Fraction | None, Enclosure]  # sufficient value, failing value, ε or δ spent at the first


def _nearest(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int, limit: Limit
) -> _Found:
    """Return the search's result, or nearer values that are held where it stops, declines or ends far apart."""
    found: _Found | None = None
    reason: DpboundsError = NotCertified("")
    held = _held(factory, budget, solve, group_size) if is_limited() else None
    try:
        found = _calibrated(factory, budget, solve, group_size)
    except TimeIsUp:
        reason = NotCertified(f"the time limit passed before any {solve} was proven to suffice; allow more")
    except Declined as declined:
        reason = NotCertified(
            f"the search for {solve} cannot plan these numbers ({declined}); try a budget closer to 1, or fewer steps"
        )
    except NotCertified as unproven:
        reason = unproven
    if found is not None and not limit.passed and not _ends_far_apart(factory, budget, solve, group_size, found):
        return found
    held = held or _held(factory, budget, solve, group_size)
    best = held if found is None else Held(*found[:2]).nearer(held, solve)
    if best.safe is None or (found is None and best.safe == parameter_at(RANGES[solve][1], solve) and not best.unsafe):
        raise reason
    spent = found[2] if found is not None and best.safe == found[0] else _within(budget)
    return best.safe, best.unsafe, spent


def _held(factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int) -> Held:
    """Return the bounds that are proven without a limit, improved within it."""
    with without_time_limit():
        held = proven_at_once(factory, budget, solve, group_size)
    return held if group_size > 1 else improved(held, factory, budget, solve)


def _within(budget: Budget) -> Enclosure:
    """Return an enclosure of ε for a value that is only known to suffice."""
    return Enclosure(Fraction(0), budget.epsilon, AT_ONCE)


def _ends_far_apart(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int, found: _Found
) -> bool:
    """Return whether better proofs could close the gap of both values: not if attacks are far from the upper bound."""
    value, fails_at, _ = found
    if group_size > 1 or fails_at is None or abs(value - fails_at) <= max(TOLERANCE * value, Fraction(solve in WHOLE)):
        return False
    return neighbour_classes(factory(value), budget.relation).tight


def _calibrated(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int
) -> tuple[Fraction, Fraction | None, Enclosure]:
    """Return a sufficient value, a failing one, and the privacy spent at the first."""
    if group_size > 1:
        from dpbounds.privacy.budgets.group_crossing import calibrated_for_groups

        return calibrated_for_groups(
            factory, budget, solve, group_size, lambda: _calibrated(factory, budget, solve, 1)[:2]
        )
    probe = neighbour_classes(factory(PROBES[solve]), budget.relation)
    shuffled = any(holds_shuffling(each.product) for each in probe.every())
    if shuffled and solve == "sample-rate":
        raise InvalidValue("solve", solve, "noise, steps or batches where batches are shuffled")
    value, fails_at = _of_shuffling(factory, budget, solve) if shuffled else _of_products(factory, budget, solve)
    at_value = account_at(factory(value), budget.at_delta, budget.relation)
    if not (at_value.tight or shuffled):  # divergences promise less than the pairs: they may keep the budget further on
        further = value
        with contextlib.suppress(TimeIsUp):
            further = least_by_moments(factory, value, budget, solve)
        at_further = at_value if further == value else account_at(factory(further), budget.at_delta, budget.relation)
        if at_further.enclosure.exact_upper <= budget.epsilon:
            value, at_value = further, at_further
    elif 0 < at_value.enclosure.exact_upper - budget.epsilon <= budget.epsilon * _NARROW and solve not in WHOLE:
        # the proof of ε is a little wider than that of δ: a value as near suffices by both
        beside = parameter_at(log_of_safety(value, solve) + CLOSE, solve)
        at_beside = account_at(factory(beside), budget.at_delta, budget.relation)
        if at_beside.enclosure.exact_upper <= budget.epsilon:
            value, at_value = beside, at_beside
    return value, fails_at, at_value.enclosure


_Products = Callable[[Fraction], tuple[Product, ...]]


def _dominating(factory: Callable[[Fraction], Mechanism], budget: Budget) -> _Products:
    def products(value: Fraction) -> tuple[Product, ...]:
        every = neighbour_classes(factory(value), budget.relation).every()
        return tuple(resolved(with_gaussian_choices(each.product)) for each in every)

    return products


def _attained(factory: Callable[[Fraction], Mechanism], budget: Budget) -> _Products:
    def products(value: Fraction) -> tuple[Product, ...]:
        every = neighbour_classes(factory(value), budget.relation).every()
        return tuple(dict.fromkeys(resolved(attack) for each in every for attack in each.attacks))

    return products


def _of_products(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve
) -> tuple[Fraction, Fraction | None]:
    """Return a value that suffices by the dominating pairs, and one that fails by attacks (None: no attack)."""

    def tight(value: Fraction) -> bool:
        return neighbour_classes(factory(value), budget.relation).tight

    both = tight(PROBES[solve])
    evidence = OfProducts(_dominating(factory, budget), budget)
    value, fails_at = Crossing(evidence, solve, "both" if both else "safe").search()
    assert value is not None
    if (fails_at is None and both) or (solve in ("sample-rate", "batches") and value == 1):
        return value, None
    if fails_at is not None and tight(value) and tight(fails_at):
        return value, fails_at
    return value, _broken(factory, value, budget, solve, CLOSE)


def _of_shuffling(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve
) -> tuple[Fraction, Fraction | None]:
    """Search where batches are shuffled: clones give an upper bound, and the best known attacks are far below it."""
    value, _ = Crossing(OfShuffling(factory, budget), solve, "safe", close=_CLOSE_BY_CLONES).search()
    assert value is not None
    with contextlib.suppress(TimeIsUp):
        return value, _broken(factory, value, budget, solve, _CLOSE_TO_ATTACKS)
    return value, None


def _broken(
    factory: Callable[[Fraction], Mechanism], value: Fraction, budget: Budget, solve: Solve, close: float
) -> Fraction | None:
    """Return a value that an attack is proven to break, about the closest one; None where no attack is known."""
    attained = _attained(factory, budget)
    if not attained(value):
        return None
    with contextlib.suppress(Declined, NotCertified):  # then no value is proven to be broken
        return Crossing(OfProducts(attained, budget, of_attacks=True), solve, "unsafe", value, close).search()[1]
    return None


@working(OUTER_PRECISION)
def hidden_constant(
    sample_rate: ExactLike,
    steps: int,
    target_epsilon: ExactLike,
    target_delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """Enclose c2 in "noise multiplier σ >= c2 q sqrt(T log(1/δ))/ε suffices" (Abadi et al. 2016, Theorem 1).

    The theorem says that some constant works for ε < c1 q² T. For given numbers the smallest one is the smallest noise
    multiplier that suffices, divided by q sqrt(T log(1/δ))/ε. Errors as for :func:`calibrate`.

    Args:
        sample_rate: q, in (0, 1].
        steps: T, a positive integer.
        target_epsilon: Greater than 0.
        target_delta: In (0, 1).
        relation: The neighbouring relation.

    Returns:
        Proven ends of c2 (no unit).
    """
    q, count = exact(sample_rate, "sample_rate"), positive_integer(steps, "steps")
    budget = Budget.of(practical_epsilon(target_epsilon), target_delta, relation)
    if budget.epsilon == 0:
        raise InvalidValue("target_epsilon", target_epsilon, "greater than 0", "the formula divides by it")
    found = calibrate_within(lambda z: PoissonSampled(Gaussian(z), q) ** count, budget)
    assert found.fails_at is not None
    with working(128):
        unit = ball(budget.epsilon) / (ball(q) * (count * -ball(budget.delta).log()).sqrt())
        return Enclosure.from_balls(ball(found.fails_at) * unit, ball(found.value) * unit, found.epsilon.method, 128)
