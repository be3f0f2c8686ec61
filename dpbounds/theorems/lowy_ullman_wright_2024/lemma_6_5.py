r"""Lower bound: for $1 < k \le 2$, $k = 1 + \Omega(1)$, every $(\varepsilon, \delta)$-DP algorithm has, on some data
set and some $(\gamma, k)$-KL loss over a ball, Lipschitz and smooth, an expected norm of the empirical gradient of
order at least $G \min\{1, \sqrt d/(\varepsilon n)\}$, up to logarithms. It is drawn from a lower bound on the excess
risk of such losses (Menart et al. 2023, Corollary 1).
"""

from sympy import Expr, Min, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, epsilon, kl_exponent, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import KL, LIPSCHITZ, SMOOTH
from dpbounds.theorems.record import (
    Condition,
    Erratum,
    Metric,
    Mode,
    Note,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)


def rate() -> Expr:
    return lipschitz * Min(1, sqrt(dimension) / (epsilon * dataset_size))


def what_survives() -> Expr:
    return lipschitz * Min(1, sqrt(dimension) / (epsilon * dataset_size)) ** kl_exponent


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=kl_exponent > 1, why="k is bounded away from 1"),)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-6.5",
    title="no better gradients of KL losses",
    statement=__doc__,
    where="Section 6, Lemma 6.5",
    metric=Metric.GRADIENT_NORM,
    side=Side.LOWER,
    mode=Mode.EXPECTATION,
    status=Status.DISPUTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, KL),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="as printed",
            logs_hidden=True,
            increasing_in=(lipschitz, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=what_survives,
            name="survives",
            status=Status.CLAIMED,
            relies_on=("cited/menart-et-al-2023/theorem-1",),
            unit=Unit(1, -1),
            meaning="what the argument gives for outputs within the ball: the k-th power",
            logs_hidden=True,
            increasing_in=(lipschitz, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    relies_on=("cited/menart-et-al-2023/theorem-1", "cited/arora-et-al-2023/theorem-4.3"),
    errata=(
        Erratum(
            printed="the bound follows from the excess risk's lower bound and Definition 6.1",
            right="E[F - inf F] >= (γc)ᵏ and F - inf F <= γᵏ|∇F|ᵏ give E|∇F|ᵏ >= cᵏ, which does not give E|∇F| >= c: "
            "Jensen's inequality points the other way for k > 1; in version 1",
            severity=Severity.GAP,
            evidence="test_lemma_6_5.py::test_a_large_mean_power_does_not_make_the_mean_large",
            survives="E|∇F| >= cᵏ/G^(k-1), as |∇F| <= G; the printed bound for k = 2, directly from Arora et al. 2023, "
            "Theorem 4.3; and the printed bound wherever the excess risk is large with constant probability",
        ),
    ),
    notes=(
        Note("Outputs outside the ball, where the KL inequality is not assumed, are not covered by the argument."),
        Note("Menart et al. 2023 was not read here. The statement itself is not refuted."),
    ),
)
