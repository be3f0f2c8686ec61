"""Search for the value of a monotone parameter at which a budget is just satisfied.

Estimates find the crossing; the returned values are the closest ones that are *proven* to suffice and to fail. A search
varies y, the logarithm of the parameter, signed so that a larger y spends less (``parameter.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.time_limit import TimeIsUp, is_limited
from dpbounds.privacy.budgets.evidence import COARSE, FINE, LOOSE, Evidence, Excess
from dpbounds.privacy.budgets.parameter import RANGES, WHOLE, Solve, log_of_safety, one_step_is_too_much, parameter_at
from dpbounds.privacy.routes.searching import crossing

Wanted = Literal["both", "safe", "unsafe"]

CLOSE = 1e-11  # distance in y of the two proven sides at which a search ends
_AGREED = 5e-3  # distance from the target, as a tolerance, within which a loose proof is followed by a coarse one
_WITHIN = 4  # distance from the target, in its own widths, within which a coarse proof is followed by fine ones
_TRIALS = 24
_ESTIMATED = 5e-3  # distance from the target at which an estimate is not improved
_NEAR = 1e-3  # accuracy in y of the rough estimate
_SETTLED = 1e-7  # step in y of the secant method after which the next one is below ``CLOSE``
_NEWTON = 64  # step, in units of ``close``, below which the error of its slope does not matter
_SECANTS = 8
_APART = 0.5  # least difference of two estimates that give a slope
_FARTHER, _AT_LEAST = 1.5, 0.02  # steps towards the bracket
_LONGEST = math.log(2)  # step in y
_BESIDE, _BESIDE_AT_MOST = 0.75, 1.2  # distance from the crossing, in widths of a fine proof: tried, accepted
_EXACT = 1e-6  # width of a proof below which a finer tolerance does not help
_TIGHTER = 8  # trials per side
_HALVED = 1e-7  # distance in y at which bisection ends


def boundary(
    holds: Callable[[Fraction], bool],
    solve: Solve,
    *,
    start: float | None = None,
    step: float = 1.0,
    close: float,
    last: float | None = None,
) -> tuple[Fraction | None, Fraction | None]:
    """Return a value at which a property holds, and a less safe one at which it does not (None: none was met).

    The property is taken to hold on the safe side of some value.

    Args:
        holds: Whether a value has the property.
        solve: The kind of parameter.
        start: The first value to try.
        step: The first step from there, doubled until the side changes.
        close: The distance in y at which the search ends; of whole numbers, it ends at neighbours.
        last: The least safe place to look at; the end of the parameter's range if not given.
    """
    first, least, most = RANGES[solve]
    start = first if start is None else start
    least = least if last is None else last
    seen: dict[Fraction, bool] = {}

    def known(value: Fraction) -> bool:
        if value not in seen:
            seen[value] = holds(value)
        return seen[value]

    def holds_at(y: float) -> bool:
        return known(parameter_at(y, solve))

    inside = less = start
    towards = -1.0 if holds_at(start) else 1.0
    while holds_at(inside) == holds_at(less):
        here = min(max(start + towards * step, least), most)
        inside, less = (less, here) if towards < 0 else (here, inside)
        if here in (least, most) and holds_at(inside) == holds_at(less):
            return (parameter_at(here, solve), None) if towards < 0 else (None, parameter_at(here, solve))
        step *= 2
    inside, less = halved(inside, less, known, solve, close)
    return parameter_at(inside, solve), parameter_at(less, solve)


def halved(
    inside: float,
    outside: float,
    holds: Callable[[Fraction], bool],
    solve: Solve,
    close: float,
    looks: int | None = None,
) -> tuple[float, float]:
    """Halve the interval between a place where a property holds and a less safe one where it does not.

    Args:
        inside: y where it holds.
        outside: y where it does not.
        holds: Whether a value of the parameter has the property.
        solve: The kind of parameter.
        close: The distance at which the search ends; of whole numbers, it ends at neighbours.
        looks: Largest number of values to try.

    Returns:
        The two places; where the time limit ends the search, as close as they are by then.
    """
    looks = math.ceil(math.log2(max((inside - outside) / close, 1.0))) if looks is None else looks
    for _ in range(looks):
        ends = parameter_at(inside, solve), parameter_at(outside, solve)
        if inside - outside <= close or ends[0] == ends[1] or (solve in WHOLE and abs(ends[0] - ends[1]) <= 1):
            break
        middle = (inside + outside) / 2
        try:
            inside, outside = (middle, outside) if holds(parameter_at(middle, solve)) else (inside, middle)
        except TimeIsUp:
            break
    return inside, outside


@dataclass(slots=True)
class Crossing:
    """A search for the value of a parameter at which the spending crosses a budget.

    Attributes:
        evidence: The evidence at a value.
        solve: The kind of parameter: "noise" and "batches" spend less as they grow, "steps" and "sample-rate" more.
        wanted: The side that is to be close; of the other side only values found on the way are known.
        start: The first value to try, if one is known.
        close: The distance in y at which the search ends, where proofs are as narrow as that.
        safe: The least (noise) or largest value proven to suffice so far.
        unsafe: The closest one proven to fail.
    """

    evidence: Evidence
    solve: Solve
    wanted: Wanted = "both"
    start: Fraction | None = None
    close: float = CLOSE
    safe: Fraction | None = None
    unsafe: Fraction | None = None
    _proofs: dict[Fraction, Excess] = field(default_factory=dict)
    _guesses: dict[Fraction, float] = field(default_factory=dict)
    _refinements: dict[Fraction, float] = field(default_factory=dict)

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
            bracket = self._bracket()
            if bracket is not None and self._needs_no_noise(bracket[0]):
                raise self._every_value_keeps_it()
            if bracket is None and self._look(Fraction(1), COARSE, FINE).suffices:
                return self.safe, None
            y, slope = (0.0, -1.0) if bracket is None else self._estimated(*bracket)
            if self.solve in WHOLE or not self._approach(y, slope):
                self._walk(y, slope)
        except TimeIsUp:
            if self._lacks("safe"):
                raise
            return self.safe, self.unsafe
        if self.safe is not None and self._lacks("unsafe") and self._y(self.safe) <= RANGES[self.solve][1]:
            raise self._every_value_keeps_it()
        if self._lacks("safe") or self._lacks("unsafe"):
            raise NotCertified(f"the {self.solve} that just keeps the budget could not be enclosed")
        return self.safe, self.unsafe

    def _every_value_keeps_it(self) -> NotCertified:
        return NotCertified(f"the budget does not bound the {self.solve}: every value tried keeps it")

    def _needs_no_noise(self, y: float) -> bool:
        """Return whether a quick bound proves that the least noise suffices.

        The bound is tried at ``y`` first. Most searches end there, and no mechanism with hardly any noise is built.
        """
        if self.solve != "noise" or self.wanted == "unsafe":
            return False
        return all(self.evidence.suffices_at_once(self._value(place)) for place in (y, RANGES["noise"][1]))

    def _lacks(self, side: str) -> bool:
        return self.wanted in ("both", side) and getattr(self, side) is None

    def _value(self, y: float) -> Fraction:
        return parameter_at(y, self.solve)

    def _y(self, value: Fraction) -> float:
        return log_of_safety(value, self.solve)

    def _guess(self, y: float) -> float:
        value = self._value(y)
        if value not in self._guesses:
            self._guesses[value] = self.evidence.estimate(value)
        return self._guesses[value]

    def _look(self, value: Fraction, *tolerances: float) -> Excess:
        """Prove the excess at a value, which is kept if that decides."""
        found = self.evidence.proven(value, tolerances)
        if found.suffices and (self.safe is None or self._y(value) < self._y(self.safe)):
            self.safe = value
        if found.fails and (self.unsafe is None or self._y(value) > self._y(self.unsafe)):
            self.unsafe = value
        return found

    def _decided_at_the_end(self) -> bool:
        """Return whether the largest rate suffices already; or not even a single step does."""
        if self.solve not in ("steps", "sample-rate"):
            return False
        found = self._look(Fraction(1), COARSE, FINE)
        if self.solve == "sample-rate":
            return found.suffices
        if found.fails or found.lower > 0:
            raise one_step_is_too_much(self.evidence.budget.epsilon)
        return False

    def _bracket(self) -> tuple[float, float] | None:
        """Return (y that overspends, y that does not), a factor of at most two apart, by the estimate.

        None where the estimate is that a single batch keeps the budget.
        """
        y, least, most = RANGES[self.solve]
        if self.start is not None:
            y = self._y(self.start)
        step, last = math.log(2), y
        if self._guess(y) > 0:
            while self._guess(y) > 0:
                if y > most:
                    epsilon = f"{float(self.evidence.budget.epsilon):g}"
                    raise InvalidValue("budget", epsilon, f"a budget that some {self.solve} keeps")
                step = self._step(last, y)
                last, y = y, y + step
            return y - step, y
        while self._guess(y) <= 0:
            if y <= least and self.solve == "batches":
                return None
            if y < least:
                raise self._every_value_keeps_it()
            last, y = y, max(y - step, least) if self.solve == "batches" else y - step
        return y, last

    def _step(self, last: float, y: float) -> float:
        """Return the length of the next step: half as far again as estimated, at most a factor of 2."""
        far, near = self._guess(last), self._guess(y)
        if last == y or not far > near:
            return math.log(2)
        return min(math.log(2), _FARTHER * near * (y - last) / (far - near) + _AT_LEAST)

    def _estimated(self, low: float, high: float) -> tuple[float, float]:
        """Return the crossing of the estimate with the target, and its slope there, as well as they are known."""
        y = crossing(lambda place: -self._guess(place), low, high, near=_NEAR, enough=_ESTIMATED)
        slope = self._slope(y)
        last: tuple[float, float] | None = None
        for _ in range(_SECANTS):
            excess = self._refined(y)
            if math.isnan(excess):
                return y, slope
            if last is not None and y != last[0] and (excess - last[1]) / (y - last[0]) < 0:
                slope = (excess - last[1]) / (y - last[0])
            last, step = (y, excess), -excess / slope
            if not abs(step) <= _LONGEST:
                break
            y += step
            if abs(step) < max(_SETTLED, self.close / 4):
                return y, slope
        # an estimate that jumps: the side that keeps the budget
        return crossing(lambda place: -self._refined(place), low, high, near=max(_SETTLED, self.close)), slope

    def _refined(self, y: float) -> float:
        """Return the precise estimate; NaN where there is none."""
        value = self._value(y)
        if value not in self._refinements:
            found = self.evidence.precise(value)
            self._refinements[value] = math.nan if found is None or not math.isfinite(found) else found
        return self._refinements[value]

    def _slope(self, y: float) -> float:
        """Return the slope of the estimate from y to the nearest place where it is another."""
        here = self._guess(y)
        for value in sorted(self._guesses, key=lambda value: abs(self._y(value) - y)):
            apart, way = self._guesses[value] - here, self._y(value) - y
            if _APART < abs(apart) < math.inf and apart * way < 0:
                return apart / way
        return -1.0

    def _approach(self, y: float, slope: float) -> bool:
        """Find the crossing by Newton's steps with coarse proofs, then with fine proofs as close as they decide.

        Returns:
            Whether the sides that are wanted were found; if not, a slower search is to follow.
        """
        y += (-1 if self.wanted == "unsafe" else 1) * _BESIDE * self.close / 2  # it may be all that has to be proven
        over, under = -math.inf, math.inf  # seen to overspend, to keep the budget
        last: tuple[float, Excess] | None = None
        tolerance = COARSE
        for _ in range(_TRIALS):
            found = self._look(self._value(y), tolerance)
            excess = found.middle
            if not (found.useful and math.isfinite(excess)):
                return False
            if last is not None and abs(excess - last[1].middle) > 4 * (found.width + last[1].width):
                secant = (excess - last[1].middle) / (y - last[0])
                slope = secant if secant < slope / 16 else slope
            last, step = (y, found), max(-_LONGEST, min(-excess / slope, _LONGEST))
            if tolerance == COARSE and (abs(excess) <= _WITHIN * found.width or abs(step) < _NEWTON * self.close):
                return self._beside(y + step, slope, found.width)
            near = abs(excess) < max(found.width, _AGREED * self.evidence.unit)
            tolerance = COARSE if near else LOOSE
            if abs(excess) > found.width:
                over, under = (y, under) if excess > 0 else (over, y)
            y = y + step if over < y + step < under else (over + under) / 2
            if not math.isfinite(y):
                return False
        return False

    def _beside(self, y: float, slope: float, width: float) -> bool:
        """Prove values on the sides that are wanted, about a fine proof's width away from the crossing.

        Args:
            y: The crossing by a coarse proof.
            slope: Slope of the excess there.
            width: Width of the excess in that proof.
        """
        if width > max(-slope * self.close, _EXACT):  # a finer proof says better where the crossing is
            found = self._look(self._value(y), FINE)
            if not math.isfinite(found.lower):
                return False
            y, width = y - found.middle / slope, found.upper - found.lower
        width = max(width / -slope, self.close / 2)
        for side, sign in (("safe", 1.0), ("unsafe", -1.0)):
            if self.wanted not in ("both", side):
                continue
            shift = _BESIDE * width
            for _ in range(_TIGHTER):
                known: Fraction | None = getattr(self, side)
                if known is not None and sign * (self._y(known) - y) <= max(shift, _BESIDE_AT_MOST * width):
                    break
                found = self._look(self._value(y + sign * shift), FINE)
                if not math.isfinite(found.lower):
                    return False
                beyond = found.upper if sign > 0 else -found.lower
                shift = max(1.1 * shift, shift - 1.25 * beyond / slope)
            else:
                return False
        return True

    def _walk(self, y: float, slope: float) -> None:
        """Halve on the sides that are wanted: for whole numbers, and where proofs are too wide for anything else."""

        def found(value: Fraction) -> Excess:
            if value not in self._proofs:
                self._proofs[value] = self._look(value, COARSE, FINE)
            return self._proofs[value]

        if is_limited():  # loose proofs at a distance decide quickly, so that there is an answer when the time is up
            for place in (y + _LONGEST, y - _LONGEST):
                self._look(self._value(place), LOOSE)
        step, close = COARSE, _HALVED
        if self.solve in WHOLE:
            value = self._value(y)
            step = max(abs(self._y(value + 1) - self._y(value)), 4 * math.ulp(y))
            close = step / 2
            if math.isfinite(wide := _undecided(found(value)) / -slope):
                step, close = max(step, wide / 2), max(close, wide / 8)

        def suffices(value: Fraction) -> bool:
            # where the other side is not wanted, no proof is tried that a precise estimate expects to fail
            return not (self.wanted == "safe" and self._refined(self._y(value)) > 0) and found(value).suffices

        if self.wanted != "unsafe":
            boundary(suffices, self.solve, start=y, step=step, close=close)
        if self.wanted != "safe":
            boundary(lambda value: not found(value).fails, self.solve, start=y, step=step, close=close)


def _undecided(found: Excess) -> float:
    """Return the width of a proof that does not decide; 0 if it decides, or is of no use."""
    return 0.0 if found.suffices or found.fails or not found.useful else found.upper - found.lower
