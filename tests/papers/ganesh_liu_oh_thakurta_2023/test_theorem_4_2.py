"""Theorem 4.2: what its noise spends. With constants: its tuning and its budget."""

import math

import pytest

from dpbounds.privacy.mechanisms import Gaussian, PureDP
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

explicit = evaluated("ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit")
STATEMENT = theorem("ganesh-liu-oh-thakurta-2023/theorem-4.2")


def search(factor, budget, estimates, steps):
    """zCDP of the search, with ``factor`` times the statement's noise, under both relations."""
    fresh = Gaussian(factor * (estimates / budget) ** 0.5) ** estimates
    both = fresh @ Gaussian(factor * (steps / budget) ** 0.5) ** steps
    return [float(zcdp_rho(both, relation)) / budget for relation in ("replace-one", "add-or-remove-one")]


def test_what_the_noise_of_statement_and_proof_spends():
    assert search(1, 0.25, 9, 400) == pytest.approx([4, 1])  # the statement's; claimed: 1/2
    assert search(2, 0.25, 9, 400) == pytest.approx([1, 0.25])  # the proof's
    assert search(8**0.5, 0.25, 9, 400) == pytest.approx([0.5, 0.125])
    values = {"rho": "0.25", "fresh_estimates": 9, "steps": 400}
    for relation, whole in (("replace-one", 6), ("add-or-remove-one", 1.5)):
        found = spending(STATEMENT, values, relation)
        assert found.kept is not True
        assert 0.8 * whole * 0.25 < found.spent.upper <= whole * 0.25 * (1 + 1e-9)
    proof = Gaussian(12) ** 9 @ Gaussian(80) ** 400  # 2√(T/φ)
    whole = proof @ PureDP(1, relation="replace-one")  # twice ε = √φ = 1/2
    assert 2.8 < float(zcdp_rho(whole, "replace-one")) / 0.25 <= 3
    kept = proof @ PureDP("1/2", relation="add-or-remove-one")
    assert float(zcdp_rho(kept, "add-or-remove-one")) <= 0.25


def tune(**problem):
    """Parameters and bounds as the record says."""
    value = explicit("accuracy", **problem)
    common = {name: problem[name] for name in ("L", "B")}
    level = value.value.upper
    steps = math.ceil(explicit("steps", accuracy=level, **common).value.upper)
    lengths = {"G": problem["G"], "L": problem["L"]}
    kappa = explicit("drift_threshold", accuracy=level, **lengths).value.upper
    fresh = explicit("fresh_estimates", accuracy=level, T=steps, kappa=kappa, **common)
    cap = math.ceil(fresh.value.upper)
    budget = {"n": problem["n"], "rho": problem["rho"]}
    return {
        "applies": value.applies,
        "steps": steps,
        "drift_threshold": kappa,
        "fresh_estimates": cap,
        "noise_stddev": explicit("noise_stddev", G=problem["G"], fresh_estimates=cap, **budget).value.upper,
        "difference_noise_stddev": explicit("difference_noise_stddev", L=problem["L"], T=steps, **budget).value.upper,
    }


@pytest.mark.parametrize(("n", "dimension", "lipschitz"), [(10**3, 5, 1), (10**5, 100, "0.3"), (10**7, 10, 4)])
def test_the_tuned_bound_is_kept_at_its_parameters(n, dimension, lipschitz):
    problem = {"n": n, "d": dimension, "rho": "0.5", "G": lipschitz, "L": 2, "B": 3, "zeta": "0.05"}
    chosen = tune(**problem)
    assert chosen.pop("applies") is True
    reached = explicit("bound", d=dimension, L=2, B=3, zeta="0.05", **chosen)
    tuned = explicit("tuned", **problem).value
    assert reached.applies is True
    assert 0.7 * tuned.lower < reached.value.upper <= tuned.upper
