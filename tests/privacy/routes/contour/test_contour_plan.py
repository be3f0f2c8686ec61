"""The planner's choices: that any choice is sound, that its own are good, and that searches in doubles are close."""

import functools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from hypothesis import given, strategies as st

from dpbounds.expressions.enclosure import ball_end
from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import closed_form_delta
from dpbounds.privacy.routes.contour import contour_delta, contour_epsilon
from dpbounds.privacy.routes.contour.choices import Bulk, dyadic
from dpbounds.privacy.routes.contour.curve import ContourCurve
from dpbounds.privacy.routes.contour.estimate import float_curve, settled_plan
from dpbounds.privacy.routes.contour.landscape import RepeatedPair
from dpbounds.privacy.routes.contour.plan import chernoff_plan, make_draft
from tests.privacy.routes.twins import DIRECTIONS, product

every_direction = pytest.mark.parametrize("direction", DIRECTIONS)

# --- every choice is sound -------------------------------------------------------------------------------------------

QUESTIONS = [
    (product("remove", (0.3, 1.5, 30)), "5/2"),
    (product("add", (0.3, 1.5, 30)), "5/2"),
    (product("replace", (0.3, 1.5, 30)), "5"),
    (product("remove", (0.05, 0.8, 40), (0.2, 2.0, 20), squared_shift="1/16"), "2"),
    (product("remove", (0.3, 1.0, 1)), "1/2"),  # peeled: one release, with a closed form
    (product("replace", (0.2, 0.8, 1)), "3/4"),
    (product("add", (0.6, 1.0, 1)), "1/4"),
]


@functools.cache
def base(index):
    """A modest plan, ε, and tight ends for δ(ε): the closed form where there is one."""
    question, text = QUESTIONS[index]
    epsilon = Fraction(text)
    plan = make_draft(question, epsilon=float(epsilon), accuracy=1e-4).finished()
    if len(question) == 1 and question[0][1] == 1:
        value, precision = closed_form_delta(question[0][0], epsilon)
        with ctx.workprec(precision):
            return plan, epsilon, (Fraction(float(value)) * (1 - Fraction(1, 10**14)),) * 2
    tight = contour_delta(question, epsilon).enclosure
    return plan, epsilon, (Fraction(tight.exact_lower), Fraction(tight.exact_upper))


def changed_nodes(nodes, change, random):
    """Other nodes, other cells, another cut-off; only what the proof asks of the cells' ends is kept."""
    step = dyadic(nodes.step * change["step"])  # few bits, so that corners on the grid are doubles
    first, last = (round(end / change["step"] * change["nodes"]) for end in (nodes.first, nodes.last))
    corners = nodes.corners or tuple(np.linspace(nodes.first - 9, nodes.last + 9, 150) * nodes.step)
    low = min(first, math.floor(corners[0] / step)) - 1
    high = max(last, math.ceil(corners[-1] / step)) + 1
    required = {float(Fraction(step) * end) for end in (low, first, last, high)}
    inner = {corner for corner in corners if low * step < corner < high * step and random.random() < change["kept"]}
    turn, bulk = nodes.turn, nodes.bulk
    if change["turn"] is not None:
        turn = change["turn"] * math.pi * nodes.part.z
    if bulk is not None:
        bulk, turn = change["bulk"], 0.4 if turn is None else turn
    bare = change["bare"] and bulk is None and turn is None
    return replace(
        nodes,
        step=step,
        first=first,
        last=last,
        strip=nodes.strip * change["strip"],
        corners=() if bare else tuple(sorted(required | inner)),
        edge=nodes.edge + change["edge"],
        softness=change["softness"],
        turn=turn,
        bulk=bulk,
        lifted=change["lifted"],
    )


def changed(plan, change):
    random = np.random.default_rng(change["seed"])
    tilt = plan.tilt * change["tilt"]
    return replace(
        plan,
        tilt=tilt,
        spacing=plan.spacing * change["spacing"],
        frequencies=max(1, round(plan.frequencies * change["frequencies"])),
        aliases=(tilt * (1 + change["right"]), tilt * change["left"]),
        nodes=tuple(changed_nodes(nodes, change, random) for nodes in plan.nodes),
        bulk_tilt=None if plan.bulk_tilt is None else change["bulk_tilt"],
        precision=change["precision"],
        bits=change["bits"],
    )


def enclosed(index, change):
    """Assert that the changed plan encloses the truth; return its relative width (None: refused)."""
    plan, epsilon, (low, high) = base(index)
    other = changed(plan, change)
    with ctx.workprec(other.precision):
        try:
            lower, above = ContourCurve(other)(epsilon)
        except Declined:
            return None
        if not (lower.is_finite() and above.is_finite()):
            return None
        ends = (ball_end(lower, "down"), ball_end(above, "up"))
    slack = high * Fraction(1, 10**13)
    assert ends[0] <= high + slack
    assert ends[1] >= low - slack
    return float(min((ends[1] - ends[0]) / high, Fraction(10**9)))


def drawn(random, boldness):
    """A change near the planner's own choice for small boldness, nearly any for 1."""

    def around(low, high):
        return float(1 + boldness * random.uniform(low - 1, high - 1))

    precision = int(random.integers(80 - 16 * boldness, 192))
    return {
        "tilt": around(0.4, 1.8),
        "spacing": around(0.4, 3.0),
        "frequencies": around(0.3, 1.5),
        "right": float(random.uniform(0.3 - 0.25 * boldness, 3 + boldness)),
        "left": float(random.uniform(0.0, 0.9)),
        "step": around(0.5, 1.7),
        "nodes": around(0.5, 1.2) if random.random() < boldness else 1.0,
        "strip": around(0.5, 1.3),
        "kept": float(1 - boldness * random.uniform(0, 0.7)),
        "edge": float(boldness * random.uniform(-3, 1)),
        "softness": float(random.choice([0.3, 0.7, 1.0] if random.random() > boldness else [1.5, 2.0])),
        "turn": None if random.random() < 0.6 else float(random.uniform(0.05, 0.95)),
        "bulk": Bulk(float(random.uniform(-2, 4)), float(random.uniform(0.15, 1.0))),
        "bulk_tilt": float(random.uniform(0.2, 12)),
        "precision": precision,
        "bits": float(random.uniform(10, 150)) if random.random() < boldness else precision - 35.0,
        "bare": random.random() < 0.5,
        "lifted": random.random() < 0.5,
        "seed": int(random.integers(1 << 30)),
    }


@pytest.mark.parametrize("index", range(len(QUESTIONS)))
@pytest.mark.parametrize(
    ("boldness", "draws"),
    [
        *(pytest.param(boldness, 40, marks=pytest.mark.seconds) for boldness in (0.1, 1.0)),
        *(pytest.param(boldness, 250, marks=pytest.mark.minutes) for boldness in (0.1, 0.4, 1.0)),
    ],
)
def test_any_choice_is_sound_and_those_near_the_planners_say_something(index, boldness, draws):
    random = np.random.default_rng((index, draws))
    widths = [enclosed(index, drawn(random, boldness)) for _ in range(draws)]
    assert sum(width is not None for width in widths) >= draws // 25
    assert boldness > 0.1 or sum(width is not None and width < 0.7 for width in widths) >= 2


# --- the planner's own choices ---------------------------------------------------------------------------------------

ORDINARY = [
    (0.01, 1.0, 10_000, "1e-6"),
    (0.1, 0.7, 300, "1e-5"),
    (0.3, 4.0, 50, "1e-12"),
    (0.001, 20.0, 100_000, "1e-8"),
]


@every_direction
@pytest.mark.parametrize(("q", "z", "T", "delta"), ORDINARY)
def test_plans_reach_the_accuracy_they_aim_at_and_doubles_are_close(direction, q, z, T, delta):
    question, log_delta = product(direction, (q, z, T)), math.log(float(delta))
    for accuracy in (1e-4, 1e-13):
        proof = contour_epsilon(question, Fraction(delta), accuracy)
        assert all(share < 10 * accuracy for share in proof.error_budget.values())
    plan, found = settled_plan(question, log_delta=log_delta, accuracy=1e-12), proof.enclosure.upper
    assert float_curve(plan).solve(log_delta) == pytest.approx(found, rel=1e-8)
    assert plan.guess == pytest.approx(found, abs=plan.spread)


@every_direction
def test_grids_are_exact(direction):
    """Few bits in steps and spacings: node positions and frequencies are exact doubles."""
    plan = make_draft(product(direction, (0.02, 1.1, 500)), log_delta=math.log(1e-7)).finished()
    assert Fraction(plan.spacing * plan.frequencies) == Fraction(plan.spacing) * plan.frequencies
    for nodes in plan.nodes:
        for end in (nodes.first, nodes.last):
            assert Fraction(nodes.step * end) == Fraction(nodes.step) * end
        assert list(nodes.corners) == sorted(set(nodes.corners))
        if nodes.corners:
            assert nodes.corners[0] <= nodes.step * nodes.first < nodes.step * nodes.last <= nodes.corners[-1]
    assert plan.products == plan.frequencies * sum(nodes.last - nodes.first for nodes in plan.nodes)


@given(st.floats(1e-300, 1e300), st.integers(2, 40))
def test_dyadic_numbers_are_near_and_short(value, bits):
    short = dyadic(value, bits)
    assert abs(short - value) <= value * 2.0**-bits
    numerator, _ = short.as_integer_ratio()
    while numerator % 2 == 0:
        numerator //= 2
    assert numerator.bit_length() <= bits
    assert dyadic(short, bits) == short


def test_plans_for_delta_and_for_epsilon_serve_the_same_point():
    question = product("remove", (0.02, 0.9, 300))
    by_delta = make_draft(question, log_delta=math.log(1e-5)).finished()
    by_epsilon = make_draft(question, epsilon=by_delta.guess).finished()
    assert by_epsilon.tilt == pytest.approx(by_delta.tilt, rel=0.02)
    assert by_epsilon.log_delta == pytest.approx(math.log(1e-5), abs=0.2)


@pytest.mark.parametrize(
    ("direction", "delta"), [(Direction.ADD, 1e-300), (Direction.REMOVE, 1e-300), (Direction.REPLACE, 1e-6)]
)
def test_plans_do_not_depend_on_the_last_bits_of_the_target(direction, delta):
    question = product(direction, (0.01, 1.0, 10_000))
    goals = [math.log(delta) * (1 + k * 2.0**-51) for k in range(-3, 4)]
    plans = [settled_plan(question, log_delta=goal, accuracy=1e-13) for goal in goals]
    assert max(plan.cost for plan in plans) <= 2 * min(plan.cost for plan in plans)


def test_a_plan_for_one_bound_has_no_frequencies():
    plan = chernoff_plan(product("remove", (0.02, 0.9, 300)), 2.0, math.log(1e-5))
    assert plan.frequencies == 0
    assert plan.tilt > 0


@every_direction
def test_log_ratios_at_the_ends_of_the_rates(direction):
    """The searches use doubles, where 1 - q may round to 0 or q e^x overflow."""
    for rate in (Fraction(1), 1 - Fraction(1, 10**20), Fraction(1, 10**12)):
        part = RepeatedPair(SampledGaussians(direction, rate, Fraction(1, 25)), 1)
        t = np.linspace(-60, 60, 241)
        assert np.isfinite(part.loss(t)).all()
        assert ((part.weight(t) >= 0) & (part.weight(t) <= 1 + 1e-12)).all()
