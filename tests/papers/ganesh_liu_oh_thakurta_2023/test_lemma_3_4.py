"""Lemma 3.4: the gap between its claim and a run that errors within γ grows without bound; see ``proofs/``."""

import math

from tests.papers.reference_formulas import evaluated

D, OMEGA = 20, 0.01  # M = ρ = B = 1


def test_the_gap_grows_without_bound():
    ratios = []
    for gamma in (1e-6, 1e-8, 1e-10, 1e-12):
        alpha = gamma * math.log(D / OMEGA) ** 3
        claimed = gamma**1.5 / math.log(D / (gamma * OMEGA)) ** 3
        values = {"rho_H": 1, "L": 1, "d": D, "zeta": "0.01"}
        fall = evaluated("ganesh-liu-oh-thakurta-2023/lemma-3.4")(
            "counterexample", gradient_accuracy=gamma, alpha=alpha, **values
        )
        ratios.append(fall.value.upper / claimed)
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] < 1e-4 * ratios[0]
