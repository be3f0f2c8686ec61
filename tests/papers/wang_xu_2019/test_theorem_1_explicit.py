"""Theorem 1 with its constant: against the certified accountant."""

import pytest

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


@pytest.mark.parametrize(("epsilon", "failure"), [("0.1", "1e-3"), (1, "1e-5"), (8, "1e-6"), (60, "1e-5"), (2, "0.3")])
def test_the_noise_suffices_for_every_epsilon(epsilon, failure):
    found = spending(theorem("wang-xu-2019/theorem-1/explicit"), {"epsilon": epsilon, "delta": failure, "steps": 50})
    assert found.kept is True
    assert found.spent.lower > 0.1 * float(epsilon)  # and is not absurdly much


def test_the_constants_of_the_text():
    statement = theorem("wang-xu-2019/theorem-1/explicit")
    assert statement.evaluate("noise_constant", epsilon="1e-9", delta="1e-5").value.lower == pytest.approx(8)
    at_the_edge = statement.evaluate("noise_constant", epsilon="11.512925464970229", delta="1e-5").value.lower
    assert at_the_edge == pytest.approx(6 + 4 * 2**0.5)
