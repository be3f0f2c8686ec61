"""Where a monotone parameter starts to keep a budget, by certified values of δ at the budget's ε.

For any product of pairs, whatever route proves it: δ(ε) is finite and continuous in the noise even where ε(δ) jumps
between 0 and ∞ (noise that is uniform on a ball). The search runs on the middles of the enclosures; what it returns are
the closest parameters that were *proven* to suffice and to fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.privacy.accountants import prove_delta
from dpbounds.privacy.lattice import expected_log_delta
from dpbounds.privacy.pairs import Product

Solve = Literal["noise", "steps", "sample-rate"]

_LARGEST, _SMALLEST = 2.0**60, 2.0**-60
_COARSE, _FINE = 1e-3, 1e-4  # width asked for first, and where that does not decide
_CLOSE = 1e-10  # relative distance of the two proven sides at which the search ends
_TRIALS = 24
_TIGHTER = 8  # trials per side once the proofs no longer decide in the middle


@dataclass(slots=True)
class Crossing:
    """A search for the value of a parameter at which δ(ε) crosses the target.

    Attributes:
        products: From the parameter to the products whose largest δ counts.
        epsilon: The budget's ε.
        delta: The budget's δ.
        solve: Which parameter: "noise" spends less as it grows, "steps" (whole numbers) and "sample-rate" more.
        safe: The least (noise) or largest value proven to suffice so far.
        unsafe: The closest one proven to fail.
    """

    products: Callable[[Fraction], tuple[Product, ...]]
    epsilon: Fraction
    delta: Fraction
    solve: Solve
    safe: Fraction | None = None
    unsafe: Fraction | None = None
    _seen: dict[Fraction, float] = field(default_factory=dict)

    def search(self) -> tuple[Fraction, Fraction | None]:
        """Return a value that suffices and one that does not (None where every value allowed suffices).

        Raises:
            InvalidValue: No value of the parameter keeps the budget.
            NotCertified: The proofs did not decide on either side.
        """
        if self._decided_at_the_end():
            assert self.safe is not None
            return self.safe, None
        low, high = self._bracket()
        self._close_in(low, high)
        if self.safe is None or self.unsafe is None:
            raise NotCertified(f"the {self.solve} that just keeps the budget could not be enclosed")
        return self.safe, self.unsafe

    # Below, y is the logarithm of the parameter, signed so that more y spends less.

    def _value(self, y: float) -> Fraction:
        parameter = math.exp(y if self.solve == "noise" else -y)
        if self.solve == "steps":
            return Fraction(max(1, round(parameter)))
        return Fraction(min(parameter, 1.0) if self.solve == "sample-rate" else parameter)

    def _y(self, value: Fraction) -> float:
        return math.log(value) if self.solve == "noise" else -math.log(value)

    def _guess(self, y: float) -> float:
        """Log δ(ε) - log δ in floating point, to look for the bracket with."""
        value = self._value(y)
        return max(expected_log_delta(product, float(self.epsilon)) for product in self.products(value)) - _log(
            self.delta
        )

    def _try(self, value: Fraction) -> float:
        """Prove δ(ε) at a value, keep it if it decides, and return log δ(ε) - log δ in the middle."""
        if value in self._seen:
            return self._seen[value]
        products = self.products(value)
        lower, upper = self._enclosed(products, _COARSE)
        if lower <= self.delta < upper:
            lower, upper = self._enclosed(products, _FINE)
        if upper <= self.delta and (self.safe is None or self._y(value) < self._y(self.safe)):
            self.safe = value
        if lower > self.delta and (self.unsafe is None or self._y(value) > self._y(self.unsafe)):
            self.unsafe = value
        middle = (lower + upper) / 2
        excess = -math.inf if middle == 0 else _log(middle) - _log(self.delta)
        if lower <= self.delta < upper:
            excess = 0.0
        self._seen[value] = excess
        return excess

    def _enclosed(self, products: tuple[Product, ...], tolerance: float) -> tuple[Fraction, Fraction]:
        """Proven ends of the largest δ(ε) of the products."""
        lower, upper = Fraction(0), Fraction(0)
        for product in products:
            proven = prove_delta(product, self.epsilon, tolerance).enclosure
            lower, upper = max(lower, Fraction(proven.exact_lower)), max(upper, Fraction(proven.exact_upper))
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
                "target_epsilon", float(self.epsilon), "no number of steps: one step already spends more", "add noise"
            )
        return False

    def _bracket(self) -> tuple[float, float]:
        """(y that overspends, y that does not), a factor of at most two apart, by the estimate."""
        y = {"noise": 0.0, "steps": -math.log(64.0), "sample-rate": math.log(64.0)}[self.solve]
        bounds = {
            "noise": (math.log(_SMALLEST), math.log(_LARGEST)),
            "steps": (-math.log(_LARGEST), 0.0),
            "sample-rate": (0.0, -math.log(_SMALLEST)),
        }[self.solve]
        step = math.log(2)
        if self._guess(y) > 0:
            while self._guess(y) > 0:
                y += step
                if y > bounds[1] + step:
                    raise InvalidValue("budget", f"{float(self.epsilon):g}", f"a budget that some {self.solve} keeps")
            return y - step, y
        while self._guess(y) <= 0:
            y -= step
            if y < bounds[0] - step:
                raise NotCertified(f"the budget does not bound the {self.solve}: every value tried keeps it")
        return y, y + step

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
