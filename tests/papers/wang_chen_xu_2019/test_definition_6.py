"""Definition 6: where it fails."""

import pytest

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


@pytest.mark.parametrize(
    ("failure", "fine", "broken"), [("0.1", "5.74", "5.75"), ("1e-3", "7.46", "7.47"), ("1e-5", "8.41", "8.43")]
)
def test_the_formula_fails_for_large_epsilon(failure, fine, broken):
    statement = theorem("wang-chen-xu-2019/definition-6")
    assert spending(statement, {"epsilon": fine, "delta": failure, "sensitivity": 1}).kept is True
    assert spending(statement, {"epsilon": broken, "delta": failure, "sensitivity": 1}).kept is False
