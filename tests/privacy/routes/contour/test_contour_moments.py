"""M(s) and every bound that goes into it, against integration in 40 digits or on fine grids.

The integrand is written a second time here, from the definition of the pairs, in mpmath (real and complex t) and numpy.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import wofz

from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour.choices import Bulk, Nodes
from dpbounds.privacy.routes.contour.landscape import RepeatedPair
from dpbounds.privacy.routes.contour.moments import Moments, soft_step, upper

ORDERS = tuple(Direction)
Array = NDArray[Any]  # real or complex


def hand_made(
    direction: Direction,
    q: float,
    z: float,
    *,
    step: float = 0.125,
    reach: float = 14.0,
    nodes_reach: float | None = None,
    strip: float | None = None,
    edge: float = 9.0,
    softness: float = 0.75,
    cells: int = 400,
    turn: float | None = None,
    bulk: Bulk | None = None,
    count: int = 1,
    lifted: bool = False,
) -> Nodes:
    """Nodes chosen without the planner: symmetric about 0, cells half as far out again as the nodes."""
    part = RepeatedPair(SampledGaussians(direction, Fraction(q), Fraction(z) ** 2), count)
    outermost = max(reach, edge + 3 * softness, 1 / z)
    last, beyond = (
        math.ceil((outermost if nodes_reach is None else nodes_reach) / step),
        math.ceil(1.5 * outermost / step),
    )
    ends = (-beyond * step, -last * step, last * step, beyond * step)
    corners = tuple(sorted({*ends, *(float(t) for t in np.linspace(ends[0], ends[-1], cells + 1))}))
    half_width = min(1.0, 0.4 * math.pi * z) if strip is None else strip
    return Nodes(part, step, -last, last, half_width, corners, edge, softness, turn, bulk, lifted)


def exact_integrand(nodes: Nodes, s: mpmath.mpc, t: mpmath.mpf, share: str = "all") -> mpmath.mpc:
    """F(t; s), ψF ("bulk") or (1-ψ)F ("jumps"), straight from the densities; t real or complex."""
    pair = nodes.part.pair
    q = mpmath.mpf(pair.sample_rate.numerator) / pair.sample_rate.denominator
    z = mpmath.sqrt(mpmath.mpf(pair.variance.numerator) / pair.variance.denominator)

    def ratio(sign: int) -> mpmath.mpf:
        return 1 - q + q * mpmath.exp(sign * t / z - 1 / (2 * z * z))

    density = mpmath.exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi)
    if nodes.part.direction is Direction.ADD:
        value = density * mpmath.exp(-s * mpmath.log(ratio(1)))
    else:
        loss = mpmath.log(ratio(1)) - (mpmath.log(ratio(-1)) if nodes.part.direction is Direction.REPLACE else 0)
        kept = mpmath.erfc((t - nodes.edge) / nodes.softness) / 2
        value = density * ratio(1) * kept * mpmath.exp(s * loss)
    if share == "all":
        return value
    assert nodes.bulk is not None
    sign = 1 if share == "bulk" else -1
    return value * mpmath.erfc(sign * (t - nodes.bulk.edge) / nodes.bulk.softness) / 2


def exact_moment(nodes: Nodes, s: complex, share: str = "all") -> mpmath.mpc:
    """∫ F(t; s) dt by Gauss-Legendre with 40 digits; beyond ±16 the integrand is below 1e-45 of its peak here."""
    with mpmath.workdps(40):
        exponent = mpmath.mpc(s)
        pieces = list(range(-16, 17, 2))
        return mpmath.quad(
            lambda t: exact_integrand(nodes, exponent, t, share), pieces, method="gauss-legendre", maxdegree=6
        )


def encloses(value: arb, truth: mpmath.mpf) -> bool:
    """Whether the ball can hold the number, which is good to 30 digits of 1 or of itself."""
    with ctx.workprec(200):
        number = arb(mpmath.nstr(truth, 40))
        return bool(value.overlaps(number + arb(0, max(1.0, abs(float(truth))) * 1e-30)))


def soft_step_off_the_line(x: Array) -> Array:
    """erfc(x)/2 for complex x, from the Faddeeva function."""
    near = np.where(x.real > 0, x, -x)
    small = np.exp(-near * near) * wofz(1j * near)
    return np.asarray(np.where(x.real > 0, small, 2 - small) / 2)


def numerical_integrand(nodes: Nodes, s: complex, t: Array, share: str = "all") -> Array:
    """The same as ``exact_integrand``, in double precision, for arrays."""
    part = nodes.part

    def log_ratio(sign: int) -> Array:
        return np.log(1 - part.q + part.q * np.exp(sign * t / part.z - 0.5 / part.z**2))

    if part.direction is Direction.ADD:
        value = np.exp(-0.5 * t * t - s * log_ratio(1)) / math.sqrt(2 * math.pi)
    else:
        loss = log_ratio(1) - (log_ratio(-1) if part.direction is Direction.REPLACE else 0)
        value = np.exp(-0.5 * t * t + log_ratio(1) + s * loss) / math.sqrt(2 * math.pi)
        value = value * soft_step_off_the_line((t - nodes.edge) / nodes.softness)
    if share == "all":
        return value
    assert nodes.bulk is not None
    sign = 1 if share == "bulk" else -1
    return value * soft_step_off_the_line(sign * (t - nodes.bulk.edge) / nodes.bulk.softness)


def integrated_modulus(nodes: Nodes, s: complex, y: float, share: str = "all") -> float:
    """∫ |F(t + iy; s)| dt on a fine grid over all that matters."""
    t = np.linspace(-16.0, 16.0, 12801)
    return float(np.abs(numerical_integrand(nodes, s, t + 1j * y, share)).sum() * (t[1] - t[0]))


# --- values ----------------------------------------------------------------------------------------------------------

CASES = [(0.01, 1.0), (0.3, 0.5), (0.9, 2.0), (1e-5, 0.7), (1.0, 1.5)]


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize(("q", "z"), CASES)
@pytest.mark.parametrize("lifted", [False, True])
def test_moments_enclose_integrals_in_forty_digits(direction: Direction, q: float, z: float, lifted: bool) -> None:
    nodes = hand_made(direction, q, z, step=0.0625, lifted=lifted)
    with ctx.workprec(160):
        moments = Moments(nodes)
        real = moments.at_real(1.75)
        along, _ = moments.at_frequencies(1.75, 0.75, 5, 100.0)
        assert real.rel_accuracy_bits() > 25
        assert encloses(real, exact_moment(nodes, 1.75).real)
        truth = exact_moment(nodes, complex(1.75, 0.75 * 5))
        assert encloses(along[5].real, truth.real)
        assert encloses(along[5].imag, truth.imag)
        assert along[5].real.rad() < 1e-6 * real


@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("lifted", [False, True])
def test_many_frequencies_at_once_agree_with_the_definition(direction: Direction, lifted: bool) -> None:
    # the baby and giant steps must put every frequency in its place, also where K + 1 is no square
    nodes = hand_made(direction, 0.2, 1.0, step=0.125, lifted=lifted)
    with ctx.workprec(128):
        moments = Moments(nodes)
        for frequencies in (0, 1, 3, 4, 11):
            along, _ = moments.at_frequencies(0.5, 0.3125, frequencies, 100.0)
            assert len(along) == frequencies + 1
            for k, value in enumerate(along):
                t = np.linspace(-15, 15, 6001)
                truth = numerical_integrand(nodes, complex(0.5, 0.3125 * k), t + 0j).sum() * (t[1] - t[0])
                assert abs(complex(value) - truth) < 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("step", [0.75, 1.0, 1.375])
def test_coarse_steps_pay_for_themselves(direction: Direction, step: float) -> None:
    """Where the trapezoidal rule is visibly wrong the ball must be wide enough, and not absurdly wide."""
    nodes = hand_made(direction, 0.3, 0.6, step=step, strip=0.9)
    truth, turned = exact_moment(nodes, 2.0).real, exact_moment(nodes, 2 + 1.5j)
    with ctx.workprec(128):
        moments = Moments(nodes)
        plain = sum(moments.tilted(2.0), arb(0))
        missed = abs(float(plain) - float(truth))
        bound = float(moments.error(2.0, 0.0))
        assert 1e-9 * float(truth) < missed <= bound < 1e6 * missed
        assert encloses(moments.at_real(2.0), truth) if bound < float(truth) else True
        value = moments.at_frequencies(2.0, 1.5, 1, 100.0)[0][1]
        assert encloses(value.real, turned.real)
        assert encloses(value.imag, turned.imag)


@pytest.mark.rotating(4)
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("w", [0.0, 1.5, 60.0])
def test_lifted_nodes_are_no_further_off_than_they_say(direction: Direction, w: float) -> None:
    """At any frequency, where steps are coarse and where nodes are left out; and not absurdly wide."""
    for step, reach, strip in ((0.5, 14.0, 0.6), (0.625, 14.0, 0.75), (0.25, 2.0, 0.75)):
        nodes = hand_made(
            direction, 0.3, 0.6, step=step, strip=strip, edge=1.0, nodes_reach=reach, lifted=True, bulk=Bulk(0.5, 1.5)
        )
        with ctx.workprec(128):
            moments = Moments(nodes)
            for share, weights in zip(("all", "bulk"), moments._lifted(2.0)[0], strict=True):
                losses = moments._lifted(2.0)[1]
                terms = (value * (acb(0, w) * loss).exp() for value, loss in zip(weights, losses, strict=True))
                t = np.linspace(-15, 15, 48001)
                truth = numerical_integrand(nodes, complex(2.0, w), t + 0j, share).sum() * (t[1] - t[0])
                missed = abs(complex(sum(terms, acb(0))) - truth)
                bound = float(moments._lifted_error(2.0, share == "bulk"))
                assert missed <= bound * (1 + 1e-9) + 1e-12
                assert w > 2 or missed > 1e-8
                assert w > 0 or bound < 1e6 * missed


@pytest.mark.parametrize("direction", ORDERS)
def test_a_low_line_is_as_good_at_any_frequency(direction: Direction) -> None:
    """On the real line the same nodes are useless where the frequency is high."""
    low, high = (hand_made(direction, 0.05, 0.8, step=0.0625, strip=0.5, lifted=lifted) for lifted in (True, False))
    with ctx.workprec(160):
        for spacing in (1.0, 1000.0):
            values = [Moments(nodes).at_frequencies(1.5, spacing, 2, 100.0)[0][2] for nodes in (low, high)]
            assert values[0].overlaps(values[1])
            assert values[0].real.rad() < 1e-13
            assert (values[1].real.rad() < 1e-13) == (spacing == 1.0)


@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("reach", [1.0, 2.0, 3.5])
def test_too_few_nodes_pay_for_themselves(direction: Direction, reach: float) -> None:
    nodes = hand_made(direction, 0.3, 1.0, step=0.125, edge=-1.0, softness=1.0, nodes_reach=reach, cells=2000)
    with ctx.workprec(128):
        moments = Moments(nodes)
        missed = abs(float(exact_moment(nodes, 0.5).real) - float(sum(moments.tilted(0.5), arb(0))))
        bound = float(moments.error(0.5, 0.0))
        assert 1e-6 < missed <= bound < 50 * missed


@pytest.mark.thorough
@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.REPLACE])
def test_the_bulk_and_the_jumps_add_up(direction: Direction) -> None:
    nodes = hand_made(direction, 0.05, 0.8, step=0.0625, strip=0.35, bulk=Bulk(2.0, 0.375))
    with ctx.workprec(160):
        moments = Moments(nodes)
        bulk = moments.bulk_at_real(1.5)
        truth = exact_moment(nodes, 1.5, "bulk").real
        assert encloses(bulk, truth)
        assert bulk.rel_accuracy_bits() > 25
        assert bulk < moments.at_real(1.5)
        whole, bulks = moments.at_frequencies(1.5, 1.25, 3, 100.0)
        for k in (2,):
            s = complex(1.5, 1.25 * k)
            kept, jumps = exact_moment(nodes, s, "bulk"), exact_moment(nodes, s, "jumps")
            assert encloses(bulks[k].real, kept.real)
            assert encloses(bulks[k].imag, kept.imag)
            difference = whole[k] - bulks[k]
            assert encloses(difference.real, jumps.real)
            assert encloses(difference.imag, jumps.imag)


@pytest.mark.rotating(4)
@pytest.mark.parametrize(
    ("q", "z", "edge", "softness"), [(0.1, 1.0, 3.0, 0.5), (0.9, 0.5, 4.0, 1.0), (1e-4, 2.0, 1.0, 0.125)]
)
def test_the_mass_cut_off(q: float, z: float, edge: float, softness: float) -> None:
    nodes = hand_made(Direction.REMOVE, q, z, edge=edge, softness=softness)
    with mpmath.workdps(30):
        kept = exact_moment(nodes, 0.0).real
        with ctx.workprec(128):
            bound = Moments(nodes).cut_mass()
            assert float(bound) == pytest.approx(float(1 - kept), rel=1e-10)
            added = replace(nodes.part, pair=replace(nodes.part.pair, direction=Direction.ADD))
            assert float(Moments(replace(nodes, part=added)).cut_mass()) == 0


def test_nodes_lifted_beyond_the_branch_points_are_refused() -> None:
    nodes = hand_made(Direction.REMOVE, 0.3, 1.0, strip=0.51 * math.pi)
    Moments(nodes)
    with pytest.raises(Declined, match="2d < πz"):
        Moments(replace(nodes, lifted=True))


# --- bounds ----------------------------------------------------------------------------------------------------------

situations = st.fixed_dictionaries(
    {
        "order": st.sampled_from(ORDERS),
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


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(situations, st.booleans())
def test_the_line_bound_holds_everywhere_in_the_strip(case: dict[str, object], edge_line: bool) -> None:
    """The largest integral of |F| over lines within the strip is on its edge, and that is what is bounded."""
    q, z, tilt, frequency = (float(case[name]) for name in ("q", "z", "tilt", "frequency"))  # type: ignore[arg-type]
    strip = min(float(case["turn"]) * math.pi * z, 2.5)  # type: ignore[arg-type]
    nodes = hand_made(
        case["order"],  # type: ignore[arg-type]
        q,
        z,
        edge=float(case["edge"]),  # type: ignore[arg-type]
        softness=float(case["softness"]),  # type: ignore[arg-type]
        strip=strip,
        cells=case["cells"],  # type: ignore[arg-type]
        bulk=Bulk(1.0, 0.5),
    )
    y = math.copysign(strip, float(case["y"])) if edge_line else float(case["y"]) * strip  # type: ignore[arg-type]
    w = math.copysign(frequency, float(case["w"])) if edge_line else float(case["w"]) * frequency  # type: ignore[arg-type]
    with ctx.workprec(96):
        try:
            bounds = [float(Moments(nodes).line_integral(tilt, frequency, bulk)) for bulk in (False, True)]
        except Declined:
            return  # a tail that is not proven to decay is refused, never guessed
    for bound, share in zip(bounds, ("all", "bulk"), strict=True):
        assert integrated_modulus(nodes, complex(tilt, w), y, share) <= bound * (1 + 1e-9)


@settings(max_examples=60)
@given(situations)
def test_no_frequency_makes_the_integrand_grow_more_than_is_said(case: dict[str, Any]) -> None:
    """|F(t ± iy; λ + iw)| <= growth · F(t; λ) on the side where frequencies shrink it, point by point."""
    order, z, tilt, frequency = case["order"], case["z"], case["tilt"], 100 * case["frequency"]
    nodes = hand_made(
        order, case["q"], z, edge=case["edge"], softness=case["softness"], strip=min(case["turn"] * math.pi * z, 2.5)
    )
    nodes = replace(nodes, bulk=Bulk(1.0, 0.5))
    y = abs(case["y"]) * nodes.strip
    with ctx.workprec(96):
        moments = Moments(nodes)
        growth = [float(moments._growth(arb(y), tilt, bulk)) for bulk in (False, True)]
    t = np.linspace(-9.0, 9.0, 361)
    s, line = complex(tilt, abs(case["w"]) * frequency), t + (-1j if order is Direction.ADD else 1j) * y
    for bound, share in zip(growth, ("all", "bulk"), strict=True):
        here = np.abs(numerical_integrand(nodes, complex(tilt), t + 0j, share))
        there = np.abs(numerical_integrand(nodes, s, line, share))
        assert (there <= bound * here * (1 + 1e-6) + 1e-250).all()


@pytest.mark.parametrize("direction", ORDERS)
def test_the_line_bound_is_close_where_the_cells_are_fine(direction: Direction) -> None:
    nodes = hand_made(direction, 0.3, 0.8, strip=1.2, cells=3000)
    with ctx.workprec(96):
        bound = float(Moments(nodes).line_integral(1.0, 4.0))
    largest = max(integrated_modulus(nodes, complex(1.0, w), y) for w in (-4.0, 4.0) for y in (-1.2, 1.2))
    # two things cost: the first factor's own dent, and the cut-off's growth
    assert largest <= bound <= 40 * largest


@pytest.mark.thorough
@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(ORDERS),
    st.floats(1e-6, 1.0),
    st.floats(0.2, 4.0),
    st.floats(0.0, 8.0),
    st.floats(0.05, 4.0),
    st.floats(0.05, 3.0),
    st.booleans(),
)
def test_tails_bound_integrals_and_coarse_sums(
    direction: Direction, q: float, z: float, tilt: float, beyond: float, step: float, bulk: bool
) -> None:
    nodes = hand_made(direction, q, z, edge=3.0, softness=0.6, bulk=Bulk(2.0, 0.5))
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
            sign = 1 if right else -1
            share = "bulk" if bulk else "all"
            for width in (step, 1e-3):
                u = width * np.arange(1, 1 + int(14 / width))
                values = numerical_integrand(nodes, complex(tilt), at + sign * u + 0j, share).real
                assert float(values.sum()) * width <= bound * (1 + 1e-6) + 1e-280


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 3.14), st.floats(0, 1))
def test_angle_and_dent(p_one: float, p_two: float, v: float, where: float) -> None:
    low, high = sorted((p_one, p_two))
    p = low + where * (high - low)
    moments = Moments(hand_made(Direction.REMOVE, 0.3, 1.0))
    turned = 1 - p + p * complex(math.cos(v), math.sin(v))
    dent = float(upper(moments.dent(arb(low), arb(high), arb(v))))
    assert 1 - abs(turned) ** 2 <= dent + 1e-12
    assert float(moments.angle(arb(low), arb(v))) - 1e-9 <= math.atan2(turned.imag, turned.real)
    assert math.atan2(turned.imag, turned.real) <= float(moments.angle(arb(high), arb(v))) + 1e-9


@pytest.mark.parametrize("x", [-40.0, -7.5, -6.0001, -6.0, -1.0, 0.0, 3.0, 30.0])
def test_the_soft_step_is_enclosed(x: float) -> None:
    with mpmath.workdps(60), ctx.workprec(180):
        assert encloses(soft_step(arb(x)), mpmath.erfc(x) / 2)
        for end in (x - 0.01, x + 0.01):
            assert encloses(soft_step(arb(x, 0.011)), mpmath.erfc(end) / 2)


def test_bounds_stay_valid_when_the_precision_changes() -> None:
    """Cached balls belong to one object and one precision, but no precision can make them wrong."""
    nodes = hand_made(Direction.REPLACE, 0.2, 1.0, step=0.0625)
    truth = exact_moment(nodes, 1.0).real
    moments = Moments(nodes)
    for precision in (40, 200, 60):
        with ctx.workprec(precision):
            assert encloses(moments.at_real(1.0), truth)


# --- conditions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "changes", "words"),
    [
        (Direction.REMOVE, {"strip": 4.0}, "branch points"),
        (Direction.REMOVE, {"corners": (-20.0, 1.0, 0.0, 20.0)}, "increase"),
        (Direction.REMOVE, {"corners": (-0.25, 14.0, 20.0)}, "left of the cells"),
        (Direction.REPLACE, {"corners": (-0.25, 14.0, 20.0)}, "left of the cells"),
        (Direction.REMOVE, {"corners": (-20.0, -14.0, 8.0)}, "beyond the cut-off"),
        (Direction.ADD, {"corners": (-20.0, -14.0, 0.25)}, "right of the cells"),
        (Direction.ADD, {"corners": (0.0, 14.0, 20.0)}, "left of 0"),
        (Direction.ADD, {"corners": (-20.0, -14.0, 14.0, 20.03125)}, "whole number of steps"),
        (Direction.ADD, {"corners": (-20.0, 14.0, 20.0)}, "straddles the first node"),
        (Direction.ADD, {"corners": (-20.0, -14.0, 20.0)}, "straddles the last node"),
    ],
)
def test_unmet_conditions_are_refused(direction: Direction, changes: dict[str, object], words: str) -> None:
    nodes = replace(hand_made(direction, 0.3, 1.0), **changes)  # type: ignore[arg-type]
    with ctx.workprec(96), pytest.raises(Declined, match=words):
        Moments(nodes).at_real(1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"strip": -0.5},
        {"strip": 0.0},
        {"softness": -0.5},  # the cut-off would keep the large losses and drop the others
        {"softness": 0.0},
        {"bulk": Bulk(20.0, -0.5)},
        {"step": -0.125, "first": 112, "last": -112},
        {"step": -0.125},
    ],
)
def test_signs_that_the_proof_takes_for_granted_are_asserted(changes: dict[str, object]) -> None:
    nodes = replace(hand_made(Direction.REMOVE, 0.3, 1.0), **changes)  # type: ignore[arg-type]
    with ctx.workprec(96), pytest.raises(Declined, match="positive"):
        Moments(nodes)


# --- without cells ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize(("q", "z"), CASES)
def test_without_cells_moments_enclose_integrals_in_forty_digits(direction: Direction, q: float, z: float) -> None:
    nodes = replace(hand_made(direction, q, z, step=0.0625), corners=())
    with ctx.workprec(160):
        moments = Moments(nodes)
        real = moments.at_real(1.75)
        along, _ = moments.at_frequencies(1.75, 0.75, 5, 100.0)
        assert real.rel_accuracy_bits() > 20
        assert encloses(real, exact_moment(nodes, 1.75).real)
        truth = exact_moment(nodes, complex(1.75, 0.75 * 5))
        assert encloses(along[5].real, truth.real)
        assert encloses(along[5].imag, truth.imag)


@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("q", [0.3, 0.9])  # for the replace order on both sides of p + p₋ <= 1
@pytest.mark.parametrize("step", [0.5, 0.75])
def test_without_cells_coarse_steps_pay_for_themselves(direction: Direction, q: float, step: float) -> None:
    nodes = replace(hand_made(direction, q, 0.8, step=step, strip=0.9), corners=())
    with ctx.workprec(128):
        moments = Moments(nodes)
        for tilt, frequency in ((0.5, 0.0), (2.0, 0.0), (2.0, 2.5), (0.5, 6.0)):
            t = np.linspace(-16, 16, 25601)
            truth = numerical_integrand(nodes, complex(tilt, frequency), t + 0j).sum() * (t[1] - t[0])
            points = step * np.arange(nodes.first, nodes.last + 1)
            plain = step * numerical_integrand(nodes, complex(tilt, frequency), points + 0j).sum()
            try:
                bound = float(moments.error(tilt, frequency))
            except Declined:
                continue
            assert abs(plain - truth) <= bound + 1e-9 * abs(truth)


@pytest.mark.rotating(4)
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("q", [0.001, 0.3, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("z", [0.6, 1.5])
def test_off_the_line_the_integrand_is_at_most_a_multiple_of_itself(direction: Direction, q: float, z: float) -> None:
    """Section 6, *Without cells*: pointwise, on lines up to near the branch points."""
    t = np.linspace(-14, 14, 4001)
    for share in (0.2, 0.6, 0.9):
        nodes = replace(hand_made(direction, q, z, strip=share * math.pi * z), corners=())
        with ctx.workprec(128):
            moments = Moments(nodes)
            decay = (2 * arb.pi() * moments.strip / moments.step).exp() - 1
            for tilt, frequency in ((0.0, 0.0), (1.5, 0.0), (1.5, 4.0), (6.0, 0.5)):
                multiple = float(moments._mistake(tilt, frequency) * decay / 2)
                on_line = np.abs(numerical_integrand(nodes, complex(tilt, 0), t + 0j))
                for sign in (1, -1):
                    s = complex(tilt, frequency)
                    off = np.abs(numerical_integrand(nodes, s, t + 1j * sign * nodes.strip))
                    assert np.all(off <= multiple * on_line * (1 + 1e-9) + 1e-290)


@pytest.mark.parametrize("direction", ORDERS)
def test_without_cells_the_ends_of_the_nodes_must_be_far_out(direction: Direction) -> None:
    nodes = replace(hand_made(direction, 0.3, 1.0), corners=())
    with ctx.workprec(128):
        for first, last in ((1, nodes.last), (nodes.first, 2)):
            with pytest.raises(Declined, match="condition not proven"):
                Moments(replace(nodes, first=first, last=last)).error(3.0, 0.0)
        with pytest.raises(Declined, match="a split law has cells"):
            Moments(nodes).error(1.0, 0.0, True)
        with pytest.raises(Declined, match="close enough"):
            Moments(replace(nodes, strip=1e-3)).error(1.0, 0.0)
