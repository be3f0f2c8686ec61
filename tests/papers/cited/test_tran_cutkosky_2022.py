"""Tran & Cutkosky: the same as private SpiderBoost's."""

import pytest

from tests.papers.reference_formulas import evaluated


def test_it_is_the_order_of_private_spiderboost():
    """The larger term of that one, with all constants and the logarithm at 1."""
    for n, d in ((10**4, 10), (10**6, 1000)):
        own = evaluated("cited/tran-cutkosky-2022/main-result")("rate", n=n, d=d, epsilon="0.5").value.lower
        values = {"G": 1, "L": 1, "Delta_F": 1, "delta": "0.36787944117144233"}  # 1/e
        other = evaluated("cited/arora-et-al-2023/theorem-4.2")(n=n, d=d, epsilon="0.5", **values).value.lower
        assert other - d**0.5 / (n * 0.5) == pytest.approx(own)


def test_evaluations_are_passes_over_the_data_times_its_size():
    found = evaluated("cited/tran-cutkosky-2022/main-result")
    rate = found("rate", n=10**6, d=10, epsilon=1).value.lower
    assert found("gradient-evaluations", n=10**6, d=10, epsilon=1).value.lower == pytest.approx(10**6 / rate**2)
