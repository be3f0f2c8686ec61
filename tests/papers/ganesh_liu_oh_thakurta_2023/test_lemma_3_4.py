"""Lemma 3.4: the run that errors within γ hold at a saddle point.

F(x) = (λ³/ρ²) cos(ρ x₁/λ) on R^d, λ = √(ρα): |∇F| <= λ²/ρ = α, |∇²F| <= λ <= M, ∇²F is ρ-Lipschitz, the range is
2 λ³/ρ². At 0 the gradient vanishes, and an eigenvalue of the Hessian is -λ. Every record's loss is F.
"""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

D, OMEGA = 20, 0.01  # M = ρ = B = 1


def setting(gamma):
    alpha = gamma * math.log(D / OMEGA) ** 3
    curvature = math.sqrt(alpha)
    assert curvature <= 1  # M >= √(ρα)
    assert 2 * alpha**1.5 <= 1  # the range is at most B
    steps = math.ceil(math.log(D / (gamma * OMEGA)) / math.sqrt(gamma))
    claimed = gamma**1.5 / math.log(D / (gamma * OMEGA)) ** 3
    return alpha, curvature, steps, claimed


def risk_below_start(x, curvature):
    """F(0) - F(x), without cancellation."""
    return 2 * curvature**3 * np.sin(x / curvature / 2) ** 2


def slope(x, curvature):
    return -(curvature**2) * np.sin(x / curvature)


def falls(gamma, error_of, runs=4000, seed=1, shown=60):
    """How much the risk fell in each run, and the largest error; ``error_of`` sees the iterate only."""
    _, curvature, steps, _ = setting(gamma)
    generator = np.random.default_rng(seed)
    kick = gamma / math.sqrt(D * math.log(D / OMEGA))
    x = -kick * generator.normal(size=runs)  # the gradient at 0 is 0, and ζ₁ = 0
    largest = 0.0
    for _ in range(min(steps, shown)):  # once it stands still it never moves again: no need for all Γ steps
        error = error_of(x, curvature, generator)
        largest = max(largest, np.abs(error).max())
        x = x - (slope(x, curvature) + error)
    standing = x - (slope(x, curvature) + error_of(x, curvature, generator))
    return risk_below_start(x, curvature), largest, np.isclose(standing, x, rtol=1e-9, atol=0)


@pytest.mark.parametrize("gamma", [1e-6, 1e-7])
def test_errors_within_gamma_hold_the_run(gamma):
    fallen, largest, stands = falls(gamma, lambda x, curvature, _: -slope(x, curvature))
    *_, claimed = setting(gamma)
    assert largest <= gamma
    assert stands.all()
    assert np.quantile(fallen, 0.9) < 0.01 * claimed  # claimed to fail with probability 0.046 at most
    assert OMEGA * math.log(1 / OMEGA) < 0.05


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


def test_errors_of_mean_zero_hold_the_run():
    gamma = 1e-6

    def error_of(x, curvature, generator):
        # two values of mean 0: one brings the next iterate to 0 exactly, the other has the norm γ
        home = x - slope(x, curvature)
        is_home = generator.random(x.shape) < gamma / (gamma + np.abs(home))
        return np.where(is_home, home, -np.sign(home) * gamma)

    home = np.linspace(-gamma, gamma, 9)
    share = gamma / (gamma + np.abs(home))
    assert np.allclose(share * home - (1 - share) * np.sign(home) * gamma, 0, atol=1e-22)  # mean 0
    _, curvature, _, _ = setting(gamma)
    generator = np.random.default_rng(2)
    kick = gamma / math.sqrt(D * math.log(D / OMEGA))
    start = -kick * generator.normal(size=20_000)
    error = error_of(start, curvature, generator)
    assert np.abs(error).max() <= gamma
    after = start - (slope(start, curvature) + error)
    stuck = np.abs(after) <= 1e-12 * gamma  # at 0 the gradient is 0, and the next error is 0, too: forever
    assert 0.9 < stuck.mean() < 0.96
    assert error_of(np.zeros(1), curvature, generator)[0] == 0
    assert stuck.mean() > OMEGA * math.log(1 / OMEGA)


def test_independent_gaussian_errors_escape():
    gamma = 1e-2
    alpha = gamma  # a longer way than the lemma's, where floating point shows it
    curvature = math.sqrt(alpha)
    generator = np.random.default_rng(3)
    x = -gamma / math.sqrt(D * math.log(D / OMEGA)) * generator.normal(size=2000)
    for _ in range(400):
        x = x - (slope(x, curvature) + gamma / math.sqrt(D) * generator.normal(size=x.shape))
    assert np.median(risk_below_start(x, curvature)) > 0.5 * alpha**1.5
