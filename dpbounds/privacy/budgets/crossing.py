"""Where a monotone parameter starts to keep a budget, by certified values of δ at the budget's ε.

For any product of pairs, whatever route proves it: δ(ε) is finite and continuous in the noise even where ε(δ) jumps
between 0 and ∞ (noise that is uniform on a ball). The search runs on the middles of the enclosures; what it returns are
the closest parameters that were *proven* to suffice and to fail.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, Literal, TypeVar

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import TimeIsUp
from dpbounds.privacy.accountants.certified import prove_delta
from dpbounds.privacy.pairs.pairs import Product, TaggedGaussians, holds_allocation
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import closed_form_delta, has_closed_form, squared_shift_of
from dpbounds.privacy.values import Budget

Solve = Literal["noise", "steps", "sample-rate", "batches"]
WHOLE = ("steps", "batches")
PROBES: dict[Solve, Fraction] = {  # at which a mechanism is of the kind that it is at most others
    "noise": Fraction(1),
    "steps": Fraction(1),
    "sample-rate": Fraction(1, 2),
    "batches": Fraction(2),
}
Wanted = Literal["both", "safe", "unsafe"]
Place = TypeVar("Place", float, Fraction)

_LARGEST, _SMALLEST = 2.0**60, 2.0**-60
RANGES: dict[Solve, tuple[float, float, float]] = {  # log of safety: where to start, and between which two to look
    "noise": (0.0, math.log(_SMALLEST), math.log(_LARGEST)),
    "steps": (-math.log(64.0), -math.log(_LARGEST), 0.0),
    "sample-rate": (math.log(64.0), 0.0, -math.log(_SMALLEST)),
    "batches": (math.log(64.0), 0.0, math.log(_LARGEST)),
}
_LOOSE, _COARSE, _FINE = 1e-2, 1e-3, 1e-4  # widths: from afar, asked for first, and where that does not decide
_AGREED = 5e-3  # how close to the target, as such a width, a loose proof says enough
_WITHIN = 4  # the same for a coarse proof, in units of its own width
_CLOSE = 1e-10  # relative distance of the two proven sides at which the search ends
_TRIALS = 24
_NARROWINGS = 80
_ESTIMATES, _ESTIMATED = 8, 5e-3  # how often the bracket is narrowed by estimates at most; how close in log δ
_FARTHER, _AT_LEAST = 1.5, 0.02  # steps towards the bracket
_LONGEST = math.log(2)  # Newton step in log parameter
_BESIDE, _BESIDE_AT_MOST = 0.75, 1.2  # distance from the crossing, in widths of a fine proof: tried, accepted
_TIGHTER = 8  # trials per side once the proofs no longer decide in the middle


def log_of_safety(value: Fraction | float, solve: Solve) -> float:
    """The logarithm y of a parameter, signed so that more y spends less."""
    return math.log(value) if solve in ("noise", "batches") else -math.log(value)


def parameter_at(y: float, solve: Solve) -> Fraction:
    """The nearest parameter that there is: a double, a whole number of steps or batches, a rate of 1 at most."""
    parameter = math.exp(y if solve in ("noise", "batches") else -y)
    if solve in WHOLE:
        return Fraction(max(1, round(parameter)))
    return Fraction(min(parameter, 1.0) if solve == "sample-rate" else parameter)


def one_step_is_too_much(epsilon: Fraction) -> InvalidValue:
    """The error where not even a single step keeps the budget."""
    return InvalidValue("target_epsilon", float(epsilon), "larger: one step already spends more", "add noise")


@dataclass(slots=True)
class Bracket(Generic[Place]):
    """Two places around a crossing: regula falsi (Illinois), in which an end that stays twice counts half.

    Attributes:
        unsafe: A place that overspends.
        above: By how much, greater than 0.
        safe: One that does not.
        below: Its excess, at most 0.
    """

    unsafe: Place
    above: float
    safe: Place
    below: float
    _side: int = 0

    def narrow(self, place: Place, excess: float) -> None:
        """Move the end on the place's side there."""
        if excess > 0:
            self.below = self.below / 2 if self._side > 0 else self.below
            self.unsafe, self.above, self._side = place, excess, 1
        else:
            self.above = self.above / 2 if self._side < 0 else self.above
            self.safe, self.below, self._side = place, excess, -1


def narrowed(
    ends: Bracket[Place],
    excess: Callable[[Place], float],
    place: Callable[[float, Bracket[Place]], Place],
    *,
    resolution: float,
    least_share: float,
    enough: float = 0.0,
) -> Place:
    """Regula falsi in the logarithm of the parameter, where the excess is nearly linear.

    Args:
        ends: Two places around the crossing; they move.
        excess: By how much a place overspends, at most 0 where it does not.
        place: The place nearest to a number, between the ends.
        resolution: Relative distance of the ends at which the search ends.
        least_share: Of the distance between the ends, how close to one of them the next place may lie.
        enough: An excess so small that its place is returned.

    Returns:
        The safe end.
    """
    for _ in range(_NARROWINGS):
        apart = math.log(ends.unsafe / ends.safe)
        if abs(apart) < resolution:
            break
        known = math.isfinite(ends.below) and math.isfinite(ends.above) and ends.below < 0
        weight = ends.below / (ends.below - ends.above) if known else 0.5
        point = place(ends.safe * math.exp(apart * min(max(weight, least_share), 1 - least_share)), ends)
        if point in (ends.safe, ends.unsafe):
            break
        value = excess(point)
        if abs(value) < enough:
            return point
        ends.narrow(point, value)
    return ends.safe


def halved(
    inside: float, outside: float, holds: Callable[[Fraction], bool], solve: Solve, close: float
) -> tuple[float, float]:
    """Halve what lies between a place where a property holds and a less safe one where it does not.

    Args:
        inside: The logarithm of safety where it holds.
        outside: The same where it does not.
        holds: Whether a value of the parameter has the property.
        solve: Which parameter.
        close: The distance at which the search ends; of whole numbers, it ends at neighbours.

    Returns:
        The two places; where the time limit ends the search, as close as they are by then.
    """
    while inside - outside > close and parameter_at(inside, solve) != parameter_at(outside, solve):
        if solve in WHOLE and abs(parameter_at(inside, solve) - parameter_at(outside, solve)) <= 1:
            break
        middle = (inside + outside) / 2
        try:
            inside, outside = (middle, outside) if holds(parameter_at(middle, solve)) else (inside, middle)
        except TimeIsUp:
            break
    return inside, outside


@dataclass(slots=True)
class Crossing:
    """A search for the value of a parameter at which δ(ε) crosses the target.

    Attributes:
        products: From the parameter to the products whose largest δ counts.
        budget: ε, and the target.
        solve: Which parameter: "noise" spends less as it grows, "steps" (whole numbers) and "sample-rate" more.
        wanted: Which side is to be close; of the other one only what is met on the way is known.
        start: Where to look first, if anything is known.
        safe: The least (noise) or largest value proven to suffice so far.
        unsafe: The closest one proven to fail.

    Where only "unsafe" is wanted, what attacks attain decides: the upper end may be 1.
    """

    products: Callable[[Fraction], tuple[Product, ...]]
    budget: Budget
    solve: Solve
    wanted: Wanted = "both"
    start: Fraction | None = None
    safe: Fraction | None = None
    unsafe: Fraction | None = None
    _seen: dict[Fraction, float] = field(default_factory=dict)
    _guessed: dict[Fraction, float] = field(default_factory=dict)
    _worst: int | None = None  # index of the product that spent most when last asked

    def search(self) -> tuple[Fraction | None, Fraction | None]:
        """Return a value that suffices and one that does not (None where every value allowed suffices, or unwanted).

        Raises:
            InvalidValue: No value of the parameter keeps the budget.
            NotCertified: The proofs did not decide on either side.
        """
        try:
            if self._decided_at_the_end():
                assert self.safe is not None
                return self.safe, None
            low, high = self._bracket()
            if self.solve == "steps" or not self._approach(low, high):
                self._close_in(low, high)
        except TimeIsUp:
            if self._lacks("safe"):
                raise
            return self.safe, self.unsafe
        if self._lacks("safe") or self._lacks("unsafe"):
            raise NotCertified(f"the {self.solve} that just keeps the budget could not be enclosed")
        return self.safe, self.unsafe

    def _lacks(self, side: str) -> bool:
        return self.wanted in ("both", side) and getattr(self, side) is None

    # Below, y is the logarithm of the parameter, signed so that more y spends less.

    def _value(self, y: float) -> Fraction:
        return parameter_at(y, self.solve)

    def _y(self, value: Fraction) -> float:
        return log_of_safety(value, self.solve)

    def _guess(self, y: float) -> float:
        """Log δ(ε) - log δ in floating point, to look for the bracket with: of the product that spent most so far."""
        value = self._value(y)
        if value not in self._guessed:
            products = self.products(value)
            if self._worst is None or self._worst >= len(products):
                estimates = [_expected(product, self.budget.epsilon) for product in products]
                self._worst = estimates.index(max(estimates))
                estimate = max(estimates)
            else:
                estimate = _expected(products[self._worst], self.budget.epsilon)
            self._guessed[value] = estimate - _log(self.budget.delta)
        return self._guessed[value]

    def _try(self, value: Fraction) -> float:
        """Prove δ(ε) at a value, keep it if it decides, and return log δ(ε) - log δ in the middle."""
        if value in self._seen:
            return self._seen[value]
        lower, upper = self._proven(value, (_COARSE, _FINE))
        middle = lower if self._known_from_below(upper) else (lower + upper) / 2
        excess = -math.inf if middle == 0 else _log(middle) - _log(self.budget.delta)
        if lower <= self.budget.delta < upper:
            excess = 0.0
        self._seen[value] = excess
        return excess

    def _proven(self, value: Fraction, tolerances: Sequence[float]) -> tuple[Fraction, Fraction]:
        """Proven ends of δ(ε) at a value, which is kept if they decide."""
        lower, upper = self._enclosed(self.products(value), tolerances)
        if upper <= self.budget.delta and (self.safe is None or self._y(value) < self._y(self.safe)):
            self.safe = value
        if lower > self.budget.delta and (self.unsafe is None or self._y(value) > self._y(self.unsafe)):
            self.unsafe = value
        return lower, upper

    def _known_from_below(self, upper: Fraction) -> bool:
        """Whether proofs at a value said what an attack attains, and nothing from above."""
        return self.wanted == "unsafe" and upper >= 1

    def _enclosed(self, products: tuple[Product, ...], tolerances: Sequence[float]) -> tuple[Fraction, Fraction]:
        """Proven ends of the largest δ(ε) of the products; of the first that overspends, which decides by itself.

        Each is asked for as finely as it takes to decide, the one that spent most last time first.
        """
        lower, upper = Fraction(0), Fraction(0)
        for index in sorted(range(len(products)), key=lambda i: i != self._worst):
            first_look = (_LOOSE,) if lower > 0 and holds_allocation(products[index]) else ()  # it may spend far less
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

    def _decided_at_the_end(self) -> bool:
        """Whether the largest rate suffices already; or not even a single step does."""
        if self.solve == "noise":
            return False
        excess = self._try(Fraction(1))
        if self.solve == "sample-rate":
            return self.safe == 1
        if self.unsafe == 1 or excess > 0:
            raise one_step_is_too_much(self.budget.epsilon)
        return False

    def _bracket(self) -> tuple[float, float]:
        """(y that overspends, y that does not), a factor of at most two apart, by the estimate."""
        y, least, most = RANGES[self.solve]
        if self.start is not None:
            y = self._y(self.start)
        step, last = math.log(2), y
        if self._guess(y) > 0:
            while self._guess(y) > 0:
                step = self._step(last, y)
                last, y = y, y + step
                if y > most + math.log(2):
                    epsilon = f"{float(self.budget.epsilon):g}"
                    raise InvalidValue("budget", epsilon, f"a budget that some {self.solve} keeps")
            return y - step, y
        while self._guess(y) <= 0:
            y -= step
            if y < least - step:
                raise NotCertified(f"the budget does not bound the {self.solve}: every value tried keeps it")
        return y, y + step

    def _step(self, last: float, y: float) -> float:
        """How far to go on: half as far again as the estimates at the last two places say, at most a factor of 2."""
        far, near = self._guess(last), self._guess(y)
        if last == y or not far > near:
            return math.log(2)
        return min(math.log(2), _FARTHER * near * (y - last) / (far - near) + _AT_LEAST)

    def _approach(self, low: float, high: float) -> bool:
        """Newton's steps on log δ by coarse proofs, then fine proofs as close to the crossing as they decide.

        Returns:
            Whether the sides that are wanted were found; if not, a slower search is to follow.
        """
        y, slope = self._estimated(low, high)
        over, under = -math.inf, math.inf  # seen to overspend, to keep the budget
        last: tuple[float, float, float] | None = None
        tolerance = _COARSE
        for _ in range(_TRIALS):
            excess, width = self._looked(y, tolerance)
            if not math.isfinite(excess):  # no proof of any use here
                return False
            if last is not None and abs(excess - last[1]) > 8 * (width + last[2]):
                secant = (excess - last[1]) / (y - last[0])
                slope = secant if secant < slope / 16 else slope
            last, step = (y, excess, width), max(-_LONGEST, min(-excess / slope, _LONGEST))
            if tolerance == _COARSE and (abs(excess) <= _WITHIN * width or abs(step) < _CLOSE / 16):
                return self._beside(y + step, slope)
            close = abs(excess) < max(width, _AGREED * max(1.0, -_log(self.budget.delta)))
            tolerance = _COARSE if close else _LOOSE
            if abs(excess) > width:
                over, under = (y, under) if excess > 0 else (over, y)
            y = y + step if over < y + step < under else (over + under) / 2
            if not math.isfinite(y):
                return False
        return False

    def _estimated(self, low: float, high: float) -> tuple[float, float]:
        """Return the crossing of the estimate of log δ with the target, and its slope there."""
        ends = Bracket(low, self._guess(low), high, self._guess(high))
        steep, y, last = -1.0, (low + high) / 2, (low, ends.above)
        if high > low and math.isfinite(ends.above) and math.isfinite(ends.below):
            steep = (ends.below - ends.above) / (high - low)
        for _ in range(_ESTIMATES):
            y = _between(ends)
            value = self._guess(y)
            if abs(value - last[1]) > 0.1 and y != last[0] and math.isfinite(value) and math.isfinite(last[1]):
                steep, last = (value - last[1]) / (y - last[0]), (y, value)
            if abs(value) < _ESTIMATED:
                break
            ends.narrow(y, value)
        return y, min(steep, -1e-3)

    def _looked(self, y: float, tolerance: float) -> tuple[float, float]:
        """Log δ(ε) - log δ in the middle of a proof (NaN: far too wide), and the width of log δ(ε)."""
        lower, upper = self._proven(self._value(y), (tolerance,))
        if self._known_from_below(upper):  # as wide as what was asked for, as far as that is known
            if lower <= 0:
                return math.nan, math.inf
            return _log(lower) - _log(self.budget.delta), tolerance * max(1.0, -_log(lower))
        width = _log(upper) - _log(lower)
        if not width <= 8 * tolerance * max(1.0, -_log(upper)):
            return math.nan, math.inf
        return _log((lower + upper) / 2) - _log(self.budget.delta), width

    def _beside(self, y: float, slope: float) -> bool:
        """Prove values on the sides that are wanted, about a fine proof's width away from the crossing."""
        lower, upper = self._proven(self._value(y), (_FINE,))
        if lower <= 0:
            return False
        if self._known_from_below(upper):
            upper = lower
        y -= (_log((lower + upper) / 2) - _log(self.budget.delta)) / slope
        width = max((_log(upper) - _log(lower)) / -slope, _CLOSE / 2)
        for side, sign in (("safe", 1.0), ("unsafe", -1.0)):
            if self.wanted not in ("both", side):
                continue
            shift = _BESIDE * width
            for _ in range(_TIGHTER):
                known: Fraction | None = getattr(self, side)
                if known is not None and sign * (self._y(known) - y) <= max(shift, _BESIDE_AT_MOST * width):
                    break
                lower, upper = self._proven(self._value(y + sign * shift), (_FINE,))
                if lower <= 0:
                    return False
                beyond = _log(upper) - _log(self.budget.delta) if sign > 0 else _log(self.budget.delta) - _log(lower)
                shift = max(1.1 * shift, shift - 1.25 * beyond / slope)
            else:
                return False
        return True

    def _close_in(self, low: float, high: float) -> None:
        """Prove values on both sides, ever closer: regula falsi (Illinois) on log δ, then what the proofs allow."""
        ends = Bracket(low, self._try(self._value(low)), high, self._try(self._value(high)))
        step = math.log(2)
        while ends.above <= 0 and self.unsafe is None:
            ends.unsafe, step = ends.unsafe - step, 2 * step
            ends.above = self._try(self._value(ends.unsafe))
            if step > 64:
                return
        step = math.log(2)
        while ends.below >= 0 and self.safe is None:
            ends.safe, step = ends.safe + step, 2 * step
            ends.below = self._try(self._value(ends.safe))
            if step > 64:
                return
        for _ in range(_TRIALS):
            if self._met():
                return
            y = _between(ends)
            value = self._value(y)
            if value in self._seen and self.solve == "steps":
                assert self.safe is not None
                assert self.unsafe is not None
                value = Fraction((self.safe + self.unsafe) // 2)
                if value in self._seen:
                    return
                y = self._y(value)
            excess = self._try(value)
            if excess == 0.0:
                self._tighten(y)
                return
            ends.narrow(y, excess)
        self._tighten((ends.unsafe + ends.safe) / 2)

    def _tighten(self, centre: float) -> None:
        """Near the crossing the proofs are too wide to decide: come as close as they do, from either side."""
        for attribute in ("safe", "unsafe"):
            for _ in range(_TIGHTER):
                if self._met():
                    return
                known: Fraction | None = getattr(self, attribute)
                if known is None:
                    return
                value = self._value((self._y(known) + centre) / 2)
                if value in self._seen:
                    break
                self._try(value)
                if getattr(self, attribute) != value:
                    centre = (self._y(known) + centre) / 2 if attribute == "unsafe" else centre
                    break

    def _met(self) -> bool:
        if self.safe is None or self.unsafe is None:
            return False
        if self.solve == "steps":
            return self.unsafe - self.safe == 1
        return self._y(self.safe) - self._y(self.unsafe) <= _CLOSE


def _between(ends: Bracket[float]) -> float:
    if math.isfinite(ends.above) and math.isfinite(ends.below) and ends.above > ends.below:
        weight = ends.above / (ends.above - ends.below)
        return ends.unsafe + (ends.safe - ends.unsafe) * min(max(weight, 0.01), 0.99)
    return (ends.unsafe + ends.safe) / 2


def _log(number: Fraction) -> float:
    if number <= 0:
        return -math.inf
    shift = number.numerator.bit_length() - number.denominator.bit_length()
    return math.log(number / Fraction(2) ** shift) + shift * math.log(2)


def _expected(product: Product, epsilon: Fraction) -> float:
    """Log δ(ε) in floating point, by what is quickest."""
    from dpbounds.privacy.routes.lattice.estimates import expected_log_delta
    from dpbounds.privacy.routes.outcomes import has_few_outcomes, log_delta_by_outcomes

    if holds_allocation(product):
        from dpbounds.privacy.routes.allocation.engine import rough

        product = rough(product)
    if has_closed_form(product) and isinstance(product[0][0], TaggedGaussians):  # a lattice would add up many tails
        return _log(ball_end(closed_form_delta(product[0][0], epsilon, 50)[0], "up"))
    if has_few_outcomes(product) and squared_shift_of(product):
        with contextlib.suppress(Declined):
            return log_delta_by_outcomes(product, epsilon)
    return expected_log_delta(product, float(epsilon))
