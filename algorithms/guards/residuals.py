"""Tests of the noise in the answers of a run, from outside: for any algorithm and any oracles.

A part of the exact answer is computed again from the gradients of single records; the ledger's entry and the problem's
constants give the noise that it needs; and the rest of the answer is the noise:

- size: the standard deviation (or radius) that an answer was given is at least that of its entry, every time;
- exact part: it is the mean that the entry is about, with the entry's divisor, of the records that were drawn; of a
  difference, the same ones at both points. It is computed again at answers 1, 2, 4, 8, ... of each kind;
- records: there no record's gradient is longer than G, and no difference longer than min(L ‖x - y‖, 2G);
- residuals, in units of the noise (rows of the matrix times those so far, where noise is correlated): mean, variance,
  distribution (in equally likely classes), products of what two calls in a row, or two repetitions, added;
- batches: each repetition's size, and how often every record was drawn; bins, shuffled and cyclic batches: none in two
  of an epoch, or out of its own, and no more epochs than the ledger holds;
- two batches: how many records one shares with the four before it, and with that of another repetition (``draws``);
  whether sizes in a row are independent; how many of bins and sets stay where they were in the epoch before;
- choices: the rank of the chosen candidate in the distribution of its entry (in classes; and whether good candidates
  are chosen too often);
- a record takes part in no more answers about parts of the records than the ledger holds.

Each test has an exact distribution, or a bound on its tail, where all is right; together they raise a false alarm in
one of 1e9 runs at most. Not tested here: report noisy max, mechanisms of an algorithm's own, noise on a sphere (which
promises nothing).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy import special, stats

from dpbounds.algorithms.guards.draws import Overlaps, Tails, tails_of
from dpbounds.algorithms.guards.sizes import clock, least_noise, reach
from dpbounds.algorithms.ledger import Ledger
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles import as_vectors, at_least
from dpbounds.algorithms.oracles.differences import enforced
from dpbounds.algorithms.oracles.watching import Question
from dpbounds.algorithms.run import SEEN, NoiseTested
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism, UniformBall
from dpbounds.privacy.mechanisms.schemes.encoders import Encoder, LowerTriangular, Toeplitz
from dpbounds.privacy.mechanisms.schemes.sampling import InTurn, OneBatch, Sampling

Stream = np.random.Generator  # held while it counts, so that no other takes its place
FALSE_ALARM = 1e-9
_CLASSES = 32
_OFF = 1e-7  # in units of G: exact parts are computed again in doubles
_MOST_NUMBERS = 4_000_000  # numbers in a pass over single records
_ROUNDING = 1e-9
_ABOUT_BATCHES = ("batch", "difference", "quantile")


@dataclass(frozen=True, slots=True)
class Finding:
    """A test of a run.

    Attributes:
        name: The name of the test.
        probability: Largest probability of such an unlikely result if all is right; 0 if it is impossible.
        says: The result, in words.
    """

    name: str
    probability: float
    says: str


class NoiseWrong(BudgetExceeded):
    """The noise in the answers of a run differs from its ledger."""


@dataclass(slots=True)
class _Classes:
    """Counts of numbers, uniform on (0, 1) if all is right, in equally likely classes."""

    counts: Any = field(default_factory=lambda: np.zeros(_CLASSES, dtype=np.int64))

    def add(self, uniform: Array) -> None:
        places = np.clip((uniform * _CLASSES).astype(np.int64), 0, _CLASSES - 1)
        self.counts += np.bincount(places.ravel(), minlength=_CLASSES)

    def probability(self) -> float:
        return _extreme(self.counts, int(self.counts.sum()), 1 / _CLASSES)


@dataclass(slots=True)
class _Subsets:
    """The rest of the batches of an epoch for each record; the batches so far, and those of the one before."""

    left: Any
    now: list[Any] = field(default_factory=list)
    before: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Products:
    """The sum of products of independent pairs of standard normal numbers."""

    total: float = 0.0
    pairs: int = 0

    def add(self, ours: Array, theirs: Array) -> None:
        self.total += float((ours * theirs).sum())
        self.pairs += ours.size

    def probability(self) -> float:
        """Return Chernoff's bound at the best t, by E exp(tuv) = (1 - t²)^(-1/2)."""
        if not self.total:
            return 1.0
        size, half = abs(self.total), self.pairs / 2
        t = (math.hypot(half, size) - half) / size
        return 2 * math.exp(-t * size - half * math.log1p(-t * t))


class _Normals:
    """Residuals of one kind, standard normal where all is right."""

    def __init__(self) -> None:
        self.numbers, self.total, self.squares = 0, 0.0, 0.0
        self.classes = _Classes()
        self.across = _Products()
        # two calls in a row: the first with the second, or (from the second call on) the second with the third
        self.calls = (_Products(), _Products())
        self._held: tuple[dict[Stream, Array], dict[Stream, Array]] = ({}, {})
        self._seen: set[Stream] = set()

    def add(self, rows: Array, streams: list[Stream]) -> None:
        self.numbers += rows.size
        self.total += float(rows.sum())
        self.squares += float((rows * rows).sum())
        self.classes.add(special.ndtr(rows))
        even = len(rows) // 2 * 2
        self.across.add(rows[0:even:2], rows[1:even:2])
        for stream, row in zip(streams, rows, strict=True):
            self._pair(0, stream, row)
            if stream in self._seen:
                self._pair(1, stream, row)
            self._seen.add(stream)

    def _pair(self, which: int, stream: Stream, row: Array) -> None:
        before = self._held[which].pop(stream, None)
        if before is None:
            self._held[which][stream] = row.copy()
        else:
            self.calls[which].add(before, row)

    def findings(self, name: str) -> list[Finding]:
        if not self.numbers:
            return []
        n = self.numbers
        mean, spread = self.total / n, math.sqrt(self.squares / n)
        tails = special.chdtr(n, self.squares), special.chdtrc(n, self.squares)
        return [
            Finding(f"{name}: mean", 2 * float(special.ndtr(-abs(mean) * math.sqrt(n))), f"mean {mean:.4g} of {n}"),
            Finding(f"{name}: variance", 2 * float(min(tails)), f"{spread:.6g} of the standard deviation, of {n}"),
            Finding(f"{name}: distribution", self.classes.probability(), f"{n} numbers in {_CLASSES} classes"),
            *(_correlated(f"{name}: calls in a row", each) for each in self.calls),
            _correlated(f"{name}: repetitions", self.across),
        ]


def _correlated(name: str, products: _Products) -> Finding:
    share = products.total / products.pairs if products.pairs else 0.0
    return Finding(name, products.probability(), f"correlation {share:.4g} of {products.pairs} pairs")


class Residuals:
    """Listener to the answers of a run, which reports faults at the end."""

    def __init__(self) -> None:
        self._normals: dict[str, _Normals] = defaultdict(_Normals)
        self._classes: dict[str, _Classes] = defaultdict(_Classes)
        self._drawn: dict[str, list[Any]] = {}  # draws, probability, how often each record
        self._asked: dict[str, int] = defaultdict(int)  # answers of each kind so far
        self._better = [0.0, 0.0, 0.0]  # choices: excess of the scores, its variance, the largest step
        self._wrong: list[Finding] = []
        self._uses: dict[Stream, Any] = {}
        self._dealt: dict[Stream, tuple[Any, Any]] = {}  # each record's batch in the epoch before, and in this one
        self._allocated: dict[Stream, _Subsets] = {}
        self._visits: dict[Any, int] = defaultdict(int)  # how many batches of each oracle's were asked
        self._earlier: dict[Any, list[Array]] = defaultdict(list)  # residuals of each oracle whose noise is correlated
        self._ties = np.random.default_rng(314159)
        self._tails: dict[str, Tails] = defaultdict(Tails)
        self._overlaps = Overlaps(lambda name: self._tails[f"batches: {name}"], self._ties)

    def answer(self, question: Question, answer: Callable[[], Any]) -> Any:
        """Let the answer be made, and look at it."""
        given = answer()
        entry: Any = getattr(question.ledger, "last", None)
        if entry is None or question.kind == "mechanism":
            return given
        if question.kind == "choice":
            self._choice(question, entry.mechanism(), given)
        else:
            self._noise(question, entry, given)
        return given

    def _noise(self, question: Question, entry: Any, given: Any) -> None:
        kind, oracle, written = question.kind, question.about, entry.mechanism()
        drawn = getattr(given, "noise_stddev", None)
        drawn = np.full(len(given.noisy), oracle.noise_stddev) if drawn is None else drawn
        least = least_noise(question, entry)
        if least is not None and not (drawn >= least * (1 - _ROUNDING)).all():
            self._alarm(f"{kind}: size", "less noise than the entry asks for by the constants of the problem")
        moved = drawn > 0
        residual = given.noisy - opened(given.exact)
        residual = as_vectors(residual) if kind == "Hessian" else residual.reshape(len(drawn), -1)
        scaled = residual[moved] / drawn[moved, None]
        if isinstance(written, InTurn) and written.matrix is not None:
            scaled = self._encoded(oracle, written.matrix, scaled)
        streams = [stream for stream, asks in zip(question.generators, moved, strict=True) if asks]
        name = f"{kind} {scaled.shape[1]}"
        if isinstance(written.noise, UniformBall):
            self._classes[f"{name}, in the ball"].add((scaled * scaled).sum(axis=1) ** (scaled.shape[1] / 2))
        elif oracle.noise in ("gaussian", "secure"):
            self._normals[name].add(scaled, streams)
        if moved.any():
            self._asked[kind] += 1
            if self._asked[kind] & (self._asked[kind] - 1) == 0:
                self._compute_again(question, written, given, np.flatnonzero(moved))
        if kind == "batch" or (kind in _ABOUT_BATCHES and written is not written.noise):
            self._batches(question, written, opened(given.rows), entry.count)
        rows = getattr(oracle.problem, "rows", None)
        if rows is not None:
            for stream, own in zip(question.generators, rows, strict=True):
                uses = self._uses.setdefault(stream, np.zeros(oracle.problem.problem.records, dtype=np.int64))
                uses[own] += 1

    def _encoded(self, oracle: Any, matrix: Encoder, residuals: Array) -> Array:
        """Return a row of C times the residuals so far: the noise drawn for this step, if all is right."""
        earlier = self._earlier[oracle]
        row = row_of(matrix, len(earlier)) if len(earlier) < matrix.steps else [1]
        earlier.append(residuals)
        found: Array = sum(
            (float(weight) * each for weight, each in zip(row, earlier, strict=True) if weight),
            np.zeros_like(residuals),
        )
        return found

    def _alarm(self, name: str, says: str) -> None:
        self._wrong.append(Finding(name, 0.0, says))

    # --- what an answer is about

    def _compute_again(self, question: Question, written: Mechanism, given: Any, asking: Any) -> None:
        """Return the exact part, and the reach of single records, of one repetition that asks, each time another."""
        oracle, kind = question.about, question.kind
        problem = oracle.problem.problem if hasattr(oracle.problem, "rows") else oracle.problem
        if kind == "product" and not enforced(problem):
            self._product_again(problem, question.points, given)
        if kind in ("Hessian", "product") or not hasattr(problem, "batch_gradient"):
            return
        r = int(asking[(self._asked[kind].bit_length() - 1) % len(asking)])
        own = getattr(oracle.problem, "rows", None)
        members = np.arange(problem.records) if own is None else own[r]
        points = [each[r] for each in question.points]
        about = members
        if kind == "batch" or written is not written.noise:
            about = members[opened(given.rows)[r]] if kind in _ABOUT_BATCHES else None
        by = float(written.divisor(oracle.problem.records))
        G = 1.0 if kind == "quantile" else float(at_least(problem.lipschitz, "lipschitz"))
        kept = math.exp(-clock(question)[r]) if kind == "path" else float(getattr(oracle, "kept", 1))
        single = partial(_contributions, kind, problem, points, kept, float(getattr(oracle, "share", 0)))
        few = members[: max(1, _MOST_NUMBERS // len(points[0]))]
        longest = float(np.sqrt((single(few) ** 2).sum(axis=1)).max())
        allowed = by * float(np.broadcast_to(reach(question, written), len(given.noisy))[r])
        if longest > allowed + _ROUNDING * G:
            self._alarm(f"{kind}: records", f"one moves the sum by {longest:.6g}, more than {allowed:.6g}")
        if about is None or len(about) * len(points[0]) > _MOST_NUMBERS:
            return
        off = float(np.abs(single(about).sum(axis=0) / by - opened(given.exact)[r]).max())
        if off > getattr(problem, "rounding", _OFF) * G:
            self._alarm(f"{kind}: exact part", f"off by {off:.3g} from the sum over {by:.6g} that the entry is about")

    def _product_again(self, problem: Any, points: Any, given: Any) -> None:
        """Return a product with the Hessian, computed separately, of norm at most L ‖v‖."""
        x, v = (each[0] for each in points)
        if problem.dimension**2 > _MOST_NUMBERS:
            return
        again, most = problem.hessian(x[None])[0] @ v, float(at_least(problem.smoothness, "smoothness"))
        off, longest = np.abs(again - opened(given.exact)[0]).max(), most * float(np.linalg.norm(v))
        if off > _OFF * longest:
            self._alarm("product: exact part", f"off by {off:.3g} from the Hessian times the direction")
        if np.linalg.norm(again) > longest * (1 + _ROUNDING):
            self._alarm("product: records", "the mean is longer than any record's may be")

    # --- batches

    def _batches(self, question: Question, written: Mechanism, rows: Any, count: int) -> None:
        oracle = question.about
        if isinstance(written, InTurn):
            self._visited(oracle, written, rows, count)
            return
        n = oracle.problem.records
        counted = self._drawn.setdefault(repr(written), [0, 0.0, np.zeros(n, dtype=np.int64)])
        for each in rows:
            counted[2] += np.bincount(each, minlength=n)
        drawn = written.one_batch if isinstance(written, Sampling) else None
        if drawn is None:
            return
        self._overlaps.add(drawn, n, question.generators, rows)
        draws, counted[1] = self._one_batch(drawn, n, question.generators, rows)
        counted[0] += len(rows) * draws

    def _one_batch(self, drawn: OneBatch, n: int, streams: Any, rows: Any) -> tuple[int, float]:
        """Return sizes of batches; of one of them the number of draws, and each record's probability in a draw."""
        sizes = np.array([len(each) for each in rows])
        if drawn.rate is None:
            assert drawn.most is not None
            b, repeats = drawn.most, drawn.repeats
            if (sizes != b).any() or (not repeats and any(len(np.unique(each)) < b for each in rows)):
                self._alarm("batches: sizes", f"not {b} different records each")
            return (b, 1 / n) if repeats else (1, b / n)
        rate, most = float(drawn.rate), drawn.most
        below, at = stats.binom.cdf(sizes - 1, n, rate), stats.binom.pmf(sizes, n, rate)
        chance = rate
        if most is not None:
            if (sizes > most).any():
                self._alarm("batches: sizes", f"more than {most} records in one")
            at = np.where(sizes == most, 1 - below, at)
            chance = float(stats.binom.sf(np.arange(most), n, rate).sum()) / n  # E min(N, B), shared by all records
        self._sizes(below + self._ties.random(len(sizes)) * at, streams)
        return 1, chance

    def _visited(self, oracle: Any, written: InTurn, rows: Any, count: int) -> None:
        """Check that, given earlier visits, each remaining record has the same probability, or keeps its batch.

        How many of those are that were in the same batch of the epoch before is binomial, too, where bins are fresh
        (where batches have one size, both are hypergeometric).
        """
        n, m, binned, redrawn = oracle.problem.records, written.batches, written.one_by_one, written.redraws
        epoch, place = divmod(self._visits[oracle], m)
        self._visits[oracle] += 1
        if written.answers(count) < self._visits[oracle]:
            self._alarm("batches: epochs", f"{self._visits[oracle]} answers, the ledger holds {written!r}")
        if written.group_rate is not None:
            self._sampled_from(np.arange(place, n, m), float(written.group_rate), oracle.generators, rows, n)
            return
        if written.participations is not None:
            self._in_subsets(oracle, m, written.participations, rows, epoch, place)
            return
        for stream, each in zip(oracle.generators, rows, strict=True):
            if not epoch and not place:
                self._dealt[stream] = np.full(n, -1), np.full(n, -1)
            before, now = self._dealt[stream]
            if place == 0:
                before[:], now[:] = now, -1
            if len(np.unique(each)) < len(each) or (now[each] >= 0).any():
                self._alarm("batches: bins", "a record is in two batches of an epoch, or twice in one")
            stayed, left = before == place, now < 0
            now[each] = place
            if epoch and not redrawn:
                if not np.array_equal(stayed, now == place):
                    self._alarm("batches: bins", "a record has left its batch")
                continue
            if place == 0:
                self._draw(oracle, 1 / m if binned else len(each) / n, each)
            if binned:
                if place == m - 1 and (now < 0).any():
                    self._alarm("batches: bins", "a record is in no bin of an epoch")
            elif not self._right_size(oracle, written, each, place):
                continue
            if place == m - 1 or not (binned or redrawn):
                continue
            if binned:
                self._compare("sizes", left, now == place, stats.binom(int(left.sum()), 1 / (m - place)))
            if epoch:
                again, of = left & stayed, int((left & stayed).sum())
                fresh = stats.hypergeom(int(left.sum()), of, len(each))
                self._compare(
                    "in the same bin again",
                    again,
                    now == place,
                    stats.binom(of, 1 / (m - place)) if binned else fresh,
                )

    def _in_subsets(self, oracle: Any, m: int, participations: int, rows: Any, epoch: int, place: int) -> None:
        """Check that, given earlier visits, a record with r of m' batches left is in this one with probability r/m'.

        So are those among them that were in the same batch of the epoch before. Of one place and one r all draws count
        together, too: other epochs are independent, so that their number is binomial, however many there were.
        """
        n = oracle.problem.records
        for stream, each in zip(oracle.generators, rows, strict=True):
            if not epoch and not place:
                self._allocated[stream] = _Subsets(np.zeros(n, dtype=np.int64))
            seen = self._allocated[stream]
            if place == 0:
                seen.left[:], seen.before, seen.now = participations, seen.now, []
                self._draw(oracle, participations / m, each)
            chosen = np.bincount(each, minlength=n)
            seen.now.append(each)
            if (chosen > 1).any() or (seen.left < chosen).any():
                self._alarm("batches: bins", f"a record twice in one, or in more than {participations}")
            elif (seen.left - chosen > m - place - 1).any():
                self._alarm("batches: bins", f"a record is in fewer than {participations} of an epoch")
            there = np.isin(np.arange(n), seen.before[place]) if epoch else np.zeros(n, dtype=bool)
            for left in range(1, min(participations, m - place - 1) + 1):
                among, chance = seen.left == left, left / (m - place)
                self._compare("sizes", among, chosen > 0, stats.binom(int(among.sum()), chance))
                at = f"{oracle.sampling!r}, batch {place}, {left} left"
                counted = self._drawn.setdefault(at, [0, chance, np.zeros(1, dtype=np.int64)])
                counted[0] += int(among.sum())
                counted[2] += chosen[among].sum()
                again = among & there
                if epoch:
                    self._compare("in the same bin again", again, chosen > 0, stats.binom(int(again.sum()), chance))
            seen.left -= chosen

    def _sampled_from(self, group: Any, rate: float, streams: Any, rows: Any, records: int) -> None:
        """Check each repetition's samples of a group: no record of another, binomial sizes, equal frequencies."""
        if any(len(np.unique(each)) < len(each) or not np.isin(each, group).all() for each in rows):
            self._alarm("batches: bins", "a record of another group, or one twice")
        sizes = np.array([len(each) for each in rows])
        below, at = stats.binom.cdf(sizes - 1, len(group), rate), stats.binom.pmf(sizes, len(group), rate)
        self._sizes(below + self._ties.random(len(sizes)) * at, streams)
        self._overlaps.of_group(group, records, rate, streams, rows)
        counted = self._drawn.setdefault(f"group {int(group[0])}", [0, rate, np.zeros(len(group), dtype=np.int64)])
        counted[0] += len(rows)
        for each in rows:
            counted[2] += np.isin(group, each)

    def _draw(self, oracle: Any, share: float, rows: Any) -> None:
        n = oracle.problem.records
        counted = self._drawn.setdefault(repr(oracle.sampling), [0, share, np.zeros(n, dtype=np.int64)])
        if getattr(oracle.sampling, "order", "") != "fixed":
            counted[0] += 1
            counted[2][rows] += 1

    def _sizes(self, uniform: Array, streams: Sequence[Stream]) -> None:
        """Convert the sizes to normal numbers by their distribution: those of two calls in a row are independent."""
        scores = special.ndtri(np.clip(uniform, 1e-300, 1 - 2.0**-53))
        self._normals["batches: sizes"].add(scores[:, None], list(streams))

    def _compare(self, name: str, among: Any, chosen: Any, law: Any) -> None:
        above, below = tails_of(np.array([(among & chosen).sum()]), law, self._ties.random(1))
        self._classes[f"batches: {name}"].add(below)
        self._tails[f"batches: {name}"].add(above, below)

    def _right_size(self, oracle: Any, written: InTurn, rows: Any, place: int) -> bool:
        """Return whether a batch has the right records: ⌊n/m⌋ that were shuffled, or those of its place in an order."""
        n, m = oracle.problem.records, written.batches
        wanted = n // m if written.redraws else len(range(place, n, m))
        if len(rows) != wanted:
            self._alarm("batches: sizes", f"not {wanted} records")
            return False
        if getattr(oracle.sampling, "order", "") == "fixed" and not np.array_equal(rows, np.arange(place, n, m)):
            self._alarm("batches: bins", "not the records of its place in the order")
        return True

    # --- choices

    def _choice(self, question: Question, written: Mechanism, chosen: Any) -> None:
        if not isinstance(written, ExponentialMechanism):
            return
        sensitivity = float(question.terms[2])  # type: ignore[arg-type]
        for scores, index in zip(question.about.scores, chosen, strict=True):
            weights = special.softmax(scores * (float(written.epsilon) / (2 * sensitivity)))
            worse = float(weights[scores < scores[index]].sum())
            tied = float(weights[scores == scores[index]].sum())
            self._classes["choices"].add(np.array([worse + self._ties.random() * tied]))
            units = (scores - scores.max()) * (float(written.epsilon) / (2 * sensitivity))
            mean = float(weights @ units)
            self._better[0] += float(units[index]) - mean
            self._better[1] += float(weights @ (units - mean) ** 2)
            self._better[2] = max(self._better[2], float(units.max() - units.min()))

    # --- the verdict

    def findings(self, ledger: Ledger | None = None) -> list[Finding]:
        """Return the results of all tests, including those of the ledger if it is given."""
        found = [*self._wrong]
        for name, normals in sorted(self._normals.items()):
            found += normals.findings(name)
        for name, classes in sorted(self._classes.items()):
            found.append(Finding(name, classes.probability(), f"{int(classes.counts.sum())} in {_CLASSES} classes"))
        for name, tails in sorted(self._tails.items()):
            found.append(Finding(name, tails.probability(), str(tails)))
        for draws, share, counts in self._drawn.values():
            if not draws:
                continue
            found.append(Finding("batches: records", _extreme(counts, draws, share), f"{draws} draws"))
        excess, variance, largest = self._better
        if variance:
            tail = math.exp(-(excess**2) / (2 * (variance + largest * abs(excess) / 3)))  # Bernstein's inequality
            says = f"{excess:.4g} above what is to be expected, variance {variance:.4g}"
            found.append(Finding("choices: scores", min(1.0, 2 * tail), says))
        if self._uses and ledger is not None:
            most, held = max(int(uses.max()) for uses in self._uses.values()), sum(e.count for e in ledger.releases)
            says = f"a record took part in {most} answers, the ledger holds {held}"
            found.append(Finding("parts", float(most <= held), says))
        return found

    def tested(self, ledger: Ledger | None = None) -> tuple[NoiseTested, ...]:
        """Return the number of values of each kind, and the factor of too little noise that they exclude."""
        alarm = FALSE_ALARM / max(1, len(self.findings(ledger)))
        sizes = [
            NoiseTested(name, n.numbers, seen_below(n.numbers, alarm)) for name, n in sorted(self._normals.items())
        ]
        others = [NoiseTested(name, int(n.counts.sum()), None) for name, n in sorted(self._classes.items())]
        return tuple(each for each in (*sizes, *others) if _is_noise(each.kind) and each.numbers)

    def demand_right(self, ledger: Ledger | None = None) -> list[Finding]:
        """Return the findings; ``NoiseWrong`` if one is too unlikely to be random."""
        found = self.findings(ledger)
        for finding in found:
            if not finding.probability > FALSE_ALARM / len(found):
                what = f"{finding.name} of the noise is" if _is_noise(finding.name) else f"{finding.name} are"
                raise NoiseWrong(
                    f"{what} not as the ledger states: {finding.says} "
                    f"(probability {finding.probability:.1e} where all is right); do not publish the output"
                )
        return found


def seen_below(numbers: int, alarm: float) -> float:
    """Return the factor below which too little noise is found with probability ``SEEN``, rounded down to three digits.

    The sum of squares of n residuals is f² times a chi-squared variable where all noise is too small by f. The test of
    the variance sees it where the sum is below the quantile of half the probability of an alarm.
    """
    factor = math.sqrt(stats.chi2.ppf(alarm / 2, numbers) / stats.chi2.ppf(SEEN, numbers))
    return math.floor(factor * 1000) / 1000


def _is_noise(name: str) -> bool:
    return not name.startswith("batches")


def _contributions(kind: str, problem: Any, points: Sequence[Array], kept: float, share: float, rows: Any) -> Array:
    """Return the contributions of some records to the sum of an answer, shape (b, p), or (b, p + 1) of a quantile."""
    if kind == "quantile":
        return _of_quantile(problem, points[0], rows, float(points[1][0]), share)
    here = _of_each(problem, points[0], rows)
    if len(points) == 1 or not len(rows):
        return here
    if enforced(problem):
        changes = [problem.summed_differences(*points, row) for row in np.asarray(rows)[:, None]]
        return (1 - kept) * here + kept * np.stack(changes)
    return here - kept * _of_each(problem, points[1], rows)


def _of_quantile(problem: Any, x: Array, rows: Any, clip: float, share: float) -> Array:
    """Return the contributions of records to an answer of ``QuantileClippedOracle``, shape (b, p + 1)."""
    found = [problem.sums_within(x, row, Fraction(clip)) for row in np.asarray(rows)[:, None]]
    parts = [(math.sqrt(1 - share) / clip * total, math.sqrt(share) * (2 * within - 1)) for total, within in found]
    return np.array([np.append(*each) for each in parts]).reshape(-1, len(x) + 1)


def row_of(matrix: Encoder, step: int) -> Sequence[Fraction | int]:
    """Return a row of C up to its diagonal, by its definition: of a tree the block that ends there, the longest one."""
    if isinstance(matrix, Toeplitz):
        return [matrix.coefficients[step - k] if step - k < matrix.bands else 0 for k in range(step + 1)]
    if isinstance(matrix, LowerTriangular):
        return [Fraction(entry, matrix.denominator) for entry in matrix.rows[step]]
    length = next(size for size in (2**h for h in range(60, -1, -1)) if (step + 1) % size == 0)
    return [int(k > step - length) for k in range(step + 1)]


def _of_each(problem: Any, point: Array, rows: Any) -> Array:
    """Return the gradients of some records at a point, shape (b, p), from batches of one."""
    if not len(rows):
        return np.zeros((0, len(point)))
    found: Array = problem.batch_gradient(np.broadcast_to(point, (len(rows), len(point))), np.asarray(rows)[:, None])
    return found


def _extreme(counts: Any, draws: int, share: float) -> float:
    """Return a bound on the probability that one of these counts, binomial each, is as far out as the farthest."""
    below, above = stats.binom.cdf(counts, draws, share), stats.binom.sf(counts - 1, draws, share)
    return min(1.0, 2 * len(counts) * float(np.minimum(below, above).min()))
