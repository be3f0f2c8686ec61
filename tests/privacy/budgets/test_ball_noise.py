"""Ball noise: against mpmath at 50 digits, the general accountant, the printed figure, and a simulation by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings, strategies as st

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.exact import as_promised
from dpbounds.privacy.accountants.certified import account, prove_delta
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.budgets.ball_noise import BallDescent
from dpbounds.privacy.relations import Relation
from tests.privacy.products import products_of
from tests.privacy.small_laws import encloses, m


def tau(radius: Fraction, sensitivity: Fraction, dimension: int) -> mpmath.mpf:
    """The volume outside of the intersection, as an integral over the first coordinate; no beta function."""
    half = m(sensitivity) / 2 / m(radius)
    if half >= 1:
        return mpmath.mpf(1)
    power = mpmath.mpf(dimension - 1) / 2
    inside = mpmath.quad(lambda x: (1 - x * x) ** power, [0, half])
    return inside / mpmath.quad(lambda x: (1 - x * x) ** power, [0, half, 1])


def composed(run: BallDescent, radius: Fraction) -> mpmath.mpf:
    return 1 - (1 - tau(radius, run.sensitivity, run.dimension) / run.dataset_size) ** run.steps


RUNS = [
    (BallDescent(1, 1, 10, 20), "1"),
    (BallDescent(2, 3, 1000, 500), "1.7"),
    (BallDescent("0.1", 10, 10_000, 30_000), "0.9"),
    (BallDescent(1, 50, 7, 1), "3"),
    (BallDescent(1, 101, 1, 3), "20"),
]


@pytest.mark.parametrize(("run", "radius"), RUNS)
def test_delta_to_fifty_digits(run: BallDescent, radius: str) -> None:
    with mpmath.workdps(60):
        lost = tau(Fraction(radius), run.sensitivity, run.dimension)
        assert encloses(run.total_variation(radius), lost)
        assert encloses(run.delta(radius), composed(run, Fraction(radius)))
        assert encloses(run.printed_delta(radius), lost * run.steps / run.dataset_size)


@pytest.mark.parametrize(("run", "radius"), RUNS)
@pytest.mark.parametrize("epsilon", ["0", "0.01", "3"])
def test_the_accountant_of_pairs_agrees_at_every_epsilon(run: BallDescent, radius: str, epsilon: str) -> None:
    closed = run.delta(radius)
    (product,) = products_of(run.mechanism(radius), Relation.REPLACE_ONE)
    found = prove_delta(product, Fraction(epsilon), DEFAULT_TOLERANCE).enclosure
    assert found.overlaps(closed)
    assert found.upper == pytest.approx(closed.upper, rel=1e-3)
    assert found.lower == pytest.approx(closed.lower, rel=1e-3)


def test_the_accountant_finds_the_attack_too() -> None:
    run = BallDescent(1, 50, 7, 1)
    found = account(run.mechanism(3), epsilon="1/100", relation="replace-one")
    assert found.enclosure.overlaps(run.delta(3))
    assert found.enclosure.width < 1e-12


@pytest.mark.parametrize(
    ("distance", "dimension", "printed"),
    [("0.1", 1, "0.05"), ("1", 2, "0.608997781044"), ("0.5", 10, "0.589927928101"), ("1.5", 50, "0.999999999898")],
)
def test_the_points_of_the_printed_figure(distance: str, dimension: int, printed: str) -> None:
    found = BallDescent(distance, dimension, 1, 1).total_variation(1)
    assert found.upper == pytest.approx(float(printed), rel=1e-11)


@pytest.mark.seconds
@settings(max_examples=60)
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=100),
    st.integers(1, 300),
    st.integers(1, 10**5),
    st.integers(1, 10**5),
    st.floats(1e-12, 0.999),
)
def test_the_radius_is_the_least_double_that_suffices(distance, dimension, records, steps, target) -> None:
    run = BallDescent(distance, dimension, records, steps)
    found = run.radius(target)
    if found.fails_at is None:
        assert found.value == 0
        assert 1 - (1 - Fraction(1, records)) ** min(steps, 2000) <= Fraction(target) or steps > 2000
        return
    promised = as_promised(target)
    assert run.delta(found.value).exact_lower <= promised
    assert run.delta(found.fails_at).exact_upper > promised
    assert math.nextafter(float(found.fails_at), math.inf) == float(found.value)
    with mpmath.workdps(80):
        accounted = mpmath.mpf(promised.numerator) / promised.denominator
        assert composed(run, found.value) <= accounted < composed(run, found.fails_at)


def test_where_the_radius_is_decided_exactly() -> None:
    """A δ that random gradients keep needs no noise; an equality is answered by the next double."""
    run = BallDescent(1, 5, 1000, 1)
    for delta in ("0.001", "0.5"):
        assert (run.radius(delta).value, run.radius(delta).fails_at) == (0, None)
    assert run.radius("0.000999").value > Fraction(1, 2)
    found = BallDescent(1, 1, 1, 1).radius("0.5")  # τ = 1/(2r): met by r = 1 exactly, which no ball can tell
    assert float(found.value) == math.nextafter(1.0, math.inf)
    assert float(found.fails_at) == math.nextafter(1.0, 0.0)


@pytest.mark.parametrize("distance", ["1e-400", "1e400", "1e290"])
def test_a_radius_out_of_reach_of_doubles_is_refused(distance: str) -> None:
    with pytest.raises(NotCertified, match=r"units|2\^1000"):
        BallDescent(distance, 5, 1, 1).radius("1e-20")


def test_balls_that_do_not_meet_hide_nothing_and_the_printed_bound_exceeds_one() -> None:
    assert BallDescent(1, 9, 1, 5).delta("1/2").exact_lower == 1
    assert BallDescent(1, 9, 4, 1).delta("1/3").contains("1/4")
    run = BallDescent(1, 1, 10, 40)
    assert run.printed_delta(1).contains(2)
    assert run.delta(1).at_most("0.872")


@pytest.mark.parametrize(
    "call",
    [
        lambda: BallDescent(0, 1, 1, 1),
        lambda: BallDescent(1, 0, 1, 1),
        lambda: BallDescent(1, 1, "2.5", 1),
        lambda: BallDescent(1, 1, 1, 0),
        lambda: BallDescent(1, 1, 1, 1).delta(0),
        lambda: BallDescent(1, 1, 1, 1).radius(1),
        lambda: BallDescent(1, 1, 1, 1).radius(0),
    ],
)
def test_values_out_of_range_are_refused(call) -> None:
    with pytest.raises(InvalidValue):
        call()
