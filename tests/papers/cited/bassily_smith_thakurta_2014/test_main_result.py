"""Bassily, Smith & Thakurta."""

import pytest

from dpbounds.theorems.registry import theorem


def test_approximate_privacy_saves_a_root_of_the_dimension():
    statement = theorem("cited/bassily-smith-thakurta-2014/main-result")
    pure = statement.evaluate("pure", n=10_000, d=400, epsilon=1).value.lower
    approximate = statement.evaluate(
        "approximate", n=10_000, d=400, epsilon=1, delta="0.36787944117"
    ).value.lower  # 1/e
    assert pure / approximate == pytest.approx(20)
