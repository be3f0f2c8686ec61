"""What the contour beyond its last frequency can hold: each bound against |M(λ + iw)| itself, for many w."""

import math
from functools import partial

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings, strategies as st

from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour.choices import Bulk
from dpbounds.privacy.routes.contour.moments import Moments
from dpbounds.privacy.routes.contour.spectrum import layers
from dpbounds.privacy.routes.contour.tails import Rectangles, _rectangles, envelope, turned_bound
from tests.privacy.routes.contour import integrands
from tests.privacy.routes.twins import DIRECTIONS

hand_made = partial(integrands.hand_made, edge=6.0, cells=300)
every_direction = pytest.mark.parametrize("direction", DIRECTIONS)


def modulus(nodes, tilt, w):
    """|M(λ + iw)| (of the jumps' part where there is a bulk), and M(λ), by a fine sum over t."""
    t = np.linspace(-16.0, 16.0, 8001)
    loss, width = integrands.numerical_loss(nodes, t), t[1] - t[0]
    whole = float(integrands.numerical_integrand(nodes, tilt, t).real.sum() * width)
    share = "all" if nodes.bulk is None else "jumps"
    weight = integrands.numerical_integrand(nodes, tilt, t, share).real * width
    heavy = np.abs(weight) > 1e-15 * whole
    # the sum resolves e^{iwL} only while neighbouring nodes turn by less than half a circle
    assert w.max() * np.abs(np.diff(loss)).max() < 3.0
    return np.abs(np.exp(1j * np.multiply.outer(w, loss[heavy])) @ weight[heavy]), whole


def numerical_slope(nodes, t):
    """|dL/dt|."""

    def share(sign):
        jump = nodes.part.q * np.exp(sign * t / nodes.part.z - 0.5 / nodes.part.z**2)
        return jump / (1 - nodes.part.q + jump) / nodes.part.z

    return share(1) + (share(-1) if nodes.part.direction == "replace" else 0)


def ahead(frequency, z):
    """Many w >= frequency, densely at first, then far out; no further than ``modulus`` can follow."""
    w = np.concatenate([frequency * (1 + np.linspace(0, 3, 40)), frequency * np.geomspace(4, 60, 20)])
    return w[w <= max(frequency, 300.0 * z)]


# --- the envelope and the histogram ------------------------------------------------------------------------------


def test_the_envelope_lies_above_all_that_follows():
    x = np.linspace(1e-6, 60.0, 8_001)
    values = np.array([float(envelope(arb(point)).upper()) for point in x])
    largest_ahead = np.maximum.accumulate(np.abs(np.sinc(x / np.pi))[::-1])[::-1]
    assert (values >= largest_ahead - 1e-15).all()
    assert (np.diff(values) <= 1e-15).all()
    assert values[-1] == pytest.approx(1 / 60)
    for ball in (arb(3, 0.5), arb(2.9, 0.2), arb(3, 2)):  # where a ball straddles its corner
        assert envelope(ball).upper() >= max(math.sin(2.5) / 2.5, 0.25)
    assert float(envelope(arb(0)).upper()) == 1.0  # a rectangle without length loses nothing


@pytest.mark.seconds
@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 1 << 130) | st.integers(0, 4), st.integers(1, 9)), max_size=24))
def test_the_histogram_is_the_sum_of_its_rectangles(cells):
    heights, lengths = [height for height, _ in cells], [length for _, length in cells]
    total, ends = [0] * len(cells), [0, *np.cumsum(lengths).tolist()]
    found = _rectangles(heights)
    for height, first, end in found:
        assert height > 0
        assert 0 <= first < end <= len(heights)
        for cell in range(first, end):
            total[cell] += int(height)
    assert total == heights
    assert len(found) <= len(heights)
    # the planner's is the same one
    exact = sorted((int(height), ends[end] - ends[first]) for height, first, end in found)
    assert sorted(layers(heights, lengths)) == exact


# --- rectangles --------------------------------------------------------------------------------------------------


@pytest.mark.seconds
@every_direction
@pytest.mark.parametrize("q", [1e-4, 0.3, 1.0])
@pytest.mark.parametrize("z", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("tilt", [0.25, 3.0])
def test_rectangles_bound_every_later_frequency(direction, q, z, tilt):
    nodes = hand_made(direction, q, z)
    with ctx.workprec(128):
        rectangles = Rectangles(Moments(nodes), tilt, 1)
        for frequency in np.geomspace(0.3, 300 * z, 8):
            bound = float(rectangles.bound(arb(float(frequency))))
            values, whole = modulus(nodes, tilt, ahead(float(frequency), z))
            assert values.max() <= bound * (1 + 1e-9) + 1e-12 * whole
            assert bound <= whole * (1 + 1e-9)


@every_direction
def test_rectangles_are_close_at_small_frequencies(direction):
    """To second order in w for one hump: the exponent that decides how many frequencies are needed."""
    nodes = hand_made(direction, 0.3, 1.0)
    with ctx.workprec(128):
        rectangles = Rectangles(Moments(nodes), 1.0, 1)
        for frequency in (0.3, 1.0, 2.0):
            (value,), whole = modulus(nodes, 1.0, np.array([frequency]))
            lost = 1 - float(rectangles.bound(arb(frequency))) / whole
            assert 1.0 + 1e-9 > lost / (1 - value / whole) > 0.5


def test_rectangles_where_all_tilted_masses_underflow():
    """M is a ball and may lie far below the smallest double: answer or decline, never an IndexError."""
    nodes = hand_made(Direction.ADD, 0.9, 0.5, step=0.0625)
    with ctx.workprec(128):
        try:
            bound = Rectangles(Moments(nodes), 900.0, 1).bound(arb(1))
        except Declined:
            return
        assert bound.is_finite()


@pytest.mark.seconds
@settings(max_examples=40)
@given(st.sampled_from(DIRECTIONS), st.floats(1e-5, 1), st.floats(0.4, 3), st.floats(0, 5), st.integers(3, 14))
def test_rectangles_lie_below_the_density(direction, q, z, tilt, step):
    """The step function's integral over any stretch of losses is at most the tilted law's mass there."""
    nodes = hand_made(direction, q, z, step=step / 64)
    with ctx.workprec(128):
        moments = Moments(nodes)
        try:
            rectangles = Rectangles(moments, tilt, 1)
        except Declined:
            assume(False)
        covered = float((sum((h * length for h, length in rectangles.rectangles), arb(0)) * rectangles.scale).upper())
        _, whole = modulus(nodes, tilt, np.array([0.0]))
        assert covered <= whole * (1 + 1e-9)
        assert all(not length < 0 for _, length in rectangles.rectangles)


@every_direction
@pytest.mark.parametrize(("q", "z", "tilt"), [(1e-3, 0.4, 4.0), (0.02, 0.5, 2.0)])
def test_every_step_lies_below_the_density_in_its_cell(direction, q, z, tilt):
    """Also where the density is lower within the cell than at both ends, as between two humps."""
    nodes = hand_made(direction, q, z, step=0.25)
    with ctx.workprec(128):
        rectangles = Rectangles(Moments(nodes), tilt, 100)
        cells = [(float((height * rectangles.scale).lower()), *map(float, ends)) for height, *ends in rectangles.cells]
    sagging = 0
    for height, left, right in cells:
        t = np.linspace(left, right, 41)
        density = integrands.numerical_integrand(nodes, tilt, t).real / numerical_slope(nodes, t)
        assert height <= density.min() * (1 + 1e-9)
        sagging += density.min() < min(density[0], density[-1]) * (1 - 1e-6)
    assert sagging or direction is not Direction.REMOVE


def test_rectangles_survive_losses_too_close_to_tell_apart():
    """Far left of a rare and large jump all losses agree to the last bit: cells without length, not an error."""
    nodes = hand_made(Direction.REMOVE, 1e-6, 0.25, edge=9.0)
    with ctx.workprec(64):
        bound = Rectangles(Moments(nodes), 0.5, 1).bound(arb(10))
        assert bound.is_finite()
        assert float(bound) >= modulus(nodes, 0.5, ahead(10.0, 0.25))[0].max() * (1 - 1e-9)


# --- turned lines ------------------------------------------------------------------------------------------------


@pytest.mark.seconds
@settings(max_examples=80)
@given(
    st.sampled_from(DIRECTIONS),
    st.floats(1e-4, 1.0),
    st.floats(0.3, 3.0),
    st.floats(0.0, 4.0),
    st.floats(0.01, 0.97),
    st.floats(0.2, 60.0),  # w
    st.one_of(st.none(), st.builds(Bulk, st.floats(-2.0, 5.0), st.floats(0.1, 1.0))),
    st.sampled_from([8, 40, 300]),
)
def test_turned_lines_bound_every_later_frequency(direction, q, z, tilt, turn, frequency, bulk, cells):
    nodes = hand_made(direction, q, z, turn=min(turn * math.pi * z, 3.0), bulk=bulk, cells=cells)
    with ctx.workprec(96):
        try:
            bound, later = (float(turned_bound(Moments(nodes), tilt, arb(k * frequency))) for k in (1, 2))
        except Declined:
            return  # a tail that is not proven to decay is refused
    values, whole = modulus(nodes, tilt, ahead(frequency, z))
    assert values.max() <= bound * (1 + 1e-9) + 2e-12 * whole
    assert later <= bound * (1 + 1e-12)


@pytest.mark.parametrize(("direction", "turn"), [("remove", 0.5), ("replace", 0.5), ("add", 1.0)])
def test_turned_lines_show_exponential_decay(direction, turn):
    bulk = None if direction == "add" else Bulk(1.0, 0.25)
    nodes = hand_made(Direction(direction), 0.9, 1.0, turn=turn, bulk=bulk, cells=1000)
    with ctx.workprec(96):
        moments = Moments(nodes)
        near, far = (float(turned_bound(moments, 0.5, arb(w))) for w in (5, 60))
        assert far < 1e-2 * near


@pytest.mark.parametrize("turn", [0.0, -0.5, 3.2])
def test_turns_outside_the_strip_are_refused(turn):
    nodes = hand_made(Direction.REMOVE, 0.3, 1.0, turn=turn)
    with ctx.workprec(96), pytest.raises(Declined):
        turned_bound(Moments(nodes), 1.0, arb(5))


@pytest.mark.seconds_cases("remove")
@every_direction
def test_growth_on_the_turned_line_must_be_paid(direction):
    """Without it the bound is broken, so that the test above would notice its loss."""
    softness, y, w = 0.5, 0.4, 0.05
    nodes = hand_made(direction, 0.4, 1.0, turn=y, softness=softness, cells=4000)
    growth = math.exp(y * y / 2 + (0 if direction is Direction.ADD else y * y / softness**2))
    with ctx.workprec(96):
        bound = float(turned_bound(Moments(nodes), 0.0, arb(w)))
    assert bound >= modulus(nodes, 0.0, np.array([w]))[0][0] > bound / growth
