"""Theorem 4 with constants: the mechanism's exact distribution on a double well."""

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-chen-xu-2019/theorem-4/explicit")


@pytest.mark.parametrize("records", [200, 2_000, 20_000])
def test_the_exact_quantile_stays_below(records):
    # the double well of test_theorem_3 in one dimension: G = 2.08, λ = 0.2
    lipschitz, regularisation, failure = 2.08, 0.2, 0.05
    radius = lipschitz / regularisation
    spacing = evaluate("net_radius", G="2.08", d=1, regularisation="0.2", n=records, epsilon=1).value.lower
    count = int(2 * radius / spacing) + 1  # points at distance > spacing within the interval, at most 1 + 2R/α
    net = np.linspace(-radius, radius, count)
    fine = np.linspace(-2, 2, 100_001)
    values, lowest = potential(net), potential(fine).min()
    weights = np.exp(-(values - values.min()) * records * regularisation / (4 * lipschitz**2))
    order = np.argsort(values)
    below = np.cumsum(weights[order]) / weights.sum()
    quantile = values[order][np.searchsorted(below, 1 - failure)] - lowest
    values_at = {"G": "2.08", "regularisation": "0.2", "n": records, "epsilon": 1, "d": 1}
    limit = evaluate("tuned", zeta="0.05", **values_at).value.upper
    assert 0.01 * limit < quantile <= limit
    assert evaluate("cost", n=records, epsilon=1, d=1).value.upper >= count * records


def potential(w):
    return 0.1 * w**2 - 1.2 * np.exp(-((w - 1) ** 2) / 0.245) - np.exp(-((w + 1) ** 2) / 0.245)
