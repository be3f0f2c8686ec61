r"""Claimed, from Wang, Chen & Xu 2019: around a point with $\|\nabla F\| \le \alpha$ and an eigenvalue of the Hessian
below $-\sqrt{\rho\gamma}$, the points of the ball of radius $\eta\alpha$ from which the run of Lemma 3.4 gets stuck
form a set whose width along the eigenvector is at most $\frac{\omega\eta\gamma}{\log(1/\omega)}\sqrt{2\pi/d}$. With
errors that are only bounded by $\gamma$ this is false: every point near the saddle point is stuck.
"""

from sympy import Expr, Min, log, pi, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dimension,
    failure_probability,
    hessian_lipschitz,
    smoothness,
    stationarity,
)
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import ACCURACY, gradient_accuracy
from dpbounds.theorems.record import Bound, Erratum, Metric, Mode, Note, Severity, Side, Status, Theorem


def width() -> Expr:
    share = failure_probability / log(1 / failure_probability)
    return share * gradient_accuracy / smoothness * sqrt(2 * pi / dimension)


def stuck() -> Expr:
    return 2 * Min(stationarity / smoothness, gradient_accuracy / sqrt(hessian_lipschitz * stationarity))


_LENGTH = Unit(length=1)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-b.2",
    title="the region where a run gets stuck is thin",
    statement=__doc__,
    where="Appendix B.2, Lemma B.2",
    metric=Metric.DISTANCE,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.FALSE,
    assumptions=(SMOOTH, HESSIAN_LIPSCHITZ, UNCONSTRAINED),
    local=(ACCURACY,),
    parts=(
        Bound(
            formula=width,
            unit=_LENGTH,
            meaning="claimed width of the stuck region",
            increasing_in=(gradient_accuracy,),
            decreasing_in=(dimension, smoothness),
        ),
        Bound(
            formula=stuck,
            name="counterexample",
            side=Side.LOWER,
            status=Status.PROVED,
            relies_on=(),
            unit=_LENGTH,
            meaning="width of the stuck region in the example of Lemma 3.4, at least",
            increasing_in=(gradient_accuracy,),
        ),
    ),
    errata=(
        Erratum(
            printed="the width of the stuck region is at most ωηγ/log(1/ω) √(2π/d)",
            right="for errors within γ, in the example of Lemma 3.4: at least 2 min(ηα, γ/√(ρα))",
            severity=Severity.FALSE,
            evidence="test_lemma_b_2.py::test_a_wide_region_is_stuck",
            survives="false as it is used here, for any errors within γ. It quotes a lemma for independent "
            "Gaussian noise, "
            "shared by both runs that are compared, about which nothing is shown; see Lemma 3.4 for what an author of "
            "this paper has since acknowledged",
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/lemma-3.4",),
    notes=(Note("Print has √(ργ) here where Lemma 3.4 has √(ρα); B_x(r) is called the unit ball of radius r."),),
)
