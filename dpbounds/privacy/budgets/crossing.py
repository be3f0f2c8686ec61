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
from typing import Literal

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.time_limit import TimeIsUp
from dpbounds.privacy.accountants.certified import prove_delta
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.beside_gaussian import lies_beside, log_delta_beside
from dpbounds.privacy.routes.lattice import expected_log_delta

Solve = Literal["noise", "steps", "sample-rate"]
Wanted = Literal["both", "safe", "unsafe"]

_LARGEST, _SMALLEST = 2.0**60, 2.0**-60
_LOOSE, _COARSE, _FINE = 1e-2, 1e-3, 1e-4  # widths: from afar, asked for first, and where that does not decide
_AGREED = 5e-3  # how close to the target, as such a width, a loose proof says enough
_WITHIN = 4  # the same for a coarse proof, in units of its own width
_CLOSE = 1e-10  # relative distance of the two proven sides at which the search ends
_TRIALS = 24
_ESTIMATES, _ESTIMATED = 8, 5e-3  # how often the bracket is narrowed by estimates at most; how close in log δ
_FARTHER, _AT_LEAST = 1.5, 0.02  # steps towards the bracket
_LONGEST = math.log(2)  # Newton step in log parameter
_BESIDE, _BESIDE_AT_MOST = 0.75, 1.2  # distance from the crossing, in widths of a fine proof: tried, accepted
_TIGHTER = 8  # trials per side once the proofs no longer decide in the middle


@dataclass(slots=True)
class Crossing:
    """A search for the value of a parameter at which δ(ε) crosses the target.

    Attributes:
        products: From the parameter to the products whose largest δ counts.
        epsilon: The budget's ε.
        delta: The budget's δ.
        solve: Which parameter: "noise" spends less as it grows, "steps" (whole numbers) and "sample-rate" more.
        wanted: Which side is to be close; of the other one only what is met on the way is known.
        start: Where to look first, if anything is known.
        safe: The least (noise) or largest value proven to suffice so far.
        unsafe: The closest one proven to fail.
    """

    products: Callable[[Fraction], tuple[Product, ...]]
    epsilon: Fraction
    delta: Fraction
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
        parameter = math.exp(y if self.solve == "noise" else -y)
        if self.solve == "steps":
            return Fraction(max(1, round(parameter)))
        return Fraction(min(parameter, 1.0) if self.solve == "sample-rate" else parameter)

    def _y(self, value: Fraction) -> float:
        return math.log(value) if self.solve == "noise" else -math.log(value)

    def _guess(self, y: float) -> float:
        """Log δ(ε) - log δ in floating point, to look for the bracket with: of the product that spent most so far."""
        value = self._value(y)
        if value not in self._guessed:
            products = self.products(value)
            if self._worst is None or self._worst >= len(products):
                estimates = [_expected(product, self.epsilon) for product in products]
                self._worst = estimates.index(max(estimates))
                estimate = max(estimates)
            else:
                estimate = _expected(products[self._worst], self.epsilon)
            self._guessed[value] = estimate - _log(self.delta)
        return self._guessed[value]

    def _try(self, value: Fraction) -> float:
        """Prove δ(ε) at a value, keep it if it decides, and return log δ(ε) - log δ in the middle."""
        if value in self._seen:
            return self._seen[value]
        lower, upper = self._proven(value, (_COARSE, _FINE))
        middle = (lower + upper) / 2
        excess = -math.inf if middle == 0 else _log(middle) - _log(self.delta)
        if lower <= self.delta < upper:
            excess = 0.0
        self._seen[value] = excess
        return excess

    def _proven(self, value: Fraction, tolerances: Sequence[float]) -> tuple[Fraction, Fraction]:
        """Proven ends of δ(ε) at a value, which is kept if they decide."""
        lower, upper = self._enclosed(self.products(value), tolerances)
        if upper <= self.delta and (self.safe is None or self._y(value) < self._y(self.safe)):
            self.safe = value
        if lower > self.delta and (self.unsafe is None or self._y(value) > self._y(self.unsafe)):
            self.unsafe = value
        return lower, upper

    def _enclosed(self, products: tuple[Product, ...], tolerances: Sequence[float]) -> tuple[Fraction, Fraction]:
        """Proven ends of the largest δ(ε) of the products; of the first that overspends, which decides by itself.

        Each is asked for as finely as it takes to decide, the one that spent most last time first.
        """
        lower, upper = Fraction(0), Fraction(0)
        for index in sorted(range(len(products)), key=lambda i: i != self._worst):
            for tolerance in tolerances:
                proven = prove_delta(products[index], self.epsilon, tolerance).enclosure
                low, high = Fraction(proven.exact_lower), Fraction(proven.exact_upper)
                if not low <= self.delta < high:
                    break
            if low > lower:
                self._worst = index
            lower, upper = max(lower, low), max(upper, high)
            if low > self.delta:
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
            raise InvalidValue(
                "target_epsilon", float(self.epsilon), "larger: one step already spends more", "add noise"
            )
        return False

    def _bracket(self) -> tuple[float, float]:
        """(y that overspends, y that does not), a factor of at most two apart, by the estimate."""
        y = {"noise": 0.0, "steps": -math.log(64.0), "sample-rate": math.log(64.0)}[self.solve]
        if self.start is not None:
            y = self._y(self.start)
        bounds = {
            "noise": (math.log(_SMALLEST), math.log(_LARGEST)),
            "steps": (-math.log(_LARGEST), 0.0),
            "sample-rate": (0.0, -math.log(_SMALLEST)),
        }[self.solve]
        step, last = math.log(2), y
        if self._guess(y) > 0:
            while self._guess(y) > 0:
                step = self._step(last, y)
                last, y = y, y + step
                if y > bounds[1] + math.log(2):
                    raise InvalidValue("budget", f"{float(self.epsilon):g}", f"a budget that some {self.solve} keeps")
            return y - step, y
        while self._guess(y) <= 0:
            y -= step
            if y < bounds[0] - step:
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
            close = abs(excess) < max(width, _AGREED * max(1.0, -_log(self.delta)))
            tolerance = _COARSE if close else _LOOSE
            if abs(excess) > width:
                over, under = (y, under) if excess > 0 else (over, y)
            y = y + step if over < y + step < under else (over + under) / 2
            if not math.isfinite(y):
                return False
        return False

    def _estimated(self, low: float, high: float) -> tuple[float, float]:
        """Where the estimate of log δ crosses the target, and its slope there."""
        left, right = self._guess(low), self._guess(high)
        steep, y, side = -1.0, (low + high) / 2, 0
        last = (low, left)
        if high > low and math.isfinite(left) and math.isfinite(right):
            steep = (right - left) / (high - low)
        for _ in range(_ESTIMATES):
            y = _between(low, left, high, right)
            value = self._guess(y)
            if abs(value - last[1]) > 0.1 and y != last[0] and math.isfinite(value) and math.isfinite(last[1]):
                steep, last = (value - last[1]) / (y - last[0]), (y, value)
            if abs(value) < _ESTIMATED:
                break
            if value > 0:
                low, left, right = y, value, right / 2 if side > 0 else right
                side = 1
            else:
                high, right, left = y, value, left / 2 if side < 0 else left
                side = -1
        return y, min(steep, -1e-3)

    def _looked(self, y: float, tolerance: float) -> tuple[float, float]:
        """Log δ(ε) - log δ in the middle of a proof (NaN: far too wide), and the width of log δ(ε)."""
        lower, upper = self._proven(self._value(y), (tolerance,))
        width = _log(upper) - _log(lower)
        if not width <= 8 * tolerance * max(1.0, -_log(upper)):
            return math.nan, math.inf
        return _log((lower + upper) / 2) - _log(self.delta), width

    def _beside(self, y: float, slope: float) -> bool:
        """Prove values on the sides that are wanted, about a fine proof's width away from the crossing."""
        lower, upper = self._proven(self._value(y), (_FINE,))
        if lower <= 0:
            return False
        y -= (_log((lower + upper) / 2) - _log(self.delta)) / slope
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
                beyond = _log(upper) - _log(self.delta) if sign > 0 else _log(self.delta) - _log(lower)
                shift = max(1.1 * shift, shift - 1.25 * beyond / slope)
            else:
                return False
        return True

    def _close_in(self, low: float, high: float) -> None:
        """Prove values on both sides, ever closer: regula falsi (Illinois) on log δ, then what the proofs allow."""
        low_excess, high_excess = self._try(self._value(low)), self._try(self._value(high))
        step = math.log(2)
        while low_excess <= 0 and self.unsafe is None:
            low, step = low - step, 2 * step
            low_excess = self._try(self._value(low))
            if step > 64:
                return
        step = math.log(2)
        while high_excess >= 0 and self.safe is None:
            high, step = high + step, 2 * step
            high_excess = self._try(self._value(high))
            if step > 64:
                return
        side = 0
        for _ in range(_TRIALS):
            if self._met():
                return
            y = _between(low, low_excess, high, high_excess)
            value = self._value(y)
            if value in self._seen and self.solve == "steps":
                value = self._next_count()
                if value in self._seen:
                    return
                y = self._y(value)
            excess = self._try(value)
            if excess == 0.0:
                self._tighten(y)
                return
            if excess > 0:
                low, low_excess, high_excess = y, excess, high_excess / 2 if side > 0 else high_excess
                side = 1
            else:
                high, high_excess, low_excess = y, excess, low_excess / 2 if side < 0 else low_excess
                side = -1
        self._tighten((low + high) / 2)

    def _next_count(self) -> Fraction:
        assert self.safe is not None
        assert self.unsafe is not None
        return Fraction((self.safe + self.unsafe) // 2)

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


def _between(low: float, low_excess: float, high: float, high_excess: float) -> float:
    if math.isfinite(low_excess) and math.isfinite(high_excess) and low_excess > high_excess:
        weight = low_excess / (low_excess - high_excess)
        return low + (high - low) * min(max(weight, 0.01), 0.99)
    return (low + high) / 2


def _log(number: Fraction) -> float:
    if number <= 0:
        return -math.inf
    shift = number.numerator.bit_length() - number.denominator.bit_length()
    return math.log(number / Fraction(2) ** shift) + shift * math.log(2)


def _expected(product: Product, epsilon: Fraction) -> float:
    """Log δ(ε) in floating point, by what is quickest."""
    if lies_beside(product):
        with contextlib.suppress(Declined):
            return log_delta_beside(product, epsilon)
    return expected_log_delta(product, float(epsilon))
