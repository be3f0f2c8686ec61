"""Bassily, Smith & Thakurta: the two orders, a second time from where they are quoted."""

import pytest
from mpmath import ln, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "approximate": lambda dimension, delta, dataset_size, epsilon: sqrt(
        -dimension * ln(delta) / (dataset_size * epsilon) ** 2
    ),
    "pure": lambda dimension, dataset_size, epsilon: dimension / dataset_size / epsilon,
    "approximate-lower": lambda dimension, dataset_size, epsilon: min(1, sqrt(dimension) / dataset_size / epsilon),
    "pure-lower": lambda dimension, dataset_size, epsilon: min(1, dimension / dataset_size / epsilon),
}


def test_approximate_privacy_saves_a_root_of_the_dimension():
    statement = theorem("cited/bassily-smith-thakurta-2014/main-result")
    pure = statement.evaluate("pure", n=10_000, d=400, epsilon=1).value.lower
    approximate = statement.evaluate(
        "approximate", n=10_000, d=400, epsilon=1, delta="0.36787944117"
    ).value.lower  # 1/e
    assert pure / approximate == pytest.approx(20)
