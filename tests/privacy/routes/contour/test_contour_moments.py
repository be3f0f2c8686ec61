"""M(s) and every bound that goes into it, against integration in 40 digits or on fine grids."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings, strategies as st

from dpbounds.privacy.pairs.pairs import Direction
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour.choices import Bulk
from dpbounds.privacy.routes.contour.moments import Moments, angle, dent, soft_step, upper
from tests.privacy.routes.contour.integrands import (
    encloses,
    exact_moment,
    hand_made,
    integrated,
    integrated_modulus,
    numerical_integrand,
)
from tests.privacy.routes.twins import DIRECTIONS

every_direction = pytest.mark.parametrize("direction", DIRECTIONS)

# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.seconds
@every_direction
@pytest.mark.parametrize(("q", "z"), [(0.01, 1.0), (0.3, 0.5), (0.9, 2.0), (1e-5, 0.7), (1.0, 1.5)])
@pytest.mark.parametrize("kind", ["plain", "lifted", "without cells"])
def test_moments_enclose_integrals_in_forty_digits(direction, q, z, kind):
    nodes = hand_made(direction, q, z, step=0.0625, lifted=kind == "lifted")
    if kind == "without cells":
        nodes = replace(nodes, corners=())
    with ctx.workprec(160):
        moments = Moments(nodes)
        value = moments.at_real(1.75)
        along, _ = moments.at_frequencies(1.75, 0.75, 5, 100.0)
        assert value.rel_accuracy_bits() > 20
        assert encloses(value, exact_moment(nodes, 1.75))
        assert encloses(along[5], exact_moment(nodes, complex(1.75, 0.75 * 5)))
        assert kind == "without cells" or along[5].real.rad() < 1e-6 * value


@every_direction
@pytest.mark.parametrize("lifted", [False, True])
def test_many_frequencies_at_once_agree_with_the_definition(direction, lifted):
    """Baby and giant steps put every frequency in its place, also where K + 1 is no square."""
    nodes = hand_made(direction, 0.2, 1.0, lifted=lifted)
    truth = [integrated(nodes, complex(0.5, 0.3125 * k)) for k in range(12)]
    with ctx.workprec(128):
        moments = Moments(nodes)
        for frequencies in (0, 1, 3, 4, 11):
            along, _ = moments.at_frequencies(0.5, 0.3125, frequencies, 100.0)
            assert len(along) == frequencies + 1
            assert all(abs(complex(value) - truth[k]) < 1e-9 for k, value in enumerate(along))


@pytest.mark.seconds
@every_direction
@pytest.mark.parametrize("step", [0.75, 1.0, 1.375])
def test_coarse_steps_pay_for_themselves(direction, step):
    """Where the trapezoidal rule is visibly wrong the ball must be wide enough, and not absurdly wide."""
    nodes = hand_made(direction, 0.3, 0.6, step=step, strip=0.9)
    truth, turned = exact_moment(nodes, 2.0).real, exact_moment(nodes, 2 + 1.5j)
    with ctx.workprec(128):
        moments = Moments(nodes)
        missed = abs(float(sum(moments.tilted(2.0), arb(0))) - float(truth))
        bound = float(moments.error(2.0, 0.0))
        assert 1e-9 * float(truth) < missed <= bound < 1e6 * missed
        assert bound >= float(truth) or encloses(moments.at_real(2.0), truth)
        assert encloses(moments.at_frequencies(2.0, 1.5, 1, 100.0)[0][1], turned)


@pytest.mark.one_in(4)
@every_direction
@pytest.mark.parametrize("w", [0.0, 1.5, 60.0])
def test_lifted_nodes_are_no_further_off_than_they_say(direction, w):
    """At any frequency, where steps are coarse and where nodes are left out; and not absurdly wide."""
    for step, reach, strip in ((0.5, 14.0, 0.6), (0.625, 14.0, 0.75), (0.25, 2.0, 0.75)):
        nodes = hand_made(
            direction, 0.3, 0.6, step=step, strip=strip, edge=1.0, nodes_reach=reach, lifted=True, bulk=Bulk(0.5, 1.5)
        )
        with ctx.workprec(128):
            moments = Moments(nodes)
            weights, losses = moments._lifted(2.0)
            for share, own in zip(("all", "bulk"), weights, strict=True):
                terms = (value * (acb(0, w) * loss).exp() for value, loss in zip(own, losses, strict=True))
                missed = abs(complex(sum(terms, acb(0))) - integrated(nodes, complex(2.0, w), share, 48001))
                bound = float(moments._lifted_error(2.0, share == "bulk"))
                assert missed <= bound * (1 + 1e-9) + 1e-12
                assert w > 2 or missed > 1e-8
                assert w > 0 or bound < 1e6 * missed


@pytest.mark.one_in(4)
@every_direction
def test_a_low_line_is_as_good_at_any_frequency(direction):
    """On the real line the same nodes are useless where the frequency is high."""
    low, high = (hand_made(direction, 0.05, 0.8, step=0.0625, strip=0.5, lifted=lifted) for lifted in (True, False))
    with ctx.workprec(160):
        for spacing in (1.0, 1000.0):
            values = [Moments(nodes).at_frequencies(1.5, spacing, 2, 100.0)[0][2] for nodes in (low, high)]
            assert values[0].overlaps(values[1])
            assert values[0].real.rad() < 1e-13
            assert (values[1].real.rad() < 1e-13) == (spacing == 1.0)


@every_direction
@pytest.mark.parametrize("reach", [1.0, 2.0, 3.5])
def test_too_few_nodes_pay_for_themselves(direction, reach):
    nodes = hand_made(direction, 0.3, 1.0, edge=-1.0, softness=1.0, nodes_reach=reach, cells=700)
    with ctx.workprec(128):
        moments = Moments(nodes)
        missed = abs(float(sum(moments.tilted(0.5), arb(0))) - integrated(nodes, 0.5).real)
        bound = float(moments.error(0.5, 0.0))
        assert 1e-6 < missed <= bound < 50 * missed


@pytest.mark.seconds
@pytest.mark.parametrize("direction", ["remove", "replace"])
def test_the_bulk_and_the_jumps_add_up(direction):
    nodes = hand_made(Direction(direction), 0.05, 0.8, step=0.0625, strip=0.35, bulk=Bulk(2.0, 0.375))
    s = 1.5 + 2.5j
    with ctx.workprec(160):
        moments = Moments(nodes)
        bulk = moments.bulk_at_real(1.5)
        assert encloses(bulk, exact_moment(nodes, 1.5, "bulk"))
        assert bulk.rel_accuracy_bits() > 25
        assert bulk < moments.at_real(1.5)
        whole, bulks = moments.at_frequencies(1.5, 1.25, 3, 100.0)
        assert encloses(bulks[2], exact_moment(nodes, s, "bulk"))
        assert encloses(whole[2] - bulks[2], exact_moment(nodes, s, "jumps"))


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("q", "z", "edge", "softness"), [(0.1, 1.0, 3.0, 0.5), (0.9, 0.5, 4.0, 1.0), (1e-4, 2.0, 1.0, 0.125)]
)
def test_the_mass_cut_off(q, z, edge, softness):
    nodes = hand_made(Direction.REMOVE, q, z, edge=edge, softness=softness)
    with mpmath.workdps(30), ctx.workprec(128):
        bound = Moments(nodes).cut_mass()
        assert float(bound) == pytest.approx(float(1 - exact_moment(nodes, 0.0).real), rel=1e-10)
        added = replace(nodes.part, pair=replace(nodes.part.pair, direction=Direction.ADD))
        assert float(Moments(replace(nodes, part=added)).cut_mass()) == 0


# --- bounds ----------------------------------------------------------------------------------------------------------

situations = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(DIRECTIONS),
        "q": st.floats(1e-6, 1.0),
        "z": st.floats(0.25, 4.0),
        "edge": st.floats(1.0, 7.0),
        "softness": st.floats(0.2, 1.5),
        "tilt": st.floats(0.0, 6.0),
        "frequency": st.floats(0.0, 30.0),
        "turn": st.floats(0.02, 0.97),  # d / πz
        "cells": st.sampled_from([6, 25, 150]),
        "y": st.floats(-1.0, 1.0),  # in units of d
        "w": st.floats(-1.0, 1.0),  # in units of the frequency
    }
)


def nodes_of(case):
    names = ("direction", "q", "z")
    shape = {name: case[name] for name in ("edge", "softness", "cells")}
    strip = min(case["turn"] * math.pi * case["z"], 2.5)
    return hand_made(*(case[name] for name in names), **shape, strip=strip, bulk=Bulk(1.0, 0.5))


@pytest.mark.seconds
@settings(max_examples=150)
@given(situations, st.booleans())
def test_the_line_bound_holds_everywhere_in_the_strip(case, edge_line):
    """The largest integral of |F| over lines within the strip is on its edge, and that is what is bounded."""
    nodes, tilt, frequency = nodes_of(case), case["tilt"], case["frequency"]
    y, w = case["y"] * nodes.strip, case["w"] * frequency
    if edge_line:
        y, w = math.copysign(nodes.strip, y), math.copysign(frequency, w)
    with ctx.workprec(96):
        try:
            bounds = [float(Moments(nodes).line_integral(tilt, frequency, bulk)) for bulk in (False, True)]
        except Declined:
            return  # a tail that is not proven to decay is refused, never guessed
    for bound, share in zip(bounds, ("all", "bulk"), strict=True):
        assert integrated_modulus(nodes, complex(tilt, w), y, share) <= bound * (1 + 1e-9)


@settings(max_examples=30)
@given(situations)
def test_no_frequency_makes_the_integrand_grow_more_than_is_said(case):
    """|F(t ± iy; λ + iw)| <= growth · F(t; λ) on the side where frequencies shrink it, point by point."""
    nodes, tilt = nodes_of(case | {"cells": 6}), case["tilt"]
    y = abs(case["y"]) * nodes.strip
    with ctx.workprec(96):
        moments = Moments(nodes)
        growth = [float(moments._growth(arb(y), tilt, bulk)) for bulk in (False, True)]
    t = np.linspace(-9.0, 9.0, 361)
    s = complex(tilt, abs(case["w"]) * 100 * case["frequency"])
    line = t + (-1j if case["direction"] is Direction.ADD else 1j) * y
    for bound, share in zip(growth, ("all", "bulk"), strict=True):
        here = np.abs(numerical_integrand(nodes, complex(tilt), t, share))
        there = np.abs(numerical_integrand(nodes, s, line, share))
        assert (there <= bound * here * (1 + 1e-6) + 1e-250).all()


@every_direction
def test_the_line_bound_is_close_where_the_cells_are_fine(direction):
    nodes = hand_made(direction, 0.3, 0.8, strip=1.2, cells=1500)
    with ctx.workprec(96):
        bound = float(Moments(nodes).line_integral(1.0, 4.0))
    largest = max(integrated_modulus(nodes, complex(1.0, w), y) for w in (-4.0, 4.0) for y in (-1.2, 1.2))
    # two things cost: the first factor's own dent, and the cut-off's growth
    assert largest <= bound <= 40 * largest


@pytest.mark.seconds
@settings(max_examples=120)
@given(situations, st.floats(0.05, 4.0), st.floats(0.05, 3.0), st.booleans())
def test_tails_bound_integrals_and_coarse_sums(case, beyond, step, bulk):
    direction, z, tilt = case["direction"], case["z"], case["tilt"]
    nodes = hand_made(direction, case["q"], z, edge=3.0, softness=0.6, bulk=Bulk(2.0, 0.5))
    start = -max(beyond, 0.5 / z if direction is not Direction.ADD else 0.0) - 1e-9
    end = max(3.0 + beyond, 0.5 / z) + 1e-9
    with ctx.workprec(96):
        moments = Moments(nodes)
        for at, right in ((start, False), (end, True)):
            point = moments.point(arb(at))
            try:
                bound = float(moments.right_tail(point, tilt, bulk) if right else moments.left_tail(point, tilt))
            except Declined:
                continue
            for width in (step, 1e-3):
                u = (1 if right else -1) * width * np.arange(1, 1 + int(14 / width))
                values = numerical_integrand(nodes, complex(tilt), at + u, "bulk" if bulk else "all").real
                assert float(values.sum()) * width <= bound * (1 + 1e-6) + 1e-280


@settings(max_examples=100)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 3.14), st.floats(0, 1))
def test_angle_and_dent(p_one, p_two, v, where):
    low, high = sorted((p_one, p_two))
    p = low + where * (high - low)
    turned = 1 - p + p * complex(math.cos(v), math.sin(v))
    argument = math.atan2(turned.imag, turned.real)
    assert 1 - abs(turned) ** 2 <= float(upper(dent(arb(low), arb(high), arb(v)))) + 1e-12
    least, most = (float(angle(arb(end), arb(v))) for end in (low, high))
    assert least - 1e-9 <= argument <= most + 1e-9


@every_direction
def test_no_point_of_a_cell_turns_or_shrinks_more_than_its_cell(direction):
    q, z = 0.3, 0.8
    nodes = hand_made(direction, q, z, cells=25)
    with ctx.workprec(96):
        moments = Moments(nodes)
        inner = zip(moments.cells, moments._cell_turns[1:-1], strict=True)
        cells = [(left.t, right.t, *bounds) for (left, right), bounds in inner]
        v = float(moments.turn)
    for left, right, turn, gone in (tuple(map(float, cell)) for cell in cells):
        t = np.linspace(left, right, 9)
        grown, shrunk = (q * np.exp(sign * t / z - 0.5 / z**2) for sign in (1, -1))
        ahead, behind = (1 + part / (1 - q + part) * np.expm1(1j * v) for part in (grown, shrunk))
        angle = np.angle(ahead) + (np.angle(behind) if direction == "replace" else 0)
        assert (angle <= turn + 1e-12).all()
        assert direction == "remove" or (1 - np.abs(ahead if direction == "add" else behind) ** 2 <= gone + 1e-12).all()


@pytest.mark.parametrize("x", [-40.0, -7.5, -6.0001, -6.0, -1.0, 0.0, 3.0, 30.0])
def test_the_soft_step_is_enclosed(x):
    with mpmath.workdps(60), ctx.workprec(180):
        assert encloses(soft_step(arb(x)), mpmath.erfc(x) / 2)
        for end in (x - 0.01, x + 0.01):
            assert encloses(soft_step(arb(x, 0.011)), mpmath.erfc(end) / 2)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_bounds_stay_valid_when_the_precision_changes():
    """Cached balls belong to one object and one precision, but no precision can make them wrong."""
    nodes = hand_made(Direction.REPLACE, 0.2, 1.0, step=0.0625)
    truth = exact_moment(nodes, 1.0)
    moments = Moments(nodes)
    for precision in (40, 200, 60):
        with ctx.workprec(precision):
            assert encloses(moments.at_real(1.0), truth)


# --- conditions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "changes", "words"),
    [
        ("remove", {"strip": 4.0}, "branch points"),
        ("remove", {"strip": 0.51 * math.pi, "lifted": True}, "2d < πz"),
        ("remove", {"corners": (-20.0, 1.0, 0.0, 20.0)}, "increase"),
        ("remove", {"corners": (-0.25, 14.0, 20.0)}, "left of the cells"),
        ("replace", {"corners": (-0.25, 14.0, 20.0)}, "left of the cells"),
        ("remove", {"corners": (-20.0, -14.0, 8.0)}, "beyond the cut-off"),
        ("add", {"corners": (-20.0, -14.0, 0.25)}, "right of the cells"),
        ("add", {"corners": (0.0, 14.0, 20.0)}, "left of 0"),
        ("add", {"corners": (-20.0, -14.0, 14.0, 20.03125)}, "whole number of steps"),
        ("add", {"corners": (-20.0, 14.0, 20.0)}, "straddles the first node"),
        ("add", {"corners": (-20.0, -14.0, 20.0)}, "straddles the last node"),
        # signs that the proof takes for granted
        ("remove", {"strip": -0.5}, "half-width is positive"),
        ("remove", {"strip": 0.0}, "half-width is positive"),
        (
            "remove",
            {"softness": -0.5},
            "cut-off's softness",
        ),  # the cut-off would keep the large losses and drop the others
        ("remove", {"softness": 0.0}, "cut-off's softness"),
        ("remove", {"bulk": Bulk(20.0, -0.5)}, "split's softness"),
        ("remove", {"step": -0.125, "first": 112, "last": -112}, "step is positive"),
        ("remove", {"step": -0.125}, "step is positive"),
    ],
)
def test_unmet_conditions_are_refused(direction, changes, words):
    nodes = hand_made(Direction(direction), 0.3, 1.0)
    with ctx.workprec(96):
        assert Moments(nodes).at_real(1.0) > 0
        with pytest.raises(Declined, match=words):
            Moments(replace(nodes, **changes)).at_real(1.0)


# --- without cells ---------------------------------------------------------------------------------------------------


@every_direction
@pytest.mark.parametrize("q", [0.3, 0.9])  # for the replace direction on both sides of p + p₋ <= 1
@pytest.mark.parametrize("step", [0.5, 0.75])
def test_without_cells_coarse_steps_pay_for_themselves(direction, q, step):
    nodes = replace(hand_made(direction, q, 0.8, step=step, strip=0.9), corners=())
    points = step * np.arange(nodes.first, nodes.last + 1)
    with ctx.workprec(128):
        moments = Moments(nodes)
        for tilt, frequency in ((0.5, 0.0), (2.0, 0.0), (2.0, 2.5), (0.5, 6.0)):
            s = complex(tilt, frequency)
            truth, plain = integrated(nodes, s, points=25601), step * numerical_integrand(nodes, s, points).sum()
            try:
                bound = float(moments.error(tilt, frequency))
            except Declined:
                continue
            assert abs(plain - truth) <= bound + 1e-9 * abs(truth)


@pytest.mark.one_in(4)
@every_direction
@pytest.mark.parametrize("q", [0.001, 0.3, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("z", [0.6, 1.5])
def test_off_the_line_the_integrand_is_at_most_a_multiple_of_itself(direction, q, z):
    """Section 6, *Without cells*: pointwise, on lines up to near the branch points."""
    t = np.linspace(-14, 14, 4001)
    for share in (0.2, 0.6, 0.9):
        nodes = replace(hand_made(direction, q, z, strip=share * math.pi * z), corners=())
        with ctx.workprec(128):
            moments = Moments(nodes)
            decay = (2 * arb.pi() * moments.strip / moments.step).exp() - 1
            for tilt, frequency in ((0.0, 0.0), (1.5, 0.0), (1.5, 4.0), (6.0, 0.5)):
                multiple = float(moments._mistake(tilt, frequency) * decay / 2)
                on_line = np.abs(numerical_integrand(nodes, complex(tilt, 0), t))
                for y in (nodes.strip, -nodes.strip):
                    off = np.abs(numerical_integrand(nodes, complex(tilt, frequency), t + 1j * y))
                    assert np.all(off <= multiple * on_line * (1 + 1e-9) + 1e-290)


@every_direction
def test_without_cells_the_ends_of_the_nodes_must_be_far_out(direction):
    nodes = replace(hand_made(direction, 0.3, 1.0), corners=())
    with ctx.workprec(128):
        for first, last in ((1, nodes.last), (nodes.first, 2)):
            with pytest.raises(Declined, match="condition not proven"):
                Moments(replace(nodes, first=first, last=last)).error(3.0, 0.0)
        with pytest.raises(Declined, match="a split distribution has cells"):
            Moments(nodes).error(1.0, 0.0, True)
        with pytest.raises(Declined, match="close enough"):
            Moments(replace(nodes, strip=1e-3)).error(1.0, 0.0)
