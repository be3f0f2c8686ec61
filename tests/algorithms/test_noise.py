import secrets
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.errors import InvalidValue


def draw(generators, dimension=3, stddev=0.5):
    ledger = OpenLedger()
    drawn = noise.gaussian(generators, dimension, noise_stddev=stddev, per_record_bound=Fraction(1, 4), ledger=ledger)
    return drawn, ledger.close()


def test_what_is_drawn_is_what_is_written():
    stddev = 0.1  # not one tenth: the ledger gets the binary value
    drawn, ledger = draw(noise.streams(0, 1), dimension=200_000, stddev=stddev)
    (release,) = ledger.releases
    assert release.noise_stddev == Fraction(stddev) != Fraction(1, 10)
    assert release.per_record_bound == Fraction(1, 4)
    assert release.count == 1
    assert stats.kstest(drawn[0] / float(release.noise_stddev), "norm").pvalue > 1e-4


def test_streams_do_not_depend_on_how_many_there_are():
    few, many = draw(noise.streams(3, 2))[0], draw(noise.streams(3, 50))[0]
    assert (few == many[:2]).all()


def test_streams_differ_between_repetitions_and_seeds():
    drawn = draw(noise.streams(3, 50), dimension=1)[0]
    assert len(np.unique(drawn)) == 50
    assert not (draw(noise.streams(4, 50), dimension=1)[0] == drawn).any()


@pytest.mark.parametrize(
    ("seed", "repetitions", "named"),
    [*((seed, 1, "seed") for seed in (-1, 0.5, "1", True)), *((0, R, "repetitions") for R in (0, -1, 1.5))],
)
def test_bad_seeds_and_repetitions_are_refused(seed, repetitions, named):
    with pytest.raises(InvalidValue, match=named):
        noise.streams(seed, repetitions)


def test_without_a_seed_there_are_128_bits_of_the_operating_system(monkeypatch):
    asked = []
    monkeypatch.setattr(secrets, "randbits", lambda bits: asked.append(bits) or 5)
    drawn = draw(noise.streams(None, 2))[0]
    assert asked == [128]
    assert (drawn == draw(noise.streams(5, 2))[0]).all()
    monkeypatch.undo()  # conftest.py makes seeds repeat
    once, again = (draw(noise.streams(None, 2))[0] for _ in range(2))
    assert not np.isin(once, again).any()


@pytest.mark.parametrize("stddev", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_noise_is_refused_and_not_written(stddev):
    ledger = OpenLedger()
    with pytest.raises(InvalidValue, match="noise_stddev"):
        noise.gaussian(noise.streams(0, 1), 2, noise_stddev=stddev, per_record_bound=Fraction(1), ledger=ledger)
    assert ledger.close().releases == ()


def test_two_calls_and_two_repetitions_share_nothing():
    generators = noise.streams(0, 400)
    calls = np.stack([draw(generators, stddev=1.0)[0] for _ in range(4)])
    for ours, theirs in (
        *((calls[i], calls[j]) for i in range(4) for j in range(i)),
        (calls[:, ::2], calls[:, 1::2]),
    ):
        assert abs((ours * theirs).sum()) < 6 * np.sqrt(ours.size)  # six standard deviations: 2e-9
