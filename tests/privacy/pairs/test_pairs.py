"""The package's Gaussian pairs against attacks of any size, and what is wrong against the same attacks.

``test_domination.py`` holds every pair against a second transcription, ``test_cells.py`` that against attacks. Here are
random attacks on the package's own answer, and planted bugs: pairs that somebody might have written, each is caught.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings, strategies as st

from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.relations import Order, Relation
from tests.privacy.oracle import samplings
from tests.privacy.oracle.attacks import attacks, attained
from tests.privacy.oracle.noise import Additive, Array, GaussianNoise
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
