"""Theorem 4.6: its budget, its batches, and the terms of its proof.

With constants: its tuning, its budget, and a run.
"""

import math

import numpy as np
import pytest
from mpmath import mpf, root, sqrt
from sympy import Rational, Symbol, expand, symbols

from dpbounds.errors import DpboundsError
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

explicit = evaluated("ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit")
STATEMENT = theorem("ganesh-liu-oh-thakurta-2023/theorem-4.6")


def test_what_the_printed_noise_spends():
    query = Gaussian(2)  # 1/√φ at φ = 1/4, per unit of G/b₁
    assert float(zcdp_rho(query, "replace-one")) == pytest.approx(2 * 0.25)
    assert float(zcdp_rho(query, "add-or-remove-one")) == pytest.approx(0.5 * 0.25)
    found = spending(STATEMENT, {"rho": "0.25"}, "replace-one")
    assert found.kept is not True
    assert found.spent.upper == pytest.approx(2 * 0.25)
    with pytest.raises(DpboundsError):  # halves by position: removing a record would move the others
        spending(STATEMENT, {"rho": "0.25"}, "add-or-remove-one")


def test_the_batches_do_not_fit():
    n, kappa, risk, smooth, alpha, logs = symbols("n kappa B M alpha ell", positive=True)
    first, second = n * kappa * smooth / risk, n * alpha**2 / (risk * smooth)
    queries, steps = risk / (smooth * kappa) * logs**4, risk * smooth * logs**10 / alpha**2
    needed = expand(first * queries + second * steps)
    assert needed == n * logs**4 + n * logs**10
    assert needed.subs(logs, 1) > n / 2
    # T of Algorithm 1 in terms of α₁ = γ log³: log⁴/γ² = log¹⁰/α₁²
    gamma = Symbol("gamma", positive=True)
    assert (logs**10 / alpha**2).subs(alpha, gamma * logs**3) == logs**4 / gamma**2
    # b₁ smaller by log⁴ and b₂ by log¹⁰: powers of the logarithm in each of the proof's terms, times log³, and the
    # power of α₁ by which it is solved; the printed κ stays
    sampling = (Rational(4, 2) + 3, (Rational(10, 2) + 3) / 2)
    noise = (Rational(4) + 3, (Rational(10) + 3) / 3)
    assert (max(sampling), max(noise)) == (5, 7)


def four_terms(x, n, kappa, alpha):
    """Of the display in the proof, G = B = M = 1, without logarithms."""
    return x / kappa, x * sqrt(kappa) / alpha**2, 1 / sqrt(n * kappa), sqrt(kappa) / (sqrt(n) * alpha)


def smallest(x, n, kappa):
    """The smallest α that is at least the largest of the four terms, by bisection on its logarithm."""
    low, high = mpf(10) ** -60, mpf(10) ** 60
    for _ in range(250):
        middle = sqrt(low * high)
        low, high = (low, middle) if max(four_terms(x, n, kappa, middle)) <= middle else (middle, high)
    return high


@pytest.mark.seconds
def test_a_third_term_follows_from_the_four():
    n = mpf(10) ** 120
    for power, inside in ((mpf(7) / 9, True), (mpf("0.8"), True), (mpf("0.9"), False), (mpf("0.6"), False)):
        x = n**-power
        printed = max(n ** (-mpf(1) / 3), x ** (mpf(3) / 7))
        third = root(x / sqrt(n), 4)
        best = min(smallest(x, n, n ** (-mpf(k) / 100)) for k in range(100))
        assert best >= third * mpf("0.999")
        assert (third > 2 * printed) is inside
        assert best <= 10 * max(printed, third)
    # at x = n^{-7/9} the excess is n^{1/72}; edges of the window
    assert Rational(-7, 36) - Rational(1, 8) - Rational(-1, 3) == Rational(1, 72)
    assert (Rational(-5, 6) - Rational(1, 2)) / 4 == Rational(-1, 3)
    assert (Rational(-7, 10) - Rational(1, 2)) / 4 == Rational(3, 7) * Rational(-7, 10)
    # the printed κ is worse by more
    x = n ** -(mpf(7) / 9)
    kappa = max(n ** (-mpf(1) / 3), x ** (mpf(4) / 7))
    assert smallest(x, n, kappa) > 2 * root(x / sqrt(n), 4)


def value(part, **values):
    return explicit(part, **values).value.upper


def tune(problem):
    """Parameters as the record says."""
    common = {name: problem[name] for name in ("L", "B")}
    level = value("accuracy", **problem)
    steps = math.ceil(value("steps", accuracy=level, **common))
    kappa = value("drift_threshold", accuracy=level, **problem)
    cap = math.ceil(value("fresh_estimates", accuracy=level, steps=steps, drift_threshold=kappa, **common))
    first = math.floor(value("first_batch", n=problem["n"], fresh_estimates=cap))
    second = math.floor(value("second_batch", n=problem["n"], steps=steps))
    return {
        "steps": steps,
        "drift_threshold": kappa,
        "fresh_estimates": cap,
        "first_batch": first,
        "second_batch": second,
        "noise_stddev": value("noise_stddev", lipschitz=problem["G"], first_batch=first, rho=problem["rho"]),
        "difference_noise_stddev": value(
            "difference_noise_stddev", smoothness=problem["L"], second_batch=second, rho=problem["rho"]
        ),
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("n", "dimension"), [(10**9, 10), (10**9, 10**6), (10**13, 10**12), (10**15, 1)])
def test_the_tuned_bound_is_kept_at_its_parameters(n, dimension):
    problem = {"n": n, "d": dimension, "rho": "0.5", "G": 1, "L": 1, "B": 1, "zeta": "0.05"}
    tuned = explicit("tuned", **problem)
    assert tuned.applies is True
    reached = explicit("bound", n=n, d=dimension, G=1, L=1, B=1, zeta="0.05", **tune(problem))
    assert reached.applies is True
    assert 0.3 * tuned.value.lower < reached.value.upper <= tuned.value.upper


def test_sampled_errors_stay_below():
    # one segment after the other, with record-wise gradients ±1 on the line (the largest variance), fixed short steps
    generator = np.random.default_rng(12)
    chosen = {
        "fresh_estimates": 4,
        "first_batch": 50,
        "second_batch": 20,
        "drift_threshold": "0.1",
        "noise_stddev": "0.02",
        "difference_noise_stddev": "0.1",
    }
    level = value("error", d=1, lipschitz=1, smoothness=1, failure_probability="0.1", **chosen)
    missed = []
    for _ in range(300):
        worst = 0.0
        for _ in range(4):
            error = generator.choice((-1.0, 1.0), size=50).mean() + 0.02 * generator.normal()
            worst = max(worst, abs(error))
            for _ in range(9):  # squared steps: 9/100 < κ
                error += 0.1 * generator.choice((-1.0, 1.0), size=20).mean() + 0.1 * 0.1 * generator.normal()
                worst = max(worst, abs(error))
        missed.append(worst)
    assert np.mean(np.array(missed) > level) <= 0.1
    assert max(missed) > 0.2 * level
