r"""On a bounded, closed, centrally symmetric convex set and with the noise of (3), DP-FW-L2 with $T =
O\big(n\varepsilon / \sqrt{(\|C\|_2^2 + w_C^2) \ln(1/\delta)}\big)$ steps of size $O\big(((\|C\|_2^2 + w_C^2)
\ln(1/\delta))^{1/4} / (\|C\|_2 \sqrt{n\varepsilon})\big)$ has an expected Frank-Wolfe gap of $O\big(\|C\|_2
((\|C\|_2^2 + w_C^2) \ln(1/\delta))^{1/4} / \sqrt{n\varepsilon}\big)$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    epsilon,
    gaussian_width,
    initial_gap,
    lipschitz,
    norm_bound,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH_RISK, SYMMETRIC_SET
from dpbounds.theorems.record import (
    Condition,
    Erratum,
    Metric,
    Mode,
    Note,
    Parameter,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)


def size() -> Expr:
    return (norm_bound**2 + gaussian_width**2) * log(1 / delta)


def rate() -> Expr:
    return norm_bound * size() ** Rational(1, 4) / sqrt(dataset_size * epsilon)


def steps() -> Expr:
    return dataset_size * epsilon / sqrt(size())


def step_size() -> Expr:
    return size() ** Rational(1, 4) / (norm_bound * sqrt(dataset_size * epsilon))


def convex_combination() -> tuple[Condition, ...]:
    return (Condition(holds=step_size() <= 1, why="a Frank-Wolfe step is a convex combination; not printed"),)


HIDDEN = (lipschitz, smoothness, initial_gap)

THEOREM = Theorem(
    id="wang-xu-2019/theorem-4",
    title="Frank-Wolfe gap of DP-FW-L2",
    statement=__doc__,
    where="High Dimension Case, Theorem 4 and equation (6)",
    metric=Metric.FRANK_WOLFE_GAP,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_RISK, SYMMETRIC_SET),
    conditions=convex_combination,
    parts=(
        Rate(
            formula=rate,
            meaning="as printed",
            hides=HIDDEN,
            increasing_in=(norm_bound, gaussian_width),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=steps,
            name="steps",
            meaning="number of steps",
            up_to_constant=True,
            hides=HIDDEN,
            increasing_in=(dataset_size, epsilon, delta),
            decreasing_in=(norm_bound, gaussian_width),
        ),
        Parameter(formula=step_size, name="step_fraction", meaning="γ_t", up_to_constant=True, hides=HIDDEN),
    ),
    algorithm="wang-xu-2019/algorithm-2",
    relies_on=("wang-xu-2019/theorem-1", "wang-xu-2019/lemma-4"),
    errata=(
        Erratum(
            printed="a factor ‖C‖₂ in (6), for sets of any size",
            right="max(1, ‖C‖₂), with γ <= 1: on [-r, r] a linear loss has a gap of 0.7/r times the printed rate "
            "at every n",
            severity=Severity.CONSTANT,
            evidence="test_theorem_4.py::test_small_sets_have_a_larger_gap_than_printed",
            survives="sets with ‖C‖₂ >= 1; Table 1 (where ‖C‖₂ <= 1, without the factor); (6) if the constant may"
            " depend on C",
        ),
    ),
    notes=(
        Note("The noise of (3) suffices for ε <= a ln(1/δ) only: see the erratum of wang-xu-2019/theorem-1."),
        Note("Only w_C is needed, not ‖C‖₂² + w_C²: see theorem-4/explicit, which needs no symmetry either."),
        Note(
            "(6) is not homogeneous in the set: scaled by r, the gap of a linear loss scales by r, the rate by r^(3/2)."
        ),
    ),
)
