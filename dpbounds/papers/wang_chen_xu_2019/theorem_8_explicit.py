r"""Let one of $N$ points be an $\frac\alpha2$-SOSP. Release, for each of them, gradient and Hessian with half of a
budget $\rho$ each: $\sigma_1^2 = 4 G^2 N/(n^2\rho)$, and $\sigma_2^2 = 4 L^2 d N/(n^2\rho)$ on and half of it off the
diagonal. Return the first point with $\|g\| \le \frac34\alpha$ and $\lambda_{\min}(\tilde H) \ge -\frac{1 + 1/\sqrt2}2
\sqrt{\rho_H \alpha}$. Under replace-one this is $\rho$-zCDP, and with probability $1 - \zeta$ a point is returned and
is an $\alpha$-SOSP, if $n$ is at least the larger of $\frac{8 G \sqrt N}{\sqrt\rho\, \alpha}(\sqrt d + \sqrt{2
\ln\frac{2N}\zeta})$ and $\frac{4\sqrt2 L \sqrt{d N}}{(1 - 1/\sqrt2) \sqrt\rho \sqrt{\rho_H\alpha}} (\sqrt d +
\sqrt{\ln\frac{4N}\zeta})$.
"""

from sympy import Expr, Max, Rational, log, sqrt

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.theorems.language import CURVATURE, GRADIENT, SAMPLES, Bound, Numbers, Parameter, Privacy, q

tail = sqrt(q.d) + sqrt(2 * log(2 * q.N / q.zeta))
_for_gradients = 8 * q.G * sqrt(q.N / q.rho) * tail / q.alpha


def _for_hessians() -> Expr:
    tail = sqrt(q.d) + sqrt(log(4 * q.N / q.zeta))
    room = (1 - 1 / sqrt(2)) * sqrt(q.rho_H * q.alpha)
    return 4 * sqrt(2) * q.L * sqrt(q.d * q.N / q.rho) * tail / room


sample_size = Max(_for_gradients, _for_hessians())
gradient_threshold = Rational(3, 4) * q.alpha
curvature_threshold = -(1 + 1 / sqrt(2)) / 2 * sqrt(q.rho_H * q.alpha)


def mechanism(at: Numbers) -> Mechanism:
    # both releases of a point have noise 2√(N/ρ) in units of one record's effect (G; L√d for the upper triangle)
    return Gaussian(at.down(2 * sqrt(q.N / q.rho))) ** (2 * at.count(q.N))


THEOREM = PAPER.theorem(
    title="selecting a second-order stationary point, with constants",
    where="derived here; compare Theorem 8 and Algorithm 5",
    bounds="sample-size, probability",
    assumptions="smooth with Lipschitz Hessian",
    parts=(
        Bound(sample_size, meaning="how many records suffice", unit=SAMPLES),
        Parameter(gradient_threshold, "gradient_threshold", "a point passes below it", unit=GRADIENT),
        Parameter(curvature_threshold, "curvature_threshold", "a point passes above it", unit=CURVATURE),
        Parameter(2 * q.G * sqrt(q.N / q.rho) / q.n, "noise_stddev", "σ₁"),
        Parameter(2 * q.L * sqrt(q.d * q.N / q.rho) / q.n, "hessian_noise_stddev", "σ₂"),
    ),
    privacy=Privacy(mechanism, "rho N"),
    algorithm="wang-chen-xu-2019/algorithm-5",
    derivation="second_order.md",
)
