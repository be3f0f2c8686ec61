"""What the contour beyond its last frequency can hold: each bound against |M(λ + iw)| itself, for many w."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import erfc

from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour.choices import Bulk, Nodes
from dpbounds.privacy.routes.contour.landscape import RepeatedPair
from dpbounds.privacy.routes.contour.moments import Moments
from dpbounds.privacy.routes.contour.spectrum import layers
from dpbounds.privacy.routes.contour.tails import Rectangles, _rectangles, envelope, turned_bound

ORDERS = tuple(Direction)
Floats = NDArray[np.float64]


def hand_made(
    direction: Direction,
    q: float,
    z: float,
    *,
    step: float = 0.125,
    edge: float = 6.0,
    softness: float = 0.75,
    cells: int = 300,
    turn: float | None = None,
    bulk: Bulk | None = None,
) -> Nodes:
    """Nodes chosen without the planner."""
    part = RepeatedPair(SampledGaussians(direction, Fraction(q), Fraction(z) ** 2), 1)
    reach = max(14.0, edge + 6 * softness, 1 / z)
    last, beyond = math.ceil(reach / step), math.ceil(1.2 * reach / step)
    ends = (-beyond * step, -last * step, last * step, beyond * step)
    corners = tuple(sorted({*ends, *(float(t) for t in np.linspace(ends[0], ends[-1], cells + 1))}))
    return Nodes(part, step, -last, last, min(0.7, 0.4 * math.pi * z), corners, edge, softness, turn, bulk)


def modulus(nodes: Nodes, tilt: float, w: Floats) -> tuple[Floats, float]:
    """|M(λ + iw)| (of the jumps' part where there is a bulk), and M(λ), by a fine sum over t."""
    part = nodes.part
    t = np.linspace(-16.0, 16.0, 8001)

    def log_ratio(sign: int) -> Floats:
        return np.asarray(np.log(1 - part.q + part.q * np.exp(sign * t / part.z - 0.5 / part.z**2)))

    loss = {
        Direction.REMOVE: log_ratio(1),
        Direction.ADD: -log_ratio(1),
        Direction.REPLACE: log_ratio(1) - log_ratio(-1),
    }[part.direction]
    exponent = -0.5 * t * t + tilt * loss + (0 if part.direction is Direction.ADD else log_ratio(1))
    weight = np.exp(exponent) * (t[1] - t[0]) / math.sqrt(2 * math.pi)
    if part.direction is not Direction.ADD:
        weight = weight * erfc((t - nodes.edge) / nodes.softness) / 2
    whole = float(weight.sum())
    if nodes.bulk is not None:
        weight = weight * erfc((nodes.bulk.edge - t) / nodes.bulk.softness) / 2
    heavy = np.abs(weight) > 1e-15 * whole
    # the sum resolves e^{iwL} only while neighbouring nodes turn by less than half a circle
    assert w.max() * np.abs(np.diff(loss)).max() < 3.0
    return np.abs(np.exp(1j * np.multiply.outer(w, loss[heavy])) @ weight[heavy]), whole


def ahead(frequency: float, z: float) -> Floats:
    """Many w >= frequency, densely at first, then far out; no further than ``modulus`` can follow."""
    w = np.concatenate([frequency * (1 + np.linspace(0, 3, 40)), frequency * np.geomspace(4, 60, 20)])
    return w[w <= max(frequency, 300.0 * z)]


# --- the envelope and the histogram ------------------------------------------------------------------------------


def test_the_envelope_lies_above_all_that_follows() -> None:
    x = np.linspace(1e-6, 60.0, 20_001)
    values = np.array([float(envelope(arb(point)).upper()) for point in x])
    largest_ahead = np.maximum.accumulate(np.abs(np.sinc(x / np.pi))[::-1])[::-1]
    assert (values >= largest_ahead - 1e-15).all()
    assert (np.diff(values) <= 1e-15).all()
    assert values[-1] == pytest.approx(1 / 60)


def test_the_envelope_where_a_ball_straddles_its_corner() -> None:
    for ball in (arb(3, 0.5), arb(2.9, 0.2), arb(3, 2)):
        assert envelope(ball).upper() >= max(math.sin(2.5) / 2.5, 0.25)


def test_the_envelope_at_zero_loses_nothing() -> None:
    """A rectangle without length must not turn the whole bound into nonsense."""
    with ctx.workprec(96):
        assert float(envelope(arb(0)).upper()) == 1.0


@pytest.mark.rotating(4)
@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 1 << 130) | st.integers(0, 4), max_size=24))
def test_the_histogram_is_the_sum_of_its_rectangles(heights: list[int]) -> None:
    total = [0] * len(heights)
    for height, first, end in _rectangles(heights):
        assert height > 0
        assert 0 <= first < end <= len(heights)
        for cell in range(first, end):
            total[cell] += int(height)
    assert total == heights
    assert len(_rectangles(heights)) <= len(heights)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), max_size=24))
def test_the_planners_histogram_is_the_same_one(cells: list[tuple[int, int]]) -> None:
    heights, lengths = [height for height, _ in cells], [length for _, length in cells]
    ends = [0, *np.cumsum(lengths).tolist()]
    exact = sorted((int(height), ends[end] - ends[first]) for height, first, end in _rectangles(heights))
    assert sorted(layers([float(h) for h in heights], [float(length) for length in lengths])) == exact


# --- rectangles --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("q", [1e-4, 0.3, 1.0])
@pytest.mark.parametrize("z", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("tilt", [0.25, 3.0])
def test_rectangles_bound_every_later_frequency(direction: Direction, q: float, z: float, tilt: float) -> None:
    nodes = hand_made(direction, q, z)
    with ctx.workprec(128):
        rectangles = Rectangles(Moments(nodes), tilt, 1)
        for frequency in np.geomspace(0.3, 300 * z, 8):
            bound = float(rectangles.bound(arb(float(frequency))))
            values, whole = modulus(nodes, tilt, ahead(float(frequency), z))
            assert values.max() <= bound * (1 + 1e-9) + 1e-12 * whole
            assert bound <= whole * (1 + 1e-9)


@pytest.mark.parametrize("direction", ORDERS)
def test_rectangles_are_close_at_small_frequencies(direction: Direction) -> None:
    """To second order in w for one hump: the exponent that decides how many frequencies are needed."""
    nodes = hand_made(direction, 0.3, 1.0)
    with ctx.workprec(128):
        rectangles = Rectangles(Moments(nodes), 1.0, 1)
        for frequency in (0.3, 1.0, 2.0):
            (value,), whole = modulus(nodes, 1.0, np.array([frequency]))
            assert 1 - float(rectangles.bound(arb(frequency))) / whole > 0.5 * (1 - value / whole)


def test_rectangles_where_all_tilted_masses_underflow() -> None:
    """M is a ball and may lie far below the smallest double: answer or decline, never an IndexError."""
    nodes = hand_made(Direction.ADD, 0.9, 0.5, step=0.0625)
    with ctx.workprec(128):
        try:
            bound = Rectangles(Moments(nodes), 900.0, 1).bound(arb(1))
        except Declined:
            return
        assert bound.is_finite()


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(ORDERS), st.floats(1e-5, 1), st.floats(0.4, 3), st.floats(0, 5), st.integers(3, 14))
def test_rectangles_lie_below_the_density(direction: Direction, q: float, z: float, tilt: float, step: int) -> None:
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


def test_rectangles_survive_losses_too_close_to_tell_apart() -> None:
    """Far left of a rare and large jump all losses agree to the last bit: cells without length, not an error."""
    nodes = hand_made(Direction.REMOVE, 1e-6, 0.25, edge=9.0)
    with ctx.workprec(64):
        rectangles = Rectangles(Moments(nodes), 0.5, 1)
        bound = rectangles.bound(arb(10))
        assert bound.is_finite()
        assert float(bound) >= modulus(nodes, 0.5, ahead(10.0, 0.25))[0].max() * (1 - 1e-9)


# --- turned lines ------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(ORDERS),
    st.floats(1e-4, 1.0),
    st.floats(0.3, 3.0),
    st.floats(0.0, 4.0),
    st.floats(0.01, 0.97),
    st.floats(0.2, 60.0),  # w
    st.one_of(st.none(), st.tuples(st.floats(-2.0, 5.0), st.floats(0.1, 1.0))),
    st.sampled_from([8, 40, 300]),
)
def test_turned_lines_bound_every_later_frequency(
    direction: Direction,
    q: float,
    z: float,
    tilt: float,
    turn: float,
    frequency: float,
    bulk: tuple[float, float] | None,
    cells: int,
) -> None:
    split = None if bulk is None else Bulk(*bulk)
    nodes = hand_made(direction, q, z, turn=min(turn * math.pi * z, 3.0), bulk=split, cells=cells)
    with ctx.workprec(96):
        try:
            bound = float(turned_bound(Moments(nodes), tilt, arb(frequency)))
            later = float(turned_bound(Moments(nodes), tilt, arb(2 * frequency)))
        except Declined:
            return  # a tail that is not proven to decay is refused
    values, whole = modulus(nodes, tilt, ahead(frequency, z))
    assert values.max() <= bound * (1 + 1e-9) + 2e-12 * whole
    assert later <= bound * (1 + 1e-12)


@pytest.mark.parametrize(
    ("direction", "turn"), [(Direction.REMOVE, 0.5), (Direction.REPLACE, 0.5), (Direction.ADD, 1.0)]
)
def test_turned_lines_show_exponential_decay(direction: Direction, turn: float) -> None:
    nodes = hand_made(
        direction, 0.9, 1.0, turn=turn, bulk=None if direction is Direction.ADD else Bulk(1.0, 0.25), cells=1000
    )
    with ctx.workprec(96):
        moments = Moments(nodes)
        near, far = (float(turned_bound(moments, 0.5, arb(w))) for w in (5, 60))
        assert far < 1e-2 * near


@pytest.mark.parametrize("turn", [0.0, -0.5, 3.2])
def test_turns_outside_the_strip_are_refused(turn: float) -> None:
    nodes = hand_made(Direction.REMOVE, 0.3, 1.0, turn=turn)
    with ctx.workprec(96), pytest.raises(Declined):
        turned_bound(Moments(nodes), 1.0, arb(5))


@pytest.mark.thorough_cases("remove")
@pytest.mark.parametrize("direction", ORDERS)
def test_growth_on_the_turned_line_must_be_paid(direction: Direction) -> None:
    """Without it the bound is broken, so that the test above would notice its loss."""
    softness, y, w = 0.5, 0.4, 0.05
    nodes = hand_made(direction, 0.4, 1.0, turn=y, softness=softness, cells=6000)
    growth = math.exp(y * y / 2 + (0 if direction is Direction.ADD else y * y / softness**2))
    with ctx.workprec(96):
        broken = float(turned_bound(Moments(nodes), 0.0, arb(w))) / growth
    assert modulus(nodes, 0.0, np.array([w]))[0][0] > broken
