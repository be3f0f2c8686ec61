"""Negative curvature descent: how few records it needs."""

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/negative-curvature-descent")


def test_fewer_records_than_theorem_8_in_small_alpha():
    values = {"G": 1, "L": 1, "rho_H": 1, "rho": "0.1", "zeta": "0.1"}
    counts = []
    for dimension in (10**4, 10**6):
        steps, searches = (
            evaluate(part, Delta_F=1, L=1, rho_H=1, alpha="1e-8").value.upper for part in ("steps", "searches")
        )
        found = evaluate(d=dimension, alpha="1e-8", T=int(steps), searches=int(searches), **values)
        counts.append(found.value.upper)
    assert counts[1] / counts[0] < 20  # √d, not d, where α is small
