"""Algorithm 1: its kick and its logarithms."""

import math

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/algorithm-1")


def test_the_two_kicks_differ():
    values = {"B": 1, "L": 1, "d": 100, "rho_H": 1, "zeta": "0.01"}
    gamma = evaluate(
        "gradient_accuracy",
        universal_constant=1,
        first_oracle_noise="0.001",
        second_oracle_noise=1,
        kappa="1e-9",
        **values,
    ).value.lower
    algorithm, lemma = 0.001**2 / 100, gamma**2 / (100 * math.log(100 / 0.01))
    assert lemma / algorithm >= 16 * math.log(1e4) / math.log(1e4) * 0.999


def test_logarithms_depend_on_units():
    values = {"B": 1, "L": 1, "d": 10, "zeta": "0.1", "gradient_accuracy": "0.1"}
    metres = evaluate("steps", rho_H=1, **values).value.lower
    # the same problem with lengths in thousandths: w -> 1000 w
    scaled = {**values, "L": "1e-6", "gradient_accuracy": "1e-4"}
    millimetres = evaluate("steps", rho_H="1e-9", **scaled).value.lower
    assert millimetres / metres > 10
    assert math.log(10 / 200 / 0.1) < 0  # at ρ = 200 > BMd/ω = 100 the printed γ² is negative
