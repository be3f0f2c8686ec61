r"""AboveThreshold for stationary points: given $N$ points, add $\mathrm{Lap}(\frac{4G}{n\varepsilon}) + \frac{16
G\ln(2N/ \omega)}{n\varepsilon}$ to $\alpha$ once, and $\mathrm{Lap}(\frac{4M}{n\varepsilon}) - \frac{16
M\ln(2N/\omega)}{n \varepsilon}$ to $-\sqrt{\rho\alpha}$ once. Return the first point at which the gradient's norm
plus $\mathrm{Lap}(\frac{8G}{ n\varepsilon})$ is at most the one, and the smallest eigenvalue of the Hessian plus
$\mathrm{Lap}(\frac{8M}{n\varepsilon})$ at least the other.

Both thresholds have to move to account for one neighbour, so that each test spends a budget of its own:
$\varepsilon/2$ each if a record is added or removed ($n$ public), $\varepsilon$ each if one is replaced.
"""

from sympy import Expr, log

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    epsilon,
    failure_probability,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.mechanisms import Mechanism, PureDP
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Status, Theorem
from dpbounds.theorems.spending import Numbers


def unit_noise() -> Expr:
    return 4 / (dataset_size * epsilon)


def gradient_threshold() -> Expr:
    return unit_noise() * lipschitz


def curvature_threshold() -> Expr:
    return unit_noise() * smoothness


def gradient_query() -> Expr:
    return 2 * gradient_threshold()


def curvature_query() -> Expr:
    return 2 * curvature_threshold()


def gradient_offset() -> Expr:
    return 4 * gradient_threshold() * log(2 * candidates / failure_probability)


def curvature_offset() -> Expr:
    return 4 * curvature_threshold() * log(2 * candidates / failure_probability)


def mechanism(at: Numbers) -> Mechanism:
    # per test: threshold noise 4/(nε) and query noise 8/(nε) per unit of G or M, for a sensitivity of factor/n:
    # factor (ε/4 + 2 ε/8); the two tests add up, because both thresholds shift in the proof of AboveThreshold
    return PureDP(at.relation.sensitivity_factor * at[epsilon], relation=at.relation)


_GRADIENT, _CURVATURE = Unit(1, -1), Unit(1, -2)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/algorithm-2",
    title="AboveThreshold for stationary points",
    statement=__doc__,
    where="Appendix C, Algorithm 2",
    metric=Metric.SOSP,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH),
    parts=(
        Parameter(
            formula=gradient_threshold,
            name="gradient-threshold-noise",
            unit=_GRADIENT,
            meaning="Laplace scale on the gradient's threshold",
            increasing_in=(lipschitz,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=curvature_threshold,
            name="curvature-threshold-noise",
            unit=_CURVATURE,
            meaning="Laplace scale on the curvature's threshold",
            increasing_in=(smoothness,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=gradient_query,
            name="gradient-noise",
            unit=_GRADIENT,
            meaning="Laplace scale on each gradient norm",
            increasing_in=(lipschitz,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=curvature_query,
            name="curvature-noise",
            unit=_CURVATURE,
            meaning="Laplace scale on each smallest eigenvalue",
            increasing_in=(smoothness,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=gradient_offset,
            name="gradient-offset",
            unit=_GRADIENT,
            meaning="what is added to α",
            increasing_in=(lipschitz, candidates),
            decreasing_in=(dataset_size, epsilon, failure_probability),
        ),
        Parameter(
            formula=curvature_offset,
            name="curvature-offset",
            unit=_CURVATURE,
            meaning="what is subtracted from -√(ρα)",
            increasing_in=(smoothness, candidates),
            decreasing_in=(dataset_size, epsilon, failure_probability),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    notes=(
        Note(
            "The privacy that Lemma 4.1 states for it holds if an element is added or removed; 2ε if one is replaced."
        ),
        Note(
            "One test on the larger of the two scaled quantities costs half as much and is more accurate: "
            "ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit."
        ),
    ),
)
