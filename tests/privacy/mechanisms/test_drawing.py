"""What each scheme draws has the distribution that is accounted: exactly, over all outcomes of its random numbers."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms.secure_noise import System
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy import mechanisms as m
from dpbounds.privacy.mechanisms.core import Mechanism
from dpbounds.privacy.mechanisms.schemes.drawing import Generator, drawable_rate
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from dpbounds.privacy.mechanisms.schemes.sampling import Dealing, Sampling

NOISE = m.Gaussian(1)


class Branch(Exception):
    """A source was asked for more than it was told: what it may answer, and how likely each answer is."""

    def __init__(self, answers):
        self.answers = answers


class Told:
    """A source that answers as it was told, until it was told no more."""

    def __init__(self, answers):
        self.left = list(answers)

    def _one_of(self, answers):
        if not self.left:
            raise Branch(list(answers))
        return np.array(self.left.pop(0), dtype=np.int64)

    def _equally_likely(self, answers):
        answers = list(answers)
        return self._one_of((each, Fraction(1, len(answers))) for each in answers)

    def coins(self, count, rate):
        sides = itertools.product((False, True), repeat=count)
        return self._one_of(
            ([i for i, head in enumerate(each) if head], math.prod(rate if head else 1 - rate for head in each))
            for each in sides
        )

    def numbers(self, below, count):
        return self._equally_likely(itertools.product(range(below), repeat=count))

    def subset(self, size, among):
        return self._equally_likely(itertools.combinations(range(among), size))

    def order(self, count):
        return self._equally_likely(itertools.permutations(range(count)))


def distribution(scheme, records):
    """How likely each sequence of batches is, a batch being the sorted places of its records."""
    found, waiting = Counter(), [((), Fraction(1))]
    while waiting:
        told, chance = waiting.pop()
        try:
            batches = tuple(tuple(sorted(batch.tolist())) for batch in scheme.draw(records, Told(told)))
        except Branch as branch:
            waiting += [((*told, answer), chance * p) for answer, p in branch.answers if p]
        else:
            found[batches] += chance
    return dict(found)


def of_places(places, batches):
    """The batches, where record i is in those of ``places[i]``."""
    return tuple(tuple(i for i, each in enumerate(places) if j in each) for j in range(batches))


def counted(outcomes):
    """Equally likely outcomes, that may occur several times."""
    found = Counter(outcomes)
    return {each: Fraction(times, found.total()) for each, times in found.items()}


def poisson(q, n):
    sets = (each for k in range(n + 1) for each in itertools.combinations(range(n), k))
    return {each: q ** len(each) * (1 - q) ** (n - len(each)) for each in sets}


def cut(q, n, most):
    found = Counter()
    for drawn, chance in poisson(q, n).items():
        kept = [drawn] if len(drawn) <= most else list(itertools.combinations(drawn, most))
        for each in kept:
            found[(each,)] += chance / len(kept)
    return dict(found)


def bins(records, visits):
    """Independent uniform bins in each epoch, of which the first ``visits`` are visited, of three."""
    each = [
        counted(of_places([(j,) for j in places], visited) for places in itertools.product(range(3), repeat=records))
        for visited in visits
    ]
    found = Counter()
    for epochs in itertools.product(*(some.items() for some in each)):
        found[sum((batches for batches, _ in epochs), ())] += math.prod(p for _, p in epochs)
    return dict(found)


def shuffled(records, batches, size, rest=0):
    """Consecutive stretches of an order."""
    ends = [*(j * size for j in range(batches + 1)), *([batches * size + rest] if rest else [])]
    return counted(
        tuple(tuple(sorted(order[a:b])) for a, b in itertools.pairwise(ends))
        for order in itertools.permutations(range(records))
    )


Q = Fraction(1, 4)
SCHEMES = {
    "poisson": (m.PoissonSampled(NOISE, Q), 3, {(each,): p for each, p in poisson(Q, 3).items()}),
    "truncated": (m.TruncatedPoisson(NOISE, Q, 2, 4), 4, cut(Q, 4, 2)),
    "truncated, fewer records": (m.TruncatedPoisson(NOISE, Q, 1, 4), 3, cut(Q, 3, 1)),
    "without replacement": (
        m.SampledWithoutReplacement(NOISE, 2, 4),
        4,
        counted((each,) for each in itertools.combinations(range(4), 2)),
    ),
    "with replacement": (
        m.SampledWithReplacement(NOISE, 3, 3),
        3,
        counted((tuple(sorted(each)),) for each in itertools.product(range(3), repeat=3)),
    ),
    "shuffled": (m.Shuffled(NOISE, 2), 4, shuffled(4, 2, 2)),
    "shuffled, one left over": (m.Shuffled(NOISE, 2), 5, shuffled(5, 2, 2)),
    "shuffled, a smaller batch": (m.Shuffled(NOISE, 2, "1/5"), 5, shuffled(5, 2, 2, rest=1)),
    "shuffled, a smaller batch and some left over": (m.Shuffled(NOISE, 2, "1/5"), 6, shuffled(6, 2, 2, rest=1)),
    "allocated": (
        m.RandomlyAllocated(NOISE, 4, 2),
        2,
        counted(of_places(sets, 4) for sets in itertools.product(itertools.combinations(range(4), 2), repeat=2)),
    ),
    "bins thrown anew": (m.BallsInBins(NOISE, 3, "7/3", redraw=True), 2, bins(2, (3, 3, 1))),
    "bins that are kept": (
        m.BallsInBins(NOISE, 3, "7/3", redraw=False),
        3,
        counted(
            (*both, *both, both[0])
            for both in (of_places([(j,) for j in places], 3) for places in itertools.product(range(3), repeat=3))
        ),
    ),
}
NOT_DRAWN = {m.PoissonByUser}  # who is a user's is not known here


@pytest.mark.parametrize("name", SCHEMES)
def test_batches_are_drawn_from_the_distribution_that_is_accounted(name):
    scheme, records, wanted = SCHEMES[name]
    assert distribution(scheme, records) == wanted


@pytest.mark.parametrize("name", SCHEMES)
def test_what_a_scheme_says_of_a_batch_holds_in_all_outcomes(name):
    """The guards of runs rely on it."""
    scheme, n, outcomes = SCHEMES[name]
    drawn = scheme.one_batch
    assert (drawn is None) is isinstance(scheme, Dealing)
    if drawn is None:
        return
    found = Counter()
    for (batch,), chance in outcomes.items():
        found[len(batch)] += chance
    if drawn.rate is None:
        assert dict(found) == {drawn.most: 1}
    else:
        most = n if drawn.most is None else drawn.most
        law = Counter()
        for k in range(n + 1):
            law[min(k, most)] += math.comb(n, k) * drawn.rate**k * (1 - drawn.rate) ** (n - k)
        assert found == law
    assert drawn.repeats is any(len(set(batch)) < len(batch) for (batch,) in outcomes)


@pytest.mark.parametrize("name", [name for name, (scheme, *_) in SCHEMES.items() if isinstance(scheme, Dealing)])
def test_what_a_scheme_says_of_its_epochs_holds_in_all_outcomes(name):
    scheme, n, outcomes = SCHEMES[name]
    m, smaller = scheme.batches, getattr(scheme, "rest", 0) > 0
    assert {len(batches) for batches in outcomes} == {scheme.answers(1)}
    assert scheme.answers(3) == 3 * scheme.answers(1)
    sizes = {len(batch) for batches in outcomes for batch in batches[: len(batches) - smaller]}
    assert scheme.one_by_one is (len(sizes) > 1)
    for batches in outcomes:
        uses = Counter(itertools.chain(*batches[:m]))
        if scheme.one_by_one:
            assert uses == dict.fromkeys(range(n), scheme.participations or 1)
        else:
            assert set(uses.values()) == {1}
            assert scheme.participations is None
    if scheme.answers(1) >= 2 * m:
        assert scheme.redraws is any(batches[:m] != batches[m : 2 * m] for batches in outcomes)
    assert scheme.group_rate is None
    assert scheme.matrix is None


def test_what_a_matrix_says_of_its_epochs():
    matrix = Toeplitz([1], steps=7)
    fixed = m.MatrixMechanism(1, matrix, "fixed-order", separation=3)
    drawn = m.MatrixMechanism(1, matrix, "balls-in-bins", separation=3)
    sampled = m.MatrixMechanism(1, matrix, "cyclic-poisson", separation=3, sample_rate=Q)
    apart = m.MatrixMechanism(1, matrix, "minimum-separation", separation=3, sample_rate=Q)
    for each in (fixed, drawn, sampled, apart):
        assert (each.batches, each.answers(1), each.redraws, each.participations) == (3, 7, False, None)
        assert each.one_by_one is (each is drawn)
        assert each.group_rate == (Q if each is sampled else None)
    assert m.MatrixMechanism(1, matrix, "single").batches == 1


def test_no_record_is_likelier_in_a_batch_than_is_accounted():
    """Rounding to whole records only takes records out of an epoch."""
    for n, rest in itertools.product(range(3, 8), (Fraction(0), Fraction(1, 7), Fraction(1, 4))):
        scheme = m.Shuffled(NOISE, 2, rest)
        sizes = [len(batch) for batch in scheme.draw(n, Generator(np.random.default_rng(1)))]
        assert all(Fraction(size, n) <= (1 - rest) / 2 for size in sizes[:2])
        assert len(sizes) == 2 + bool(rest)
        assert not rest or Fraction(sizes[2], n) <= rest


def test_every_scheme_is_drawn_or_named():
    schemes, waiting = set(), [Sampling]
    while waiting:
        below = waiting.pop().__subclasses__()
        schemes |= {each for each in below if getattr(m, each.__name__, None) is each}
        waiting += below
    assert schemes - {type(scheme) for scheme, *_ in SCHEMES.values()} == NOT_DRAWN
    with pytest.raises(UnsupportedMechanism, match="no sampler for poisson-by-user"):
        m.PoissonByUser(NOISE, Q).draw(3, Told(()))


@pytest.mark.parametrize(
    ("scheme", "records", "why"),
    [
        (m.TruncatedPoisson(NOISE, Q, 2, 4), 5, "records must be at most dataset_size, 4, not 5"),
        (m.SampledWithoutReplacement(NOISE, 2, 4), 3, "records must be at least dataset_size, 4, not 3"),
        (m.SampledWithReplacement(NOISE, 2, 4), 3, "records must be at least dataset_size, 4, not 3"),
    ],
)
def test_other_numbers_of_records_than_are_accounted_are_refused(scheme: Mechanism, records, why):
    with pytest.raises(InvalidValue, match=why):
        next(scheme.draw(records, Generator(np.random.default_rng(1))))


def test_rates_are_rounded_down_to_what_a_generator_draws():
    assert drawable_rate("1/3") == Fraction(2**53 // 3, 2**53) < Fraction(1, 3)
    assert drawable_rate(1) == 1
    for rate in (0, "1e-20", "1.1"):
        with pytest.raises(InvalidValue, match="sample_rate must be a number of at least 2"):
            drawable_rate(rate)


@pytest.mark.parametrize("source", [Generator(np.random.default_rng(1)), System()], ids=["generator", "system"])
def test_other_rates_are_not_drawn(source):
    """The nearest double may be larger than the rate that is accounted."""
    scheme = m.PoissonSampled(NOISE, "1/3")
    with pytest.raises(InvalidValue, match=r"sample_rate must be a multiple of 2\^-53.*drawable_rate"):
        next(scheme.draw(5, source))
    assert len(list(m.PoissonSampled(NOISE, drawable_rate("1/3")).draw(5, source))) == 1


@pytest.mark.parametrize("name", SCHEMES)
def test_a_seed_decides_all_batches(name):
    scheme, records, wanted = SCHEMES[name]
    first, second = (
        [batch.tolist() for batch in scheme.draw(records, Generator(np.random.default_rng(3)))] for _ in range(2)
    )
    assert first == second
    assert tuple(tuple(sorted(batch)) for batch in first) in wanted
