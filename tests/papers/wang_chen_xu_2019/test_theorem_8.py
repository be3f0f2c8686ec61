"""Theorem 8: the units of the printed sample size."""

import pytest

from dpbounds.expressions.symbols import Unit
from dpbounds.expressions.units import scaling_defects
from dpbounds.theorems.registry import theorem
from tests.papers.twins import evaluated

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
