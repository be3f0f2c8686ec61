"""ε and δ that hold with a stated confidence, by sampling the loss: for pairs whose law nobody can enclose sharply.

Derived, with what is assumed, in ``probable.md``. Nothing here is certified, and nothing that certifies takes it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpbounds.displayed import Displayed, Sheet, number
from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism, shortened
from dpbounds.expressions.exact import ExactLike, brief, exact, positive_integer, to_decimal
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.limits import COUNT
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import MatrixMechanism, Mechanism, RandomlyAllocated
from dpbounds.privacy.mechanisms.core import parts_of
from dpbounds.privacy.mechanisms.schemes.bins import summed_columns
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree
from dpbounds.privacy.pairs.pairs import Allocated
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.values import Given, Target, demand_fields

Floats = NDArray[np.float64]
Bits = Callable[[int], bytes]

DEFAULT_SAMPLES = 1_000_000
_PRECISION = 128
_BATCH = 2**20  # numbers drawn at a time
_PILOT = 10  # of that many samples one more is drawn to plan by
_SHARES = (
    0.7,
    1.0,
    1.4,
    2.0,
    3.0,
    5.0,
    9.0,
    20.0,
)  # of the slack that is expected: how far the ε that are tried lie apart
_PARTS = (0.1, 0.25, 0.5, 1.0)
_TRIED = len(_SHARES) + len(_PARTS)
_FARTHEST = 1e6
_TILTS = np.concatenate(([0.0], np.geomspace(1e-3, 1e4, 701)))
_LARGEST_SHIFT = 100.0
_COMMON = 1e-4  # its square, 1e-8, is far above the rounding of a QR factorisation of a few thousand rows
_LARGEST_LOG = 200.0  # of a factor whose powers of ten doubles hold, with others beside it
_SCALED = 1e100  # beyond which, and below its inverse, sums are divided by a common factor
_LEAST = 1e-250  # a ratio below that, relative to its largest term, may have lost terms


@dataclass(frozen=True, slots=True, repr=False)
class Probable(Displayed):
    """An upper bound that holds with a stated confidence: not certified, not an ``Enclosure``.

    Attributes:
        mechanism: What ran, or will run.
        relation: The neighbouring relation.
        given: Which of the two was given, "delta" or "epsilon"; ``upper`` bounds the other.
        target: Its value.
        upper: The bound; it fails with probability 1 - ``confidence`` at most, over the draws.
        confidence: In (0, 1).
        samples: How many draws it rests on, in each of the two orders.
        seed: Of the draws; None where the operating system's randomness was used. With a seed the confidence is
            conditional on the seed not having been chosen by its answer.
    """

    mechanism: Mechanism
    relation: Relation
    given: Given
    target: Fraction
    upper: Fraction
    confidence: Fraction
    samples: int
    seed: int | None

    def __post_init__(self) -> None:
        demand_fields(self, mechanism=Mechanism, relation=Relation, given=str, target=Fraction, upper=Fraction)
        demand_fields(self, confidence=Fraction, samples=int, seed=(int, NoneType))

    def rounded(self, digits: int) -> str:
        """The bound as a decimal of so many digits, rounded up."""
        return to_decimal(self.upper, digits, "up")

    def _sheet(self) -> Sheet:
        wanted = "epsilon" if self.given == "delta" else "delta"
        facts = (
            (wanted, f"at most {self.rounded(6)}, with confidence {number(self.confidence)}: not certified"),
            (self.given, number(self.target)),
            ("relation", str(self.relation)),
            ("samples", f"{self.samples} in each order"),
            *(() if self.seed is None else (("seed", f"{self.seed}: valid if it was not chosen by its answer"),)),
            ("mechanism", shortened(repr(self.mechanism))),
        )
        return Sheet("a bound by sampling", facts)

    def __str__(self) -> str:
        wanted = "epsilon" if self.given == "delta" else "delta"
        told = f"with confidence {brief(self.confidence)} over {self.samples} samples, not certified"
        seeded = "" if self.seed is None else f", given that the seed {self.seed} was not chosen by its answer"
        return f"{wanted} <= {self.rounded(6)} at {self.given} = {brief(self.target)} ({self.relation}), {told}{seeded}"


def probable_epsilon(
    mechanism: Mechanism,
    delta: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    confidence: ExactLike,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
) -> Probable:
    """Bound ε(δ) by sampling, with a stated confidence. Derived in ``probable.md``; Chernoff and Hoeffding's bound.

    Args:
        mechanism: ``RandomlyAllocated`` with Gaussian noise, ``MatrixMechanism`` with balls in bins or with steps that
            are drawn apart ("minimum-separation" with a sample rate), or ``**`` of one.
        delta: In (0, 1). Publish δ + (1 - confidence) with what comes out.
        relation: "add-or-remove-one" or "zero-out-one".
        confidence: In (0, 1), such as ``"0.999999"``: of all that is asked of the same run, once.
        samples: How many to draw in each order, for the bound itself; a tenth more to plan it.
        seed: None for randomness of the operating system, which is what a published value needs; a whole number repeats
            a run, and makes the confidence conditional.

    Raises:
        InvalidValue: A value is not allowed.
        UnsupportedMechanism: No pair to sample is known.
        NotCertified: The samples do not suffice to show any ε.

    >>> from dpbounds.privacy.mechanisms import Gaussian, RandomlyAllocated
    >>> found = probable_epsilon(RandomlyAllocated(Gaussian(1), 10, 3), "1e-2", confidence="0.999", samples=20000)
    >>> 1 < found.upper < 4, found.samples
    (True, 20000)
    """
    return _probable(mechanism, Target.of(delta, None), as_relation(relation), confidence, samples, seed)


def probable_delta(
    mechanism: Mechanism,
    epsilon: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    confidence: ExactLike,
    samples: int = DEFAULT_SAMPLES,
    seed: int | None = None,
) -> Probable:
    """Bound δ(ε) by sampling, with a stated confidence.

    Arguments and errors as for :func:`probable_epsilon`, with ``epsilon`` at least 0 in place of ``delta``.
    """
    return _probable(mechanism, Target.of(None, epsilon), as_relation(relation), confidence, samples, seed)


def _probable(
    mechanism: Mechanism, target: Target, relation: Relation, confidence: ExactLike, samples: int, seed: int | None
) -> Probable:
    sure = exact(confidence, "confidence")
    if not 0 < sure < 1:
        raise InvalidValue("confidence", confidence, "greater than 0 and less than 1")
    count = positive_integer(samples, "samples")
    bits = _source(seed)
    mixture, epochs = _mixture(mechanism, relation)
    planned = _planned(mixture, epochs, target, 1 - sure, count, bits) if target.for_epsilon else [float(target.value)]
    bounds = _bounds(mixture, epochs, planned, 1 - sure, count, bits)
    if target.for_epsilon:
        upper = next((Fraction(at) for at, bound in zip(planned, bounds, strict=True) if bound <= target.value), None)
        if upper is None:
            raise NotCertified(
                f"{count} samples do not suffice to show that delta {brief(target.value)} is kept at "
                f"any epsilon up to {planned[-1]:.4g}; take more samples"
            )
    else:
        (upper,) = bounds
    return Probable(mechanism, relation, target.given, target.value, upper, sure, count, seed)


# --- What is drawn ----------------------------------------------------------------------------------------------------


def _source(seed: int | None) -> Bits:
    if seed is None:
        return os.urandom
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < COUNT:
        raise InvalidValue("seed", seed, "None, or a whole number of at least 0")
    return np.random.default_rng(seed).bytes


def _uniform(bits: Bits, *shape: int) -> Floats:
    """Numbers in (0, 1), all multiples of 2^-53 but for a half of it being equally likely."""
    words = np.frombuffer(bits(8 * math.prod(shape)), dtype=np.uint64) >> np.uint64(11)
    return ((words.astype(np.float64) + 0.5) * 2.0**-53).reshape(shape)


def _normal(bits: Bits, rows: int, columns: int) -> Floats:
    half = -(-columns // 2)
    radius, angle = np.sqrt(-2 * np.log(_uniform(bits, rows, half))), 2 * math.pi * _uniform(bits, rows, half)
    return np.concatenate((radius * np.cos(angle), radius * np.sin(angle)), axis=1)[:, :columns]


class Mixture(Protocol):
    """Gaussians of which one is drawn, against the one at 0; all lengths in units of the noise."""

    @property
    def columns(self) -> int:
        """How many coordinates a draw has."""

    @property
    def operations(self) -> float:
        """At most how many rounded operations, each off by a unit in the last place of 1, are behind a log-ratio."""

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖², and c = Σ w(A) ‖s_A‖²/2."""

    def normaliser(self, tilt: float) -> float:
        """Log Z."""

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """Draws of the tilted mixture."""

    def mean_direction(self, draws: Floats) -> Floats:
        """⟨s̄, y⟩."""

    def mean_shift(self) -> Floats:
        """s̄."""

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """Log Σ w(A) X_A^power."""


@dataclass(frozen=True, slots=True)
class Subsets:
    """A uniformly random set of ``taken`` of ``columns`` steps, each with the shift ``shift``."""

    columns: int
    taken: int
    shift: float

    @property
    def operations(self) -> float:
        """Three for each step and number of steps, and those of the exponents."""
        return 8.0 * self.columns + 64 * self.taken * (1 + self.shift) ** 2

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖² and c."""
        return (self.shift * self.taken) ** 2 / self.columns, self.taken * self.shift**2 / 2

    def normaliser(self, tilt: float) -> float:
        """Log Z: all sets have shifts of one length."""
        return tilt * (1 + tilt) * self.taken * self.shift**2 / 2

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """Each step is taken with the chance that is left to it, one after the other."""
        draws, chances = _normal(bits, rows, self.columns), _uniform(bits, rows, self.columns)
        left = np.full(rows, float(self.taken))
        for step in range(self.columns):
            chosen = chances[:, step] * (self.columns - step) < left
            left -= chosen
            draws[:, step] += (1 + tilt) * self.shift * chosen
        return draws

    def mean_shift(self) -> Floats:
        """s̄."""
        return np.full(self.columns, self.shift * self.taken / self.columns)

    def mean_direction(self, draws: Floats) -> Floats:
        """⟨s̄, y⟩."""
        found: Floats = draws @ self.mean_shift()
        return found

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """The mean over all sets of the product of factors, step by step; all terms are positive."""
        logs = power * (self.shift * draws - self.shift**2 / 2)
        largest = logs.max(axis=1)
        factors = np.exp(logs - largest[:, None])
        means = np.zeros((self.taken + 1, len(draws)))
        means[0] = 1
        for step in range(1, self.columns + 1):
            for taken in range(min(step, self.taken), 0, -1):
                share = taken / step
                means[taken] = (1 - share) * means[taken] + share * factors[:, step - 1] * means[taken - 1]
        found: Floats = _log_of(means[-1]) + self.taken * largest
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """One of the rows of ``shifts``, uniformly."""

    shifts: Floats

    @property
    def columns(self) -> int:
        """How many coordinates a shift has."""
        return len(self.shifts[0])

    @property
    def operations(self) -> float:
        """Those of an inner product, which is off by n u ‖c‖ ‖y‖."""
        longest = math.sqrt(float(self._squares().max()))
        return 64 + len(self.shifts) + self.columns * (1 + longest) * (math.sqrt(self.columns) + longest + 16)

    def _squares(self) -> Floats:
        found: Floats = (self.shifts**2).sum(axis=1)
        return found

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖² and c."""
        return float((self.mean_shift() ** 2).sum()), float(self._squares().mean()) / 2

    def _weights(self, tilt: float) -> Floats:
        found: Floats = tilt * (1 + tilt) * self._squares() / 2
        return found

    def normaliser(self, tilt: float) -> float:
        """Log Z."""
        return float(np.logaddexp.reduce(self._weights(tilt))) - math.log(len(self.shifts))

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """A bin by its weight, then the noise."""
        weights = self._weights(tilt)
        ends = np.cumsum(np.exp(weights - weights.max()))
        chosen = np.searchsorted(ends, _uniform(bits, rows) * ends[-1]).clip(max=len(ends) - 1)
        found: Floats = _normal(bits, rows, self.columns) + (1 + tilt) * self.shifts[chosen]
        return found

    def mean_shift(self) -> Floats:
        """s̄."""
        found: Floats = self.shifts.mean(axis=0)
        return found

    def mean_direction(self, draws: Floats) -> Floats:
        """⟨s̄, y⟩."""
        found: Floats = draws @ self.mean_shift()
        return found

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """The mean over the bins."""
        logs = power * (draws @ self.shifts.T - self._squares() / 2)
        largest = logs.max(axis=1)
        found: Floats = _log_of(np.exp(logs - largest[:, None]).mean(axis=1)) + largest
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Steps ``separation`` or more apart: each that may be taken is, with the chance ``rate``; shifts do not overlap.

    Attributes:
        shifts: A row for each step, its shift in all coordinates; those of steps that are so far apart share none.
    """

    shifts: Floats
    separation: int
    rate: float

    @property
    def columns(self) -> int:
        """How many coordinates a shift has."""
        return len(self.shifts[0])

    @property
    def bands(self) -> int:
        """In how many coordinates a shift is not 0, at most."""
        return int((self.shifts != 0).sum(axis=1).max())

    @property
    def operations(self) -> float:
        """Three a step, and those of an inner product of few terms for each step that is taken."""
        longest, bands = math.sqrt(float(self._squares().max())), self.bands
        taken = len(self.shifts) // self.separation + 1
        return 64.0 + 8 * len(self.shifts) + taken * bands * (1 + longest) * (9 * math.sqrt(bands) + longest + 16)

    def _squares(self) -> Floats:
        found: Floats = (self.shifts**2).sum(axis=1)
        return found

    def _chances(self) -> Floats:
        """Of each step to be taken: the chance to be free there, times the rate."""
        steps = len(self.shifts)
        free, taken = np.zeros(steps + self.separation), np.zeros(steps)
        free[0] = 1.0
        for step in range(steps):
            taken[step] = self.rate * free[step]
            free[step + 1] += free[step] - taken[step]
            free[step + self.separation] += taken[step]
        return taken

    @property
    def moments(self) -> tuple[float, float]:
        """‖s̄‖² and c."""
        return float((self.mean_shift() ** 2).sum()), float(self._chances() @ self._squares()) / 2

    def mean_shift(self) -> Floats:
        """s̄."""
        found: Floats = self._chances() @ self.shifts
        return found

    def mean_direction(self, draws: Floats) -> Floats:
        """⟨s̄, y⟩."""
        found: Floats = draws @ self.mean_shift()
        return found

    def _ahead(self, factors: Floats) -> tuple[Floats, Floats]:
        """The logarithm of the mean of the product of factors, shape (rows,), and each step's chance by what is ahead.

        f(l) = (1 - p) f(l + 1) + p F_l f(l + b), with f = 1 behind the last step; all terms are positive.
        """
        steps, rows = factors.shape
        found, logs, chances = np.ones((steps + self.separation, rows)), np.zeros(rows), np.empty((steps, rows))
        for step in range(steps - 1, -1, -1):
            taken = self.rate * factors[step] * found[step + self.separation]
            found[step] = (1 - self.rate) * found[step + 1] + taken
            chances[step] = taken / found[step]
            if not (found[step].max() < _SCALED and found[step].min() > 1 / _SCALED):
                scale = found[step].copy()
                found[step : step + self.separation] /= scale
                logs += np.log(scale)
        return _log_of(found[0]) + logs, chances

    def _weights(self, tilt: float) -> Floats:
        found: Floats = np.exp(self._log_weights(tilt))[:, None]
        return found

    def _log_weights(self, tilt: float) -> Floats:
        logs: Floats = tilt * (1 + tilt) * self._squares() / 2
        if not logs.max() < _LARGEST_LOG:
            raise NotCertified("the likelihood ratios span more scales than doubles have; ask for a certified epsilon")
        return logs

    def normaliser(self, tilt: float) -> float:
        """Log Z; infinite where doubles end."""
        if not (tilt * (1 + tilt) * self._squares() / 2).max() < _LARGEST_LOG:
            return math.inf
        logs, _ = self._ahead(self._weights(tilt))
        return float(logs[0])

    def shifted(self, bits: Bits, rows: int, tilt: float) -> Floats:
        """Steps one after the other, each by what is ahead of it if it is taken; then the noise."""
        _, chances = self._ahead(self._weights(tilt))
        draws, uniform = _normal(bits, rows, self.columns), _uniform(bits, rows, len(self.shifts))
        free = np.zeros(rows, dtype=np.int64)  # the first step that may be taken
        for step in range(len(self.shifts)):
            taken = (free <= step) & (uniform[:, step] < chances[step, 0])
            free[taken] = step + self.separation
            where = self.shifts[step].nonzero()[0]
            draws[np.ix_(taken, where)] += (1 + tilt) * self.shifts[step, where]
        return draws

    def log_ratio(self, draws: Floats, power: float) -> Floats:
        """The mean over all sets of steps, from the last one back."""
        logs = power * (self.shifts @ draws.T - self._squares()[:, None] / 2)
        if not logs.max() < _LARGEST_LOG:
            raise NotCertified("the likelihood ratios span more scales than doubles have; ask for a certified epsilon")
        found, _ = self._ahead(np.exp(logs))
        return found


def _log_of(ratios: Floats) -> Floats:
    if not (ratios > _LEAST).all():
        raise NotCertified("the likelihood ratios span more scales than doubles have; ask for a certified epsilon")
    found: Floats = np.log(ratios)
    return found


def _mixture(mechanism: Mechanism, relation: Relation) -> tuple[Mixture, int]:
    """What is sampled, and of how many independent epochs it is the sum."""
    neighbour_classes(mechanism, relation)  # what has no pair at all is refused there
    parts = parts_of(mechanism)
    if relation is Relation.REPLACE_ONE or len(parts) > 1:
        raise UnsupportedMechanism(
            "sampling knows one kind of release, under add-or-remove-one or zero-out-one: ask for a certified epsilon"
        )
    ((part, epochs),) = parts
    match part:
        case RandomlyAllocated(participations=k, steps=t) if k < t:
            largest = _largest_shift(RandomlyAllocated(part.mechanism, t), relation)
            if largest is not None:
                return Subsets(t, k, float(_demand_moderate(math.sqrt(largest)))), epochs
        case MatrixMechanism(participation="balls-in-bins", separation=int(bins)):
            shifts = _demand_moderate(summed_columns(part.matrix, bins).T / float(part.noise_multiplier))
            return Bins(_in_few_dimensions(shifts)), epochs
        case MatrixMechanism(participation="minimum-separation", separation=int(apart), sample_rate=Fraction() as rate):
            return _drawn_apart(part, apart, rate), epochs
    raise UnsupportedMechanism(
        "sampling knows random allocation to fewer than all steps with Gaussian noise, and matrices with balls in "
        "bins or steps drawn apart (minimum-separation with a sample rate): ask for a certified epsilon"
    )


def _drawn_apart(part: MatrixMechanism, apart: int, rate: Fraction) -> Apart:
    """Of a banded matrix whose columns b apart do not overlap."""
    matrix = part.matrix
    if isinstance(matrix, BinaryTree) or matrix.bands > apart:
        bands = "a tree" if isinstance(matrix, BinaryTree) else f"{matrix.bands} bands"
        raise UnsupportedMechanism(
            f"sampling steps drawn {apart} or more apart with {bands}: the steps of one record overlap, and ratios are "
            "summed over all sets of steps only where they do not; take at most as many bands (--bands)"
        )
    columns = summed_columns(matrix, matrix.steps).T / float(part.noise_multiplier)
    return Apart(_demand_moderate(columns), apart, float(rate))


def _largest_shift(once: RandomlyAllocated, relation: Relation) -> Fraction | None:
    """The largest squared shift of a release, over all classes of neighbours; None where one is not of Gaussians."""
    found = []
    for each in neighbour_classes(once, relation).every():
        shifts = [squared for pair, _ in each.product if isinstance(pair, Allocated) for squared, _ in pair.shifts]
        if len(shifts) != len(each.product):
            return None
        found += shifts
    return max(found, default=None)


def _demand_moderate(shifts: float | Floats) -> Floats:
    """Shifts no smaller than those of the pair: with larger Gram entries nothing is spent less."""
    if not np.all(shifts < _LARGEST_SHIFT):
        raise NotCertified("shifts of so many standard deviations are not sampled; ask for a certified epsilon")
    return np.asarray(shifts) * (1 + 2.0**-40)


def _in_few_dimensions(shifts: Floats) -> Floats:
    """As many coordinates as there are vectors, and one more by which no Gram entry is smaller than it was."""
    vectors, dimension = shifts.shape
    if vectors + 1 >= dimension:
        return shifts
    _, triangle = np.linalg.qr(shifts.T)
    common = _COMMON * math.sqrt(float((shifts**2).sum(axis=1).max()))
    return np.column_stack((triangle.T, np.full(vectors, common)))


# --- From draws to a bound --------------------------------------------------------------------------------------------


def _rounding(mixture: Mixture, epochs: int, tilt: float) -> float:
    return 2.0**-50 * epochs * (64 + mixture.operations) * (1 + tilt)


def _largest(mixture: Mixture, epochs: int, epsilon: float, tilt: float, *, adding: bool) -> float:
    """Log M: at least the logarithm of each weighted value."""
    if adding:
        square, offset = mixture.moments
        exponent = -tilt * (epsilon - epochs * offset) + epochs * tilt**2 * square / 2
    else:
        exponent = epochs * mixture.normaliser(tilt) - tilt * epsilon
    return exponent + (tilt * math.log(tilt) if tilt else 0.0) - (1 + tilt) * math.log1p(tilt)


def _tilt(mixture: Mixture, epochs: int, epsilon: float, *, adding: bool) -> float:
    """The tilt that bounds the weights best, of some; any would do."""
    return float(min(_TILTS, key=lambda tilt: _largest(mixture, epochs, epsilon, float(tilt), adding=adding)))


def _values(
    mixture: Mixture, epochs: int, tilt: float, count: int, bits: Bits, *, adding: bool
) -> Iterator[tuple[Floats, Floats]]:
    """The logarithms of R, and of the weights with which draws from the proposal count, as many as there are draws.

    Remove: the weight is dQ/dS, times R - e^ε; add: times 1 - e^ε R.
    """
    rows = max(1, _BATCH // mixture.columns)
    for begin in range(0, count, rows):
        number = min(rows, count - begin)
        ratios, weights = np.zeros(number), np.zeros(number)
        for _ in range(epochs):
            checkpoint()
            if adding:
                draws = _normal(bits, number, mixture.columns) - tilt * mixture.mean_shift()
                weights += tilt * mixture.mean_direction(draws) + tilt**2 * mixture.moments[0] / 2
                ratios += mixture.log_ratio(draws, 1.0)
            else:
                draws = mixture.shifted(bits, number, tilt)
                own = mixture.log_ratio(draws, 1.0)
                ratios += own
                weights += mixture.normaliser(tilt) - (mixture.log_ratio(draws, 1.0 + tilt) if tilt else own)
        yield ratios, weights


def _counted(ratios: Floats, weights: Floats, epsilon: float, largest: float, *, adding: bool) -> Floats:
    """V/M in [0, 1] for each draw."""
    if adding:
        logs, share = weights, -np.expm1(np.minimum(epsilon + ratios, 0.0))
    else:
        logs, share = weights + ratios, -np.expm1(np.minimum(epsilon - ratios, 0.0))
    with np.errstate(divide="ignore"):
        return np.exp(np.minimum(0.0, np.log(share) + logs - largest))


def _bounds(
    mixture: Mixture, epochs: int, planned: Sequence[float], risk: Fraction, count: int, bits: Bits
) -> list[Fraction]:
    """Upper bounds on δ at each ε, which hold all at once but with probability ``risk``."""
    found = [Fraction(0)] * len(planned)
    for adding in (False, True):
        tilt = _tilt(mixture, epochs, planned[0], adding=adding)
        slack = _rounding(mixture, epochs, tilt)
        if not slack < 1e-3:
            raise NotCertified("so many steps are not sampled in doubles; ask for a certified epsilon")
        logs = [_largest(mixture, epochs, at - slack, tilt, adding=adding) + slack for at in planned]
        sums = [0.0] * len(planned)
        for ratios, weights in _values(mixture, epochs, tilt, count, bits, adding=adding):
            for index, at in enumerate(planned):
                sums[index] += float(_counted(ratios, weights, at - slack, logs[index], adding=adding).sum())
        for index, total in enumerate(sums):
            mean = min(Fraction(1), Fraction(total * (1 + 4 * slack)) / count)
            share = mean_at_most(mean, count, risk / (2 * len(planned)))
            found[index] = max(found[index], min(Fraction(1), share * _up(logs[index])))
    return found


def _up(log: float) -> Fraction:
    """At least e^log."""
    return Fraction(math.exp(min(log, 1.0)) * (1 + 2.0**-40)) if log < 1 else Fraction(3) ** math.ceil(log)


def mean_at_most(mean: Fraction, count: int, risk: Fraction) -> Fraction:
    """Bound the expectation of numbers in [0, 1] by the mean of ``count`` draws; wrong with chance ``risk``.

    The least p with n KL(mean ‖ p) > log(1/risk), rounded up (Chernoff; Hoeffding 1963). ``probable.md``, section 2.
    """
    with working(_PRECISION):
        allowed = -ball(risk).log() / count

        def excluded(value: Fraction) -> bool:
            return bool(_divergence(mean, value) > allowed)

        low, high = mean, Fraction(1)
        for _ in range(60):
            middle = (low + high) / 2 if low and high < 4 * low else _between(low, high)
            if middle >= 1 or middle <= mean:
                break
            low, high = (low, middle) if excluded(middle) else (middle, high)
    return high


def _between(low: Fraction, high: Fraction) -> Fraction:
    """About the geometric mean, as a fraction of few digits; 0 counts as 1e-300."""
    return Fraction(math.sqrt(max(float(low), 1e-300) * float(high)))


def _divergence(mean: Fraction, value: Fraction) -> arb:
    """KL(mean ‖ value) for mean <= value < 1."""
    rest = (1 - ball(mean)) * ((1 - ball(mean)) / (1 - ball(value))).log() if mean < 1 else arb(0)
    return rest + ball(mean) * (ball(mean) / ball(value)).log() if mean else rest


# --- Planning (nothing below is part of the bound but that it is done before) -----------------------------------------


def _planned(mixture: Mixture, epochs: int, target: Target, risk: Fraction, count: int, bits: Bits) -> list[float]:
    """Values of ε to try, the smallest first, by a pilot of its own draws."""
    delta, pilot = float(target.value), max(1000, count // _PILOT)
    at = 1.0
    for _ in range(4):
        curves = [_curve(mixture, epochs, at, pilot, bits, adding=adding) for adding in (False, True)]
        at = _crossing(curves, delta)
    tilts = [_tilt(mixture, epochs, at, adding=adding) for adding in (False, True)]
    largest = max(
        math.exp(min(0.0, _largest(mixture, epochs, at, tilt, adding=adding)))
        for tilt, adding in zip(tilts, (False, True), strict=True)
    )
    wide = math.log(2 * _TRIED / float(risk)) * largest / (count * delta)
    slack = math.sqrt(2 * wide) + wide
    found = {_crossing(curves, delta / (1 + share * slack)) for share in _SHARES}
    # where not one draw that counts would be enough, if the tilt gets there
    first, allowed = min(found), math.log(delta * count / 4) - math.log(math.log(2 * _TRIED / float(risk)))

    def excess(epsilon: float) -> float:
        return (
            max(
                _largest(mixture, epochs, epsilon, _tilt(mixture, epochs, first, adding=adding), adding=adding)
                for adding in (False, True)
            )
            - allowed
        )

    last = _falling(excess, first)
    return sorted(found | ({first + (last - first) * part for part in _PARTS} if last < math.inf else set()))


def _falling(excess: Callable[[float], float], low: float) -> float:
    """Where a falling function is no longer positive; infinite where that is far off."""
    high = 2 * low + 1
    while excess(high) > 0:
        low, high = high, 2 * high
        if high > _FARTHEST:
            return math.inf
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _curve(
    mixture: Mixture, epochs: int, at: float, count: int, bits: Bits, *, adding: bool
) -> Callable[[float], float]:
    """An estimate of δ(ε) by draws that suit one ε."""
    tilt = _tilt(mixture, epochs, at, adding=adding)
    batches = list(_values(mixture, epochs, tilt, count, bits, adding=adding))
    ratios, weights = (np.concatenate([batch[side] for batch in batches]) for side in (0, 1))
    logs = weights if adding else weights + ratios
    losses = -ratios if adding else ratios
    return lambda epsilon: float((np.exp(logs) * -np.expm1(np.minimum(epsilon - losses, 0.0))).mean())


def _crossing(curves: Sequence[Callable[[float], float]], delta: float) -> float:
    low, high = 0.0, 1.0
    while max(curve(high) for curve in curves) > delta and high < _FARTHEST:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if max(curve(middle) for curve in curves) > delta else (low, middle)
    return high
