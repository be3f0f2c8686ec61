"""What is spent after several numbers of rounds: each number by itself, and what one proves of another."""

import math
from fractions import Fraction

import pytest

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants import certified
from dpbounds.privacy.accountants.certified import delta, epsilon
from dpbounds.privacy.accountants.rounds import _never_falling, after_rounds
from dpbounds.privacy.mechanisms import Gaussian, NoiseInShares, PoissonSampled


def test_each_number_is_what_it_spends_alone():
    step = Gaussian(10)
    found = after_rounds(step, [100, 1, "10", 10], delta="1e-6", relation="replace-one")
    assert [*found] == [1, 10, 100]
    for count, spent in found.items():
        alone = epsilon(step**count, "1e-6", "replace-one")
        assert (spent.exact_lower, spent.exact_upper) == (alone.exact_lower, alone.exact_upper)
    # k rounds of Gaussian noise z are one of z/√k
    assert found[100].overlaps(epsilon(Gaussian(1), "1e-6", "replace-one"))
    of_delta = after_rounds(step, (4, 9), epsilon="0.5")
    assert of_delta[9].overlaps(delta(Gaussian(Fraction(10, 3)), "0.5"))


@pytest.mark.seconds
def test_sampled_rounds():
    found = after_rounds(PoissonSampled(Gaussian(1), "0.05"), (2, 8, 32), delta="1e-5", tolerance=1e-4)
    assert found[2].upper < found[8].lower < found[8].upper < found[32].lower


def test_what_is_proven_of_one_number_bounds_the_others(monkeypatch):
    """Wide intervals, as a time limit leaves them: fewer rounds spend no more, and more rounds no less."""
    wide = {1: (0, 9), 2: (3, 7), 5: (1, 8), 7: (2, math.inf)}

    def narrow(asked, **_):
        ((_, count),) = asked.parts
        return certified.Account(asked, certified.Relation("replace-one"), "delta", Fraction(1, 9), enclosed(count), ())

    def enclosed(count):
        low, high = wide[count]
        return Enclosure(Fraction(low), high if high == math.inf else Fraction(high), "a method")

    monkeypatch.setattr(certified, "account", narrow)
    found = after_rounds(Gaussian(1), wide, delta="0.1")
    assert {count: (each.exact_lower, each.exact_upper) for count, each in found.items()} == (
        {1: (0, 7), 2: (3, 7), 5: (3, 8), 7: (3, math.inf)}
    )
    with pytest.raises(InvalidValue):  # two claims that contradict each other
        _never_falling({1: Enclosure(Fraction(3), Fraction(4), ""), 2: Enclosure(Fraction(1), Fraction(2), "")})


def test_numbers_that_are_none_are_refused():
    for given in ((), (0,), (1.5,), 3, "12"):
        with pytest.raises(InvalidValue, match="rounds"):
            after_rounds(Gaussian(1), given, delta="0.1")
    shared = NoiseInShares("gaussian", 4, 5)
    assert after_rounds(shared, (1,), delta="1e-6", relation="zero-out-one")[1].upper < 2
