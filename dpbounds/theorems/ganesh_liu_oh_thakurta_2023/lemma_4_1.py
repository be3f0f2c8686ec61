r"""Algorithm 2, given $N$ points, is $2\varepsilon$-DP if a record is replaced, and $\varepsilon$-DP if one is added
or removed ($n$ public). (i) If it returns a point, then with probability at least $1 - \omega$ its gradient has a
norm of at most $\alpha + 32 G\ln(2N/\omega)/(n\varepsilon)$, and its Hessian no eigenvalue below $-\sqrt{\rho\alpha}
- 32 M\ln(2N/ \omega)/(n\varepsilon)$. (ii) If one of the points is an $\alpha$-SOSP, then with probability at least
$1 - \omega$ it returns a point.

Proof of (i): let $s = \frac43\ln(2N/\omega)$. Of the $N + 1$ Laplace variables of one test all stay within $s$ scales
on the side that matters, but for a chance of $\frac{N+1}2 e^{-s}$; for both tests $(N + 1)e^{-s} \le \omega$. The
error is then at most the offset, 16, plus $12 \cdot \frac43 = 16$ units. (ii): four variables, $2e^{-s} \le \omega$,
and $16 \ge 12 \cdot \frac43$.
"""

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
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023.algorithm_2 import mechanism
from dpbounds.theorems.record import Bound, Claim, Erratum, Metric, Mode, Note, Privacy, Severity, Side, Status, Theorem


def slack() -> Expr:
    return 32 * log(2 * candidates / failure_probability) / (dataset_size * epsilon)


def gradient() -> Expr:
    return stationarity + slack() * lipschitz


def curvature() -> Expr:
    return sqrt(hessian_lipschitz * stationarity) + slack() * smoothness


def selected() -> Expr:
    return Max(gradient(), curvature() ** 2 / hessian_lipschitz)


_GRADIENT = Unit(1, -1)
_MORE = (stationarity, candidates)
_LESS = (dataset_size, epsilon, failure_probability)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-4.1",
    title="selection of a stationary point",
    statement=__doc__,
    where="Section 4.1, Lemma 4.1",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.REPAIRED,
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
            meaning="norm of the selected point's gradient",
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
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-2",
    errata=(
        Erratum(
            printed="Algorithm 2 is (ε, 0)-DP",
            right="2ε-DP for a replaced record: its two tests are joined by 'and', so that 'not both' lets each "
            "of them "
            "leak by itself; the loss exceeds ε from 4 points on, is above 1.47ε with 20 points and 1.74ε with 100 in "
            "a data set that satisfies every assumption, and tends to 2ε",
            severity=Severity.PRIVACY,
            evidence="test_lemma_4_1.py::test_the_privacy_loss_exceeds_epsilon",
            survives="ε-DP for a record that is added or removed with n public (sensitivities G/n and M/n, as the "
            "proofs of Section 4 have them), and for a replaced one with all noise doubled; the accuracy",
            relation=Relation.REPLACE_ONE,
            also=("ganesh-liu-oh-thakurta-2023/algorithm-2",),
        ),
    ),
    notes=(
        Note("The point is selected from points that do not depend on the same data again: their release is extra."),
        Note("12 ln((N+1)/ω) would serve in place of 16 ln(2N/ω), and 24 in place of 32, by the same proof."),
    ),
)
