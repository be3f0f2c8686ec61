"""Composition on a lattice: proven bounds on δ(ε) and ε(δ) where nothing analytic is at hand.

Each step's loss is moved to a lattice, once upwards and once downwards (``discretisation.py``), tilted exponentially
so that rounding is relative to δ, and convolved by one of two engines: by Fourier transform with a proven bound on
its round-off (``fourier.py``), or as integers (``integer_measures.py``), where what rounding lost is known exactly.
The choices (``saddle.py``, ``rough.py``) are made in floating point. The proof, line by line, is in ``proof.md`` and
``fourier.md``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from flint import arb

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Product, ShiftedGaussians
from dpbounds.privacy.proofs import Declined, Proof, planned_in_doubles
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.composed import (
    SUM_PRECISION,
    Choices,
    ComposedMeasure,
    Steps,
    compose,
    discretise,
    log_of,
)
from dpbounds.privacy.routes.lattice.discretisation import RoundingDown, settled, working_precision
from dpbounds.privacy.routes.lattice.fourier import FourierComposed, InexactFloats, compose_fourier
from dpbounds.privacy.routes.lattice.integer_measures import LARGEST_WINDOW, LARGEST_WORK, Slots, Work
from dpbounds.privacy.routes.lattice.rough import Rough, sharpened
from dpbounds.privacy.routes.lattice.steps import AnyStep, LossStep, as_step, natural_spacing

_ROUNDS = 16  # attempts at a width before the question is left to another route
_CAREFUL = 0.92  # spacing of the first attempt, relative to what is expected to do, for laws of several draws
_SAFETY = 0.6  # aim below the wanted width, so that the first attempt usually succeeds
_HOPEFUL = 1.5  # gap between the one-step measures, relative to the wanted width, up to which composing is worth it
_ORDER = 0.6  # the gap falls with a power of the spacing between one and two: the spacing follows it with this one
_CUT_OFF = 0.03  # P-mass moved to infinity, relative to δ times the wanted width of log δ
_SEEN_UNTILTED = -15.0  # log δ that a transform in floating point sees without a tilt
_FAR_OUT = 10  # how far below log δ losses are cut off for an estimate
_WORTH_KEEPING = 0.03  # relative width of ε up to which an attempt is certified though more was wished for
_SLACK = 0.03  # what rounding down may cost, relative to the wanted width
_FINE_BITS = 12  # how far below the wanted width rounding and cutting off should stay
_LARGEST_CELLS = 40_000
_WORK_PER_CELL = 7_000  # a cell takes as long (some 120 microseconds) as so many bytes of products
_MANY_STEPS, _PASSES = 1_000, 7  # from 1,000 steps on, the powers take about 6 to 20 times the last window in all
_LARGEST_LOG = 1500.0  # of 1/δ
_LOGS = (15.0, 120.0, _LARGEST_LOG)  # looked at in turn
_MARGINS = (0.0, 1e-12, 1e-9, 1e-6, 1e-5, 1e-4)  # relative, in ε: tried in turn when the proof is written
_INFINITE = "moved to infinity"  # as a source of error
_BLIND = 1.0  # a width of log δ that says little about how much finer a lattice must be
_SOMEWHAT_FINER = 0.3  # then this
_WIDEST = 0.5
_MARGIN = 1e-8  # in log δ: room for floating point in the search, so that the proof that follows succeeds


Engine = Literal["fourier", "integers"]
Side = FourierComposed | ComposedMeasure


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Both sides for one set of choices."""

    chosen: Choices
    window: int
    upper: Side
    lower: Side


@dataclass(slots=True)
class _Knobs:
    """What is turned after an attempt that came out too wide."""

    refinement: float = 1.0
    cut_off: float = 1.0
    guard_bits: int = 0
    rounds: int = 0
    engine: Engine = "fourier"


def _choose(sketches: Sequence[choices.Sketch], aim: choices.GaussianSaddle, width: float, knobs: _Knobs) -> Choices:
    """Turn what is wanted (a width in ε) into choices."""
    steps = sum(part.count for part in sketches)
    effective = width * knobs.refinement**2  # the width grows with the square of the spacing
    slack = _SLACK * effective / steps
    wanted, spacing = _spacing(sketches, aim, width, slack, knobs)
    spread = 12 * aim.deviation / wanted
    if spread > 8 * LARGEST_WINDOW:
        raise Declined(f"lattice: about {spread:.3g} lattice points are needed, more than the work limit")
    fine = min(effective * aim.slope, 1.0) * 2.0 ** -(_FINE_BITS + knobs.guard_bits)
    composing, share = aim.tilt, aim.share  # where float64 sees best
    if knobs.engine == "integers":
        composing, share = choices.composing_tilt(sketches, aim, wanted, fine)
    allowance = fine * share
    tilt = Fraction(composing)
    precision = working_precision(spacing, max(part.step.extra_bits for part in sketches))
    with working(precision):
        lattices = tuple(settled(part.step, choices.lattice_for(part, spacing, slack), slack / 2) for part in sketches)
    marks = tuple(
        tuple(choices.marks_for(part, aim.tilt, lattice, allowance / steps))
        for part, lattice in zip(sketches, lattices, strict=True)
    )
    cells = sum(map(len, marks))
    if cells > _LARGEST_CELLS:
        raise Declined(f"lattice: {cells} cells are needed, more than the work limit of {_LARGEST_CELLS}")
    window = max(2 * spread, *(mark[-1] - mark[0] for mark in marks))
    bits = math.ceil(math.log2(2 * steps * window / allowance)) + 2
    slots = Slots.holding(bits)
    if knobs.engine == "integers" and steps >= _MANY_STEPS and _PASSES * spread * slots.width / 8 > LARGEST_WORK:
        raise Declined("lattice: the powers would go beyond the work limit; ask for a looser tolerance")
    return Choices(
        tilt=tilt,
        spacing=spacing,
        lattices=lattices,
        marks=marks,
        slots=slots,
        allowance=allowance,
        rules=tuple(RoundingDown(aim.tilt, part.tilted(aim.tilt)[0], slack) for part in sketches),
        precision=max(precision, 2 * bits),
    )


def _spacing(
    sketches: Sequence[choices.Sketch], aim: choices.GaussianSaddle, width: float, slack: float, knobs: _Knobs
) -> tuple[float, Fraction]:
    """The spacing, as a double and exactly; a multiple of it where all atoms lie on a lattice of their own."""
    if len(sketches) == 1 and natural_spacing(sketches[0].step) is not None:
        aligned = choices.spacing_for(sketches, aim, _SAFETY * width * knobs.refinement**2, slack)
        return aligned, Fraction(aligned)
    wanted = choices.spacing_for(sketches, aim, _SAFETY * width, slack) * knobs.refinement
    if not (math.isfinite(wanted) and wanted > 0):
        raise Declined("lattice: no spacing is found in doubles")
    mantissa, exponent = math.frexp(wanted)
    return wanted, Fraction(math.floor(math.ldexp(mantissa, 20))) * Fraction(2) ** (exponent - 20)


def _attempt(
    steps: Steps, chosen: Choices, near: float, knobs: _Knobs, work: Work, slope: float, width: float
) -> _Attempt | None:
    """Both sides, near an ε; None where the choices turn out too coarse or floats too inexact, and knobs are turned.

    ``slope`` times ``width`` is the width of log δ that is wanted; infinite where any will do.
    """
    work.spend(_WORK_PER_CELL * sum(map(len, chosen.marks)))
    discretised = discretise(steps, chosen)
    gap = discretised.gap(steps)
    if gap > _HOPEFUL * slope * width:
        knobs.refinement *= (_SAFETY * slope * width / gap) ** _ORDER
        return None
    if knobs.engine == "integers":
        upper, window = compose(steps, chosen, discretised.uppers, discretised.infinite, work)
        lower, other = compose(steps, chosen, discretised.lowers, None, work)
        return _Attempt(chosen, max(window, other), upper, lower)
    try:
        high = compose_fourier(steps, chosen, discretised.uppers, discretised.infinite, near, work)
        low = compose_fourier(steps, chosen, discretised.lowers, None, near, work)
    except InexactFloats:
        knobs.engine = "integers"
        return None
    return _Attempt(chosen, max(high.window.length, low.window.length), high, low)


def _revise(
    knobs: _Knobs, upper: Side, epsilon: float, log_delta: float, width: float, wanted: float, moved: float = 0.0
) -> None:
    """Turn the knobs: ``width`` and ``wanted`` are widths of log δ; ``epsilon`` is where δ is at least as small.

    ``moved`` is by how much log δ turned out to differ from what was expected: the next cut follows it anyway.
    """
    shares = _shares(upper, epsilon, log_delta)
    infinite = shares.pop(_INFINITE)
    missing = sum(shares.values())
    following = infinite * math.exp(min(moved, 600.0))
    if following > 0.1 * wanted:
        knobs.cut_off *= max(0.02 * wanted / following, 1e-30)
    if missing > 0.1 * wanted:
        knobs.guard_bits += 6 + max(0, math.ceil(math.log2(missing / wanted)))
    if max(infinite, missing) <= wanted:  # else nothing can be said about the rest yet
        rest = width - infinite - missing
        if rest > _SAFETY * wanted or max(infinite, missing) <= 0.1 * wanted:
            finer = min(0.95, math.sqrt(0.8 * wanted / max(rest, 0.8 * wanted)))
            knobs.refinement *= finer if width <= _BLIND else max(finer, _SOMEWHAT_FINER)


def _shares(upper: Side, epsilon: float, log_delta: float) -> dict[str, float]:
    """What each source of error may add to δ, relative to δ."""
    return {name: math.exp(min(600.0, share - log_delta)) for name, share in upper.log_shares(epsilon).items()}


def _proof(enclosure: Enclosure, attempt: _Attempt, knobs: _Knobs, epsilon: float, log_delta: float) -> Proof:
    chosen, upper = attempt.chosen, attempt.upper
    shares = _shares(upper, epsilon, log_delta)
    both = upper.approximate(epsilon) - attempt.lower.approximate(epsilon)
    budget = {"discretisation": max(0.0, math.expm1(min(both, 600.0)) - sum(shares.values())), **shares}
    engine: dict[str, object] = {"engine": "integers", "bits": chosen.slots.unit_bits}
    if isinstance(upper, FourierComposed):
        engine = {"engine": "fourier", "exact frequencies": upper.exact_frequencies}
    parameters = {
        "tilt": float(chosen.tilt),
        "lattice step": float(chosen.spacing),
        "offsets": tuple(float(lattice.offset) for lattice in chosen.lattices),
        "cells": tuple(len(marks) - 1 for marks in chosen.marks),
        "largest window": attempt.window,
        **engine,
        "working precision": chosen.precision,
        "attempts": knobs.rounds,
    }
    return Proof(enclosure, "lattice", parameters, budget)


def steps_of(product: Product) -> Steps:
    """The steps of a product, equal ones counted together."""
    counts: Counter[AnyStep] = Counter()
    for pair, count in product:
        if count < 1:
            raise InvalidValue("count", count, "a positive whole number")
        if not (isinstance(pair, ShiftedGaussians) and pair.squared_shift == 0):  # that one loses nothing
            counts[as_step(pair)] += count
    return tuple(counts.items())


def _largest_loss(steps: Steps) -> Enclosure | None:
    """The least upper bound of the composed finite losses, where they have one."""
    with working(SUM_PRECISION):
        largest = arb(0)
        for step, count in steps:
            one = step.largest_loss()
            if one is None:
                return None
            largest += count * one
        return Enclosure.from_balls(largest, largest, "lattice", SUM_PRECISION)


def certainly_infinite(steps: Steps) -> arb:
    """P(some loss is infinite) = 1 - Π (1 - a_i)^(T_i): δ(ε) is at least that for every ε."""
    with working(SUM_PRECISION):
        exponent = arb(0)
        for step, count in steps:
            one = step.infinite()
            if one >= 1:
                return arb(1)
            exponent += count * (-one).log1p()
        return -exponent.expm1()


def _total_variation_at_most(steps: Steps, delta: Fraction) -> bool:
    """Whether already Σ T_i TV_i <= δ: the total variation of a product is at most the sum of its factors'."""
    with working(SUM_PRECISION):
        everything = sum((count * step.total_variation() for step, count in steps), arb(0))
        return bool(everything <= ball(delta))


def sketches_of(steps: Steps, log_delta: float) -> list[choices.Sketch]:
    """The steps in floats, as far out as δ of that size needs."""
    everyone = sum(count for _, count in steps)
    reach = math.sqrt(2 * (60 + math.log(everyone) - log_delta)) + 2
    return [choices.sketch(step, count, reach) for step, count in steps]


def cut_sketches(sketches: Sequence[choices.Sketch], log_mass: float) -> list[choices.Sketch]:
    """The steps without right tails of ``log_mass`` in all, cut before tilting: else the tail could be all there is."""
    return [
        part if part.step.bounded_above else part.truncated(end)
        for part, end in zip(sketches, choices.cut_off(sketches, log_mass), strict=True)
    ]


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
        work: What may still be spent, where several attempts share it.
        engine: "fourier" (float64 with a proven bound on round-off; integers where that does not suffice) or
            "integers" (exact: the independent check).
        kept: Where given, proofs that came out too wide are added to it: what there is where the work or the time ends.

    Returns:
        A proof whose enclosure has both ends proven; its relative width is at most ``tolerance``. Exactly 0 where δ is
        shown to be at least the total variation.

    Raises:
        InvalidValue: δ is not positive, a parameter of a pair or the tolerance is out of its domain.
        Declined: That width was not reached within the work limit.

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
    if _total_variation_at_most(steps, delta):
        return Proof(Enclosure(Fraction(0), Fraction(0), "lattice"), "lattice")
    limit = _largest_loss(steps)
    with working(SUM_PRECISION):
        certain = certainly_infinite(steps)
        finite = ball(delta) - certain  # what the finite losses may still cost
        if finite < 0:
            return Proof(Enclosure(math.inf, math.inf, "lattice", SUM_PRECISION), "lattice")
        if not finite > 0:
            raise Declined("lattice: δ cannot be told from the probability that the loss is infinite")
        log_delta = float(finite.mid().log())
    if limit is not None and limit.exact_upper <= 0:
        return Proof(Enclosure(Fraction(0), Fraction(0), "lattice", SUM_PRECISION), "lattice")
    sketches = sketches_of(steps, log_delta)
    work = work or Work()
    costly = _costly(steps)
    knobs, expected, found = _Knobs(_CAREFUL if costly else 1.0, _CUT_OFF * tolerance, engine=engine), None, None
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
        chosen = _choose(parts, aim, width, knobs)
        near = aim.epsilon if found is None else found
        attempt = _attempt(steps, chosen, near, knobs, work, aim.slope if aim.tilt > 0 else math.inf, width)
        if attempt is None:
            continue
        high, low = attempt.upper.solve(log_delta - _MARGIN), attempt.lower.solve(log_delta + _MARGIN)
        if limit is not None:
            high = limit.upper if high is None else min(high, limit.upper)
        if high is None or low is None:
            if _shares(attempt.upper, near, log_delta)[_INFINITE] > 0.1:
                knobs.cut_off *= 1e-3
            knobs.guard_bits += 20
            continue
        narrow = high == 0 or high - low <= tolerance * low  # (at 0 the answer is exactly 0)
        if narrow or (kept is not None and high - low <= _WORTH_KEEPING * low):
            enclosure = _certified_epsilon(attempt.upper, attempt.lower, high, low, finite, limit)
            if enclosure is not None:
                proof = _proof(enclosure, attempt, knobs, high, log_delta)
                if narrow and enclosure.width <= tolerance * enclosure.upper:
                    return proof
                if kept is not None:
                    kept.append(proof)
        slope = _slope(attempt.upper, low, high)
        found = high if slope * (high - low) > 1 else low  # the lower side may have lost sight of δ
        _revise(knobs, attempt.upper, found, log_delta, slope * (high - low), slope * tolerance * max(low, high / 4))
    raise Declined(f"lattice: a relative width of {tolerance:g} was not reached in {_ROUNDS} attempts")


def _costly(steps: Steps) -> bool:
    """Whether cutting takes nearly all the time: a closer look and a finer lattice beat a second attempt."""
    return any(isinstance(step, LossStep) and step.draws.slots > 1 for step, _ in steps)


def _slope(upper: Side, low: float, high: float) -> float:
    step = max(high - low, 1e-6 * high)
    return max((upper.approximate(high) - upper.approximate(high + step)) / step, 1e-12)


def _certified_epsilon(
    upper: Side, lower: Side, high: float, low: float, wanted: arb, limit: Enclosure | None
) -> Enclosure | None:
    """The ends, moved outwards until δ(high) <= δ and δ(low) >= δ are decided in ball arithmetic.

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
        A proof whose enclosure has both ends proven. Exactly 0 where no loss exceeds ε.

    Raises:
        InvalidValue: ε is negative, a parameter of a pair or the tolerance is out of its domain.
        Declined: That width was not reached within the work limit.

    >>> from dpbounds.privacy.pairs.pairs import ShiftedGaussians
    >>> proof = delta_bounds(((ShiftedGaussians(Fraction(1, 4)), 4),), Fraction(1))
    >>> proof.enclosure.contains("0.1269367359") and proof.enclosure.width < 5e-4
    True
    """
    if epsilon < 0:
        raise InvalidValue("epsilon", epsilon, "at least 0")
    tolerance, steps = _checked_tolerance(tolerance), steps_of(product)
    limit = _largest_loss(steps) if steps else Enclosure(Fraction(0), Fraction(0))
    certain = certainly_infinite(steps)
    if limit is not None and limit.at_most(epsilon) is True:
        return Proof(Enclosure.from_balls(certain, certain, "lattice", SUM_PRECISION).within(0, 1), "lattice")
    value, work = to_float(epsilon, "up"), work or Work()
    costly = _costly(steps)
    knobs = _Knobs(_CAREFUL if costly else 1.0, _CUT_OFF * tolerance, engine=engine)
    log_delta = _expected_log_delta(steps, value, math.inf if limit is None else limit.lower)
    if costly:
        log_delta = _estimated(steps, value, log_delta)
    for knobs.rounds in range(1, _ROUNDS + 1):
        cut_off = log_delta + math.log(knobs.cut_off)
        parts = cut_sketches(sketches_of(steps, log_delta), cut_off)
        aim = choices.saddle_for_epsilon(parts, value)
        if costly:
            aim = sharpened(parts, aim)
        wanted = tolerance * max(1.0, -log_delta)
        chosen = _choose(parts, aim, wanted / aim.slope, knobs)
        attempt = _attempt(steps, chosen, value, knobs, work, 1.0 if aim.tilt > 0 else math.inf, wanted)
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
        if kept is not None and log_delta - lowest <= _BLIND:
            kept.append(prove())
        width = min(log_delta - lowest, 1e3)
        _revise(knobs, attempt.upper, value, log_delta, width, wanted, log_delta - expected)
    raise Declined(f"lattice: a width of {tolerance:g} was not reached in {_ROUNDS} attempts")


def _delta_on(
    attempt: _Attempt, knobs: _Knobs, epsilon: Fraction, certain: arb
) -> tuple[float, float, Callable[[], Proof]]:
    """Both bounds on log δ of the finite losses, and the proof to write; ``certain`` is P(some loss is infinite)."""
    below, above = attempt.lower.delta(epsilon), attempt.upper.delta(epsilon)

    def proof() -> Proof:
        with working(SUM_PRECISION):
            ends = Enclosure.from_balls(below + certain, above + certain, "lattice", SUM_PRECISION).within(0, 1)
        return _proof(ends, attempt, knobs, to_float(epsilon, "up"), log_of(above))

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


@planned_in_doubles
def expected_log_delta(product: Product, epsilon: float) -> float:
    """An estimate of log δ(ε) by the saddle point, in floating point: for searches, it proves nothing."""
    steps = steps_of(product)
    if not steps:
        return -math.inf
    with working(SUM_PRECISION):
        certain, limit = log_of(certainly_infinite(steps)), _largest_loss(steps)
    if limit is not None and limit.lower <= epsilon:
        return certain
    try:
        log_delta = _expected_log_delta(steps, epsilon, math.inf if limit is None else limit.lower)
    except Declined:  # too small for the route: small enough for an estimate
        return float(np.logaddexp(certain, -_LARGEST_LOG))
    return float(np.logaddexp(certain, _estimated(steps, epsilon, log_delta)))


@planned_in_doubles
def estimated_profile(product: Product, log_delta: float) -> Callable[[float], float]:
    """Return an estimate of log δ at any ε >= 0 where it is at least ``log_delta``, from one look at the steps.

    For searches that ask for many ε: each costs milliseconds. It proves nothing.
    """
    steps = steps_of(product)
    if not steps:
        return lambda epsilon: -math.inf
    infinite, limit = certainly_infinite(steps), _largest_loss(steps)
    if infinite >= 1:
        return lambda epsilon: 0.0
    with working(SUM_PRECISION):
        certain = log_of(infinite)
    parts = _far_out(steps, log_delta)
    plain = Rough.of(parts, 0.0)

    def at(epsilon: float) -> float:
        if limit is not None and limit.lower <= epsilon:
            return certain
        seen = plain.at(epsilon)
        if seen is not None and seen[0] > _SEEN_UNTILTED:
            return float(np.logaddexp(certain, min(0.0, seen[0])))
        aim = sharpened(parts, choices.saddle_for_epsilon(parts, epsilon))
        return float(np.logaddexp(certain, min(0.0, aim.log_delta)))

    return at


def _estimated(steps: Steps, epsilon: float, log_delta: float) -> float:
    """A better estimate of log δ(ε) from a rough one."""
    parts = _far_out(steps, log_delta)
    aim = choices.saddle_for_epsilon(parts, epsilon)
    return sharpened(parts, aim).log_delta if _costly(steps) else aim.log_delta


def _far_out(steps: Steps, log_delta: float) -> list[choices.Sketch]:
    """The steps in floats, for an estimate of δ of that size."""
    return cut_sketches(sketches_of(steps, log_delta), log_delta - _FAR_OUT)


def _expected_log_delta(steps: Steps, epsilon: float, limit: float) -> float:
    """Roughly the logarithm of δ(ε): the one for which ``epsilon`` is the expected answer."""
    low = math.log(1e-3)

    def answer(depth: float) -> float:
        log_delta = -math.exp(depth)
        return choices.saddle_for_delta(_far_out(steps, log_delta), log_delta, limit, 1e-9).epsilon

    for largest in _LOGS:  # the farther out, the more of each law must be looked at
        high = math.log(largest)
        if answer(high) >= epsilon:
            break
        low = high
    else:
        raise Declined(f"lattice: log δ is below -{_LARGEST_LOG:g}, too small for this route")
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if answer(middle) < epsilon else (low, middle)
    return -math.exp(high)
