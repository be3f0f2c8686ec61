r"""On $\mathbb R^d$, from $w$ with noisy gradient $g$: if $\|g\| > \frac34\alpha$ step to $w - g/L$; else release a
noisy Hessian (with half the variance off its diagonal), and if its smallest eigenvalue is below
$-\frac78\sqrt{\rho_H\alpha}$ move by $\sqrt{\alpha/\rho_H}$ along its eigenvector, in the direction whose inner product
with $g$ is not positive; else return $w$. With half of a budget $\rho$ for gradients and half for Hessians this is
$\rho$-zCDP under replace-one, and with probability $1 - \zeta$ it returns an $\alpha$-SOSP of the empirical risk within
$T = \lfloor\Delta_F \max(\frac{4L}{\alpha^2}, \frac{6\sqrt{\rho_H}}{\alpha^{3/2}})\rfloor + 1$ steps and $K =
\lfloor\frac{6 \Delta_F \sqrt{\rho_H}}{\alpha^{3/2}}\rfloor + 1$ Hessians, if $n$ is at least the larger of $\frac{48 G
\sqrt T}{\sqrt\rho\,\alpha} (\sqrt d + \sqrt{2\ln\frac{2T}\zeta})$ and $\frac{16\sqrt2 L \sqrt{d K}}{\sqrt\rho
\sqrt{\rho_H\alpha}} (\sqrt d + \sqrt{\ln\frac{4K}\zeta})$.

That is $\tilde O(\sqrt d/(\varepsilon\alpha^2) + d/(\varepsilon\alpha^{5/4}))$ records, compared with the
$d/(\varepsilon\alpha^2)$ of Wang, Chen & Xu 2019, Theorem 8.
"""

from sympy import Max, Rational, floor, log, sqrt

from dpbounds.papers.ours import PAPER, searches
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism
from dpbounds.theorems.language import (
    CURVATURE,
    GRADIENT,
    LENGTH,
    SAMPLES,
    Bound,
    Condition,
    Numbers,
    Parameter,
    Privacy,
    q,
)

first = 4 * q.L / q.alpha**2
second = 6 * sqrt(q.rho_H) / q.alpha ** Rational(3, 2)
steps = floor(q.Delta_F * Max(first, second)) + 1
least_searches = floor(q.Delta_F * second) + 1
gradients = 48 * q.G * sqrt(q.T / q.rho) / q.alpha
hessians = 16 * sqrt(2) * q.L * sqrt(q.d * searches / q.rho) / sqrt(q.rho_H * q.alpha)
sample_size = Max(
    gradients * (sqrt(q.d) + sqrt(2 * log(2 * q.T / q.zeta))), hessians * (sqrt(q.d) + sqrt(log(4 * searches / q.zeta)))
)
gradient_threshold = Rational(3, 4) * q.alpha
curvature_threshold = -Rational(7, 8) * sqrt(q.rho_H * q.alpha)
curvature_move = sqrt(q.alpha / q.rho_H)


def mechanism(at: Numbers) -> Mechanism:
    gradients, hessians = (Gaussian(at.down(2 * sqrt(count / q.rho))) for count in (q.T, searches))
    return Composed(((gradients, at.count(q.T)), (hessians, at.count(searches))))


THEOREM = PAPER.theorem(
    title="a private approximate local minimum, with constants",
    where="derived here; compare Wang, Chen & Xu 2019, Theorems 7 and 8",
    bounds="sample-size, probability",
    status="proved here",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded risk, unconstrained",
    parts=(
        Bound(
            sample_size,
            meaning="how many records suffice, with T of `steps` and K of `searches`, or more",
            unit=SAMPLES,
            conditions=(
                Condition(q.T >= steps, "the risk cannot be lowered so often"),
                Condition(searches >= least_searches, "nor by this many curvature steps"),
            ),
        ),
        Parameter(steps, "steps", "T, at least: within as many steps a point is returned"),
        Parameter(least_searches, "searches", "K, at least: by as many Hessians"),
        Parameter(gradient_threshold, "gradient_threshold", "a gradient step is taken above it", unit=GRADIENT),
        Parameter(curvature_threshold, "curvature_threshold", "a curvature step is taken below it", unit=CURVATURE),
        Parameter(curvature_move, "curvature_move", "length of a curvature step", unit=LENGTH),
        Parameter(2 * q.G * sqrt(q.T / q.rho) / q.n, "noise_stddev", "σ₁"),
        Parameter(2 * q.L * sqrt(q.d * searches / q.rho) / q.n, "hessian_noise_stddev", "σ₂, on the diagonal"),
    ),
    free=q.alpha,
    reaches="sosp",
    privacy=Privacy(mechanism, (q.rho, q.T, searches)),
    derivation="negative_curvature_descent.md",
)
