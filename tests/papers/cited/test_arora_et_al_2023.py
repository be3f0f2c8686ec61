"""Arora et al.: the outline of a proof and a note with numbers, conditions, and where two terms meet."""

import pytest
from mpmath import cbrt, ceil, floor, mpf, root, sqrt

from dpbounds.privacy.mechanisms import Composed, Gaussian
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.reference_formulas import evaluated


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


def test_the_projection_balances_its_loss_against_the_methods_rate():
    product = mpf(10) ** 5
    found = evaluated("cited/arora-et-al-2023/theorem-6.1")("projection-dimension", n=10**5, epsilon=1)
    size = mpf(found.value.lower)
    assert float(root(size / product**2, 3)) == pytest.approx(float(1 / sqrt(size)))


def test_a_tree_is_as_large_as_its_batch():
    values = {"n": 10**6, "d": 100, "epsilon": 1}
    evaluate = evaluated("cited/arora-et-al-2023/theorem-3.2")
    batch, depth = (evaluate(name, **values).value.upper for name in ("tree-batch", "tree-depth"))
    assert depth * 2 ** (depth + 1) == pytest.approx(batch, rel=1e-9)
    assert evaluate(G=1, L=1, Delta_F=1, zeta="0.01", delta="1e-6", **values).value.lower > 1000  # vacuous here
