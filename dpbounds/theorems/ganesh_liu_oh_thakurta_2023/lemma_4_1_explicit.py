r"""One threshold for both tests: let $q_i = \max\{(\|\nabla F(x_i)\| - \alpha)/G, (-\sqrt{\rho\alpha} -
\lambda_{\min}(\nabla^2 F(x_i)))/M\}$ and return the first of $N$ points with $q_i +
\mathrm{Lap}(\frac8{n\varepsilon}) \le \mathrm{Lap}(\frac4{n\varepsilon}) + \frac{12\ln((N+1)/\omega)}{n\varepsilon}$.
This is $\varepsilon$-DP if a record is replaced. If one of the points is an $\alpha$-SOSP, then with probability at
least $1 - \omega$ a point is returned, with a gradient of norm at most $\alpha + 24G\ln((N+1)/\omega)/(n\varepsilon)$
and no eigenvalue of the Hessian below $-\sqrt{\rho \alpha} - 24M\ln((N+1)/\omega)/(n\varepsilon)$.
"""

from fractions import Fraction

from sympy import Expr, Max, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    epsilon,
    failure_probability,
    hessian_lipschitz,
    lipschitz,
    smoothness,
    stationarity,
)
from dpbounds.privacy.mechanisms import AboveThreshold, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Note, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def slack() -> Expr:
    return 24 * log((candidates + 1) / failure_probability) / (dataset_size * epsilon)


def gradient() -> Expr:
    return stationarity + slack() * lipschitz


def curvature() -> Expr:
    return sqrt(hessian_lipschitz * stationarity) + slack() * smoothness


def selected() -> Expr:
    return Max(gradient(), curvature() ** 2 / hessian_lipschitz)


def offset() -> Expr:
    return slack() / 2


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(2, at.relation.sensitivity_factor)  # q has sensitivity 2/n for a replaced record, else 1/n
    noises = (share * 2 / at[epsilon], share * 4 / at[epsilon])
    return AboveThreshold(threshold_noise=noises[0], query_noise=noises[1], relation=at.relation)


_GRADIENT = Unit(1, -1)
_MORE = (stationarity, candidates)
_LESS = (dataset_size, epsilon, failure_probability)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit",
    title="selection of a stationary point by one test",
    statement=__doc__,
    where="derived here; compare Lemma 4.1 and Algorithm 2",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ),
    parts=(
        Bound(
            formula=selected,
            unit=_GRADIENT,
            meaning="the α of the selected SOSP: both of the bounds below in one number",
            increasing_in=(*_MORE, lipschitz, smoothness),
            decreasing_in=_LESS,
        ),
        Bound(
            formula=gradient,
            name="gradient",
            unit=_GRADIENT,
            meaning="norm of the selected point's gradient; without the Hessian, of a selected FOSP",
            increasing_in=(*_MORE, lipschitz),
            decreasing_in=_LESS,
        ),
        Bound(
            formula=curvature,
            name="curvature",
            unit=Unit(1, -2),
            meaning="how far below 0 the selected point's smallest eigenvalue may be",
            increasing_in=(*_MORE, smoothness, hessian_lipschitz),
            decreasing_in=_LESS,
        ),
        Parameter(
            formula=offset,
            name="offset",
            meaning="what is added to the threshold 0 of q",
            increasing_in=(candidates,),
            decreasing_in=_LESS,
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    makes_explicit="ganesh-liu-oh-thakurta-2023/lemma-4.1",
    derivation="selection.md",
    notes=(Note("For first-order points leave the second entry of q out: the same budget, the same bound."),),
)
