"""How records are drawn, seeded or by the operating system: exact distributions of two draws in a row."""

import itertools
import math
import random
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import secure_noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    CorrelatedGradientOracle,
    GradientDifferenceOracle,
    VisitGradientOracle,
)
from dpbounds.algorithms.oracles.batches import draw_rows
from dpbounds.algorithms.oracles.visits import dealt, in_batch
from dpbounds.algorithms.sampling import Allocated, Batch, Bins, Correlated, Cyclic, Poisson, Shuffle, Truncated
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from tests.algorithms.shared import follows, pretend

PAIRS = 1600


@pytest.fixture
def system(monkeypatch):
    """The operating system's random numbers, replaced by a seeded source."""
    source = random.Random(7)
    monkeypatch.setattr(secure_noise.os, "urandom", source.randbytes)
    monkeypatch.setattr(secure_noise.random, "SystemRandom", lambda: source)
    return source


# --- exact distributions, by enumeration ------------------------------------------------------------------------------


def subsets(records, rate, most=None):
    """Poisson samples; where ``most`` is given, cut to a uniform subset of that size."""
    chances = Counter()
    for size in range(records + 1):
        for sample in itertools.combinations(range(records), size):
            kept = list(itertools.combinations(sample, size if most is None else min(size, most)))
            for each in kept:
                chances[each] += rate**size * (1 - rate) ** (records - size) / len(kept)
    return chances


def equally_likely(outcomes):
    """The frequencies with which equally likely outcomes occur."""
    found = Counter(outcomes)
    return {each: count / found.total() for each, count in found.items()}


def twice(chances):
    """Two independent draws."""
    return {(a, b): p * q for (a, p), (b, q) in itertools.product(chances.items(), repeat=2)}


def shuffled(records, batches):
    """Each record's batch, and -1 where it sits out."""
    places = np.append(np.arange(records // batches * batches) % batches, [-1] * (records % batches))
    return equally_likely(tuple(int(places[i]) for i in order) for order in itertools.permutations(range(records)))


def rows(sampling, records):
    return lambda generator, kind: tuple(sorted(draw_rows(sampling, records, generator, kind).tolist()))


def batches(scheme, records):
    """Each record's batch; where it is in several, these in order."""

    def draw(generator, kind):
        places = dealt(scheme, records, generator, kind).tolist()
        return tuple(tuple(sorted(each)) if isinstance(each, list) else each for each in places)

    return draw


def sets(m, k, records):
    return equally_likely(itertools.product(itertools.combinations(range(m), k), repeat=records))


SAMPLERS = {
    "poisson": (rows(Poisson("1/4"), 2), subsets(2, 1 / 4)),
    "batch": (rows(Batch(2, 4, False), 4), equally_likely(itertools.combinations(range(4), 2))),
    "bins": (batches(Bins(3), 2), equally_likely(itertools.product(range(3), repeat=2))),
    "sets, 2 of 4": (batches(Allocated(4, 2), 1), sets(4, 2, 1)),
    "sets, 4 of 5": (batches(Allocated(5, 4), 1), sets(5, 4, 1)),
    "sets, 1 of 3": (batches(Allocated(3, 1), 2), sets(3, 1, 2)),
    "sets, 2 of 3": (batches(Allocated(3, 2), 2), sets(3, 2, 2)),
    "shuffle": (batches(Shuffle(2), 3), shuffled(3, 2)),
    "secret order": (batches(Cyclic(2, "secret"), 4), shuffled(4, 2)),
}
SEEDED = {
    "batch with replacement": (
        rows(Batch(2, 3, True), 3),
        equally_likely(tuple(sorted(each)) for each in itertools.product(range(3), repeat=2)),
    ),
    "cut": (rows(Truncated("1/2", 2, 4), 4), subsets(4, 1 / 2, most=2)),
}


def drawn_twice(draw, kind, runs=PAIRS):
    generator = streams(7, 1)[0]
    return Counter((draw(generator, kind), draw(generator, kind)) for _ in range(runs))


@pytest.mark.parametrize("name", [*SAMPLERS, *SEEDED])
def test_two_seeded_draws_are_independent_and_each_has_its_distribution(name):
    draw, chances = (SAMPLERS | SEEDED)[name]
    assert follows(drawn_twice(draw, "gaussian"), twice(chances))


@pytest.mark.parametrize("name", SAMPLERS)
def test_so_have_draws_of_the_operating_system(name, system):
    draw, chances = SAMPLERS[name]
    assert follows(drawn_twice(draw, "secure"), twice(chances))


def test_what_the_operating_system_cannot_draw_is_refused():
    for sampling, why in ((Batch(2, 5, True), "without replacement"), (Truncated("1/4", 3, 5), "uncut")):
        with pytest.raises(UnsupportedMechanism, match=why):
            draw_rows(sampling, 5, None, "secure")


def test_a_secure_poisson_rate_is_exact(monkeypatch):
    words = np.array([0, 1, 2**52, 2**52 - 1, 2**53 - 1], dtype=np.uint64) << np.uint64(11)
    monkeypatch.setattr(secure_noise.os, "urandom", lambda count: words.tobytes()[:count])
    assert draw_rows(Poisson("1/2"), 5, None, "secure").tolist() == [0, 1, 3]
    assert draw_rows(Poisson(Fraction(1, 2**53)), 5, None, "secure").tolist() == [0]
    assert draw_rows(Poisson(1), 5, None, "secure").tolist() == [0, 1, 2, 3, 4]


# --- wrong samplers ---------------------------------------------------------------------------------------------------


def cut_to_the_first(generator, kind):
    return tuple(np.flatnonzero(generator.random(4) < 0.5)[:2].tolist())


def in_a_row(generator, kind):
    """Batches in a row, around the end: each as likely as it should be, but not each set."""
    first = int(generator.integers(0, 4))
    return (tuple(sorted((first, (first + 1) % 4))),)


def floyd_with_the_next(generator, kind):
    """Floyd's algorithm, but where a number is taken, the next one is, and not the last that is allowed."""
    first, second = int(generator.integers(0, 3)), int(generator.integers(0, 4))
    return (tuple(sorted((first, (first + 1) % 4 if second == first else second))),)


WRONG = {
    "cut to the first": ("cut", cut_to_the_first),
    "sets in a row": ("sets, 2 of 4", in_a_row),
    "the next where one is taken": ("sets, 2 of 4", floyd_with_the_next),
    "one set too few": ("sets, 2 of 4", batches(Allocated(4, 1), 1)),
    "all records alike": ("sets, 2 of 3", lambda g, kind: 2 * batches(Allocated(3, 2), 1)(g, kind)),
    "rate 30 % smaller": ("poisson", rows(Poisson("0.175"), 2)),
    "the last bin never": ("bins", batches(Bins(2), 2)),
    "the last record never": ("batch", rows(Batch(2, 3, False), 3)),
}


@pytest.mark.parametrize("bug", WRONG)
def test_a_wrong_sampler_is_found(bug):
    name, draw = WRONG[bug]
    assert not follows(drawn_twice(draw, "gaussian"), twice((SAMPLERS | SEEDED)[name][1]))


@pytest.mark.parametrize("name", [*SAMPLERS, *SEEDED])
def test_the_same_draw_twice_in_a_row_is_found(name):
    draw, chances = (SAMPLERS | SEEDED)[name]
    generator = streams(7, 1)[0]
    seen = Counter((draw(generator, "gaussian"),) * 2 for _ in range(PAIRS))
    assert not follows(seen, twice(chances))


# --- oracles draw by these samplers -----------------------------------------------------------------------------------


def visited(scheme, problem, runs, steps, seed=11):
    """The batches of some answers, as often as they occur among repetitions."""
    asked = VisitGradientOracle(problem, scheme, Fraction(2), streams(seed, runs), OpenLedger())
    found = [opened(asked(np.zeros((runs, problem.dimension))).rows) for _ in range(steps)]
    return Counter(tuple(tuple(sorted(each[r].tolist())) for each in found) for r in range(runs))


def epochs(chances, count, m, redraw):
    """The batches of some epochs, from the distribution of each record's batch (or batches) in one."""
    found = Counter()
    for deals in (
        itertools.product(chances.items(), repeat=count) if redraw else ((each,) * count for each in chances.items())
    ):
        cut = tuple(
            tuple(i for i, places in enumerate(deal) if j in (places if isinstance(places, tuple) else (places,)))
            for deal, _ in deals
            for j in range(m)
        )
        found[cut] += math.prod(share for _, share in (deals if redraw else deals[:1]))
    return found


VISITED = {
    "bins": (Bins(2), 2, equally_likely(itertools.product(range(2), repeat=2))),
    "kept bins": (Bins(2, redraw=False), 2, equally_likely(itertools.product(range(2), repeat=2))),
    "sets": (Allocated(3, 2), 2, sets(3, 2, 2)),
    "shuffled": (Shuffle(2), 3, shuffled(3, 2)),
    "secret order": (Cyclic(2, "secret"), 4, shuffled(4, 2)),
}


@pytest.mark.parametrize("name", VISITED)
def test_answers_are_about_batches_of_two_epochs_as_accounted(name):
    scheme, records, chances = VISITED[name]
    m = scheme.bins
    seen = visited(scheme, realisable(records, 2), 1500, 2 * m)
    assert follows(seen, epochs(chances, 2, m, scheme.redraw))
    assert not follows(seen, epochs(chances, 2, m, not scheme.redraw))


def test_cyclic_batches_go_by_position():
    (only,) = visited(Cyclic(2), realisable(5, 2), 3, 5)
    assert only == ((0, 2, 4), (1, 3), (0, 2, 4), (1, 3), (0, 2, 4))


def test_a_record_is_in_a_batch_once():
    assert in_batch(np.array([[0, 0], [1, 2], [2, 0]]), 0).tolist() == [0, 2]


def test_groups_of_correlated_noise_have_their_distribution():
    """Balls in bins once and for all; samples of a group, anew at each step and of no other group."""
    problem, runs = realisable(4, 2), 1500

    def seen(**options):
        scheme = Correlated(Toeplitz([1], 4), bins=2, **options)
        asked = CorrelatedGradientOracle(problem, scheme, Fraction(2), streams(3, runs), OpenLedger())
        found = [opened(asked(np.zeros((runs, 2))).rows) for _ in range(4)]
        return [tuple(tuple(each[r].tolist()) for each in found) for r in range(runs)]

    thrown = seen(draws="balls-in-bins")
    assert all(each[:2] == each[2:] for each in thrown)
    places = [tuple(0 if i in first else 1 for i in range(4)) for first, *_ in thrown]
    assert follows(Counter(places), equally_likely(itertools.product(range(2), repeat=4)))
    assert all(sorted(sum(each[:2], ())) == [0, 1, 2, 3] for each in thrown)
    sampled = seen(draws="cyclic-poisson", sample_rate="1/4")
    for step in (0, 1):
        chances = {tuple(2 * i + step for i in each): share for each, share in subsets(2, 1 / 4).items()}
        assert follows(Counter((each[step], each[step + 2]) for each in sampled), twice(chances))
    assert all(each == ((0, 2), (1, 3)) * 2 for each in seen(draws="fixed-order"))


PROBLEM = realisable(40, 2)
X, Y = np.full((2, 2), 0.1), np.full((2, 2), -0.3)
SECURE = {
    "poisson": lambda *rest: BatchGradientOracle(PROBLEM, Poisson("1/4"), *rest, noise="secure"),
    "batch": lambda *rest: BatchGradientOracle(PROBLEM, Batch(7, 40, False), *rest, noise="secure"),
    "difference": lambda *rest: GradientDifferenceOracle(PROBLEM, *rest, noise="secure", sampling=Poisson("1/4")),
    **{
        str(scheme): lambda *rest, scheme=scheme: VisitGradientOracle(PROBLEM, scheme, *rest, noise="secure")
        for scheme in (Bins(4), Allocated(4, 2), Shuffle(4), Cyclic(4, "secret"))
    },
}


@pytest.mark.parametrize("name", SECURE)
def test_a_secure_oracle_draws_its_batches_from_the_operating_system(name, system, monkeypatch):
    pretend(monkeypatch)

    def answer(source, seed):
        system.seed(source)
        oracle = SECURE[name](Fraction(2), streams(seed, 2), OpenLedger())
        return opened(oracle(X, Y).exact if name == "difference" else oracle(X).exact)

    assert (answer(1, seed=1) == answer(1, seed=2)).all()
    assert (answer(1, seed=1) != answer(2, seed=1)).any()


@pytest.mark.parametrize("name", ["poisson", "batch", "difference"])
def test_two_answers_of_a_secure_oracle_are_about_two_batches(name, system, monkeypatch):
    pretend(monkeypatch)
    oracle = SECURE[name](Fraction(2), streams(0, 2), OpenLedger())
    points = (X, Y) if name == "difference" else (X,)
    first, second = (opened(oracle(*points).exact) for _ in range(2))
    assert (first != second).all()
    assert (first[0] != first[1]).any()  # nor have two repetitions one batch


@pytest.mark.parametrize("sampling", [Poisson("1/4"), Batch(10, 40, False)], ids=["poisson", "batch"])
@pytest.mark.parametrize("kind", ["gaussian", "secure"])
@pytest.mark.parametrize("kept", [Fraction(1), Fraction(3, 4)], ids=str)
def test_both_ends_of_a_difference_are_about_one_batch(sampling, kind, kept, system, monkeypatch):
    pretend(monkeypatch)
    drawn, module = [], sys.modules[GradientDifferenceOracle.__module__]
    monkeypatch.setattr(module, "draw_rows", lambda *given: drawn.append(draw_rows(*given)) or drawn[-1])
    oracle = GradientDifferenceOracle(
        PROBLEM, Fraction(1, 100), streams(3, 2), OpenLedger(), noise=kind, sampling=sampling, kept=kept
    )
    answer = oracle(X, Y)
    assert len(drawn) == 2  # one batch for each repetition
    for rows_of, exact, noisy, stddev in zip(
        drawn, opened(answer.exact), answer.noisy, answer.noise_stddev, strict=True
    ):
        here, there = (PROBLEM.batch_gradient(each[:1], rows_of[None])[0] * len(rows_of) / 10 for each in (X, Y))
        assert exact == pytest.approx(here - float(kept) * there, abs=1e-12)
        assert noisy == pytest.approx(exact, abs=6 * stddev)
