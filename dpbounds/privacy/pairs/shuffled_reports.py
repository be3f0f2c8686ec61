"""Pairs of the shuffle model: one record's report among those of many others, in a secret order.

``schemes/shuffle_model.md`` derives the pairs, and numbers the sections. Their outcomes are counts. Outcomes are listed
along lines, and collected in cells of their losses: upwards for a pair that dominates, downwards for an attack.
"""

from __future__ import annotations

import contextlib
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from typing import ClassVar

from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.binomials import binomial
from dpbounds.privacy.pairs.core import DirectedPair, Direction, LargestLoss, Pair, Product, Writer, changed
from dpbounds.privacy.pairs.losses import ROUNDING_PRECISION, LossDistribution, as_ball, ball, rounded_up, swapped
from dpbounds.privacy.pairs.responses import Discrete, FourPoints, Responses
from dpbounds.privacy.pairs.tagged import Tagged
from dpbounds.privacy.proofs import Declined

MOST_REPORTS = 10**9  # largest number of reports that is used; more hide a record at least as well
MOST_ANSWERS = 10**7  # reports with more than two answers that an attack counts
_PRECISIONS = (192, 768, 3072)
_NEGLIGIBLE = 1e-32  # mass beyond a window or on a line that may be left out; it counts as the largest or least loss
_CELLS = 300  # cells between loss 0 and the largest listed loss
_OFFSET = Fraction(1, 3)  # offset of the cells in spacings: no loss lies on an edge
# inverse of the largest width of a group of counts, as a share of the count: on a line, and on a plane
_FINENESS, _COARSENESS = 400, 100
_SHARES = 4  # intervals of the probability that the record has one of two labels
_LARGEST_SHARE = Fraction(1, 10)  # largest share of reports whose senders count as known, if some are not pure
_LARGEST_EPSILON = 300  # ε above which doubles show no gain of shuffling


@dataclass(frozen=True, slots=True)
class _Line:
    """Outcomes u = 0, ..., n with weight * Bin(n, probability)(u) * (c0 + c1 u) under P, and (d0 + d1 u) under Q.

    The likelihood ratio (c0 + c1 u) / (d0 + d1 u) increases in u; where n = 0 it is 1.
    """

    weight: arb
    trials: int
    probability: arb
    first: tuple[arb, arb]
    second: tuple[arb, arb]

    def from_which(self, ratio: arb) -> arb:
        """Return the u at which the likelihood ratio, as a function of real u, has this value."""
        (c0, c1), (d0, d1) = self.first, self.second
        return (ratio * d0 - c0) / (c1 - ratio * d1)

    @property
    def window(self) -> tuple[int, int]:
        return window(self.trials, float(self.probability))

    def reach(self) -> float:
        """Return about the largest absolute loss in the window."""
        (c0, c1), (d0, d1) = self.first, self.second
        ends = self.window if self.trials else ()
        return max((float(abs(((c0 + c1 * u) / (d0 + d1 * u)).log())) for u in ends), default=0.0)


class _Counted(DirectedPair):
    """A pair of counts, listed up to rounding; ``direction`` is ``ADD`` where (Q, P) is meant."""

    __slots__ = ()

    dominates: ClassVar[bool]  # whether losses are rounded up, else down

    @abstractmethod
    def lines(self) -> Iterator[_Line]:
        """Yield all outcomes with all but negligible mass, at the working precision."""

    @abstractmethod
    def ends(self) -> tuple[Fraction, Fraction]:
        """Return a lower and an upper bound of all losses of (P, Q)."""

    def distribution(self) -> LossDistribution:
        """Return the losses of cells."""
        if not self.dominates:  # losses that are rounded down for (P, Q) are rounded up for (Q, P)
            return _listed(self).distribution()
        listed = _listed(changed(self, direction=Direction.REMOVE)).distribution()
        return swapped(listed) if self.direction is Direction.ADD else listed

    def largest_loss(self) -> LargestLoss:
        """Return that of one report, which shuffling does not increase."""
        low, high = self.ends()
        return -low if self.direction is Direction.ADD else high

    def revealed(self) -> Product | None:
        """Return None: the pair is an attack."""
        return None


class _Reports(_Counted):
    """A pair of counts that one report of pure ε dominates."""

    __slots__ = ()

    epsilon: Fraction
    options: int

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return -ε and ε."""
        return -self.epsilon, self.epsilon

    @property
    def _alone(self) -> Responses:
        """The report, its sender known."""
        return Responses(self.epsilon, self.options)

    def revealed(self) -> Product | None:
        """Return the report, its sender known."""
        return ((self._alone, 1),)

    def log_moment(self, order: Fraction) -> arb:
        """Return the moment of the report, its sender known."""
        return self._alone.log_moment(order)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the report, its sender known."""
        return self._alone.zcdp_rho()

    def _enlarged(self, k: int) -> Pair:
        return Responses(k * self.epsilon)


@dataclass(frozen=True, slots=True)
class ShuffledReports(_Reports):
    """Labels of clones: dominates n reports in a secret order, whatever the local randomisers (sections 1 to 4).

    Each report is ε-DP for the two contents of the record that differs, and those of any two records have likelihood
    ratios of at most e^apart. With ``options`` k > 2, all reports are k-ary randomised responses.

    With s = e^ε and p = 1/(s + k - 1), the record has one of two labels with probabilities sp and p, in the second
    dataset p and sp, and an uninformative label with the remaining probability. The other records have the two labels
    with probability p s/e^apart each, the other label with probability (k-2)p, or none. The labels are counted.
    """

    direction: Direction
    epsilon: Fraction
    reports: int
    options: int = 2
    apart: Fraction = Fraction(0)

    dominates = True
    proof = "shuffle_model.md (clones: Feldman, McMillan & Talwar 2021; derived there, for adaptive reports)"

    def __post_init__(self) -> None:
        if self.apart < self.epsilon or (self.options > 2 and self.apart > self.epsilon):
            raise ValueError(f"clones of reports {self.apart} apart prove nothing at epsilon {self.epsilon}")

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        of = "" if self.options == 2 else f", responses of {self.options} options"
        return f"a report of epsilon {write(self.epsilon)} among {self.reports} in a secret order{of}"

    def rough_variance(self) -> float:
        """Return about 4 (s-1)²/(s+1)² over the number of clones."""
        if self.apart > _LARGEST_EPSILON:
            return math.inf
        s = math.exp(self.epsilon)
        p = 1 / (s + self.options - 1)
        clones = 2 * p * math.exp(self.epsilon - self.apart) * max(self.reports - 1, 0)
        return (2 * p * (s - 1)) ** 2 / clones if clones else math.inf

    def lines(self) -> Iterator[_Line]:
        """Yield, for numbers of records with one of the two labels, how many of them have the first."""
        s, k = ball(self.epsilon).exp(), self.options
        p = 1 / (s + (k - 1))
        labelled = 2 * p * ball(self.epsilon - self.apart).exp() + (k - 2) * p
        numbers = _groups(min(self.reports, MOST_REPORTS) - 1, labelled, _FINENESS if k == 2 else _COARSENESS)
        if k == 2:
            for clones, _, weight in numbers:
                yield _of_two(weight, clones + 1, arb(1), s)
            return
        states: dict[int, list[tuple[arb, arb]]] = {}
        for clones, _, weight in numbers:
            labels = clones + 1
            for low, high, probability in _groups(labels, arb(2) / k, _COARSENESS, _likelihood(s, labels, k)):
                hits, share = _dominating_state(s, labels, low, high)
                states.setdefault(hits, []).append((share, weight * probability))
        for hits, found in states.items():
            for share, weight in _spread(found):
                if not weight < _NEGLIGIBLE:
                    yield _of_two(weight, hits, share, s)


def _likelihood(s: arb, labels: int, k: int) -> Callable[[int], arb]:
    """Return the likelihood ratio of h of the two labels: one label is the record's, not a clone's."""
    norm = labels * (2 * (s + 1) + 2 * (k - 2)) / k
    return lambda h: ((s + 1) * h + 2 * (labels - h)) / norm


def _dominating_state(s: arb, labels: int, low: int, high: int) -> tuple[int, arb]:
    """Return a number of records with one of the two labels, and how likely the record is one of them (section 4)."""

    def share(h: int) -> arb:
        return (s + 1) * h / ((s + 1) * h + 2 * (labels - h))

    if low > 0 and (kept := share(low) * high / low) <= 1:
        return high, kept
    return max(low, 1), share(high) if high else arb(0)


def _spread(found: Sequence[tuple[arb, arb]]) -> Iterator[tuple[arb, arb]]:
    """Move weights to a few shares around each, their mean kept: it is revealed which of them (section 4)."""
    low, high = min(float(share.lower()) for share, _ in found), max(float(share.upper()) for share, _ in found)
    low, high = math.nextafter(low, 0.0), min(1.0, math.nextafter(high, 2.0))
    points = [arb(low + (high - low) * i / _SHARES) for i in range(_SHARES)] + [arb(high)]
    if not high - low > 1e-9 * high:
        yield points[-1], sum((weight for _, weight in found), arb(0))
        return
    weights = [arb(0)] * len(points)
    for share, weight in found:
        i = min(_SHARES - 1, int((float(share.mid()) - low) / (high - low) * _SHARES))
        upper = (share - points[i]) / (points[i + 1] - points[i])
        if 0 <= upper <= 1:
            weights[i], weights[i + 1] = weights[i] + weight * (1 - upper), weights[i + 1] + weight * upper
        else:  # not decided: to the largest share
            weights[-1] = weights[-1] + weight
    yield from zip(points, weights, strict=True)


@dataclass(frozen=True, slots=True)
class CountedAnswers(_Reports):
    """An attack on n k-ary randomised responses, k > 2: it counts the two answers that the record may hold.

    All other records hold a third answer.
    """

    direction: Direction
    epsilon: Fraction
    reports: int
    options: int

    dominates = False
    proof = "shuffle_model.md, section 5"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"counts of two answers among {self.reports} randomised responses of {self.options} options, epsilon "
            f"{write(self.epsilon)}"
        )

    def lines(self) -> Iterator[_Line]:
        """Yield, for the number of both answers together, the number of the first."""
        s, n, k = ball(self.epsilon).exp(), self.reports, self.options
        p = 1 / (s + (k - 1))
        idle = (k - 2) / (s + (k - 3))  # how much likelier the record gives any further answer than another one does

        def share(h: int) -> arb:
            return (s + 1) * h / ((s + 1) * h + 2 * idle * (n - h))

        def likelihood(h: int) -> arb:
            return ((s + 1) * h + 2 * idle * (n - h)) / (2 * n)

        for low, _, weight, mean in _groups_with_means(n, 2 * p, _COARSENESS, likelihood, share):
            yield _of_two(weight, max(low, 1), mean * low if low else arb(0), s)


@dataclass(frozen=True, slots=True)
class CountedBits(_Counted):
    """An attack on n reports, each read as a bit, which is 1 with probability a for the record, and b for all others.

    In the second dataset the record is as the others. (Section 5.)
    """

    direction: Direction
    reports: int
    first: Fraction
    second: Fraction

    dominates = False
    proof = "shuffle_model.md, section 5"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"the number of ones of {self.reports} bits, one of which has probability {float(self.first):.4g}, not "
            f"{float(self.second):.4g}"
        )

    def lines(self) -> Iterator[_Line]:
        """Yield the number of ones."""
        a, b, n = ball(self.first), ball(self.second), self.reports
        zero = (1 - a) / (1 - b)
        yield _Line(arb(1), n, b, (zero, (a / b - zero) / n), (arb(1), arb(0)))

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return log (1-a)/(1-b), rounded down, and log a/b, rounded up."""
        low = rounded_up(lambda: ((1 - ball(self.second)) / (1 - ball(self.first))).log())
        return -low, rounded_up(lambda: (ball(self.first) / ball(self.second)).log())

    def largest_loss_attained(self) -> LargestLoss:
        """Return log a/b, or log (1-b)/(1-a) for (Q, P), as a ball."""
        a, b = ball(self.first), ball(self.second)
        return ((1 - b) / (1 - a)).log() if self.direction is Direction.ADD else (a / b).log()


# --- From the pair of one report --------------------------------------------------------------------------------------


def among(base: Pair, reports: int, *, replaced: bool) -> ShuffledReports | None:
    """Return the pair of a report that ``base`` dominates, among others; None where its loss is not bounded.

    Args:
        base: Dominates one report, given everything before it.
        reports: The number of reports.
        replaced: Whether it does for any two records. Else one of the two is a null record.
    """
    with working(ROUNDING_PRECISION):
        losses = (base.largest_loss(), base.mirrored().largest_loss())
        if not all(0 < as_ball(loss) < _LARGEST_EPSILON for loss in losses):
            return None
        epsilon = max(loss if isinstance(loss, Fraction) else ball_end(loss, "up") for loss in losses)
    return ShuffledReports(Direction.REMOVE, epsilon, reports, 2, epsilon if replaced else 2 * epsilon)


def hides(pair: Pair, base: Pair) -> bool:
    """Return whether the pair is likely to spend less than one report of a known sender; a choice."""
    return pair.rough_variance() < min(base.rough_variance(), float(as_ball(pair.largest_loss())) ** 2)


def attacks_on(attained: Sequence[Pair], reports: int) -> tuple[Pair, ...]:
    """Return attacks on reports with pairs that are attained: a report is read as a bit, whether its loss exceeds 0.

    The other records are as the record in the second dataset, or as in the first.
    """
    bits = [_bits_of(base) for base in attained if base.has_distribution and reports <= MOST_REPORTS]
    return tuple(
        attack
        for first, second in filter(None, bits)
        for attack in (
            CountedBits(Direction.REMOVE, reports, first, second),
            CountedBits(Direction.ADD, reports, 1 - second, 1 - first),
        )
    )


def of_responses(epsilon: Fraction, options: int, reports: int) -> tuple[ShuffledReports, tuple[Pair, ...]]:
    """Return the pair of k-ary randomised responses, and attacks on them."""
    pair = ShuffledReports(Direction.REMOVE, epsilon, reports, options, epsilon)
    if epsilon >= _LARGEST_EPSILON:
        return pair, ()
    attacks = attacks_on((Responses(epsilon, options),), reports)
    if options > 2 and reports <= MOST_ANSWERS:
        attacks = (CountedAnswers(Direction.REMOVE, epsilon, reports, options), *attacks)
    return pair, attacks


def approximate(epsilon: Fraction, delta: Fraction, reports: int) -> Pair | None:
    """Return the pair of (ε, δ)-private reports (section 6); None where there are too few, or δ is too large."""
    pure = ShuffledReports(Direction.REMOVE, epsilon, reports, 2, epsilon)
    if not (epsilon > 0 and delta > 0 and hides(pure, Responses(epsilon))):
        return None
    with working(ROUNDING_PRECISION):
        law, s, middle = pure.distribution(), ball(epsilon).exp(), ball(epsilon / 2)
        lost = reports * ball(delta) * s
        room = (s - middle.exp()) / (s + 1) - law.delta(arb(0))
        if not room > 0:
            return None
        share = ball_end((law.delta(middle) + lost) / room, "up")
    if share > _LARGEST_SHARE:
        return None
    parts = ((1 - delta - share, pure), (share, Responses(epsilon)), (delta, FourPoints(Fraction(0), Fraction(1))))
    return Tagged(parts)


def _bits_of(base: Pair) -> tuple[Fraction, Fraction] | None:
    """Return P(L > 0) rounded down and Q(L > 0) rounded up; None where they do not differ."""
    with working(ROUNDING_PRECISION):
        law = base.distribution()
        p, r = law.tail(arb(0))
        above = [point for point in law.points if point.loss > 0]
        first = ball_end(sum((point.p for point in above), p + law.infinite), "down")
        second = ball_end(sum((point.r for point in above), r), "up")
    return (first, second) if 0 < second < first < 1 else None


# --- Lines ------------------------------------------------------------------------------------------------------------


def _of_two(weight: arb, trials: int, share: arb, s: arb) -> _Line:
    """Return the line of ``trials`` records with one of two labels; with probability ``share`` the record is one."""
    start, step = (1 - share) + 2 * share / (1 + s), 2 * share * (s - 1) / (trials * (1 + s))
    if share.is_zero():
        return _Line(weight, 0, arb(1) / 2, (arb(1), arb(0)), (arb(1), arb(0)))
    if not step > 0:
        raise Declined("shuffled reports: a ratio of probabilities is not distinguished from 1 at this precision")
    return _Line(weight, trials, arb(1) / 2, (start, step), (start + step * trials, -step))


def window(trials: int, probability: float, negligible: float = _NEGLIGIBLE) -> tuple[int, int]:
    """Return two numbers between which nearly all of a binomial distribution lies: a choice."""
    mean, log = trials * probability, -math.log(negligible)
    reach = math.sqrt(2 * log * mean * max(0.0, 1 - probability)) + log / 3 + 2
    return max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))


def _groups_with_means(
    trials: int, probability: arb, fineness: int, likelihood: Callable[[int], arb], share: Callable[[int], arb]
) -> Iterator[tuple[int, int, arb, arb]]:
    """Yield groups of binomial counts: least, largest, P-mass, and the mean of share(h)/h in the group (0 at h = 0).

    Groups are as wide as each other, and aligned, but for h = 0, which is alone.
    """
    if trials == 0 or probability >= 1:
        yield trials, trials, arb(1), share(trials) / trials if trials else arb(0)
        return
    low, high = window(trials, float(probability))
    deviation = math.sqrt(trials * float(probability) * (1 - float(probability)))
    width = min(trials * float(probability) / fineness, 2 * deviation)
    width = max(1, math.floor(width if fineness == _FINENESS else max(width, deviation / 2)))
    mass, odds = binomial(trials, low, probability), probability / (1 - probability)
    total, weighed = arb(0), arb(0)
    for h in range(low, high + 1):
        p = mass * likelihood(h)
        total = total + p
        if h:
            weighed = weighed + p * share(h) / h
        mass = mass * odds * (trials - h) / (h + 1)
        least = h - h % width
        if h == 0 or h + 1 == least + width or h == high:
            yield (
                (0, 0, total, arb(0))
                if h == 0
                else (max(1, least), min(trials, least + width - 1), total, weighed / total)
            )
            total, weighed = arb(0), arb(0)


def _groups(
    trials: int, probability: arb, fineness: int, likelihood: Callable[[int], arb] = lambda h: arb(1)
) -> Iterator[tuple[int, int, arb]]:
    """Yield groups of binomial counts: first, last, P-mass."""
    for low, high, weight, _ in _groups_with_means(trials, probability, fineness, likelihood, lambda h: arb(0)):
        yield low, high, weight


# --- Cells ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cells:
    """P- and Q-mass of the outcomes with losses between (j + 1/3) h and (j + 4/3) h, j from ``first`` on."""

    first: int
    spacing: Fraction
    masses: list[list[arb]]

    def edge(self, index: int) -> Fraction:
        return (self.first + index + _OFFSET) * self.spacing

    def index(self, loss: arb) -> int:
        """Return about the index of the cell of a loss."""
        return math.floor(float(loss) / float(self.spacing) - 1 / 3) - self.first


@lru_cache(maxsize=32)
def _listed(pair: _Counted) -> Discrete:
    for precision in _PRECISIONS:
        with (
            contextlib.suppress(Declined) if precision < _PRECISIONS[-1] else contextlib.nullcontext(),
            working(precision),
        ):
            cells = _collected(list(pair.lines()))
            return _upwards(cells, pair) if pair.dominates else _downwards(cells, pair)
    raise AssertionError("the last precision returns or declines")


def _collected(lines: Sequence[_Line]) -> _Cells:
    """Return the cells of all outcomes in the windows of the lines.

    Raises:
        Declined: An outcome is not placed at this precision.
    """
    reach = max(line.reach() for line in lines) * 1.000001 + 1e-300
    spacing = Fraction(reach / _CELLS)
    count = 2 * _CELLS + 4
    cells = _Cells(-_CELLS - 3, spacing, [[arb(0), arb(0)] for _ in range(count - 1)])
    ratios = [ball(cells.edge(j)).exp() for j in range(count)]
    for (trials, _), several in groupby(lines, key=lambda line: (line.trials, float(line.probability))):
        alike = list(several)
        sums = _partial_sums(alike[0]) if trials else None
        for line in alike:
            checkpoint()
            _add(cells, line, ratios, sums)
    return cells


def _partial_sums(line: _Line) -> tuple[int, list[tuple[arb, arb]]]:
    """Return the first u of a window, and the sums of the masses, and of u times the masses, of those before each u."""
    (low, high), odds = line.window, line.probability / (1 - line.probability)
    mass, sums = binomial(line.trials, low, line.probability), [(arb(0), arb(0))]
    for u in range(low, high + 1):
        total, moment = sums[-1]
        sums.append((total + mass, moment + u * mass))
        mass = mass * odds * (line.trials - u) / (u + 1)
    return low, sums


def _add(cells: _Cells, line: _Line, ratios: Sequence[arb], sums: tuple[int, list[tuple[arb, arb]]] | None) -> None:
    """Add the outcomes of a line in its window to the cells."""
    if sums is None:  # loss 0
        middle = cells.masses[-cells.first - 1]
        middle[0], middle[1] = middle[0] + line.weight, middle[1] + line.weight
        return
    (low, before), (c0, c1), (d0, d1) = sums, line.first, line.second
    most = len(before) - 1
    below: dict[int, int] = {}  # outcomes of the window below an edge

    def below_edge(index: int) -> int:
        if index not in below:
            end = line.from_which(ratios[index]).ceil().unique_fmpz()
            if end is None:
                raise Declined("shuffled reports: an outcome cannot be distinguished from the edge of a cell")
            below[index] = min(max(0, int(end) - low), most)
        return below[index]

    at, last = below_edge(0), len(cells.masses)
    while at < most:
        u = low + at
        j = min(max(0, cells.index(((c0 + c1 * u) / (d0 + d1 * u)).log())), last - 1)
        while below_edge(j) > at:
            j -= 1
        while j < last and below_edge(j + 1) <= at:
            j += 1
        if j == last:  # this outcome and all later ones lie above the cells
            return
        after = below_edge(j + 1)
        total, moment = before[after][0] - before[at][0], before[after][1] - before[at][1]
        p, r = c0 * total + c1 * moment, d0 * total + d1 * moment
        cell = cells.masses[j]
        cell[0], cell[1] = cell[0] + line.weight * p, cell[1] + line.weight * r
        at = after


def _upwards(cells: _Cells, pair: _Counted) -> Discrete:
    """Move each cell's masses to its two edges, P- and Q-mass kept; all other P-mass to the largest loss."""
    _, highest = pair.ends()
    edges = [min(cells.edge(j), highest) for j in range(len(cells.masses) + 1)]
    inverse = [(-ball(edge)).exp() for edge in edges]
    atoms = [arb(0)] * len(inverse)
    for j, ((p, r), (high, low)) in enumerate(zip(cells.masses, pairwise(inverse), strict=True)):
        upper, lower = p, arb(0)
        if high > low and p * high >= r and r >= p * low:  # else not distinguished from an edge: upwards
            upper, lower = (p * high - r) / (high - low), (r - p * low) / (high - low)
        atoms[j + 1], atoms[j] = atoms[j + 1] + upper, atoms[j] + lower
    placed: dict[Fraction, Fraction] = {}
    for loss, atom in zip(edges, atoms, strict=True):
        if (mass := ball_end(atom, "down")) > 0:
            placed[loss] = placed.get(loss, Fraction(0)) + mass
    rest = 1 - sum(placed.values(), Fraction(0))
    placed[highest] = placed.get(highest, Fraction(0)) + rest
    return Discrete(tuple(sorted(placed.items())), Fraction(0))


def _downwards(cells: _Cells, pair: _Counted) -> Discrete:
    """Take each cell as one outcome, its loss and mass rounded down; all other mass at the least loss.

    Masses and losses are those of the first distribution of the pair, which is Q where the direction is ``ADD``.
    """
    placed: dict[Fraction, Fraction] = {}
    low, high = pair.ends()
    backwards = pair.direction is Direction.ADD
    lowest = -high if backwards else low
    for p, r in cells.masses:
        first, second = (r, p) if backwards else (p, r)
        if first > 0 and second > 0 and (mass := ball_end(first, "down")) > 0:
            loss = max(ball_end((first / second).log(), "down"), lowest)
            placed[loss] = placed.get(loss, Fraction(0)) + mass
    rest = 1 - sum(placed.values(), Fraction(0))
    placed[lowest] = placed.get(lowest, Fraction(0)) + rest
    return Discrete(tuple(sorted(placed.items())), Fraction(0))
