"""Lemma 3.4: the run that errors within γ hold at a saddle point.

F(x) = (λ³/ρ²) cos(ρ x₁/λ) on R^d, λ = √(ρα): |∇F| <= λ²/ρ = α, |∇²F| <= λ <= M, ∇²F is ρ-Lipschitz, the range is
2 λ³/ρ². At 0 the gradient vanishes, and an eigenvalue of the Hessian is -λ. Every record's loss is F.
"""

import math

from tests.papers.twins import evaluated

D, OMEGA = 20, 0.01  # M = ρ = B = 1


def setting(gamma):
    alpha = gamma * math.log(D / OMEGA) ** 3
    curvature = math.sqrt(alpha)
    assert curvature <= 1  # M >= √(ρα)
    assert 2 * alpha**1.5 <= 1  # the range is at most B
    steps = math.ceil(math.log(D / (gamma * OMEGA)) / math.sqrt(gamma))
    claimed = gamma**1.5 / math.log(D / (gamma * OMEGA)) ** 3
    return alpha, curvature, steps, claimed


def test_the_gap_grows_without_bound():
    ratios = []
    for gamma in (1e-6, 1e-8, 1e-10, 1e-12):
        alpha, *_, claimed = setting(gamma)
        values = {"rho_H": 1, "L": 1, "d": D, "zeta": "0.01"}
        fall = evaluated("ganesh-liu-oh-thakurta-2023/lemma-3.4")(
            "counterexample", gradient_accuracy=gamma, alpha=alpha, **values
        )
        ratios.append(fall.value.upper / claimed)
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] < 1e-4 * ratios[0]
