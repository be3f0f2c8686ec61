r"""Selecting an SOSP: run DP-GD with half of $\varepsilon$ and of $\delta$ for an $\frac\alpha2$-SOSP; then for $t =
1, \dots, T+1$ release $g_t = \nabla \hat F(w_t) + e_t$, $e_t \sim N(0, \sigma_1^2 I_d)$, and $\tilde H_t = \nabla^2
\hat F(w_t) + H_t$, $H_t$ symmetric with $N(0, \sigma_2^2)$ entries on and above the diagonal, and return the first
$w_t$ with $\|g_t\| \le \alpha$ and $\lambda_{\min}(\tilde H_t) \ge -\sqrt{\rho_H \alpha}$.

The Hessians' upper triangles differ by at most $2 L \sqrt d/n$ in l2 under replace-one (a symmetric matrix of
operator norm $2L/n$ has a Frobenius norm of at most $\sqrt d$ times that).
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    lipschitz,
    noise_constant,
    smoothness,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import (
    Claim,
    Erratum,
    Metric,
    Note,
    Parameter,
    Privacy,
    Severity,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.wang_chen_xu_2019._assumptions import SECOND_ORDER


def gradient_variance() -> Expr:
    return noise_constant * lipschitz**2 * steps * log(1 / delta) / (dataset_size * epsilon) ** 2


def hessian_variance() -> Expr:
    return noise_constant * smoothness**2 * dimension * steps * log(1 / delta) / (dataset_size * epsilon) ** 2


def mechanism(at: Numbers) -> Mechanism:
    descent = Gaussian(at.down(2 * sqrt(noise_constant * steps * log(2 / delta)) / epsilon))
    tests = Gaussian(at.down(sqrt(noise_constant * steps * log(1 / delta)) / epsilon))  # gradients as well as Hessians
    count = at.count(steps)
    return descent**count @ tests ** (2 * (count + 1))


THEOREM = Theorem(
    id="wang-chen-xu-2019/algorithm-5",
    title="selecting a second-order stationary point",
    statement=__doc__,
    where="Section 5.1, Algorithm 5, with the noise of Theorem 8",
    metric=Metric.SOSP,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SECOND_ORDER,),
    parts=(
        Parameter(
            formula=gradient_variance,
            name="noise_variance",
            unit=Unit(2, -2),
            meaning="σ₁²; c stands for c₁ of Theorem 8",
            up_to_constant=True,
            increasing_in=(lipschitz, steps, noise_constant),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=hessian_variance,
            name="hessian_noise_variance",
            unit=Unit(2, -4),
            meaning="σ₂² of each entry; c stands for c₂ of Theorem 8",
            up_to_constant=True,
            increasing_in=(smoothness, dimension, steps, noise_constant),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, steps, noise_constant)),
    errata=(
        Erratum(
            printed="a point passes if its noisy gradient and curvature meet α and -√(ρ_H α) themselves, and is then "
            "an α-SOSP with high probability",
            right="the thresholds must be tighter by the noise, for instance 3α/4 and (1 + 1/√2)/2 √(ρ_H α): a first "
            "iterate whose gradient norm is a little above α passes in about half of all runs, however many records "
            "there are",
            severity=Severity.CONSTANT,
            evidence="test_algorithm_5.py::test_a_point_just_above_the_threshold_often_passes",
            where="Algorithm 5, line 5, and Theorem 8",
            survives="the output is stationary at α plus the noise: a constant multiple of α, which rescaling absorbs; "
            "theorem-8/explicit has the tightened thresholds",
        ),
    ),
    notes=(
        Note("`spent` uses one constant for DP-GD, gradients and Hessians, each at least as printed."),
        Note(
            "The gradients need not be released again for t <= T: (w_t - w_{t+1})/η is the noisy gradient at w_t "
            "already. And T + 1 points are tested, while the noise is set for T."
        ),
        Note("Nothing is said of the output if no point passes."),
    ),
)
