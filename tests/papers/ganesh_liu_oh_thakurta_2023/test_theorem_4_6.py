"""Theorem 4.6: its budget. With constants: its tuning, its budget, and a run."""

import math

import numpy as np
import pytest

from dpbounds.errors import DpboundsError
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

explicit = evaluated("ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit")
STATEMENT = theorem("ganesh-liu-oh-thakurta-2023/theorem-4.6")


def test_what_the_printed_noise_spends():
    query = Gaussian(2)  # 1/√φ at φ = 1/4, per unit of G/b₁
    assert float(zcdp_rho(query, "replace-one")) == pytest.approx(2 * 0.25)
    assert float(zcdp_rho(query, "add-or-remove-one")) == pytest.approx(0.5 * 0.25)
    found = spending(STATEMENT, {"rho": "0.25"}, "replace-one")
    assert found.kept is not True
    assert found.spent.upper == pytest.approx(2 * 0.25)
    with pytest.raises(DpboundsError):  # halves by position: removing a record would move the others
        spending(STATEMENT, {"rho": "0.25"}, "add-or-remove-one")


def value(part, **values):
    return explicit(part, **values).value.upper


def tune(problem):
    """Parameters as the record says."""
    common = {name: problem[name] for name in ("L", "B")}
    level = value("accuracy", **problem)
    steps = math.ceil(value("steps", accuracy=level, **common))
    kappa = value("drift_threshold", accuracy=level, **problem)
    cap = math.ceil(value("fresh_estimates", accuracy=level, steps=steps, drift_threshold=kappa, **common))
    first = math.floor(value("first_batch", n=problem["n"], fresh_estimates=cap))
    second = math.floor(value("second_batch", n=problem["n"], steps=steps))
    return {
        "steps": steps,
        "drift_threshold": kappa,
        "fresh_estimates": cap,
        "first_batch": first,
        "second_batch": second,
        "noise_stddev": value("noise_stddev", lipschitz=problem["G"], first_batch=first, rho=problem["rho"]),
        "difference_noise_stddev": value(
            "difference_noise_stddev", smoothness=problem["L"], second_batch=second, rho=problem["rho"]
        ),
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("n", "dimension"), [(10**9, 10), (10**9, 10**6), (10**13, 10**12), (10**15, 1)])
def test_the_tuned_bound_is_kept_at_its_parameters(n, dimension):
    problem = {"n": n, "d": dimension, "rho": "0.5", "G": 1, "L": 1, "B": 1, "zeta": "0.05"}
    tuned = explicit("tuned", **problem)
    assert tuned.applies is True
    reached = explicit("bound", n=n, d=dimension, G=1, L=1, B=1, zeta="0.05", **tune(problem))
    assert reached.applies is True
    assert 0.3 * tuned.value.lower < reached.value.upper <= tuned.value.upper


def test_sampled_errors_stay_below():
    # one segment after the other, with record-wise gradients ±1 on the line (the largest variance), fixed short steps
    generator = np.random.default_rng(12)
    chosen = {
        "fresh_estimates": 4,
        "first_batch": 50,
        "second_batch": 20,
        "drift_threshold": "0.1",
        "noise_stddev": "0.02",
        "difference_noise_stddev": "0.1",
    }
    level = value("error", d=1, lipschitz=1, smoothness=1, failure_probability="0.1", **chosen)
    missed = []
    for _ in range(300):
        worst = 0.0
        for _ in range(4):
            error = generator.choice((-1.0, 1.0), size=50).mean() + 0.02 * generator.normal()
            worst = max(worst, abs(error))
            for _ in range(9):  # squared steps: 9/100 < κ
                error += 0.1 * generator.choice((-1.0, 1.0), size=20).mean() + 0.1 * 0.1 * generator.normal()
                worst = max(worst, abs(error))
        missed.append(worst)
    assert np.mean(np.array(missed) > level) <= 0.1
    assert max(missed) > 0.2 * level
