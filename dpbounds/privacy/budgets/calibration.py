"""The smallest noise, the most steps, the largest rate that keep a budget, with a proof of both sides.

The search runs in floating point; what is returned rests on two certified evaluations alone, one on each side. That no
smaller noise (more steps, higher rate) would do either follows from monotonicity, proven in ``pairs.md``.
"""

from __future__ import annotations

import contextlib
import math
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
    checkpoint,
    is_limited,
    time_limited,
    without_time_limit,
)
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account_at, prove_epsilon
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.budgets.crossing import (
    PROBES,
    RANGES,
    WHOLE,
    Bracket,
    Crossing,
    Solve,
    log_of_safety,
    narrowed,
    one_step_is_too_much,
    parameter_at,
)
from dpbounds.privacy.budgets.held import Held, improved, least_by_moments, proven_at_once
from dpbounds.privacy.domination.composition import Key, NeighbourClass, NeighbourClasses, neighbour_classes
from dpbounds.privacy.domination.many_choices import with_gaussian_choices
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.pairs.pairs import Product, as_gaussian, holds_shuffling
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.at_once import METHOD as AT_ONCE
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta, has_closed_form
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.values import Budget, demand_fields, practical_epsilon

_FIRST_MARGIN = 2.0**-37  # relative, between the estimate and the first point tried on either side
_LARGEST, _SMALLEST = 2.0**60, 2.0**-60
_FARTHEST = 20.0  # nats from the estimate: beyond that nothing is tried
_SPARE = Fraction(1, 10**4)  # the share of ε that a noise may leave where its last digits do not matter
_TRIALS = 40
TOLERANCE = Fraction(1, 1000)  # relative distance of what suffices and what fails, below which a search is content
_LEVELS = 96  # of a schedule, that an estimate looks at


@dataclass(frozen=True, slots=True, repr=False)
class Calibration(Displayed):
    """A parameter that keeps the budget, and a neighbouring one that does not, both proven.

    Attributes:
        value: Suffices (a noise multiplier, a whole number of steps, or a sample rate): by the dominating pairs or,
            where these are not attained, by Rényi divergences, whichever allows less noise.
        fails_at: Does not; None where even the largest sample rate, 1, suffices, or where no attack is known. Where the
            dominating pairs are not attained, it is what an explicit attack breaks, and may lie at a distance.
        epsilon: Proven enclosure of what ``value`` spends at the target δ.
        target_epsilon: The budget.
        target_delta: The budget.
        relation: The neighbouring relation.
        solve: What ``value`` is: "noise", "steps", "sample-rate" or "batches".
        mechanism: The calibrated mechanism.
        failing: The mechanism at ``fails_at``, or None.
        complete: False where a time limit ended the search: ``value`` suffices, and better ones may.
        group_size: How many records are protected together.
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
        """How far the best value may be from ``value``, as a share of it; None where no value is known to fail.

        The least noise is at least ``(1 - gap) * value``, the largest rate at most ``(1 + gap) * value``. 0 where
        nothing lies in between: whole numbers next to each other, a rate of 1, one batch.
        """
        if self.fails_at is None:
            return Fraction(0) if self.solve in ("sample-rate", "batches") and self.value == 1 else None
        apart = abs(self.fails_at - self.value) - (1 if self.solve in WHOLE else 0)
        return apart / self.value

    @property
    def within_tolerance(self) -> bool:
        """Whether the gap is known and at most 1/1000. Where it is not, ``value`` suffices, and better ones may."""
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
        """How far from the best value this one may be, rounded up."""
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
    """Find the parameter that just keeps an (ε, δ) budget.

    Args:
        factory: From the parameter, an exact number, to a mechanism; it must be monotone as the parameter's name says
            (more noise spends less; more steps or a higher rate spend more).
        target_epsilon: At least 0.
        target_delta: In (0, 1).
        relation: The neighbouring relation.
        solve: "noise" or "batches" for the smallest, "steps" or "sample-rate" for the largest value that suffices.
        group_size: At most so many records are one person's, and to be protected together.
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
    budget = Budget.of(practical_epsilon(target_epsilon), target_delta, relation)
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
    """Return a noise that is proven to suffice and to leave at most a ten-thousandth of ε.

    For searches over other parameters, to which the last digits of the noise do not matter. The least noise is
    returned where finding it takes no longer.
    """
    probe = neighbour_classes(factory(Fraction(1)), budget.relation)
    if _is_gaussian(probe) and not _is_shuffled(probe):
        with contextlib.suppress(Declined, NotCertified):  # a whole calibration has further ways
            return _Search(factory, budget, "noise").certified(_SPARE)[0]
    return calibrate_within(factory, budget).value


_Found = tuple[Fraction, Fraction | None, Enclosure]  # what suffices, what fails, and what the first spends


def _nearest(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int, limit: Limit
) -> _Found:
    """Return what the search finds, or nearer values that are held where it stops, declines or ends far apart."""
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
    """Return what is proven at once, without a limit, and improved within it."""
    with without_time_limit():
        held = proven_at_once(factory, budget, solve, group_size)
    return held if group_size > 1 else improved(held, factory, budget, solve)


def _within(budget: Budget) -> Enclosure:
    """Return an enclosure of ε for a value of which no more is known than that it suffices."""
    return Enclosure(Fraction(0), budget.epsilon, AT_ONCE)


def _ends_far_apart(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int, found: _Found
) -> bool:
    """Whether better proofs could bring what suffices and what fails together: not where attacks lie at a distance."""
    value, fails_at, _ = found
    if group_size > 1 or fails_at is None or abs(value - fails_at) <= max(TOLERANCE * value, Fraction(solve in WHOLE)):
        return False
    return neighbour_classes(factory(value), budget.relation).tight


def _calibrated(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve, group_size: int
) -> tuple[Fraction, Fraction | None, Enclosure]:
    """A value that suffices, one that does not, and what the first spends."""
    if group_size > 1:
        from dpbounds.privacy.budgets.group_crossing import calibrated_for_groups

        return calibrated_for_groups(
            factory, budget, solve, group_size, lambda: _calibrated(factory, budget, solve, 1)[:2]
        )
    probe = neighbour_classes(factory(Fraction(2 if solve == "batches" else 1)), budget.relation)
    if solve == "batches" or _is_shuffled(probe):
        from dpbounds.privacy.budgets.clones_crossing import calibrated_by_clones

        return calibrated_by_clones(factory, budget, solve)
    if _is_gaussian(probe):
        return _Search(factory, budget, solve).certified()
    value, fails_at = _by_delta(factory, budget, solve)
    at_value = account_at(factory(value), budget.at_delta, budget.relation)
    if not at_value.tight:  # divergences promise less than the pairs: they may keep the budget further on
        further = least_by_moments(factory, value, budget, solve)
        at_further = at_value if further == value else account_at(factory(further), budget.at_delta, budget.relation)
        if at_further.enclosure.exact_upper <= budget.epsilon:
            value, at_value = further, at_further
    return value, fails_at, at_value.enclosure


def _is_shuffled(classes: NeighbourClasses) -> bool:
    return any(holds_shuffling(each.product) for each in classes.every())


def _is_gaussian(classes: NeighbourClasses) -> bool:
    """Whether sums of Gaussian losses are all that is spent, exactly."""
    return classes.tight and all(as_gaussian(each.product) is not None for each in classes.every())


def _by_delta(
    factory: Callable[[Fraction], Mechanism], budget: Budget, solve: Solve
) -> tuple[Fraction, Fraction | None]:
    """A value that suffices by what dominates, and one that fails by what is attained (None: no attack is known)."""

    def classes(value: Fraction) -> NeighbourClasses:
        return neighbour_classes(factory(value), budget.relation)

    def dominating(value: Fraction) -> tuple[Product, ...]:
        return tuple(resolved(with_gaussian_choices(each.product)) for each in classes(value).every())

    def attained(value: Fraction) -> tuple[Product, ...]:
        return tuple(resolved(attack) for each in classes(value).every() for attack in each.attacks)

    both = classes(PROBES[solve]).tight
    value, fails_at = Crossing(dominating, budget, solve, "both" if both else "safe").search()
    assert value is not None
    if (fails_at is None and both) or (solve == "sample-rate" and value == 1):
        return value, None
    if fails_at is not None and classes(value).tight and classes(fails_at).tight:
        return value, fails_at
    if not attained(value):
        return value, None
    return value, Crossing(attained, budget, solve, "unsafe", value).search()[1]


@working(OUTER_PRECISION)
def hidden_constant(
    sample_rate: ExactLike,
    steps: int,
    target_epsilon: ExactLike,
    target_delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """What c2 really is in "noise multiplier σ >= c2 q sqrt(T log(1/δ))/ε suffices" (Abadi et al. 2016, Theorem 1).

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


@dataclass(slots=True)
class _Search:
    """The search where all products are sums of Gaussian losses: what ε(δ) is then, is cheap to estimate well."""

    factory: Callable[[Fraction], Mechanism]
    budget: Budget
    solve: Solve
    worst: Key | None = None  # of the class that spends most

    def spent(self, value: Fraction) -> Enclosure:
        return account_at(self.factory(value), self.budget.at_delta, self.budget.relation).enclosure

    def _worst_of(self, classes: NeighbourClasses) -> NeighbourClass | None:
        return None if self.worst is None else classes.with_key(self.worst)

    def spent_at_least(self, value: Fraction) -> Enclosure:
        """Return what the dearest class spends: enough to prove that a value fails."""
        worst = self._worst_of(neighbour_classes(self.factory(value), self.budget.relation))
        if worst is None:
            return self.spent(value)
        return prove_epsilon(resolved(worst.product), self.budget.delta, DEFAULT_TOLERANCE).enclosure

    def excess(self, parameter: float, precise: bool) -> float:
        """Estimate of log δ(ε) - log δ, positive where the budget is overspent; it decides nothing."""
        if self.solve == "noise" and not _SMALLEST**2 < parameter < _LARGEST**2:
            raise NotCertified(f"the budget does not bound the noise between {_SMALLEST**2:g} and {_LARGEST**2:g}")
        value = Fraction(max(1, round(parameter))) if self.solve == "steps" else Fraction(parameter)
        classes = neighbour_classes(self.factory(value), self.budget.relation)
        worst = self._worst_of(classes)
        if worst is not None:
            estimate = self._log_delta(resolved(worst.product), precise)
        else:
            estimates = {each.keys: self._log_delta(resolved(each.product), precise) for each in classes.every()}
            dearest = max(estimates, key=estimates.__getitem__)
            estimate = estimates[dearest]
            if precise:  # the class that spends most here does so nearby; the proof looks at all of them
                self.worst, *_ = dearest
        return estimate - math.log(self.budget.delta.numerator) + math.log(self.budget.delta.denominator)

    def _log_delta(self, product: Product, precise: bool) -> float:
        if not has_closed_form(product):
            from dpbounds.privacy.routes.contour.estimate import quick_log_delta
            from dpbounds.privacy.routes.grouping import between
            from dpbounds.privacy.routes.lattice.estimates import expected_log_delta

            gaussian = as_gaussian(between(product, _LEVELS).dearer if len(product) > _LEVELS else product)
            if gaussian is None:
                return expected_log_delta(product, float(self.budget.epsilon))
            return quick_log_delta(gaussian, float(self.budget.epsilon), precise)
        with working(64):
            middle = closed_form_delta(product[0][0], self.budget.epsilon, 50)[0].mid()
            return float(middle.log().mid()) if middle > 0 else -math.inf

    def bracket(self) -> tuple[float, float]:
        """(safe, unsafe) parameters within a factor of two, by doubling."""
        safer = 2.0 if self.solve == "noise" else 0.5
        top = {"noise": _LARGEST, "steps": _LARGEST, "sample-rate": 1.0}[self.solve]
        parameter = {"noise": 1.0, "steps": 1024.0, "sample-rate": 2.0**-6}[self.solve]
        bottom = 1.0 if self.solve == "steps" else _SMALLEST
        if self.excess(parameter, precise=False) > 0:
            while self.excess(parameter, precise=False) > 0:
                unsafe, parameter = parameter, parameter * safer
                if not bottom <= parameter <= top:
                    return max(bottom, min(top, parameter)), unsafe
            return parameter, unsafe
        while self.excess(parameter, precise=False) <= 0:
            safe, parameter = parameter, parameter / safer
            if parameter > top and top == 1.0:
                return safe, 1.0
            if not bottom <= parameter <= top:
                raise NotCertified(f"the budget does not bound the {self.solve} between {bottom:g} and {top:g}")
        return safe, parameter

    def crossing(self) -> float:
        """Return the crossing of the estimate with the target: ten digits where that is cheap, else a few."""
        safe, unsafe = self.bracket()
        values = {x: self.excess(x, precise=False) for x in (safe, unsafe)}
        if self.solve == "sample-rate" and values[unsafe] <= 0:
            return unsafe
        middle = self._narrow(Bracket(unsafe, values[unsafe], safe, values[safe]), False, 1e-3)
        # the precise estimate crosses nearby: step outwards from the rough crossing until it is bracketed
        top = 1.0 if self.solve == "sample-rate" else math.inf
        toward_safety = 1.0 if self.solve == "noise" else -1.0
        factor = 1.01
        values = {middle: self.excess(middle, precise=True)}
        safe = unsafe = middle
        while values[safe] > 0 or values[unsafe] <= 0:
            if values[safe] > 0:
                unsafe, safe = safe, safe * factor**toward_safety
                values[safe] = self.excess(safe, precise=True)
            else:
                safe, unsafe = unsafe, min(unsafe / factor**toward_safety, top)
                values[unsafe] = self.excess(unsafe, precise=True)
                if unsafe == top:
                    break
            factor *= factor
        return self._narrow(Bracket(unsafe, values[unsafe], safe, values[safe]), True, 1e-12)

    def _narrow(self, ends: Bracket[float], precise: bool, resolution: float) -> float:
        return narrowed(
            ends,
            lambda point: self.excess(point, precise),
            lambda point, _: point,
            resolution=resolution,
            least_share=1e-6,
            enough=1e-11 if precise else 1e-3,
        )

    def certified(self, spare: Fraction = Fraction(0)) -> tuple[Fraction, Fraction | None, Enclosure]:
        """A value that provably suffices and one that provably does not, as close as the proofs allow.

        Certified enclosures of ε correct the estimate (secant steps) until the two sides meet, or until what suffices
        is proven to leave no more than ``spare`` of ε, where that is above 0.
        """
        whole = self._first_values()
        if whole is not None:
            return whole
        centre = self.crossing()
        start = y = log_of_safety(centre, self.solve)
        safe: tuple[float, Fraction, Enclosure] | None = None
        unsafe: tuple[float, Fraction] | None = None
        last: tuple[float, float] | None = None
        slope = -max(float(self.budget.epsilon), 2.0**-40)
        shift, aim = _FIRST_MARGIN, 1.0
        tried: set[Fraction] = set()
        for _ in range(_TRIALS):
            value = parameter_at(y + aim * shift, self.solve)
            if value in tried:  # steps come in whole numbers
                value += -1 if aim > 0 else 1
                if value in tried or value < 1:
                    break
            tried.add(value)
            try:
                checkpoint()
            except TimeIsUp:
                if safe is None:
                    raise
                return safe[1], None if unsafe is None else unsafe[1], safe[2]
            at = log_of_safety(value, self.solve)
            spent = self.spent_at_least(value) if aim < 0 else self.spent(value)
            if aim < 0 and spent.exact_lower <= self.budget.epsilon:
                spent = self.spent(value)  # it does not fail by that order alone
            middle = (spent.lower + spent.upper) / 2
            if spent.exact_upper <= self.budget.epsilon:
                if safe is None or at < safe[0]:
                    safe = (at, value, spent)
                if spent.exact_lower > self.budget.epsilon * (1 - spare):
                    return value, None if unsafe is None else unsafe[1], spent
            elif spent.exact_lower > self.budget.epsilon and (unsafe is None or at > unsafe[0]):
                unsafe = (at, value)
            if last is not None and abs(at - last[0]) > 1e-13 and (middle - last[1]) / (at - last[0]) < 0:
                slope = (middle - last[1]) / (at - last[0])
            last = (at, middle)
            shift = max(_FIRST_MARGIN, shift if spent.exact_lower <= self.budget.epsilon < spent.exact_upper else 0.0)
            shift = max(shift, 2 * spent.width / abs(slope))
            if self._met(safe, unsafe, shift):
                break
            y = at - (middle - float(self.budget.epsilon)) / slope
            y = min(max(y, start - _FARTHEST), start + _FARTHEST)  # (wide answers have slopes that mean nothing)
            if safe is not None and unsafe is not None and not unsafe[0] < y < safe[0]:
                y = (safe[0] + unsafe[0]) / 2
                shift = min(shift, (safe[0] - unsafe[0]) / 8)
            grain = 1.5 / float(value) if self.solve == "steps" else 0.0
            aim = -1.0 if safe is not None and abs(safe[0] - y) <= 4 * shift + grain else 1.0
        if safe is None or unsafe is None:
            raise NotCertified(f"the {self.solve} that just keeps the budget could not be enclosed near {centre:g}")
        return safe[1], unsafe[1], safe[2]

    def _met(
        self, safe: tuple[float, Fraction, Enclosure] | None, unsafe: tuple[float, Fraction] | None, shift: float
    ) -> bool:
        if safe is None or unsafe is None:
            return False
        if self.solve == "steps":
            return unsafe[1] - safe[1] == 1
        return safe[0] - unsafe[0] <= 4 * shift

    def _first_values(self) -> tuple[Fraction, Fraction | None, Enclosure] | None:
        """The end of the parameter's range, where it already decides the question."""
        if self.solve == "noise":
            return None
        spent = self.spent(Fraction(1))
        if self.solve == "sample-rate" and spent.exact_upper <= self.budget.epsilon:
            return Fraction(1), None, spent
        if self.solve == "steps" and spent.exact_lower > self.budget.epsilon:
            raise one_step_is_too_much(self.budget.epsilon)
        return None
