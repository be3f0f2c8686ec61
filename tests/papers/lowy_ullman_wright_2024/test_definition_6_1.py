"""Definition 6.1: the Polyak-Łojasiewicz inequality as a case of it."""

from sympy import simplify

from dpbounds.expressions.symbols import pl_constant
from dpbounds.papers.lowy_ullman_wright_2024.definition_6_1 import of_pl


def test_a_quadratic_attains_it():
    # g = μw²/2: gap μw²/2, gradient μw
    assert simplify(of_pl**2 * pl_constant**2 - pl_constant / 2) == 0
