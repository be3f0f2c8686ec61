"""Composition on a lattice: proven bounds on δ(ε) and ε(δ) for losses without an analytic density.

Each step's loss is moved to a lattice, once upwards and once downwards (``discretisation.py``), tilted exponentially
so that rounding is relative to δ, and convolved by one of two engines: by Fourier transform with a proven bound on
its round-off (``fourier.py``), or as integers (``integer_measures.py``), where what rounding lost is known exactly.
The choices (``saddle.py``, ``rough.py``) are made in floating point. The proof, line by line, is in ``proof.md`` and
``fourier.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import arb

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined, Proof, planned_in_doubles
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.attempts import (
    BLIND,
    INFINITE,
    Attempt,
    Engine,
    Knobs,
    Side,
    attempted,
    choose,
    proof_of,
    relative_shares,
    revise,
)
from dpbounds.privacy.routes.lattice.composed import (
    SUM_PRECISION,
    log_of,
)
from dpbounds.privacy.routes.lattice.estimates import estimated_log_delta, is_costly, rough_log_delta
from dpbounds.privacy.routes.lattice.integer_measures import LARGEST_WORK, Work
from dpbounds.privacy.routes.lattice.products import (
    certainly_infinite,
    cut_sketches,
    largest_loss_of,
    sketches_of,
    steps_of,
    total_variation_at_most,
)
from dpbounds.privacy.routes.lattice.rough import sharpened

_ROUNDS = 16  # attempts at a width before the route declines
_CAREFUL = 0.92  # spacing of the first attempt, relative to the expected one, for distributions of several draws
_WORTH_KEEPING = 0.03  # relative width of ε up to which an attempt is certified although a narrower one was requested
_MARGINS = (0.0, 1e-12, 1e-9, 1e-6, 1e-5, 1e-4)  # relative, in ε: tried in turn when the proof is written
_WIDEST = 0.5
_MARGIN = 1e-8  # margin of log δ for rounding in the search, so that the proof that follows succeeds
_CUT_OFF = 0.03  # P-mass moved to infinity, relative to δ times the wanted width of log δ


def _checked_tolerance(tolerance: float) -> float:
    if not 0 < tolerance < 1:
        raise InvalidValue("tolerance", tolerance, "a number between 0 and 1")
    return tolerance


@planned_in_doubles
def epsilon_bounds(
    product: Product,
    delta: Fraction,
    *,
    tolerance: float = 1e-3,
    work: Work | None = None,
    engine: Engine = "fourier",
    kept: list[Proof] | None = None,
) -> Proof:
    """Enclose ε(δ) = inf{ε >= 0: δ(ε) <= δ} for a product of dominating pairs.

    Args:
        product: Pairs with multiplicities (independent).
        delta: δ > 0.
        tolerance: Wanted relative width, in (0, 1).
        work: The remaining work, if several attempts share it.
        engine: "fourier" (float64 with a proven bound on round-off; integers where that does not suffice) or
            "integers" (exact: the independent check).
        kept: If given, a list to which proofs that are too wide are added, for use if the work or the time ends.

    Returns:
        A proof whose enclosure has both bounds proven; its relative width is at most ``tolerance``. Exactly 0 where δ
        is shown to be at least the total variation.

    Raises:
        InvalidValue: δ is not positive, a parameter of a pair or the tolerance is out of its domain.
        Declined: The width was not reached within the work limit.

    >>> from dpbounds.privacy.pairs.pairs import ShiftedGaussians
    >>> proof = epsilon_bounds(((ShiftedGaussians(Fraction(1, 4)), 4),), Fraction(1, 10**5))
    >>> proof.enclosure.contains("4.37717870") and proof.enclosure.width < 5e-3
    True
    """
    if delta <= 0:
        raise InvalidValue("delta", delta, "greater than 0", "for δ = 0 ask whether the loss is bounded")
    tolerance, steps = _checked_tolerance(tolerance), steps_of(product)
    if not steps or delta >= 1:
        return Proof(Enclosure(Fraction(0), Fraction(0), "lattice"), "lattice")
    if total_variation_at_most(steps, delta):
        return Proof(Enclosure(Fraction(0), Fraction(0), "lattice"), "lattice")
    limit = largest_loss_of(steps)
    with working(SUM_PRECISION):
        certain = certainly_infinite(steps)
        finite = ball(delta) - certain  # what the finite losses may still cost
        if finite < 0:
            return Proof(Enclosure(math.inf, math.inf, "lattice", SUM_PRECISION), "lattice")
        if not finite > 0:
            raise Declined("lattice: δ cannot be distinguished from the probability that the loss is infinite")
        log_delta = float(finite.mid().log())
    if limit is not None and limit.exact_upper <= 0:
        return Proof(Enclosure(Fraction(0), Fraction(0), "lattice", SUM_PRECISION), "lattice")
    sketches = sketches_of(steps, log_delta)
    work = work or Work()
    costly = is_costly(steps)
    knobs, expected, found = Knobs(_CAREFUL if costly else 1.0, _CUT_OFF * tolerance, engine=engine), None, None
    upper_limit = math.inf if limit is None else limit.lower
    first = choices.saddle_for_delta(
        cut_sketches(sketches, log_delta + math.log(knobs.cut_off)), log_delta, upper_limit, tolerance
    )
    knobs.cut_off = _CUT_OFF * min(1.0, tolerance * first.epsilon * first.slope)
    for knobs.rounds in range(1, _ROUNDS + 1):
        cut_off = log_delta + math.log(knobs.cut_off)
        parts = cut_sketches(sketches, cut_off)
        aim = choices.saddle_for_delta(parts, log_delta, upper_limit, tolerance)
        if costly:
            aim = sharpened(parts, aim, log_delta)
        if expected is None:  # where the answer may be 0, a coarse look comes first
            expected = max(aim.epsilon, 0.0 if aim.tilt > 0 else aim.deviation)
        width = tolerance * expected
        chosen = choose(parts, aim, width, knobs)
        near = aim.epsilon if found is None else found
        attempt = attempted(steps, chosen, near, knobs, work, aim.slope if aim.tilt > 0 else math.inf, width)
        if attempt is None:
            continue
        high, low = attempt.upper.solve(log_delta - _MARGIN), attempt.lower.solve(log_delta + _MARGIN)
        if limit is not None:
            high = limit.upper if high is None else min(high, limit.upper)
        if high is None or low is None:
            if relative_shares(attempt.upper, near, log_delta)[INFINITE] > 0.1:
                knobs.cut_off *= 1e-3
            knobs.guard_bits += 20
            continue
        narrow = high == 0 or high - low <= tolerance * low  # (at 0 the answer is exactly 0)
        if narrow or (kept is not None and high - low <= _WORTH_KEEPING * low):
            enclosure = _certified_epsilon(attempt.upper, attempt.lower, high, low, finite, limit)
            if enclosure is not None:
                proof = proof_of(enclosure, attempt, knobs, high, log_delta)
                if narrow and enclosure.width <= tolerance * enclosure.upper:
                    return proof
                if kept is not None:
                    kept.append(proof)
        slope = _slope(attempt.upper, low, high)
        found = high if slope * (high - low) > 1 else low  # the lower side may have lost sight of δ
        revise(knobs, attempt.upper, found, log_delta, slope * (high - low), slope * tolerance * max(low, high / 4))
    raise Declined(f"lattice: a relative width of {tolerance:g} was not reached in {_ROUNDS} attempts")


def _slope(upper: Side, low: float, high: float) -> float:
    step = max(high - low, 1e-6 * high)
    return max((upper.approximate(high) - upper.approximate(high + step)) / step, 1e-12)


def _certified_epsilon(
    upper: Side, lower: Side, high: float, low: float, wanted: arb, limit: Enclosure | None
) -> Enclosure | None:
    """Return the ends, moved outwards until δ(high) <= δ and δ(low) >= δ are decided in ball arithmetic.

    ``wanted`` is δ less the probability of infinite loss. None where that does not happen near the ends that floating
    point found.
    """
    beyond_all = limit is not None and high >= limit.upper  # no finite loss exceeds it
    for margin in _MARGINS:
        top = high * (1 + margin)
        if beyond_all or upper.delta(Fraction(top)) <= wanted:
            break
    else:
        return None
    for margin in _MARGINS:
        bottom = low * (1 - margin)
        if bottom <= 0 or lower.delta(Fraction(bottom)) >= wanted:
            return Enclosure(Fraction(max(bottom, 0.0)), Fraction(top), "lattice", SUM_PRECISION)
    return None


@planned_in_doubles
def delta_bounds(
    product: Product,
    epsilon: Fraction,
    *,
    tolerance: float = 1e-3,
    work: Work | None = None,
    engine: Engine = "fourier",
    kept: list[Proof] | None = None,
    also: dict[Fraction, Proof | None] | None = None,
) -> Proof:
    """Enclose δ(ε) = E_P[(1 - exp(ε - L_1 - ... - L_T))_+] for a product of dominating pairs.

    Args:
        product: Pairs with multiplicities (independent).
        epsilon: ε >= 0.
        tolerance: Wanted width of log δ, relative to max(1, log 1/δ); in (0, 1).
        work: As for :func:`epsilon_bounds`.
        engine: The same.
        kept: The same.
        also: Further ε at which the lattice that served is looked at: those it serves as well get their proofs.

    Returns:
        A proof whose enclosure has both bounds proven. Exactly 0 where no loss exceeds ε.

    Raises:
        InvalidValue: ε is negative, a parameter of a pair or the tolerance is out of its domain.
        Declined: The width was not reached within the work limit.

    >>> from dpbounds.privacy.pairs.pairs import ShiftedGaussians
    >>> proof = delta_bounds(((ShiftedGaussians(Fraction(1, 4)), 4),), Fraction(1))
    >>> proof.enclosure.contains("0.1269367359") and proof.enclosure.width < 5e-4
    True
    """
    if epsilon < 0:
        raise InvalidValue("epsilon", epsilon, "at least 0")
    tolerance, steps = _checked_tolerance(tolerance), steps_of(product)
    limit = largest_loss_of(steps) if steps else Enclosure(Fraction(0), Fraction(0))
    certain = certainly_infinite(steps)
    if limit is not None and limit.at_most(epsilon) is True:
        return Proof(Enclosure.from_balls(certain, certain, "lattice", SUM_PRECISION).within(0, 1), "lattice")
    value, work = to_float(epsilon, "up"), work or Work()
    costly = is_costly(steps)
    knobs = Knobs(_CAREFUL if costly else 1.0, _CUT_OFF * tolerance, engine=engine)
    log_delta = rough_log_delta(steps, value, math.inf if limit is None else limit.lower)
    if costly:
        log_delta = estimated_log_delta(steps, value, log_delta)
    for knobs.rounds in range(1, _ROUNDS + 1):
        cut_off = log_delta + math.log(knobs.cut_off)
        parts = cut_sketches(sketches_of(steps, log_delta), cut_off)
        aim = choices.saddle_for_epsilon(parts, value)
        if costly:
            aim = sharpened(parts, aim)
        wanted = tolerance * max(1.0, -log_delta)
        chosen = choose(parts, aim, wanted / aim.slope, knobs)
        attempt = attempted(steps, chosen, value, knobs, work, 1.0 if aim.tilt > 0 else math.inf, wanted)
        if attempt is None:
            continue
        expected = log_delta
        lowest, log_delta, prove = _delta_on(attempt, knobs, epsilon, certain)
        if not log_delta > -math.inf:
            raise Declined("lattice: the working precision does not suffice to bound δ")
        wanted = tolerance * max(1.0, -log_delta)
        if log_delta - lowest <= wanted:
            served = {} if also is None else also
            for other in served:
                low, high, prove_other = _delta_on(attempt, knobs, other, certain)
                if -math.inf < high <= low + tolerance * max(1.0, -high):
                    served[other] = prove_other()
            return prove()
        if kept is not None and log_delta - lowest <= BLIND:
            kept.append(prove())
        width = min(log_delta - lowest, 1e3)
        revise(knobs, attempt.upper, value, log_delta, width, wanted, log_delta - expected)
    raise Declined(f"lattice: a width of {tolerance:g} was not reached in {_ROUNDS} attempts")


def _delta_on(
    attempt: Attempt, knobs: Knobs, epsilon: Fraction, certain: arb
) -> tuple[float, float, Callable[[], Proof]]:
    """Return both bounds on log δ of the finite losses, and a function that proves δ(ε).

    ``certain`` is the probability of an infinite loss.
    """
    below, above = attempt.lower.delta(epsilon), attempt.upper.delta(epsilon)

    def proof() -> Proof:
        with working(SUM_PRECISION):
            ends = Enclosure.from_balls(below + certain, above + certain, "lattice", SUM_PRECISION).within(0, 1)
        return proof_of(ends, attempt, knobs, to_float(epsilon, "up"), log_of(above))

    return log_of(below), log_of(above), proof


def delta_bounds_at(
    product: Product, epsilons: Iterable[Fraction], *, tolerance: float = 1e-3, work: int = LARGEST_WORK
) -> dict[Fraction, Proof]:
    """Enclose δ(ε) at many ε >= 0 on as few lattices as will do; arguments as for :func:`delta_bounds`.

    Where that width is not reached, even a hundred times as much is taken. ``work`` is what each lattice may take.
    From where a lattice fails on, ε are left out.
    """
    found: dict[Fraction, Proof] = {}
    rest, widths = sorted(set(epsilons)), [min(tolerance * factor, _WIDEST) for factor in (1, 10, 100)]
    while rest and widths:
        middle, *others = sorted(rest, key=lambda epsilon: abs(rest.index(epsilon) - len(rest) * 3 // 4))
        also: dict[Fraction, Proof | None] = dict.fromkeys(others)
        try:
            also[middle] = delta_bounds(product, middle, tolerance=widths[0], work=Work(work), also=also)
        except Declined:
            del widths[0]
            continue
        found |= {epsilon: proof for epsilon, proof in also.items() if proof is not None}
        rest = [epsilon for epsilon in rest if epsilon not in found]
    return found
