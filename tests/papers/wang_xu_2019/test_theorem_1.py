"""Theorem 1 with constants: those of the text."""

import pytest

from tests.papers.reference_formulas import evaluated


def test_the_constants_of_the_text():
    evaluate = evaluated("wang-xu-2019/theorem-1/explicit")
    assert evaluate("noise_constant", epsilon="1e-9", delta="1e-5").value.lower == pytest.approx(8)
    at_the_edge = evaluate("noise_constant", epsilon="11.512925464970229", delta="1e-5").value.lower
    assert at_the_edge == pytest.approx(6 + 4 * 2**0.5)
