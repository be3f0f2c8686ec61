"""Theorem 8: the units of the printed sample size.

With constants: selections at the smallest number of records.
"""

import numpy as np
import pytest

from dpbounds.expressions.symbols import Unit
from dpbounds.expressions.units import scaling_defects
from dpbounds.theorems.registry import theorem
from tests.papers.reference_formulas import evaluated

explicit = evaluated("wang-chen-xu-2019/theorem-8/explicit")
STATEMENT = theorem("wang-chen-xu-2019/theorem-8")
evaluate = evaluated("wang-chen-xu-2019/theorem-8")
RECORDS = Unit(samples=1)


def test_the_printed_sample_size_is_not_a_number_of_records():
    (defect,) = scaling_defects(STATEMENT.part("printed_sample_size").expression, RECORDS)
    assert (defect.base, defect.found, defect.expected) == ("length", 1, 0)
    assert scaling_defects(STATEMENT.part("sample_size").expression, RECORDS) == ()
    # in other units of length the same problem: the printed number falls below that of Theorem 7 alone, and of itself
    values = {"B": 1, "d": 9, "delta": "1e-5", "zeta": "0.1", "epsilon": 1}
    numbers = []
    for s in (1, 100, 10_000):  # w -> w/s
        scaled = {"smoothness": s**2, "lipschitz": s, "hessian_lipschitz": s**3, "stationarity": s * 0.01}
        numbers.append(evaluate("printed_sample_size", **values, **scaled).value.upper)
        alone = evaluated("wang-chen-xu-2019/theorem-7")(
            "sample_size", **values, **{k: v for k, v in scaled.items() if k != "hessian_lipschitz"}
        )
        repaired = evaluate("sample_size", **values, **scaled).value.upper
        assert repaired >= alone.value.lower
    assert numbers[0] == pytest.approx(100 * numbers[1]) == pytest.approx(10_000 * numbers[2])
    assert numbers[2] < alone.value.lower


def test_the_rate_inverts_the_sample_size():
    values = {"B": 1, "d": 9, "delta": "1e-5", "zeta": "0.1", "epsilon": 1}
    values |= {"L": 2, "G": 1, "rho_H": "0.3"}
    for alpha in ("0.5", "0.01"):
        records = evaluate("sample_size", alpha=alpha, **values).value.upper
        found = evaluate("rate", n=round(records), **values).value.upper
        assert found == pytest.approx(float(alpha), rel=1e-3)


def symmetric(generator, count, dimension):
    entries = generator.normal(size=(count, dimension, dimension))
    upper = np.triu(entries)
    return upper + np.triu(entries, 1).transpose(0, 2, 1)


def test_selections_at_the_smallest_number_of_records():
    generator = np.random.default_rng(4)
    points, dimension, alpha, hessian_lipschitz, repetitions = 6, 3, 0.1, 1.0, 400
    values = {"G": 1, "L": 1, "d": 3, "N": points, "rho": "0.1"}
    records = explicit(alpha="0.1", rho_H=1, zeta="0.1", **values).value.upper
    at = {**values, "n": int(records) + 1}
    names = ("noise_stddev", "hessian_noise_stddev")
    first, second = (explicit(name, **at).value.upper for name in names)
    gamma = (hessian_lipschitz * alpha) ** 0.5
    # five points that are just not α-SOSPs, by slope or by curvature, then one that is an (α/2)-SOSP and no better
    slopes = alpha * np.array([1.01, 0.2, 1.01, 0.2, 1.01, 0.5])
    lowest = gamma * np.array([0.0, -1.01, 0.0, -1.01, 0.0, -(0.5**0.5)])
    gradients = np.zeros((repetitions, points, dimension))
    gradients[:, :, 0] = slopes
    gradients += first * generator.normal(size=gradients.shape)
    hessians = np.zeros((repetitions * points, dimension, dimension))
    hessians[:, 1, 1] = np.tile(lowest, repetitions)
    hessians += second * symmetric(generator, repetitions * points, dimension)
    curvature = np.linalg.eigvalsh(hessians)[:, 0].reshape(repetitions, points)
    passes = (np.linalg.norm(gradients, axis=2) <= 0.75 * alpha) & (curvature >= -(1 + 0.5**0.5) / 2 * gamma)
    wrong = passes[:, :-1].any(axis=1) | ~passes[:, -1]
    assert wrong.mean() <= 0.1
    untightened = (np.linalg.norm(gradients, axis=2) <= alpha) & (curvature >= -gamma)
    assert untightened[:, :-1].any(axis=1).mean() > 0.5
