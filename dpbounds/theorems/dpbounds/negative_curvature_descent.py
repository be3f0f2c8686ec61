r"""On $\mathbb R^d$, from $w$ with noisy gradient $g$: if $\|g\| > \frac34\alpha$ step to $w - g/L$; else release a
noisy Hessian, and if its smallest eigenvalue is below $-\frac78\sqrt{\rho_H\alpha}$ move by $\sqrt{\alpha/\rho_H}$
along its eigenvector, in the direction in which $g$ does not rise; else return $w$. With half of a budget $\rho$ for
gradients and half for Hessians this is $\rho$-zCDP under replace-one, and with probability $1 - \zeta$ it returns an
$\alpha$-SOSP of the empirical risk within $T = \lfloor\Delta_F \max(\frac{4L}{\alpha^2},
\frac{6\sqrt{\rho_H}}{\alpha^{3/2}})\rfloor + 1$ steps, if $n$ is at least the larger of $\frac{48 G\sqrt
T}{\sqrt\rho\,\alpha} (\sqrt d + \sqrt{2\ln\frac{2T}\zeta})$ and $\frac{32 L \sqrt{d T}}{\sqrt\rho
\sqrt{\rho_H\alpha}} (\sqrt d + \sqrt{\ln\frac{4T}\zeta})$.

That is $\tilde O(\sqrt d/(\varepsilon\alpha^2) + d/(\varepsilon\alpha^{3/2}))$ records, compared with the
$d/(\varepsilon\alpha^2)$ of Wang, Chen & Xu 2019, Theorem 8.
"""

from sympy import Expr, Max, Rational, floor, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    failure_probability,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    rho,
    smoothness,
    stationarity,
)
from dpbounds.expressions.symbols import (
    steps as iterations,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def steps() -> Expr:
    first = 4 * smoothness / stationarity**2
    second = 6 * sqrt(hessian_lipschitz) / stationarity ** Rational(3, 2)
    return floor(initial_gap * Max(first, second)) + 1


def sample_size() -> Expr:
    gradients = 48 * lipschitz * sqrt(iterations / rho) / stationarity
    hessians = 32 * smoothness * sqrt(dimension * iterations / rho) / sqrt(hessian_lipschitz * stationarity)
    return Max(
        gradients * (sqrt(dimension) + sqrt(2 * log(2 * iterations / failure_probability))),
        hessians * (sqrt(dimension) + sqrt(log(4 * iterations / failure_probability))),
    )


def gradient_threshold() -> Expr:
    return Rational(3, 4) * stationarity


def curvature_threshold() -> Expr:
    return -Rational(7, 8) * sqrt(hessian_lipschitz * stationarity)


def curvature_move() -> Expr:
    return sqrt(stationarity / hessian_lipschitz)


def gradient_noise() -> Expr:
    return 2 * lipschitz * sqrt(iterations / rho) / dataset_size


def hessian_noise() -> Expr:
    return 2 * smoothness * sqrt(dimension * iterations / rho) / dataset_size


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(2 * sqrt(iterations / rho))) ** (2 * at.count(iterations))


THEOREM = Theorem(
    id="dpbounds/negative-curvature-descent",
    title="a private approximate local minimum, with constants",
    statement=__doc__,
    where="derived here; compare Wang, Chen & Xu 2019, Theorems 7 and 8",
    metric=Metric.SAMPLE_SIZE,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RISK, UNCONSTRAINED),
    parts=(
        Bound(
            formula=sample_size,
            unit=Unit(samples=1),
            meaning="how many records suffice, with T of `steps`",
            increasing_in=(lipschitz, smoothness, dimension, iterations),
            decreasing_in=(rho, stationarity, hessian_lipschitz, failure_probability),
        ),
        Bound(
            formula=steps,
            name="steps",
            meaning="T: within as many steps a point is returned",
            increasing_in=(initial_gap, smoothness, hessian_lipschitz),
            decreasing_in=(stationarity,),
        ),
        Parameter(
            formula=gradient_threshold,
            name="gradient_threshold",
            unit=Unit(1, -1),
            meaning="a gradient step is taken above it",
            increasing_in=(stationarity,),
        ),
        Parameter(
            formula=curvature_threshold,
            name="curvature_threshold",
            unit=Unit(1, -2),
            meaning="a curvature step is taken below it",
            decreasing_in=(stationarity, hessian_lipschitz),
        ),
        Parameter(
            formula=curvature_move,
            name="curvature_move",
            unit=Unit(length=1),
            meaning="length of a curvature step",
            increasing_in=(stationarity,),
            decreasing_in=(hessian_lipschitz,),
        ),
        Parameter(
            formula=gradient_noise,
            name="noise_stddev",
            unit=Unit(1, -1),
            meaning="σ₁",
            increasing_in=(lipschitz, iterations),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=hessian_noise,
            name="hessian_noise_stddev",
            unit=Unit(1, -2),
            meaning="σ₂, on and above the diagonal",
            increasing_in=(smoothness, dimension, iterations),
            decreasing_in=(dataset_size, rho),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, iterations)),
    derivation="negative_curvature_descent.md",
)
