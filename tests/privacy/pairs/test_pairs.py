"""The package's Gaussian pairs against attacks of any size, and what is wrong against the same attacks.

``test_domination.py`` holds every pair against a second transcription, ``test_cells.py`` that against attacks. Here are
random attacks on the package's own answer, and planted bugs: pairs that somebody might have written, each is caught.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.pairs.domination import neighbour_classes
from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.relations import Order, Relation
from tests.privacy.oracle import samplings
from tests.privacy.oracle.attacks import attacks, attained, in_the_plane
from tests.privacy.oracle.noise import Additive, Array, GaussianNoise, Sum, Table, divergence
from tests.privacy.oracle.samplings import Poisson, neighbours
from tests.privacy.products import curve_of

ALPHAS = np.exp(0.05 * np.sinh(np.linspace(-5, 5, 41)))  # ε from -3.7 to 3.7, dense around 0
ROUNDING = 1e-12
TENTH, HALF = Fraction(1, 10), Fraction(1, 2)
REMOVE, ADD, REPLACE, ZERO, RESTORE = Order


def claimed(mechanism: Mechanism, order: Order) -> Array:
    """What is proven of one order."""
    (relation,) = (each for each in Relation if order in each.orders)
    (each,) = neighbour_classes(mechanism, relation).along(order)
    ((pair, _),) = each.product
    return curve_of(pair, ALPHAS)


def best(z: float, rate: float, order: Order, values: Sequence[float], shared: Sequence[float] = ()) -> Array:
    """The best attack with these values of a record, beside these other records."""
    pairs = neighbours(samplings.Order(order.value), [tuple((x,) for x in shared)], [(x,) for x in values])
    return attained(attacks(Additive(GaussianNoise(z)), Poisson(rate), pairs), ALPHAS)


@given(
    z=st.floats(0.3, 3.0),
    rate=st.floats(0.01, 1.0),
    vectors=st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=4),
    order=st.sampled_from(Order),
)
@settings(max_examples=25)
def test_one_step_of_any_kind_is_dominated(z: float, rate: float, vectors: list[float], order: Order) -> None:
    own, shared = vectors[:2], vectors[2:]
    assume(abs(own[0] - own[1]) > 1e-3)  # two equal vectors are no replacement
    step = PoissonSampled(Gaussian(z), rate)
    assert (best(z, rate, order, own, shared) - claimed(step, order)).max() < ROUNDING
    extreme = best(z, rate, order, (-1.0, 1.0))
    assert (extreme - claimed(step, order)).min() > -1e-3  # attained


# --- Planted bugs: for a step of noise z and rate q, a pair that is too small at some α -------------------------------

PLANTED = {  # noise, rate, direction of the attack, the pair, by how much it is exceeded
    "C for 2C": (1.0, 1.0, REPLACE, ShiftedGaussians(Fraction(1)), 0.2),
    "remove for replace": (1.0, 0.5, REPLACE, SampledGaussians(Direction.REMOVE, HALF, Fraction(1)), 0.1),
    "remove for replace, rare": (2.0, 0.1, REPLACE, SampledGaussians(Direction.REMOVE, TENTH, Fraction(4)), 0.01),
    **{
        f"half the rate, {order}": (1.0, 0.5, order, SampledGaussians(Direction.of(order), HALF / 2, Fraction(1)), 0.05)
        for order in Order
    },
    "remove for add": (1.0, 0.5, ADD, SampledGaussians(Direction.REMOVE, HALF, Fraction(1)), 0.005),
    "add for remove": (1.0, 0.5, REMOVE, SampledGaussians(Direction.ADD, HALF, Fraction(1)), 0.005),
    "stddev for variance": (0.5, 0.1, REPLACE, SampledGaussians(Direction.REPLACE, TENTH, HALF), 0.005),
    "variance for stddev": (2.0, 0.1, ADD, SampledGaussians(Direction.ADD, TENTH, Fraction(16)), 0.005),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_bugs_are_caught(bug: str) -> None:
    z, rate, order, pair, excess = PLANTED[bug]
    over = best(z, rate, order, (-1.0, 1.0)) - curve_of(pair, ALPHAS)
    assert over.max() > excess
    if bug == "remove for add":  # it looks right for every ε >= 0
        assert over[ALPHAS >= 1].max() < ROUNDING


def test_the_wrong_factor_is_caught_in_the_plane() -> None:
    found = attacks(
        Additive(GaussianNoise(1.0), 2, 0.1), Poisson(1.0), in_the_plane(samplings.Order.REPLACE, 2, taxicab=False)
    )
    assert (attained(found, ALPHAS) - curve_of(ShiftedGaussians(Fraction(1)), ALPHAS)).max() > 0.2


def test_a_distance_is_not_the_record_bound() -> None:
    """Two records that are near each other but far from the origin: why an explicit distance is refused here.

    Distance 1, so that a pair with components at +1/2 and -1/2 of the middle one might seem to do; but an output far
    out tells that the record was sampled, and nothing is left of the amplification.
    """

    def table(one: float, other: float) -> Table:
        laws = (Sum(np.array([0.9, 0.1]), np.array([[0.0], [mean]])) for mean in (one, other))
        return GaussianNoise(1.0).table(*laws, 0.02)

    over = divergence(table(9.0, 8.0), ALPHAS) - divergence(table(0.5, -0.5), ALPHAS)
    assert over[ALPHAS >= 1].max() > 0.02
