r"""Let one of $N$ points be an $\frac\alpha2$-SOSP. Release, for each of them, gradient and Hessian with half of a
budget $\rho$ each: $\sigma_1^2 = 4 G^2 N/(n^2\rho)$, and $\sigma_2^2 = 4 L^2 d N/(n^2\rho)$ on and above the
diagonal. Return the first point with $\|g\| \le \frac34\alpha$ and $\lambda_{\min}(\tilde H) \ge -\frac{1 +
1/\sqrt2}2 \sqrt{\rho_H \alpha}$. Under replace-one this is $\rho$-zCDP, and with probability $1 - \zeta$ a point is
returned and is an $\alpha$-SOSP, if $n$ is at least the larger of $\frac{8 G \sqrt N}{\sqrt\rho\, \alpha}(\sqrt d +
\sqrt{2 \ln\frac{2N}\zeta})$ and $\frac{8 L \sqrt{d N}}{(1 - 1/\sqrt2) \sqrt\rho \sqrt{\rho_H\alpha}} (\sqrt d +
\sqrt{\ln\frac{4N}\zeta})$.
"""

from sympy import Expr, Max, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    dimension,
    failure_probability,
    hessian_lipschitz,
    lipschitz,
    rho,
    smoothness,
    stationarity,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.wang_chen_xu_2019._assumptions import SECOND_ORDER


def _for_gradients() -> Expr:
    tail = sqrt(dimension) + sqrt(2 * log(2 * candidates / failure_probability))
    return 8 * lipschitz * sqrt(candidates / rho) * tail / stationarity


def _for_hessians() -> Expr:
    tail = sqrt(dimension) + sqrt(log(4 * candidates / failure_probability))
    room = (1 - 1 / sqrt(2)) * sqrt(hessian_lipschitz * stationarity)
    return 8 * smoothness * sqrt(dimension * candidates / rho) * tail / room


def sample_size() -> Expr:
    return Max(_for_gradients(), _for_hessians())


def gradient_threshold() -> Expr:
    return Rational(3, 4) * stationarity


def curvature_threshold() -> Expr:
    return -(1 + 1 / sqrt(2)) / 2 * sqrt(hessian_lipschitz * stationarity)


def gradient_noise() -> Expr:
    return 2 * lipschitz * sqrt(candidates / rho) / dataset_size


def hessian_noise() -> Expr:
    return 2 * smoothness * sqrt(dimension * candidates / rho) / dataset_size


def mechanism(at: Numbers) -> Mechanism:
    # both releases of a point have noise 2√(N/ρ) per unit of what one record moves (G; L√d for the upper triangle)
    return Gaussian(at.down(2 * sqrt(candidates / rho))) ** (2 * at.count(candidates))


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-8/explicit",
    title="selecting a second-order stationary point, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 8 and Algorithm 5",
    metric=Metric.SAMPLE_SIZE,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SECOND_ORDER,),
    parts=(
        Bound(
            formula=sample_size,
            unit=Unit(samples=1),
            meaning="how many records suffice",
            increasing_in=(lipschitz, smoothness, dimension, candidates),
            decreasing_in=(rho, stationarity, hessian_lipschitz, failure_probability),
        ),
        Parameter(
            formula=gradient_threshold,
            name="gradient_threshold",
            unit=Unit(1, -1),
            meaning="a point passes below it",
            increasing_in=(stationarity,),
        ),
        Parameter(
            formula=curvature_threshold,
            name="curvature_threshold",
            unit=Unit(1, -2),
            meaning="a point passes above it",
            decreasing_in=(stationarity, hessian_lipschitz),
        ),
        Parameter(
            formula=gradient_noise,
            name="noise_stddev",
            unit=Unit(1, -1),
            meaning="σ₁",
            increasing_in=(lipschitz, candidates),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=hessian_noise,
            name="hessian_noise_stddev",
            unit=Unit(1, -2),
            meaning="σ₂",
            increasing_in=(smoothness, dimension, candidates),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, candidates)),
    algorithm="wang-chen-xu-2019/algorithm-5",
    makes_explicit="wang-chen-xu-2019/theorem-8",
    derivation="second_order.md",
)
