"""The distribution of the sum of many bins, tilted and wrapped around, with its error (``proof.md``, section 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from dpbounds.expressions.working import working
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation.one_bin import Bin
from dpbounds.privacy.routes.allocation.rounding import MASS_PRECISION, UNIT, Floats, double_above
from dpbounds.privacy.routes.lattice.spectra import ComposedSpectrum
from dpbounds.privacy.routes.lattice.window import TiltedMeasure

_ROW = 256  # numbers that are added one after the other
_LARGEST_POWER = arb(2) ** 450  # its square is a double
_UNDERFLOWN = 2.0**-900  # bound on the sum of products that underflow
_TARGET = 2.0**-60  # largest norm of the frequencies that are left out


@dataclass(frozen=True, slots=True)
class Window:
    """The window and grid of the sum (choices).

    Attributes:
        spacing: h, of the multiples.
        start, length: The multiples on the window.
        rising, falling: Slopes of the Chernoff bounds, rising more than the tilt.
        tilt: θ >= 0: the distribution of the sum is weighted by e^(θ sum), so that rare values that are large enough to
            matter are as accurate as common ones.
    """

    spacing: float
    start: int
    length: int
    rising: float
    falling: float
    tilt: float = 0.0


@dataclass(frozen=True, slots=True)
class Sum:
    """The distribution of the sum of some bins on the window, tilted and wrapped around, as computed.

    Attributes:
        window: The window of the sum.
        masses: Masses of the tilted distribution, in doubles, not negative.
        back: The factors from tilted masses to masses: doubles, with at most three roundings and two of balls.
        off: At least the norm of the error of ``masses``.
        above, below: At least the mass of the distribution on either side of the window.
        wrapped: At least the mass of the tilted distribution outside of the window.
    """

    window: Window
    masses: Floats
    back: Floats
    off: float
    above: float
    below: float
    wrapped: float

    @classmethod
    def of(cls, others: Sequence[tuple[Bin, int]], window: Window) -> Sum:
        """Return the sum of the bins of each kind; ``Declined`` if a single bin reaches beyond the window."""
        laws, origin, mass = [], 0, arb(1)  # tilted distributions, before they are divided by their mass
        with working(MASS_PRECISION):
            tilt = arb(window.tilt) * arb(window.spacing)
            for each, count in others:
                used = np.flatnonzero(each.none)
                if int(used[-1] - used[0]) >= window.length:
                    raise Declined("allocation: the ratios of a bin reach beyond the window")
                plain = zip((used - used[0]).tolist(), each.none[used].tolist(), strict=True)
                atoms = tuple((int(place), arb(one) * (tilt * place).exp()) for place, one in plain)
                total = sum((tilted for _, tilted in atoms), arb(0)) if window.tilt else arb(1)
                laws.append(TiltedMeasure.of(atoms, 1 / total, count))
                mass = mass * total**count
                origin += count * (each.start + int(used[0]))
            if len(laws) == 1 and laws[0].count == 1 and not window.tilt:
                start = origin - window.start  # nothing is added up; does all of it lie in the window?
                if start >= 0 and start + laws[0].length <= window.length:
                    masses = np.zeros(window.length)
                    masses[start + np.array(laws[0].positions)] = laws[0].nearest
                    return cls(window, masses, np.ones(window.length), 0.0, 0.0, 0.0, 0.0)
            spectrum = ComposedSpectrum.of(laws, window.length, _TARGET)
            values, error = spectrum.masses([])
            masses = np.roll(np.maximum(values, 0.0), -((window.start - origin) % window.length))
            first, last = window.start - 1 - origin, window.start + window.length - origin

            def moment(rate: arb) -> arb:
                """Return E e^(rate (sum - origin)) of the tilted distribution, the sum in multiples."""
                z, found = rate.exp(), arb(1)
                for law in laws:
                    found = found * law.moment(z) ** law.count
                return found

            steep, falling = arb(window.rising * window.spacing) - tilt, arb(window.falling * window.spacing)
            if not steep > 0:
                raise Declined("allocation: a Chernoff bound less steep than the tilt")
            tilted_above = moment(steep) * (-steep * last).exp()
            below = mass * moment(-falling - tilt) * (falling * first).exp()
            return cls(
                window,
                masses,
                _powers(mass * (-tilt * (first + 1)).exp(), (-tilt).exp(), window.length),
                double_above(error),
                double_above(mass * (-tilt * last).exp() * tilted_above),
                double_above(below),
                double_above(tilted_above + below * (tilt * first).exp() / mass),
            )

    def weighed(self, each: Bin, weights: Floats, side: int) -> float:
        """Bound E (weight of one more bin; sum > 0) from above (side 1) or from below (side -1)."""
        sums = _sums_from_right(weights)
        sizes = sums if weights.min(initial=0.0) >= 0 else _sums_from_right(np.abs(weights))
        # index, at the window's first point, of the first weight that counts
        first = 1 - each.start - self.window.start
        found = _read_backwards(sums, first, self.window.length)
        size = found if sizes is sums else _read_backwards(sizes, first, self.window.length) * self.back
        found = found * self.back
        size = found if sizes is sums else size
        value = _summed(self.masses * found)
        # sums of rows, of numbers of rows, products: of both sums
        roundings = 2 * (_ROW + (self.window.length + len(weights)) // _ROW + 16) * UNIT
        slack = 2 * roundings * (value if size is found else _summed(self.masses * size))
        missing = float(sizes[0]) * self.above + float(sizes[min(max(first, 0), len(weights))]) * self.below
        unknown = math.sqrt(float(np.sum(found * found))) * self.off + float(np.max(size)) * self.wrapped
        return value + side * (slack + 1.001 * (missing + unknown) + _UNDERFLOWN)

    def beyond(self, places: Sequence[int], *, weighted: bool, side: int) -> list[float]:
        """Bound P(S > at) or (weighted) E (S - at)_+ at many places, in multiples: from above (1) or below (-1).

        ``back`` is geometric, so that what a place leaves of it is, but for its first value, at most what the window's
        start leaves.

        Raises:
            Declined: A place is outside of the window, or the Chernoff bound is not steep enough.
        """
        length, back = self.window.length, self.back
        sums = _sums_from_right(self.masses * back)
        if weighted:  # Σ (i - at) m_i is the sum of those sums
            sums = _sums_from_right(sums[:-1])
        shape = back / back[0] * (np.arange(1, length + 1) if weighted else 1.0)
        norm, largest = 1.001 * math.sqrt(float(np.sum(shape * shape))), 1.001 * float(np.max(shape))
        end, relative = self.window.start + length, 4 * (_ROW + length // _ROW + 16) * UNIT
        found = []
        for at in places:
            first = at + 1 - self.window.start
            if not 0 <= first < length:
                raise Declined("allocation: a threshold beyond the window")
            value, missing = float(sums[first]), 0.0
            if side > 0:
                missing = self.above
                if weighted:  # s - at <= (end - at) e^(r (s - end)) from the end on, as r (end - at) >= 1
                    if not self.window.rising * self.window.spacing * (end - at) >= 1.001:
                        raise Declined("allocation: a Chernoff bound that is not steep enough")
                    missing *= end - at
            unknown = float(back[first]) * (norm * self.off + largest * self.wrapped)
            found.append(value + side * (relative * value + 1.001 * (missing + unknown) + _UNDERFLOWN))
        return found


def _powers(first: arb, ratio: arb, length: int) -> Floats:
    """Return first * ratio^i for i < length, by the product of two tables."""
    if ratio == 1:
        return np.full(length, double_above(first))
    rows = -(-length // _ROW)
    if not (first < _LARGEST_POWER and first * ratio**length > 1 / _LARGEST_POWER):
        raise Declined("allocation: the tilt is too large for doubles")
    step = ratio**_ROW
    starts = np.array([double_above(first * step**i) for i in range(rows)])
    inside = np.array([double_above(ratio**i) for i in range(_ROW)])
    found: Floats = np.multiply.outer(starts, inside).reshape(-1)[:length]
    return found


def _read_backwards(values: Floats, first: int, length: int) -> Floats:
    """Return ``length`` values at first, first - 1, ...; the end values extend beyond the array."""
    last = len(values) - 1
    found = np.empty(length)
    begin = min(max(first - last, 0), length)  # as long as the place is beyond the last
    end = min(max(first, 0), length)  # from here on the place is at most 0
    found[:begin] = values[last]
    if begin < end:
        found[begin:end] = values[first - end + 1 : first - begin + 1][::-1]
    found[max(begin, end) :] = values[0]
    return found


def _by_rows(values: Floats) -> Floats:
    """Return rows of 256 numbers each, filled up with zeros."""
    rows = -(-len(values) // _ROW)
    if rows * _ROW == len(values):
        return values.reshape(rows, _ROW)
    found = np.zeros(rows * _ROW)
    found[: len(values)] = values
    return found.reshape(rows, _ROW)


def _summed(values: Floats) -> float:
    return float(_by_rows(values).sum(axis=1).sum())


def _sums_from_right(values: Floats) -> Floats:
    """Return Σ_{i >= j} of the values for j = 0, ..., length, with as many additions as rows, and as in a row."""
    turned = _by_rows(values[::-1])
    inside = np.cumsum(turned, axis=1)
    before = np.concatenate([[0.0], np.cumsum(inside[:, -1])[:-1]])
    return np.concatenate([[0.0], (inside + before[:, None]).reshape(-1)[: len(values)]])[::-1]
