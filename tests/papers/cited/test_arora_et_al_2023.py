"""Arora et al.: the outline of a proof and what a note says, redone with numbers; where two terms meet."""

import numpy as np
import pytest
from mpmath import cbrt, ceil, floor, mpf, root, sqrt

from dpbounds.privacy.mechanisms import Composed, Gaussian
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.twins import evaluated


@pytest.mark.parametrize(("n", "d"), [(10**4, 10), (10**6, 50), (10**8, 10)])
def test_the_outline_reaches_the_rate(n, d):
    gradient, smoothness, gap, rho = mpf(1), mpf(2), mpf(3), mpf("0.1")
    share = sqrt(d / rho) / n
    steps = int(ceil(cbrt(smoothness * gap / (4 * gradient**2 * share**4))))
    phase = 1 + int(floor(n**2 * rho / (2 * d * steps)))
    anchors = -(-steps // phase)
    first = 4 * gradient**2 * anchors / (n**2 * rho)  # σ₁², half of the budget
    second = 4 * smoothness**2 * steps / (n**2 * rho)  # σ₂², for all steps
    assert d * second / (2 * smoothness) ** 2 * (phase - 1) <= mpf("0.5")  # at most 1 - Lη
    square = 4 * smoothness * gap / steps + d * first
    rate = cbrt(smoothness * gap * gradient * share**2) + gradient * share
    assert sqrt(square) <= 4 * rate
    spent = zcdp_rho(
        Composed(((Gaussian(float(sqrt(first)) * n), anchors), (Gaussian(float(sqrt(second)) * n / 2), steps))),
        Relation.REPLACE_ONE,
    )
    assert float(spent) == pytest.approx(0.1)


def test_conditions_are_reported_one_by_one():
    values = {"Delta_F": 1, "L": 1, "G": 1, "d": 100, "delta": "1e-5", "epsilon": "0.5"}
    evaluate = evaluated("cited/arora-et-al-2023/theorem-4.2")
    assert evaluate(**values, n=10_000).applies is True
    assert evaluate(**values, n=19).applies is False  # √d/ε = 20


def test_the_projection_balances_its_loss_against_the_methods_rate():
    product = mpf(10) ** 5
    found = evaluated("cited/arora-et-al-2023/theorem-6.1")("projection-dimension", n=10**5, epsilon=1)
    size = mpf(found.value.lower)
    assert float(root(size / product**2, 3)) == pytest.approx(float(1 / sqrt(size)))


def test_a_projection_and_its_lift_are_far_from_the_identity_and_the_bound_holds_nevertheless():
    generator = np.random.default_rng(3)
    n, d, k = 400, 200, 50
    features = generator.standard_normal((n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    projection = generator.standard_normal((k, d)) / np.sqrt(k)
    assert np.linalg.norm(np.eye(d) - np.eye(d, k) @ projection, 2) >= 1
    for _ in range(50):
        weights = generator.choice([-1.0, 1.0], size=n)  # derivatives of the losses, at most G = 1
        gradient = features.T @ weights / n
        assert np.linalg.norm(gradient) <= 2 * np.linalg.norm(projection @ gradient) + 1 / np.sqrt(k)
