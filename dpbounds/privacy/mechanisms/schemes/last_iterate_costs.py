"""Costs of a record if only the last iterate is published: ``last_iterate.md``.

All costs are squared shifts in units of S, what one step costs whose outcome is published. A record that takes part in
a step and in none of the following g - 1 costs w(g) = 1 / (1 + c^-2 + ... + c^-2(g-1)), where steps are c-Lipschitz:
c = 1 + ηβ, or less with weight decay.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import to_float
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.last_iterate import LastIterate

_PRECISION = 160
_LONGEST = 32  # epochs of fresh permutations taken together; with more, the iterate in between counts as published
_PAIRS_OF_BLOCKS = 300_000  # largest number of pairs of positions in all of these epochs
_LEAST_BLOCKS = 24
_CELLS = 1024  # least number of cells of the lattice of costs, which has at most twice as many
_ATOMS = 200  # atoms of the returned distribution
_LOST = Fraction(1, 2**500)  # bound on the mass that underflow can lose in all
_MARGIN = 2.0**-45  # relative error of a few roundings
_UNIT = Fraction(1, 2**52)

Law = tuple[tuple[Fraction, Fraction], ...]  # costs with their probabilities, which add up to 1
Block = tuple[int, int]  # first and last position
Schedule = Fraction | tuple[Fraction, ...]  # c of all steps, or ηβ of each
_Floats = npt.NDArray[Any]


def window_cost(stretch: Fraction, steps: int) -> Fraction:
    """Return an upper bound on w(g) for g = ``steps`` and c = ``stretch``, to about 40 digits; 1 where g = 1."""
    return Fraction(1, steps) if stretch == 1 or steps == 1 else _rounded(lambda: _window(stretch, steps), "up")


def _window(stretch: Fraction, steps: int) -> arb:
    exponent = -2 * ball(stretch - 1).log1p()
    if exponent < 0:
        return exponent.expm1() / (steps * exponent).expm1()
    return (-(steps - 1) * exponent).exp() * (-exponent).expm1() / (-steps * exponent).expm1()


def _rounded(value: Callable[[], arb], direction: str) -> Fraction:
    with working(_PRECISION):
        return ball_end(value(), direction)


def fixed_cost(run: LastIterate) -> Fraction:
    """Return the cost of a record in the worst fixed position: the last one, unless step sizes change."""
    return _costs_by_place(run)(1)


def _costs_by_place(run: LastIterate) -> Callable[[int], Fraction]:
    """Return upper bounds on the costs of a record in the most expensive place, the second, ..."""
    if not run.schedule:
        return lambda last: _cost_in_place(run, last)
    falling = np.sort(_scheduled_costs(run))[::-1]
    return lambda number: Fraction(float(falling[number - 1]))


def _cost_in_place(run: LastIterate, last: int) -> Fraction:
    """Return the cost of a record with ``last`` - 1 steps after its step in every epoch, m steps apart."""
    if run.batches == 1:
        return sum((_in_every_step(run.stretch, epochs, "up") for epochs in run.segments), Fraction(0))
    between, after = window_cost(run.stretch, run.batches), window_cost(run.stretch, last)
    return sum(((epochs - 1) * between + after for epochs in run.segments), Fraction(0))


def _in_every_step(stretch: Fraction, steps: int, direction: str) -> Fraction:
    """Return the cost of one window with the record in every step: (1 + c + ...)²/(1 + c² + ...), if steps contract."""
    if stretch >= 1:
        return Fraction(steps)
    found = _rounded(lambda: _powers(ball(stretch), steps) ** 2 / _powers(ball(stretch) ** 2, steps), direction)
    return min(Fraction(steps), found)


def kept_law(run: LastIterate) -> Law:
    """Return the distribution of the costs of a record at a uniformly random position, the same in every epoch.

    Positions are rounded to more expensive ones, so that there are few costs.
    """
    costs = _costs_by_place(run)
    found: list[tuple[Fraction, Fraction]] = []
    for least, most in _runs(lambda number: float(costs(number)), 1, run.batches, relative=1 / 64):
        found.append((costs(least), Fraction(most - least + 1, run.batches)))
    return tuple(reversed(found))


def _scheduled_costs(run: LastIterate) -> _Floats:
    """Return an upper bound on the cost for each position that is kept in every epoch."""
    m, windows = run.batches, Scheduled(run.schedule, run.batches)
    ends = set(itertools.accumulate(run.segments))
    return np.array(
        [
            math.fsum(
                windows.costs(epoch * m + place, m - place if epoch + 1 in ends else m)[-1]
                for epoch in range(run.epochs)
            )
            * (1 + _MARGIN)
            for place in range(m)
        ]
    )


def _runs(
    costs: Callable[[int], float], first: int, last: int, *, width: float = 0.0, relative: float = 0.0
) -> Iterator[tuple[int, int]]:
    """Yield the numbers from ``first`` to ``last`` in runs along which falling costs fall by little: which is free."""
    while first <= last:
        low, high, allowed = first, last, max(width, relative * costs(first))
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if costs(first) - costs(middle) <= allowed else (low, middle - 1)
        yield first, low
        first = low + 1


# --- Attacks ----------------------------------------------------------------------------------------------------------


def attained_cost(run: LastIterate) -> Fraction:
    """Return a cost that a run attains, or approaches as batches grow (``last_iterate.md``, section 5)."""
    m, h = run.batches, run.smoothness_step
    if isinstance(h, tuple):
        return _straight_cost(run)
    if m == 1:
        return sum((_in_every_step(run.stretch, epochs, "down") for epochs in run.segments), Fraction(0))
    low, high = max(Fraction(0), 1 - run.weight_decay_step - h), run.stretch
    plain = Fraction(run.epochs, m) if high >= 1 else _steered_cost(run, high, high, m, m - 1)
    if run.order != "fixed":
        return plain
    slopes = ((low, low, m), (high, high, m), (low, high, (m + 1) // 2))
    return max(plain, *(_steered_cost(run, *each) for each in slopes))


def _straight_cost(run: LastIterate) -> Fraction:
    """Return the cost for constant gradients and changing step sizes: the best position or, if random, the worst."""
    m, total = run.batches, [Fraction(0)] * run.batches
    starts = [0, *itertools.accumulate(epochs * m for epochs in run.segments)]
    for start, end in itertools.pairwise(starts):
        steps = run.schedule[start:end]
        noise = sum((each**2 for each in steps), Fraction(0))
        for place in range(m):
            total[place] += sum(steps[place::m], Fraction(0)) ** 2 / noise
    if run.order == "shuffled":  # the smallest step of each epoch
        return sum(
            (
                sum((min(run.schedule[at : at + m]) for at in range(start, end, m)), Fraction(0)) ** 2
                / sum((each**2 for each in run.schedule[start:end]), Fraction(0))
                for start, end in itertools.pairwise(starts)
            ),
            Fraction(0),
        )
    return max(total) if run.order == "fixed" else min(total)


def _steered_cost(run: LastIterate, near: Fraction, far: Fraction, turn: int, after: int = 0) -> Fraction:
    """Return the cost in the last batch, with slopes ``near`` in ``turn`` steps up to a participation, else ``far``.

    With ``after`` steps after each participation, as long as all slopes are the same.
    """

    def value() -> arb:
        first, second = ball(near), ball(far)
        ratio = first**turn * second ** (run.batches - turn)
        noise = _squares(first, turn) + first ** (2 * turn) * _squares(second, run.batches - turn)
        total = arb(0)
        for epochs in run.segments:
            total += _powers(ratio, epochs) ** 2 / (noise * _powers(ratio**2, epochs))
        return total * first ** (2 * after)

    return _rounded(value, "down")


def _squares(slope: arb, count: int) -> arb:
    return _powers(slope**2, count)


def _powers(ratio: arb, count: int) -> arb:
    """Return 1 + r + ... + r^(count - 1)."""
    if count == 0:
        return arb(0)
    gap = 1 - ratio
    if gap.is_zero():
        return arb(count)
    direct = (1 - ratio**count) / gap
    return direct if direct.is_finite() else count * arb(1).union(ratio ** (count - 1))


# --- Fresh permutations -----------------------------------------------------------------------------------------------


def shuffled_law(run: LastIterate, squared_shift: Fraction) -> Law:
    """Return a dominating distribution of a record's cost with fresh permutations (``last_iterate.md``, section 4).

    Args:
        run: With fresh permutations.
        squared_shift: S.
    """
    scale = 16
    while scale < squared_shift:
        scale *= 4
    counts: Counter[tuple[Schedule, int]] = Counter()
    first = 0
    for epochs in run.segments:
        parts = -(-epochs // _LONGEST)
        length, longer = divmod(epochs, parts)
        if not run.schedule:
            uniform = run.stretch
            counts += Counter({(uniform, length): parts - longer, (uniform, length + 1): longer})
            continue
        for part in range(parts):
            many = length + (part < longer)
            counts[run.schedule[first * run.batches : (first + many) * run.batches], many] += 1
            first += many
    total: _Masses | None = None
    for (steps, epochs), count in counts.items():
        power = _fresh_masses(steps, run.batches, epochs, scale)
        while count:
            if count % 2:
                total = power if total is None else total.plus(power, scale)
            count //= 2
            if count:
                power = power.plus(power, scale)
    assert total is not None
    return total.as_law()


def coarser(law: Law, atoms: int) -> Law:
    """Return a distribution of squared shifts with at most ``atoms`` atoms that dominates ``law``."""
    if len(law) <= atoms:
        return law
    values = np.array([to_float(cost, "up") for cost, _ in law])
    masses = np.array([to_float(weight, "up") for _, weight in law])
    return _gathered(values, masses, np.unique(_between(values[0], values[-1], atoms)), 1, 1).as_law()


@dataclass(frozen=True, slots=True)
class _Masses:
    """Costs and their probabilities from above, each up to a factor 1 + ``roundings`` 2^-52."""

    costs: _Floats
    masses: _Floats
    roundings: int

    def plus(self, other: _Masses, scale: int) -> _Masses:
        """Return the sum of independent costs."""
        costs = np.add.outer(self.costs, other.costs).ravel() * (1 + _MARGIN)
        masses = np.multiply.outer(self.masses, other.masses).ravel()
        places = np.unique(_between(costs.min(), costs.max(), _ATOMS))
        return _gathered(costs, masses, places, scale, self.roundings + other.roundings + 2)

    def as_law(self) -> Law:
        """Return exact probabilities; the mass above any cost is never less than the true one."""
        grown = 1 + self.roundings * _UNIT
        found: list[tuple[Fraction, Fraction]] = []
        beyond = _LOST
        above = Fraction(0)
        for index in reversed(range(len(self.costs))):
            beyond += Fraction(float(self.masses[index])) * grown
            reached = min(Fraction(1), beyond) if index else Fraction(1)
            if reached > above:
                found.append((Fraction(float(self.costs[index])), reached - above))
                above = reached
        return tuple(reversed(found))


def _between(low: float, high: float, count: int) -> _Floats:
    """Return places from ``low`` to ``high``, both included, with distances that grow with the places."""
    inner: _Floats = np.linspace(math.sqrt(low), math.sqrt(high), count)[1:-1] ** 2
    return np.concatenate(([low], inner.clip(low, high), [high]))


def _gathered(costs: _Floats, masses: _Floats, places: _Floats, scale: int, roundings: int) -> _Masses:
    """Return each mass divided between the two neighbouring places, so that the loss does not decrease."""
    right = np.searchsorted(places, costs, side="left").clip(1, max(1, len(places) - 1))
    if len(places) == 1:
        return _Masses(places, masses.sum(keepdims=True), roundings + len(masses))
    low, high = places[right - 1], places[right]
    falling = np.array([_falling(Fraction(float(width)) * scale) for width in np.diff(places)])[right - 1]
    with np.errstate(divide="ignore", invalid="ignore"):  # (√b - √v) / (√v - √a) is infinite at a
        odds = (high - costs) / (costs - low) * (np.sqrt(costs) + np.sqrt(low)) / (np.sqrt(high) + np.sqrt(costs))
        moved = masses * np.where(costs > low, _at_most_one(falling * odds), 0.0)
    gathered = np.bincount(right, moved, len(places)) + np.bincount(right - 1, masses - moved, len(places))
    kept = gathered > 0
    return _Masses(places[kept], gathered[kept], roundings + 2 * len(masses) + 8)


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Costs 0, Δ, 2Δ, ...: a cost between two of them is placed so that the loss does not decrease.

    Attributes:
        spacing: Δ, a power of two.
        cells: The number of cells.
        falling: A lower bound on e^(-SΔ/8).
    """

    spacing: float
    cells: int
    falling: float

    def placed(self, cost: float) -> tuple[int, float]:
        """Return the cost in whole cells, and the rest."""
        whole = math.floor(cost / self.spacing)
        return whole, cost / self.spacing - whole

    def shares(self, rest: float) -> _Floats:
        """Return, for each cell j, an upper bound on θ, the share of a mass at j + ``rest`` that goes to j + 1."""
        if rest == 0:
            return np.zeros(self.cells)
        roots = np.sqrt(np.arange(self.cells + 1.0))
        ratio = 2 * roots[:-1] / (roots[1:] + roots[:-1])
        odds = (1 - rest) / rest * ratio
        odds[0] = (1 - rest) / (math.sqrt(rest) + rest)
        return _at_most_one(self.falling * odds)


def _at_most_one(odds: _Floats) -> _Floats:
    """Return 1 / (1 + odds) from above, for odds that a few roundings have moved."""
    found: _Floats = np.minimum(1.0, (1 + _MARGIN) / (1 + (1 - _MARGIN) * odds))
    return found


@lru_cache(maxsize=64)
def _fresh_masses(steps: Schedule, batches: int, epochs: int, scale: int) -> _Masses:
    """Return the distribution of a cost with fresh permutations in every epoch, from above."""
    windows: Uniform | Scheduled
    if isinstance(steps, tuple):
        windows, costs = Scheduled(steps, batches), Uniform(1 + sum(steps, Fraction(0)) / len(steps), batches)
    else:
        windows = costs = Uniform(steps, batches)
    blocks = _blocks(costs, batches, epochs)
    lattice = _lattice_for(costs, batches, epochs, scale)
    found = _along(windows, blocks, epochs, lattice)
    roundings = epochs * (2 * len(blocks) + lattice.cells + 16) + 4 * batches
    where = np.append(np.arange(lattice.cells) * lattice.spacing, max(float(epochs), lattice.cells * lattice.spacing))
    (seen,) = np.nonzero(found[:-1])
    places = lattice.spacing * np.round(_between(seen[0], seen[-1], _ATOMS)) if len(seen) else where[:1]
    return _gathered(where, found, np.unique(np.append(places, where[-1])), scale, roundings)


def _along(windows: Uniform | Scheduled, blocks: Sequence[Block], epochs: int, lattice: _Lattice) -> _Floats:
    """Return masses of the sum of the epochs' costs; the last entry collects the mass beyond the lattice."""
    share = np.array([last - first + 1 for first, last in blocks]) / blocks[-1][1]
    state = np.zeros((len(blocks), lattice.cells + 1))
    state[:, 0] = share
    for epoch in range(epochs - 1):
        following = np.zeros_like(state)
        known: dict[float, tuple[int, _Floats]] = {}
        for block, masses in zip(blocks, state, strict=True):
            checkpoint()
            for index, cost in enumerate(windows.between(epoch, block, blocks)):
                if cost not in known:
                    if len(known) > 1_000:
                        known.clear()
                    known[cost] = _sharing(cost, lattice)
                _move(masses, following[index], *known[cost])
        state = following * share[:, None]
    found = np.zeros(lattice.cells + 1)
    for block, masses in zip(blocks, state, strict=True):
        for part, cost in windows.at_the_end(epochs - 1, block, lattice.spacing / 16):
            _move(masses * part, found, *_sharing(cost, lattice))
    return found


class Uniform(dict[int, float]):
    """Upper bounds on w(g) in floats, where all steps are alike."""

    def __init__(self, stretch: Fraction, batches: int) -> None:
        super().__init__()
        self._stretch = stretch
        self._batches = batches

    def __missing__(self, steps: int) -> float:
        self[steps] = found = to_float(window_cost(self._stretch, steps), "up")
        return found

    def between(self, epoch: int, block: Block, blocks: Sequence[Block]) -> list[float]:
        """Return the largest costs from a position in the block to one in each block of the next epoch."""
        return [self[self._batches - block[1] + first] for first, _ in blocks]

    def at_the_end(self, epoch: int, block: Block, width: float) -> Iterator[tuple[float, float]]:
        """Yield the shares of the block by their largest costs, if the run ends with this epoch."""
        first, last = block
        for least, most in _runs(self.__getitem__, self._batches - last + 1, self._batches - first + 1, width=width):
            yield (most - least + 1) / (last - first + 1), self[least]


class Scheduled:
    """Costs for changing step sizes: ηβ of each step."""

    def __init__(self, steps: tuple[Fraction, ...], batches: int) -> None:
        self._sizes = np.array([float(each) for each in steps])
        self._shrinking = (1 + np.array([to_float(each, "up") for each in steps])) ** -2.0
        self._batches = batches

    def costs(self, step: int, most: int) -> _Floats:
        """Return upper bounds s²/Σ λ² σ² of a participation in that step, for windows of 1, 2, ... steps (or all)."""
        sizes = self._sizes[step : step + most]
        shrunk = np.cumprod(np.append(1.0, self._shrinking[step + 1 : step + most]))
        sums = np.cumsum(np.minimum(sizes / sizes[0], 1e100) ** 2 * shrunk)
        found: _Floats = np.minimum(1.0, (1 + (8 * most + 32) * 2.0**-52) / sums)
        return found

    def between(self, epoch: int, block: Block, blocks: Sequence[Block]) -> list[float]:
        """See :class:`Uniform`."""
        m, firsts = self._batches, np.array([first for first, _ in blocks])
        dearest = np.zeros(len(blocks))
        for place in range(block[0], block[1] + 1):
            np.maximum(dearest, self.costs(epoch * m + place - 1, 2 * m)[m - place + firsts - 1], out=dearest)
        return [float(cost) for cost in dearest]

    def at_the_end(self, epoch: int, block: Block, width: float) -> Iterator[tuple[float, float]]:
        """See :class:`Uniform`."""
        m = self._batches
        for place in range(block[0], block[1] + 1):
            yield 1 / (block[1] - block[0] + 1), float(self.costs(epoch * m + place - 1, m - place + 1)[-1])


def _blocks(costs: Uniform, batches: int, epochs: int) -> list[Block]:
    """Return intervals of positions; single positions if there are not too many."""
    most = max(_LEAST_BLOCKS, math.isqrt(_PAIRS_OF_BLOCKS // max(1, epochs - 1)))
    if epochs == 1:
        return [(1, batches)]
    if batches <= most:
        return [(position, position) for position in range(1, batches + 1)]
    fine, coarse = 0.0, 1.0
    for _ in range(24):
        middle = math.sqrt(max(fine, 1e-9) * coarse)
        if len(_cut(costs, batches, middle)) <= most:
            coarse = middle
        else:
            fine = middle
    return _cut(costs, batches, coarse)


def _cut(costs: Uniform, batches: int, width: float) -> list[Block]:
    """Return blocks over which neither w(p) nor w(m - p + 1) changes by more than ``width``."""
    found, first = [], 1
    while first <= batches:
        low, high = first, batches
        while low < high:
            middle = (low + high + 1) // 2
            narrow = costs[first] - costs[middle] <= width
            if narrow and costs[batches - middle + 1] - costs[batches - first + 1] <= width:
                low = middle
            else:
                high = middle - 1
        found.append((first, low))
        first = low + 1
    return found


def _lattice_for(costs: Uniform, batches: int, epochs: int, scale: int) -> _Lattice:
    """Return a lattice as wide as likely costs: larger ones count as the largest."""
    some = np.unique(np.geomspace(1, 2 * batches - 1, 200).astype(int)) if batches > 1 else np.array([1])
    weights = np.diff(np.append(some, 2 * batches)) * (batches - np.abs(some - batches)).clip(1)
    values = np.array([costs[int(each)] for each in some])
    mean = float(np.average(values, weights=weights))
    spread = math.sqrt(float(np.average((values - mean) ** 2, weights=weights)) * epochs)
    widest = min(float(epochs), epochs * mean + 8 * spread + 3)
    spacing = 2.0 ** math.floor(math.log2(widest / _CELLS))
    return _Lattice(spacing, math.ceil(widest / spacing) + 2, _falling(Fraction(spacing) * scale))


def _falling(width: Fraction) -> float:
    """Return a lower bound on e^(-width/8)."""
    return to_float(_rounded(lambda: (-ball(width) / 8).exp(), "down"), "down")


def _sharing(cost: float, lattice: _Lattice) -> tuple[int, _Floats]:
    whole, rest = lattice.placed(cost)
    return whole, lattice.shares(rest)[whole:]


def _move(masses: _Floats, into: _Floats, whole: int, shares: _Floats) -> None:
    """Add masses, moved by whole cells and divided between neighbours; the last entry collects the mass beyond."""
    cells = len(masses) - 1
    kept = max(0, cells - whole - 1)
    upper = masses[:kept] * shares[:kept]
    into[whole : whole + kept] += masses[:kept] - upper
    into[whole + 1 : whole + 1 + kept] += upper
    into[cells] += masses[kept:].sum()
