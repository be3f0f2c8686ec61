"""Gradient norms of DP-GD with constants: against exact runs of a quadratic."""

import pytest

from dpbounds.errors import InvalidValue
from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-chen-xu-2019/algorithm-4/explicit")


@pytest.mark.parametrize("step", ["0.1", "1", "1.8"])
def test_a_quadratic_is_computed_exactly_and_stays_below(step):
    # F = w²/2: E w² is a recursion, ∇F = w
    eta, sigma, steps = float(step), 0.3, 40
    square, total = 4.0, 0.0
    for _ in range(steps):
        total += square
        square = (1 - eta) ** 2 * square + eta**2 * sigma**2
    found = evaluate(Delta_F=2, eta=step, T=steps, L=1, d=1, sigma="0.3")
    assert found.applies is True
    assert 0.3 * found.value.upper < (total / steps) ** 0.5 <= found.value.upper


def test_the_tuned_bound_does_not_depend_on_many_steps():
    values = {"G": 1, "Delta_F": 1, "rho": "0.1", "L": 1, "d": 10, "n": 10_000}
    few, many = (evaluate("tuned", T=steps, **values) for steps in (2_000, 10**6))
    assert few.applies is True
    assert many.value.upper < few.value.upper < 1.25 * many.value.upper
    with pytest.raises(InvalidValue):  # steps so long that the risk need not fall: no value at all
        _ = evaluate("tuned", T=300, **values).value
