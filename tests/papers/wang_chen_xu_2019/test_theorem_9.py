"""Theorem 9: its number of steps, and the units of its tolerance."""

import sympy

from dpbounds.papers.wang_chen_xu_2019 import theorem_9
from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-chen-xu-2019/theorem-9")


def test_the_combined_number_of_steps_is_larger():
    values = {"D": 2, "L": 3, "B": 1, "rho_H": 5, "Phi": "0.5"}
    for alpha in ("1", "0.01"):
        both, combined = (evaluate(name, alpha=alpha, **values).value for name in ("steps", "combined_steps"))
        assert both.upper <= combined.upper


def test_no_unit_of_the_tolerance_makes_the_terms_numbers():
    """The exponents of loss and length in each term, for α of the unit loss^a length^b: never all of them 0."""
    a, b = sympy.symbols("a b")
    loss = {"G": 1, "L": 1, "rho_H": 1, "B": 1, "D": 0, "alpha": a}
    length = {"lipschitz": -1, "smoothness": -2, "hessian_lipschitz": -3, "loss_range": 0, "diameter": 1}
    length["stationarity"] = b
    equations = []
    for term in theorem_9.sample_size.args:
        powers = term.as_powers_dict()
        equations += [sum(power * unit.get(str(base), 0) for base, power in powers.items()) for unit in (loss, length)]
    assert len(equations) == 6
    assert sympy.solve(equations, [a, b]) == []
    assert sympy.solve(equations[4:], [a, b])  # one term alone could be repaired by a unit
