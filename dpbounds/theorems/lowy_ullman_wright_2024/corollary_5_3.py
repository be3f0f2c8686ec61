r"""Warm-starting DP-SPIDER with DP-SGD (Algorithm 2 with Algorithm 3 in front) on a quasar-convex empirical loss: the
expected norm of the empirical gradient is of order $G A + G^{2/3} L^{1/3} D^{1/3} A / q_c$, $A = \sqrt{d
\ln(1/\delta)} / (\varepsilon n)$, up to logarithms. For constant $q_c$ and $L D$ at most of order $G$ that is the lower
bound $G A$, which holds for convex losses already.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    diameter,
    dimension,
    epsilon,
    lipschitz,
    quasar_convexity,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, QUASAR_CONVEX, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem

_THIRD = Rational(1, 3)


def noise_level() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def rate() -> Expr:
    warm = (lipschitz**2 * smoothness * diameter) ** _THIRD / quasar_convexity
    return (lipschitz + warm) * noise_level()


def sharper() -> Expr:
    warm = (lipschitz**2 * smoothness * diameter / quasar_convexity) ** _THIRD
    return (lipschitz + warm) * noise_level()


_LARGER = (lipschitz, smoothness, diameter, dimension)
_SMALLER = (dataset_size, epsilon, delta, quasar_convexity)

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-5.3",
    title="gradient norm for quasar-convex losses",
    statement=__doc__,
    where="Section 5, Corollary 5.3",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, QUASAR_CONVEX, UNCONSTRAINED),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="as printed",
            logs_hidden=True,
            increasing_in=_LARGER,
            decreasing_in=_SMALLER,
        ),
        Rate(
            formula=sharper,
            name="sharper",
            unit=Unit(1, -1),
            meaning="what Theorem 3.2 gives with the excess risk of Proposition 5.2",
            logs_hidden=True,
            increasing_in=_LARGER,
            decreasing_in=_SMALLER,
        ),
    ),
    relies_on=(
        "lowy-ullman-wright-2024/theorem-3.2",
        "lowy-ullman-wright-2024/proposition-5.2",
        "cited/arora-et-al-2023/theorem-4.2",
    ),
    notes=(
        Note(
            "The printed 1/q_c is valid and loose: the excess risk enters Theorem 3.2 by its third root, so q_c^(-1/3)."
        ),
        Note("The lower bound for comparison is cited/arora-et-al-2023/theorem-4.3."),
    ),
)
