"""Sums over nodes in fixed point, against balls at three times the precision and against exact integers."""

import cmath
import math

import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given, settings, strategies as st

from dpbounds.expressions.working import working
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour import power_sums as module
from dpbounds.privacy.routes.contour.power_sums import BITS, UNDIVIDED, power_sums

PRECISION = 256


def plainly(weights, angles, k):
    return sum((acb(w) * (acb(0, 1) * acb(a) * k).exp() for w, a in zip(weights, angles, strict=True)), acb(0))


def farthest(weights, angles, frequencies, bits):
    """The largest distance from the truth, in radii of the balls."""
    sums = power_sums([[acb(w) for w in weights]], [acb(a) for a in angles], frequencies, bits)[0]
    assert len(sums) == frequencies + 1
    with working(3 * PRECISION):
        distances = []
        for k, found in enumerate(sums):
            gap = found.mid() - plainly(weights, angles, k)
            distances.append(float((abs(gap.real).max(abs(gap.imag)) / found.real.rad()).upper()))
    return max(distances)


sizes = st.floats(0, 1) | st.floats(1e-30, 1e30)
circle = st.floats(-40, 40) | st.just(0.0)
below = st.floats(0, 3) | st.floats(0, 1e-6) | st.just(0.0)  # how far powers shrink


@pytest.mark.seconds
@pytest.mark.one_in(4)
@settings(max_examples=60)
@given(
    st.lists(st.tuples(sizes, circle, circle, below), min_size=1, max_size=40),
    st.integers(0, 40),
    st.floats(20, 150),
    st.booleans(),
)
def test_sums_enclose_the_definition(terms, frequencies, bits, real):
    """Positive weights and unit numbers, or complex weights and numbers of modulus up to 1."""
    weights = [size if real else cmath.rect(size, phase) for size, phase, _, _ in terms]
    if max(map(abs, weights)) == 0:
        weights[0] = 1.0
    with working(PRECISION):
        angles = [angle if real else complex(angle, shrink) for _, _, angle, shrink in terms]
        assert farthest(weights, angles, frequencies, bits) <= 1


@pytest.mark.parametrize("bits", [40.0, 84.0, 130.0])
@pytest.mark.parametrize("nodes", [3, 700])
def test_what_is_counted_as_lost_is_little(bits, nodes):
    random = np.random.default_rng(nodes)
    weights, angles = random.exponential(size=nodes).tolist(), random.normal(0, 3, nodes).tolist()
    with working(PRECISION):
        sums = power_sums([[acb(w) for w in weights]], [acb(a) for a in angles], 99, bits)[0]
        assert float(sums[7].real.rad()) < 2.0 ** (8 - max(bits, 3 * BITS)) * sum(weights) * 8


def test_several_lists_of_weights_share_the_powers():
    random = np.random.default_rng(1)
    first, second, angles = ([acb(x) for x in random.uniform(0, 2, 30).tolist()] for _ in range(3))
    with working(PRECISION):
        both = power_sums([first, second], angles, 10, 60)
        for index, own in enumerate((first, second)):
            alone = power_sums([own], angles, 10, 60)[0]
            assert all(one.overlaps(other) for one, other in zip(both[index], alone, strict=True))


@pytest.mark.parametrize("limbs", [3, 4, 5])
@pytest.mark.parametrize("nodes", [1, 1024, 2500])
def test_products_of_the_largest_limbs_are_exact(limbs, nodes):
    """All limbs at the ends of their range, one sign or mixed: the sums of products must come out as integers."""
    random = np.random.default_rng(limbs * nodes)
    for draw in (lambda shape: np.ones(shape, dtype=np.int64), lambda shape: random.choice([-1, 1], shape)):
        large, small = (draw((2, limbs, 3, nodes)) << (BITS - 1) for _ in range(2))
        for numbers in (large, small):
            numbers[:, -1] *= 2
            numbers[:, -1] += np.sign(numbers[:, -1])
        real, imaginary = module._product(large, small)
        ours = [[int(x) for x in column] for column in (real, imaginary)]
        left, right = large.astype(object), small.astype(object)
        for found, pairs in zip(ours, (((0, 0, 1), (1, 1, -1)), ((0, 1, 1), (1, 0, 1))), strict=True):
            exact = np.zeros((3, 3), dtype=object)
            for i in range(limbs):
                for j in range(max(0, limbs - 2 - i), limbs):
                    for a, b, sign in pairs:
                        exact += (sign * (left[a, i] @ right[b, j].T)) << (BITS * (i + j + 2 - limbs))
            assert found == exact.reshape(-1).tolist()


def test_a_matrix_product_of_limbs_stays_below_what_a_double_holds():
    assert module._NODES * ((1 << BITS) + 1) ** 2 < 1 << 53
    assert module._MOST_NODES * ((1 << BITS) + 1) ** 2 < 1 << 62
    assert UNDIVIDED // 16 <= 1 << 14


@pytest.mark.seconds
@settings(max_examples=80)
@given(
    st.integers(3, 6),
    st.lists(st.tuples(*[st.tuples(st.floats(-math.pi, math.pi), below)] * 2), min_size=1, max_size=20),
)
def test_products_are_at_most_one_unit_off(limbs, pairs):
    with working(40 * limbs):
        first, second = (module._disc([acb(*pair[side]) for pair in pairs], limbs) for side in (0, 1))
        found = module._multiplied(first, second)

    def whole(numbers, index):
        a, b = (sum(int(limb) << (BITS * i) for i, limb in enumerate(part[:, index])) for part in numbers)
        return a, b

    assert np.abs(found[:, :-1]).max() <= 1 << (BITS - 1)
    for index in range(len(pairs)):
        (a, b), (c, d), (x, y) = (whole(numbers, index) for numbers in (first, second, found))
        unit = 1 << (BITS * limbs)
        assert ((a * c - b * d) - x * unit) ** 2 + ((a * d + b * c) - y * unit) ** 2 <= unit**2


@pytest.mark.parametrize("limbs", [3, 5])
@pytest.mark.parametrize("count", [1, 2, 3, 37, 200])
def test_powers_are_no_further_off_than_they_say(limbs, count):
    angles = [acb(0.0), acb(1.0), acb(-2.5), acb(3.0), acb(1e-9), acb(-2.5, 0.01), acb(0.5, 3.0), acb(0.0, 1e-12)]
    with working(60 * limbs):
        table, error = module._powers(module._disc(angles, limbs), count)
        assert table.shape == (2, limbs, count, len(angles))
        unit = arb(2) ** -(BITS * limbs)
        for k in range(count):
            for j, angle in enumerate(angles):
                parts = [sum(int(limb) << (BITS * i) for i, limb in enumerate(side[:, k, j])) * unit for side in table]
                gap = acb(*parts) - (acb(0, 1) * angle * k).exp()
                assert abs(gap) <= (error + 1e-6) * unit


def test_too_little_precision_is_refused():
    weights, angles = [acb(1), acb("0.3")], [acb(1), acb(2)]
    with working(64), pytest.raises(Declined, match="last place"):
        power_sums([weights], [angle / 3 for angle in angles], 5, 100)
    with working(PRECISION), pytest.raises(Declined, match="at most 1"):
        power_sums([[acb(1), acb(arb(1.99, 0.1))]], angles, 5, 60)


def test_powers_that_grow_are_refused():
    with working(PRECISION), pytest.raises(Declined, match="no power grows"):
        power_sums([[acb(1), acb(1)]], [acb(1), acb(1, -1e-30)], 5, 60)


def test_errors_are_counted():
    with working(PRECISION):
        assert farthest([1.0, 0.5, 0.25j], [1.0, 2.0, complex(-3.0, 0.01)], 30, 60) <= 1
