"""The optimal composition theorem: the largest δ(ε) of any composition of releases with given (ε_i, δ_i).

It is attained by generalised randomised responses, whose total loss is a sum of random signs (``random_signs.py``), so
that δ(ε) = 1 - (1 - h(ε)) Π (1-δ_i). Where all ε_i are equal, or have few different sums, h comes from a table of these
sums; else from a lattice. Proofs are in ``composition_theorems.md``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb
from scipy.optimize import minimize_scalar

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.notions.composition_theorems import (
    OPTIMAL,
    Parts,
    accurate,
    checked,
    pure_target,
    spare_sign,
    with_failures,
)
from dpbounds.privacy.notions.random_signs import RoundedSigns, Signs, SignTable, largest_sum, spacing
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.inversion import invert
from dpbounds.privacy.routes.lattice.integer_measures import Work
from dpbounds.privacy.values import at_least_zero, open_unit, probability

DEFAULT_TOLERANCE = 1e-4
_NARROW = Fraction(1, 1 << 45)
_LARGEST_WORK = 350_000_000  # bytes of products: a few seconds
_WINDOW = 18  # standard deviations
_COARSEST = 1 << 11  # lattice points of the first attempt
_EXACT_WINDOW = 1 << 18  # lattice points up to which the result is exact
_ROUNDS = 8
_LARGEST_GUESS = Fraction(10**30)
_MAGNITUDES = Fraction(1, 10**100), Fraction(10**100)  # range of magnitudes of the searches in doubles
_NO_GAIN = 0.9  # ratio of steps above which a finer lattice is not tried
_SHALLOWEST = 24  # bits: the first table has the sums within 2^-24 of the largest
_SMALL_TABLE = 40_000


def optimal_delta(parts: Parts, epsilon: ExactLike, tolerance: ExactLike = DEFAULT_TOLERANCE) -> Enclosure:
    """Enclose the least δ such that every adaptive composition of the parts is (ε, δ)-differentially private.

    Args:
        parts: (guarantee, count) pairs; counts are positive integers.
        epsilon: At least 0.
        tolerance: The relative width that is required where the ε_i differ and their sums are too many for a table;
            equal ε_i give some fifteen digits whatever it is.

    Returns:
        Proven ends of a number that is attained by some mechanisms. Publish the upper one.

    Raises:
        NotCertified: The tolerance is out of reach within a few seconds.

    Sources: Kairouz, Oh & Viswanath 2015, Theorem 3.3, for equal (ε_i, δ_i) and ε = ε_i (k - 2i); Murtagh & Vadhan 2016
    in general, who show that exactness is #P-complete. Any ε here: ``composition_theorems.md``, section 4.

    >>> from dpbounds.privacy.notions.composition_theorems import EpsilonDelta
    >>> optimal_delta(((EpsilonDelta("0.1", 0), 2),), 0).decimals(12)
    ('0.0499583749578', '0.0499583749579')
    """
    target, known, wanted = at_least_zero(epsilon), checked(parts), open_unit(tolerance, "tolerance")
    signs = _signs(known)
    if target >= largest_sum(signs):
        value, precision = accurate(lambda: with_failures(known, arb(0)))
        return Enclosure.from_balls(value, value, OPTIMAL.name, precision).within(0, 1)
    try:
        value, precision = accurate(lambda: with_failures(known, SignTable(signs, target).profile(target)))
        return Enclosure.from_balls(value, value, f"{OPTIMAL.name}: table", precision).within(0, 1)
    except Declined:
        pass
    _check_magnitudes(signs)
    tilt = _minimiser(lambda k: _log_moment(signs, k) - k * float(target) + _log_weight(k), signs)

    def prove(attempt: _Attempt) -> tuple[Fraction, Fraction]:
        low, high = attempt.lattice(signs, tilt).bounds(target)
        ends = Enclosure.from_balls(with_failures(known, low), with_failures(known, high), "", working_bits())
        return max(Fraction(0), Fraction(ends.exact_lower)), min(Fraction(1), Fraction(ends.exact_upper))

    return _refined(signs, tilt, wanted, prove)


def optimal_epsilon(parts: Parts, delta: ExactLike, tolerance: ExactLike = DEFAULT_TOLERANCE) -> Enclosure:
    """Enclose the least ε such that every adaptive composition of the parts is (ε, δ)-differentially private.

    Arguments, sources and errors as for :func:`optimal_delta`, with ``delta`` in [0, 1] in place of ``epsilon``.
    Infinite where the δ_i alone exceed δ, that is, where 1 - Π (1-δ_i) > δ; Σ ε_i where the two are equal.

    >>> from dpbounds.privacy.notions.composition_theorems import EpsilonDelta
    >>> optimal_epsilon(((EpsilonDelta("0.1", 0), 100),), "1e-6").decimals(12)
    ('4.77456758810', '4.77456758811')
    """
    target, known, wanted = probability(delta), checked(parts), open_unit(tolerance, "tolerance")
    signs = _signs(known)
    spare = 1 if target == 1 else spare_sign(known, target)
    if spare < 0:
        return Enclosure(math.inf, math.inf, OPTIMAL.name)
    if not signs or target == 1:
        return Enclosure.exactly(0, OPTIMAL.name)
    if spare == 0:
        return Enclosure.exactly(largest_sum(signs), OPTIMAL.name)
    try:
        return _epsilon_by_table(signs, known, target)
    except Declined:
        pass
    _check_magnitudes(signs)
    wished, _ = accurate(lambda: pure_target(known, target))
    log_wished = float(wished.log().mid())
    tilt = _minimiser(lambda k: (_log_moment(signs, k) - log_wished + _log_weight(k)) / k, signs)
    guess = max(0.0, (_log_moment(signs, tilt) - log_wished + _log_weight(tilt)) / tilt)

    def prove(attempt: _Attempt) -> tuple[Fraction, Fraction]:
        lattice = attempt.lattice(signs, tilt)
        margin = Fraction(1, 1 << 44) if lattice.rounded == 0 else wanted / 64
        low, high = invert(lattice.bounds, pure_target(known, target), guess, lattice.estimate, margin)
        return low, min(high, largest_sum(signs))

    return _refined(signs, tilt, wanted, prove)


def _check_magnitudes(signs: Signs) -> None:
    if not (_MAGNITUDES[0] <= signs[0][0] and signs[-1][0] <= _MAGNITUDES[1]):
        raise NotCertified(
            f"{OPTIMAL.name}: different ε_i must lie between 1e-100 and 1e100; round the smallest ones up"
        )


def _signs(parts: Parts) -> Signs:
    counts: Counter[Fraction] = Counter()
    for guarantee, count in parts:
        if guarantee.epsilon > 0:
            counts[guarantee.epsilon] += count
    return tuple(sorted(counts.items()))


def _epsilon_by_table(signs: Signs, parts: Parts, delta: Fraction) -> Enclosure:
    """Invert a table of all sums, or of those that matter where δ is so small that they are few.

    Raises:
        Declined: They are too many.
    """
    total = low = high = largest_sum(signs)
    _, enough = accurate(lambda: pure_target(parts, delta))
    for precision in (enough, 2 * enough, 4 * enough):
        with working(precision):
            wished = pure_target(parts, delta)
            curve = _curve(_table(signs, wished))
            low, high = invert(curve, wished, float(min(total, _LARGEST_GUESS)))
        high = min(high, total)
        if high - low <= high * _NARROW:
            break
    return Enclosure(low, high, f"{OPTIMAL.name}: table", precision)


def _table(signs: Signs, wished: arb) -> SignTable:
    """Return a table of all sums, or of those above a floor with h(floor) > h, so that ε(h) is above the floor."""
    try:
        return SignTable(signs)
    except Declined:
        total = largest_sum(signs)
        for halvings in range(_SHALLOWEST, 0, -1):
            table = SignTable(signs, total - total / (1 << halvings), _SMALL_TABLE)
            if table.profile(table.floor) > wished:
                return table
        raise


def _curve(table: SignTable) -> Callable[[Fraction], tuple[arb, arb]]:
    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        value = table.profile(max(epsilon, table.floor))  # h decreases, so below the floor this is a lower bound
        return value, value if epsilon >= table.floor else arb(1)

    return curve


@dataclass(frozen=True, slots=True)
class _Attempt:
    step: Fraction
    bits: int
    work: Work

    def lattice(self, signs: Signs, tilt: float) -> RoundedSigns:
        return RoundedSigns(signs, Fraction(tilt), self.step, self.bits, self.work)


def _refined(
    signs: Signs, tilt: float, tolerance: Fraction, prove: Callable[[_Attempt], tuple[Fraction, Fraction]]
) -> Enclosure:
    """Refine the lattice until both bounds are within the tolerance; their distance falls like step²."""
    deviation = math.sqrt(_variance(signs, tilt) + float(signs[0][0]) ** 2)
    exact_step = spacing(signs)
    step = Fraction(min(_WINDOW * deviation / _COARSEST, 1 / (4 + 4 * tilt)))
    bits = 72 + max(0, int(-math.log2(tolerance)))
    if _WINDOW * deviation <= _EXACT_WINDOW * float(exact_step):
        step = exact_step
    low, high, reached, work = Fraction(0), Fraction(0), math.inf, Work(_LARGEST_WORK)
    with working(2 * bits + 64):
        for _ in range(_ROUNDS):
            left = work.left
            try:
                found = prove(_Attempt(max(step, exact_step), bits, work))
            except Declined:
                break
            except NotCertified:  # too coarse: no upper bound was found
                step /= 8
                continue
            low, high = max(low, found[0]), found[1] if reached == math.inf else min(high, found[1])
            reached = float((high - low) / high) if high > 0 else 0.0
            if reached <= tolerance:
                return Enclosure(low, high, f"{OPTIMAL.name}: lattice", 2 * bits + 64)
            affordable = 1.2 * (left - work.left) / max(1, work.left)
            factor = max(affordable, math.sqrt(float(tolerance) / (3 * reached)))
            if step <= exact_step or factor > _NO_GAIN:
                break
            step *= Fraction(factor)
    told = "no ends" if reached == math.inf else f"only a relative distance of {reached:.2g} between the ends"
    raise NotCertified(
        f"{OPTIMAL.name}: {told} could be proven within the work limit; "
        "ask for a larger tolerance, or round the ε_i up to multiples of a common number"
    )


def _log_moment(signs: Signs, tilt: float) -> float:
    """Return the logarithm of E e^(κS)."""
    return sum(count * (_log_cosh((tilt + 0.5) * float(size)) - _log_cosh(float(size) / 2)) for size, count in signs)


def _log_cosh(x: float) -> float:
    return x + math.log1p(math.exp(-2 * x)) - math.log(2)


def _log_weight(tilt: float) -> float:
    """Return the logarithm of the largest e^(-κx) (1 - e^-x)."""
    return tilt * math.log(tilt) - (1 + tilt) * math.log1p(tilt)


def _variance(signs: Signs, tilt: float) -> float:
    return sum(count * (float(size) / math.cosh(min(300.0, (tilt + 0.5) * float(size)))) ** 2 for size, count in signs)


def _minimiser(bound: Callable[[float], float], signs: Signs) -> float:
    """Return the κ > 0 with the least bound: a choice, which proves nothing."""
    largest = math.log(60 / float(signs[0][0]))
    found = minimize_scalar(lambda s: bound(math.exp(s)), bounds=(-12.0, largest), method="bounded")
    return math.exp(float(found.x))
