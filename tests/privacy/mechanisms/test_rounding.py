"""Norms of vectors after rounding: against all roundings of small vectors, and the formulas in plain floats."""

import itertools
import math
from fractions import Fraction

import pytest

from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms.noises.rounding import norm_on_grid

VECTORS = [(0.5, 0.5), (0.2, 0.9, 0.1), (2.4, -0.3), (-1.5, 0.5, 0.5, 0.5), (0.01,) * 6, (3.0, 0.5, 0.5, 0.5, 0.5)]


def roundings(vector):
    """Every rounding of a vector, with the probability of each at random without bias."""
    ways = [((math.floor(x), 1 - (x - math.floor(x))), (math.floor(x) + 1, x - math.floor(x))) for x in vector]
    for choice in itertools.product(*ways):
        yield [value for value, _ in choice], math.prod(chance for _, chance in choice)


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_no_rounding_is_longer_than_the_bound(vector):
    found = norm_on_grid(math.hypot(*vector), len(vector))
    assert max(math.hypot(*rounded) for rounded, _ in roundings(vector)) <= found


@pytest.mark.parametrize("beta", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_a_try_fails_at_most_as_often_as_stated(vector, beta):
    found = norm_on_grid(math.hypot(*vector), len(vector), retry=beta)
    assert sum(chance for rounded, chance in roundings(vector) if math.hypot(*rounded) > found) <= beta
    assert found <= norm_on_grid(math.hypot(*vector), len(vector))


def test_one_coordinate_nearly_attains_the_bound():
    """A tiny vector whose coordinates all go up has norm √d."""
    assert norm_on_grid("1e-9", 100) <= Fraction("10.0000001")
    assert max(math.hypot(*rounded) for rounded, _ in roundings((1e-9 / 3,) * 9)) == 3


def test_the_formula():
    for c, d, beta in ((7.5, 1000, 1e-3), (2000.0, 50_000, 1e-9)):
        spread = math.sqrt(c * c + d / 4 + math.sqrt(2 * math.log(1 / beta)) * (c + math.sqrt(d) / 2))
        found = norm_on_grid(c, d, retry=beta)
        assert spread * (1 - 1e-14) <= found <= spread * (1 + 1e-11)
    assert norm_on_grid(3, 16) == 7
    # so many tries may fail that the bound that always holds is smaller
    assert norm_on_grid(1, 1, retry="1e-300") == 2


def test_what_is_no_norm_is_refused():
    for given in (("0", 3), (1, 0), (1, 2.5)):
        with pytest.raises(InvalidValue):
            norm_on_grid(*given)
    with pytest.raises(InvalidValue, match="retry must be"):
        norm_on_grid(1, 3, retry=1)
