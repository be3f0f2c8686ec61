"""Lemma 3.1: the condition that it omits.

With constants: the chain of its proof at random points, and what it spends.
"""

import numpy as np
import pytest
import sympy
from mpmath import ln, mpf, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, dimension, epsilon, initial_gap, lipschitz, smoothness
from dpbounds.papers.lowy_ullman_wright_2024.lemma_3_1 import rate
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.lowy_ullman_wright_2024.reference_formulas import (
    lemma_3_1_explicit_bound,
    lemma_3_1_explicit_difference_noise,
    lemma_3_1_explicit_prescribed,
    lemma_3_1_explicit_tuned,
)
from tests.papers.reference_formulas import Point, evaluated

EXPLICIT = theorem("lowy-ullman-wright-2024/lemma-3.1/explicit")
explicit = evaluated("lowy-ullman-wright-2024/lemma-3.1/explicit")


def test_the_omitted_condition_keeps_the_batch_within_the_data():
    """The first branch of b₂ in the source is (G n ε/√(Δ L d ln(1/δ)))^{2/3}: at most n exactly under its condition."""
    ell = sympy.log(1 / delta)
    branch = lipschitz * dataset_size * epsilon / sympy.sqrt(initial_gap * smoothness * dimension * ell)
    threshold = (lipschitz * epsilon) ** 2 / (initial_gap * smoothness * dimension * ell)
    batch = branch ** sympy.Rational(2, 3)
    assert sympy.simplify((batch / dataset_size) ** 3 - threshold / dataset_size) == 0
    # a gap ψ ~ γ²G²A² of a warm start (a Polyak-Łojasiewicz risk, γ² = 1/(2μ)) violates it once n is large
    a = sympy.sqrt(dimension * ell) / (epsilon * dataset_size)
    ratio = sympy.powsimp(sympy.expand((threshold / dataset_size).subs(initial_gap, lipschitz**2 * a**2)))
    assert sympy.simplify(ratio / (dataset_size * epsilon**4 / (smoothness * dimension**2 * ell**2))) == 1
    assert rate.subs(initial_gap, 0) == lipschitz * a


VALUES = {"initial_gap": "0.5", "lipschitz": "0.65", "smoothness": 2, "n": 200, "d": 3, "rho": "0.5"}


def test_the_chain_of_the_proof():
    draw = np.random.default_rng(1)
    for _ in range(200):
        gap, G, L = (mpf(10) ** draw.uniform(-3, 3) for _ in range(3))
        d, n, rho = int(draw.integers(1, 500)), int(draw.integers(50, 10**5)), mpf(10) ** draw.uniform(-3, 1)
        q = Point({"Delta_F": gap, "G": G, "L": L, "d": d, "n": n, "rho": rho})
        a, _, steps, period, anchors = lemma_3_1_explicit_tuned(q)
        difference = lemma_3_1_explicit_difference_noise(q)
        assert d * (difference / (2 * L)) ** 2 * (period - 1) <= mpf(1) / 2  # the condition, with 1 - Lη = 1/2
        assert anchors <= 1 + 2 * steps**2 * a**2
        middle = sqrt(4 * L * gap / steps + 8 * (G * a * a * steps) ** 2 + 4 * (G * a) ** 2)
        assert lemma_3_1_explicit_prescribed(q) <= middle <= lemma_3_1_explicit_bound(q)


def test_it_is_the_algorithms_bound_at_the_prescribed_parameters():
    parameters = {
        name: explicit(name, digits=30, **VALUES).value
        for name in ("steps", "anchor_period", "noise_stddev", "difference_noise_stddev")
    }
    general = evaluated("lowy-ullman-wright-2024/algorithm-1/explicit")(
        Delta_F="0.5",
        eta="0.25",
        d=3,
        L=2,
        T=int(parameters["steps"].lower),
        q_a=int(parameters["anchor_period"].lower),
        sigma=parameters["noise_stddev"],
        sigma_2=parameters["difference_noise_stddev"],
    )
    assert general.applies is True
    assert general.value.overlaps(explicit("prescribed", **VALUES).value)


@pytest.mark.parametrize("gap", ["0.5", "1e-9"])
def test_the_budget_is_spent_and_no_more(gap):
    found = spending(EXPLICIT, {**VALUES, "initial_gap": gap})
    assert found.kept is True
    total = float(zcdp_rho(found.mechanism, found.relation))
    assert total == pytest.approx(0.5 if len(found.mechanism.parts) == 2 else 0.25)
    added = spending(EXPLICIT, {**VALUES, "initial_gap": gap}, "add-or-remove-one")
    assert float(added.spent.upper) == pytest.approx(total / 4)


def test_the_rate_of_the_lemma():
    """With the ρ of an (ε, δ) budget the bound is a bounded multiple of Lemma 3.1's rate for ε <= 1 <= ln(1/δ)."""
    rate = evaluated("lowy-ullman-wright-2024/lemma-3.1")
    for privacy in ("0.01", "0.3", "1"):
        for failure in ("0.3", "1e-9"):
            ell = ln(1 / mpf(failure))
            rho = (sqrt(ell + mpf(privacy)) - sqrt(ell)) ** 2
            values = {**VALUES, "n": 100_000}
            mine = explicit(**{**values, "rho": str(rho)}).value.lower
            values.pop("rho")
            theirs = rate(epsilon=privacy, delta=failure, **values).value.lower
            assert 1 < mine / theirs < 3.0862 * 2.42
