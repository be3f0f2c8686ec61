"""Lemma 3.1 with its constants: a second time, the chain of its proof at random points, and what it spends."""

import numpy as np
import pytest
import sympy
from mpmath import cbrt, ceil, floor, ln, mpf, sqrt

from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def tuned(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho):
    a = sqrt(dimension / rho) / dataset_size
    best = cbrt(smoothness * initial_gap / (4 * lipschitz**2)) / a / cbrt(a)
    steps = max(mpf(1), ceil(best))
    period = 1 + floor(dataset_size**2 * rho / (2 * dimension * steps))
    anchors = ceil(steps / period)
    return a, best, steps, period, anchors


def bound(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho):
    a, best, *_ = tuned(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho)
    leading = sqrt(6 * cbrt(4)) * cbrt(sqrt(smoothness * initial_gap * lipschitz) * a) ** 2
    return leading * (1 + 1 / best) + 2 * lipschitz * a


def prescribed(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho):
    a, _, steps, _, anchors = tuned(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho)
    return sqrt(4 * smoothness * initial_gap / steps + 4 * (lipschitz * a) ** 2 * anchors)


def noise(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho):
    anchors = tuned(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho)[4]
    return 2 * lipschitz / dataset_size * sqrt(anchors / rho)


def difference_noise(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho):
    _, _, steps, _, anchors = tuned(initial_gap, lipschitz, smoothness, dimension, dataset_size, rho)
    return 2 * smoothness / dataset_size * sqrt((steps - anchors) / rho)


TWINS = {
    "bound": bound,
    "prescribed": prescribed,
    "steps": lambda initial_gap, lipschitz, smoothness, dimension, dataset_size, rho: tuned(
        initial_gap, lipschitz, smoothness, dimension, dataset_size, rho
    )[2],
    "anchor_period": lambda initial_gap, lipschitz, smoothness, dimension, dataset_size, rho: tuned(
        initial_gap, lipschitz, smoothness, dimension, dataset_size, rho
    )[3],
    "step_size": lambda smoothness: mpf(1) / 2 / smoothness,
    "noise_stddev": noise,
    "difference_noise_stddev": difference_noise,
}

STATEMENT = theorem("lowy-ullman-wright-2024/lemma-3.1/explicit")
VALUES = {"initial_gap": "0.5", "lipschitz": "0.65", "smoothness": 2, "n": 200, "d": 3, "rho": "0.5"}


def test_the_minimum_over_the_number_of_steps():
    steps, x, y = sympy.symbols("T x y", positive=True)  # x = LΔ, y = G²a⁴
    curve = 4 * x / steps + 8 * y * steps**2
    best = (x / (4 * y)) ** sympy.Rational(1, 3)
    assert sympy.simplify(curve.diff(steps).subs(steps, best)) == 0
    wanted = 6 * 4 ** sympy.Rational(1, 3) * x ** sympy.Rational(2, 3) * y ** sympy.Rational(1, 3)
    assert sympy.simplify(sympy.powdenest(curve.subs(steps, best) / wanted, force=True)) == 1
    assert float(sympy.sqrt(6) * 2 ** sympy.Rational(1, 3)) == pytest.approx(3.0862, abs=1e-4)


def test_the_chain_of_the_proof():
    draw = np.random.default_rng(1)
    for _ in range(200):
        point = [mpf(10) ** draw.uniform(-3, 3) for _ in range(3)]
        d, n, rho = int(draw.integers(1, 500)), int(draw.integers(50, 10**5)), mpf(10) ** draw.uniform(-3, 1)
        a, _, steps, period, anchors = tuned(*point, d, n, rho)
        difference = difference_noise(*point, d, n, rho)
        assert d * (difference / (2 * point[2])) ** 2 * (period - 1) <= mpf(1) / 2  # the condition, with 1 - Lη = 1/2
        assert anchors <= 1 + 2 * steps**2 * a**2
        middle = sqrt(4 * point[2] * point[0] / steps + 8 * (point[1] * a * a * steps) ** 2 + 4 * (point[1] * a) ** 2)
        assert prescribed(*point, d, n, rho) <= middle <= bound(*point, d, n, rho)


def test_it_is_the_algorithms_bound_at_the_prescribed_parameters():
    parameters = {
        name: STATEMENT.evaluate(name, digits=30, **VALUES).value
        for name in ("steps", "anchor_period", "noise_stddev", "difference_noise_stddev")
    }
    general = theorem("lowy-ullman-wright-2024/algorithm-1/explicit").evaluate(
        initial_gap="0.5",
        step_size="0.25",
        d=3,
        smoothness=2,
        steps=int(parameters["steps"].lower),
        anchor_period=int(parameters["anchor_period"].lower),
        noise_stddev=parameters["noise_stddev"],
        difference_noise_stddev=parameters["difference_noise_stddev"],
    )
    assert general.applies is True
    assert general.value.overlaps(STATEMENT.evaluate("prescribed", **VALUES).value)


@pytest.mark.parametrize("gap", ["0.5", "1e-9"])
def test_the_budget_is_spent_and_no_more(gap):
    found = spending(STATEMENT, {**VALUES, "initial_gap": gap})
    assert found.kept is True
    total = float(zcdp_rho(found.mechanism, found.relation))
    assert total == pytest.approx(0.5 if len(found.mechanism.parts) == 2 else 0.25)
    added = spending(STATEMENT, {**VALUES, "initial_gap": gap}, "add-or-remove-one")
    assert float(added.spent.upper) == pytest.approx(total / 4)


def test_the_rate_of_the_lemma():
    """With the ρ of an (ε, δ) budget the bound is a bounded multiple of Lemma 3.1's rate for ε <= 1 <= ln(1/δ)."""
    rate = theorem("lowy-ullman-wright-2024/lemma-3.1")
    for epsilon in ("0.01", "0.3", "1"):
        for failure in ("0.3", "1e-9"):
            ell = ln(1 / mpf(failure))
            rho = (sqrt(ell + mpf(epsilon)) - sqrt(ell)) ** 2
            values = {**VALUES, "n": 100_000}
            mine = STATEMENT.evaluate(**{**values, "rho": str(rho)}).value.lower
            values.pop("rho")
            theirs = rate.evaluate(epsilon=epsilon, delta=failure, **values).value.lower
            assert 1 < mine / theirs < 3.0862 * 2.42
