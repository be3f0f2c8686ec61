"""What an adversary attains who chooses each run's attack by what was published before: a proven lower end.

The runs of one step are cut into phases. Between two phases the adversary remembers one whole number, a *cell*, and by
it decides which of the attacks the next phase plays; at the end an event is a set of cells. What such a strategy
attains is computed as it is, from the probabilities of the cells under both data sets. How cells are laid, which attack
each cell chooses and which event is tested are choices; why any choice is sound is written out in ``adaptive.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import Masses, ball, law_at
from dpbounds.privacy.pairs.pairs import Pair, Repeated
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation.rounding import LEAST, Floats, growth
from dpbounds.privacy.routes.lattice.discretisation import working_precision
from dpbounds.privacy.routes.lattice.steps import Lattice, as_step, cut
from dpbounds.privacy.values import Target

ROUTE = "adaptive attack"

_PRECISION = 128
_LOOK = 96  # bits at which the shape of a law is looked at
_CELLS = 2000  # of what is remembered
_PHASES = 64
_BLOCK = 4096  # products that are added up at once
_FINER = 4  # the cells of a single run, by which its own phase is counted
_RATIO = 1.03  # of neighbouring cuts of one run's losses
_NEAREST = 300  # the cuts next to 0, as a part of the total variation
_NEGLIGIBLE = 1e-4  # of δ: what is put together at the ends, per phase
_FARTHEST = 1e-40  # mass beyond the last cut of one run
_ROUNDS = 3  # of planning for an ε that is not known
_PLANS = 3  # for many questions at once
_ORDERS = np.geomspace(1e-4, 1e3, 120)  # of moments, to see how far losses reach
_MOST_EXPONENT = 600.0


@dataclass(frozen=True, slots=True)
class Remembered:
    """The cells between two phases, and how likely they are.

    Attributes:
        first: The first cell.
        masses: Row 0: at most the P-mass of each cell, row 1: at least its Q-mass; cells not listed are in no event.
        roundings: But for a factor (1 ± 2^-53) to this power.
    """

    first: int
    masses: Floats
    roundings: int

    @property
    def cells(self) -> NDArray[np.int64]:
        """The cells, in order."""
        return np.arange(self.first, self.first + self.masses.shape[1])


Rule = Callable[[NDArray[np.int64]], NDArray[np.int64]]  # which attack is chosen, in each of some cells


def attained_ends(repeated: Repeated, targets: Sequence[Target], known: Sequence[Fraction]) -> list[Proof | None]:
    """Lower ends at each target; None where no more is attained than what is known already.

    Args:
        repeated: The runs, and the attacks to choose from.
        targets: All given as δ, or all given as ε.
        known: What another attack attains there: where to look.

    Raises:
        Declined: Losses reach too far, or too much mass is lost to rounding.
    """
    worth = [index for index, value in enumerate(known) if value > 0]
    planned = sorted({worth[round(share * (len(worth) - 1))] for share in (0, 0.5, 1)[:_PLANS]}) if worth else []
    best: dict[int, Fraction] = {}
    for plan in planned:
        found = _played(repeated, targets[plan], known[plan])
        for index in worth:
            value = proven_end(found, targets[index])
            if value > max(known[index], best.get(index, Fraction(0))):
                best[index] = value
    return [
        Proof(Enclosure(best[index], best[index], ROUTE, _PRECISION), ROUTE, {"phases": _phases(repeated.count)})
        if index in best
        else None
        for index in range(len(targets))
    ]


def proven_end(found: Remembered, target: Target) -> Fraction:
    """A lower bound on ε(δ), or on δ(ε), by an event that is a set of cells: P(E) - e^ε Q(E) <= δ(ε)."""
    p, q = found.masses
    threshold = _crossing(found, float(target.value)) if target.for_epsilon else float(target.value)
    inside = np.log(p[p > 0]) - np.log(q[p > 0]) > threshold
    with working(_PRECISION):
        slack = arb(growth(found.roundings + 1))
        first = arb(math.fsum(p[p > 0][inside])) / slack
        second = arb(math.fsum(q[p > 0][inside])) * slack
        if target.for_epsilon:
            spare = first - ball(target.value)
            value = (spare / second).log() if spare > 0 else arb(0)
        else:
            value = first - ball(target.value).exp() * second
        return Fraction(ball_end(value, "down")) if value > 0 else Fraction(0)


def _crossing(found: Remembered, delta: float) -> float:
    """About the ε at which the cells promise δ (a choice)."""
    p, q = found.masses[:, found.masses[0] > 0]
    low, high = 0.0, float(np.max(np.log(p) - np.log(q), initial=0.0))
    for _ in range(60):
        middle = (low + high) / 2
        exceeds = np.maximum(p - np.exp(middle + np.log(q)), 0.0).sum() > delta
        low, high = (middle, high) if exceeds else (low, middle)
    return low


# --- What is played, and what is seen of it ---------------------------------------------------------------------------


def at_start() -> Remembered:
    """Before the first phase: one cell."""
    return Remembered(0, np.ones((2, 1)), 0)


def played(state: Remembered, phases: Sequence[Remembered], rule: Rule) -> Remembered:
    """One phase: each cell of the state chooses a phase's law, and moves by as many cells as the phase's outcome says.

    The choice is a function of the cell alone: nothing else may tell the rule what to do.
    """
    choice = rule(state.cells)
    parts = []
    for index, phase in enumerate(phases):
        checkpoint()
        chosen = np.flatnonzero(choice == index)
        if chosen.size:
            low, high = chosen[0], chosen[-1] + 1
            some = np.where(choice[low:high] == index, state.masses[:, low:high], 0.0)
            parts.append(_added(replace(state, first=state.first + int(low), masses=some), phase))
    return _together(parts)


def _together(parts: Sequence[Remembered]) -> Remembered:
    first = min(part.first for part in parts)
    last = max(part.first + part.masses.shape[1] for part in parts)
    masses = np.zeros((2, last - first))
    for part in parts:
        masses[:, part.first - first : part.first - first + part.masses.shape[1]] += part.masses
    return Remembered(first, masses, max(part.roundings for part in parts) + len(parts))


def _added(one: Remembered, other: Remembered) -> Remembered:
    """Two independent outcomes, of which only the sum of their cells is kept."""
    masses = np.array([_convolved(one.masses[row], other.masses[row]) for row in (0, 1)])
    terms = min(one.masses.shape[1], other.masses.shape[1])
    return Remembered(one.first + other.first, _without_small(masses), one.roundings + other.roundings + 2 * terms)


def _convolved(one: Floats, other: Floats) -> Floats:
    """Sums of products, none of more terms than the shorter has; in blocks, as threads would only be in the way."""
    short, long = sorted((one, other), key=len)
    found = np.zeros(len(short) + len(long) - 1)
    for at in range(0, len(short), _BLOCK):
        block = short[at : at + _BLOCK]
        found[at : at + len(block) + len(long) - 1] += np.convolve(long, block)
    return found


def _without_small(masses: Floats) -> Floats:
    """Cells with so little mass that a later product might underflow are forgotten: they are in no event."""
    return np.where((masses < LEAST).any(axis=0), 0.0, masses)


def _trimmed(part: Remembered, negligible: float) -> Remembered:
    """Forget the cells at the lower end; those at the upper end are one cell."""
    p = part.masses[0]
    low = min(int(np.searchsorted(np.cumsum(p), negligible)), len(p) - 1)
    high = max(low + 1, len(p) - int(np.searchsorted(np.cumsum(p[::-1]), negligible)))
    masses = part.masses[:, low:high].copy()
    masses[:, -1] += part.masses[:, high:].sum(axis=1)
    return Remembered(part.first + low, masses, part.roundings + len(p) - high + 1)


def _power(base: Remembered, count: int, negligible: float) -> Remembered:
    result = base
    for bit in bin(count)[3:]:
        checkpoint()
        result = _trimmed(_added(result, result), negligible)
        if bit == "1":
            result = _trimmed(_added(result, base), negligible)
    return result


def _placed(masses: Floats, roundings: int, spacing: float) -> Remembered:
    """Outcomes put into cells by their losses, so many losses to a cell."""
    seen = masses[:, (masses > 0).all(axis=0)]
    if seen.shape[1] == 0:
        raise Declined("adaptive attack: nothing of one run is known well enough")
    cells = np.rint((np.log(seen[0]) - np.log(seen[1])) / spacing).astype(np.int64)
    first = int(cells.min())
    found = np.zeros((2, int(cells.max()) - first + 1))
    for row in (0, 1):
        np.add.at(found[row], cells - first, seen[row])
    return Remembered(first, found, roundings + int(np.bincount(cells - first).max()))


# --- One run ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _one_run(pair: Pair) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """P-masses rounded down and Q-masses rounded up, of losses between cuts and of single ones."""
    low, high, inner = _look(pair)
    spacing = Fraction(2) ** math.floor(math.log2(inner / 16))
    marks = sorted({0} | {sign * mark for sign, end in ((-1, -low), (1, high)) for mark in _cuts(inner, end, spacing)})
    lattice, step = Lattice(Fraction(0), spacing), as_step(pair)
    with working(working_precision(spacing, step.extra_bits)):
        cells = cut(step, lattice, marks)
        law = law_at(pair, working_precision(spacing, step.extra_bits))
        found: list[Masses] = [*cells.masses, *((atom.p, atom.r) for atom in cells.atoms)]
        if not law.discrete:
            found += [law.head(lattice.point(marks[0])), law.tail(lattice.point(marks[-1]))]
        ends = [(_double(p, "down"), _double(q, "up")) for p, q in found]
    kept = [(p, q) for p, q in ends if p >= LEAST and q >= LEAST]
    return tuple(p for p, _ in kept), tuple(q for _, q in kept)


def _double(mass: arb, direction: str) -> float:
    end = mass.lower() if direction == "down" else mass.upper()
    if not end.is_finite():
        return 0.0 if direction == "down" else 1.0
    value = max(0.0, float(end))
    beyond = 0.0 if direction == "down" else math.inf
    while not (arb(value) <= end if direction == "down" else arb(value) >= end) and value != beyond:
        value = math.nextafter(value, beyond)
    return value


def _look(pair: Pair) -> tuple[float, float, float]:
    """Where losses begin and end, and what is small among them (choices)."""
    with working(_LOOK):
        law = law_at(pair, _LOOK)
        points = [float(point.loss) for point in law.points] or [0.0]
        low, high = min(points), max(points)
        if not law.discrete:
            low = min(low, -_search(lambda far: bool(law.head(arb(-far))[1] < _FARTHEST)))
            high = max(high, _search(lambda far: bool(law.tail(arb(far))[0] < _FARTHEST)))
        apart = float(law.delta(arb(0)).mid())
    if not (apart > 0 and low > -_MOST_EXPONENT and high < _MOST_EXPONENT):
        raise Declined("adaptive attack: the losses of one run reach too far for cells")
    return low, high, max(apart, 1e-12) / _NEAREST


def _search(far_enough: Callable[[float], bool]) -> float:
    far = 1.0
    while not far_enough(far):
        far *= 2
        if far > _MOST_EXPONENT:
            raise Declined("adaptive attack: the losses of one run reach too far for cells")
    while far > 1e-12 and far_enough(far / 1.1):
        far /= 1.1
    return far


def _cuts(inner: float, end: float, spacing: Fraction) -> set[int]:
    """Cuts of one sign, each so much farther than the one before."""
    number = 2 + math.ceil(math.log(max(end / inner, 2.0)) / math.log(_RATIO))
    return {
        math.ceil(float(place) / float(spacing)) for place in np.geomspace(inner, max(1.01 * end, 2 * inner), number)
    }


# --- Planning (no line below is part of the proof) --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Game:
    """The phases in order, each with the laws to choose from, on cells of one width."""

    spacing: float
    phases: tuple[tuple[Remembered, ...], ...]
    low: int
    high: int
    negligible: float


def _phases(count: int) -> int:
    return min(count, _PHASES)


def _played(repeated: Repeated, target: Target, known: Fraction) -> Remembered:
    """The last cells of a strategy that does well at a target."""
    delta, epsilon = (target.value, known) if target.for_epsilon else (known, target.value)
    game, at = _laid(repeated, float(delta)), float(epsilon)
    state = at_start()
    for _ in range(_ROUNDS if target.for_epsilon else 1):
        state = at_start()
        for phases, rule in zip(game.phases, _rules(game, at), strict=True):
            state = _trimmed(played(state, phases, rule), game.negligible)
        if target.for_epsilon:
            found = _crossing(state, float(target.value))
            if abs(found - at) <= 1e-4 * at:
                break
            at = found
    return state


def _laid(repeated: Repeated, delta: float) -> _Game:
    runs = {pair: np.array(_one_run(pair)) for pair in (*repeated.options, *(pair for pair, _ in repeated.beside))}
    log_small = math.log(max(delta * 1e-3, 1e-280))
    ends = [
        [
            _reach(run, count, log_small)
            for run, count in ((runs[pair], repeated.count), *((runs[other], many) for other, many in repeated.beside))
        ]
        for pair in repeated.options
    ]
    low = min(0.0, *(sum(min(0.0, one) for one, _ in each) for each in ends))
    high = max(0.0, *(sum(max(0.0, other) for _, other in each) for each in ends))
    spacing, negligible = (high - low) / _CELLS, delta * _NEGLIGIBLE
    if not spacing > 0:
        raise Declined("adaptive attack: there is nothing to tell apart")
    number = _phases(repeated.count)
    few, longer = divmod(repeated.count, number)

    def laws(pair: Pair, counts: Sequence[int]) -> dict[int, Remembered]:
        base = _placed(runs[pair], 0, spacing / _FINER)
        found = {}
        for count in counts:
            law = _power(base, count, negligible)
            found[count] = _placed(law.masses, law.roundings, spacing)
        return found

    lengths = (few + 1, few) if longer else (few,)
    options = [laws(pair, lengths) for pair in repeated.options]
    phases = [tuple(each[count] for each in options) for count in [few + 1] * longer + [few] * (number - longer)]
    phases += [(laws(pair, (count,))[count],) for pair, count in repeated.beside]
    return _Game(spacing, tuple(phases), math.floor(low / spacing) - 1, math.ceil(high / spacing) + 1, negligible)


def _reach(run: Floats, count: int, log_small: float) -> tuple[float, float]:
    """Losses beyond which so many runs hardly have any mass (Chernoff)."""
    losses = np.log(run[0]) - np.log(run[1])
    ends = []
    for sign in (-1.0, 1.0):
        orders = _ORDERS[_ORDERS * np.abs(losses).max() < _MOST_EXPONENT]
        moments = np.array([math.log(float(np.sum(run[0] * np.exp(sign * order * losses)))) for order in orders])
        ends.append(min(float(((count * moments - log_small) / orders).min()), count * float((sign * losses).max())))
    return -ends[0], ends[1]


def _rules(game: _Game, epsilon: float) -> list[Rule]:
    """For each phase the attack that promises most from each cell on: backwards, in floating point."""
    cells = np.arange(game.low, game.high + 1)
    value = -np.expm1(np.minimum(0.0, epsilon - cells * game.spacing))
    rules: list[Rule] = []
    for phases in reversed(game.phases):
        checkpoint()
        promised = np.array([_before(value, phase) for phase in phases])
        best = promised.argmax(axis=0)
        rules.append(_rule(best, game.low))
        value = promised.max(axis=0)
        value[value < LEAST] = 0.0  # (denormal numbers are slow)
    return rules[::-1]


def _rule(best: NDArray[np.int64], low: int) -> Rule:
    return lambda cells: best[np.clip(cells - low, 0, len(best) - 1)]


def _before(value: Floats, phase: Remembered) -> Floats:
    """Σ_l P(l) value(cell + l), with 0 below the cells and what stands at their end above."""
    left = max(0, -phase.first)
    right = max(0, phase.first + phase.masses.shape[1])
    padded = np.concatenate((np.zeros(left), value, np.full(right, value[-1])))
    last = phase.masses.shape[1] - 1
    sums = _convolved(padded, phase.masses[0][::-1])[last : len(padded)]
    start_at = phase.first + left
    return sums[start_at : start_at + len(value)]
