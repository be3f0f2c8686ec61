"""Ball against Gaussian: against the accountant, and the crossings."""

import pytest
from mpmath import gamma

from dpbounds.privacy.accountants.certified import delta
from dpbounds.privacy.mechanisms import Gaussian, UniformBall
from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/ball-noise-and-gaussian-noise")


def value(part, **values):
    return evaluate(part, **{"radius": 1, **values}).value.lower


@pytest.mark.parametrize(("dimension", "crossing"), [(1, 1.733), (2, 1.566), (3, 1.433), (10, 0.971)])
def test_one_crossing(dimension, crossing):
    for k in range(1, 81):
        distance = k / 40
        difference = value("ball", distance=distance, dimension=dimension) - value(
            "gaussian", distance=distance, dimension=dimension
        )
        if abs(distance - crossing) > 0.03:
            assert (difference > 0) is (distance > crossing), distance
    low, high = (
        value("ball", distance=d, dimension=dimension) - value("gaussian", distance=d, dimension=dimension)
        for d in (crossing - 0.001, crossing + 0.001)
    )
    assert low < 0 < high


@pytest.mark.parametrize(("dimension", "ratio"), [(1, 0.7236), (2, 0.7979), (3, 0.8408), (10, 0.9359), (100, 0.9926)])
def test_the_ratio_at_zero_bounds_all_others(dimension, ratio):
    assert evaluate("ratio-at-zero", d=dimension).value.lower == pytest.approx(ratio, abs=1e-4)
    known = gamma(dimension / 2 + 1) / gamma((dimension + 1) / 2) * (2 / (dimension + 2)) ** 0.5
    assert 2**-0.5 < known < 1
    for distance in (1e-5, 0.01, 0.3, 1, 1.9):
        found = value("ball", distance=distance, dimension=dimension) / value(
            "gaussian", distance=distance, dimension=dimension
        )
        assert found >= known * (1 - 1e-9)
        if distance == 1e-5:
            assert found == pytest.approx(float(known), rel=1e-6)


@pytest.mark.parametrize(("dimension", "edges"), [(1, (0.0049, 0.052, 0.316)), (100, (0.00012, 0.0013, 0.0077))])
def test_the_gaussian_is_better_from_some_epsilon_on(dimension, edges):
    for shift, edge in zip((0.02, 0.2, 1), edges, strict=True):
        distance = shift / (dimension + 2) ** 0.5
        flat = value("ball", distance=distance, dimension=dimension)
        before, after = (
            value("gaussian-at-epsilon", distance=distance, dimension=dimension, epsilon=edge * factor)
            for factor in (0.95, 1.05)
        )
        assert after < flat < before


def test_over_many_releases():
    distance = 0.02 / 102**0.5
    for steps, ours, theirs in ((100, 0.548, 0.0797), (1000, 0.9996, 0.248)):
        values = {"Delta_g": distance, "d": 100, "T": steps}
        assert value("ball-run", **values) == pytest.approx(ours, abs=1e-3)
        assert value("gaussian-run", **values) == pytest.approx(theirs, abs=1e-3)
    for dimension in (1, 2, 3, 50):
        values = {"Delta_g": 1e-4, "d": dimension}
        assert value("ball", **values) < value("gaussian", **values)
        assert value("ball-run", steps=2, **values) > value("gaussian-run", steps=2, **values)


def test_the_accountant_agrees():
    values = {"Delta_g": "0.5", "r_u": "1.5", "d": 4}
    balls = UniformBall("1.5", 4, sensitivity="0.5") ** 7
    assert delta(balls, 0, relation="replace-one").overlaps(evaluate("ball-run", T=7, **values).value)
    stddev = evaluate("noise_stddev", r_u="1.5", d=4, digits=30).value.exact_lower
    normal = Gaussian(noise_stddev=stddev, sensitivity="0.5")
    for epsilon, part in ((0, "gaussian"), ("0.3", "gaussian-at-epsilon")):
        given = {} if epsilon == 0 else {"epsilon": epsilon}
        found = delta(normal, epsilon, relation="replace-one")
        assert found.lower == pytest.approx(evaluate(part, **values, **given).value.lower, rel=1e-9)
