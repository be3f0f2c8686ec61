r"""On a bounded, closed, centrally symmetric convex set and with the noise of (3), DP-FW-L2 with $T =
O\big(n\varepsilon / \sqrt{(\|C\|_2^2 + w_C^2) \ln(1/\delta)}\big)$ steps of size $O\big(((\|C\|_2^2 + w_C^2)
\ln(1/\delta))^{1/4} / (\|C\|_2 \sqrt{n\varepsilon})\big)$ has an expected Frank-Wolfe gap of $O\big(\|C\|_2
((\|C\|_2^2 + w_C^2) \ln(1/\delta))^{1/4} / \sqrt{n\varepsilon}\big)$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Condition, Erratum, Parameter, Rate, Rational, log, q, sqrt

size = (q.R_C**2 + q.w_C**2) * log(1 / q.delta)
steps = q.n * q.epsilon / sqrt(size)
step_size = size ** Rational(1, 4) / (q.R_C * sqrt(q.n * q.epsilon))

THEOREM = PAPER.theorem(
    title="Frank-Wolfe gap of DP-FW-L2",
    where="High Dimension Case, Theorem 4 and equation (6)",
    bounds="frank-wolfe-gap, expectation",
    status="repaired",
    assumptions="smooth risk, Lipschitz, bounded risk, centrally symmetric set",
    conditions=Condition(step_size <= 1, "a Frank-Wolfe step is a convex combination; not printed"),
    parts=(
        Rate(q.R_C * size ** Rational(1, 4) / sqrt(q.n * q.epsilon), meaning="as printed", hides="G L Delta_F"),
        Parameter(steps, "steps", "number of steps", up_to_constant=True, hides="G L Delta_F"),
        Parameter(step_size, "step_fraction", "γ_t", up_to_constant=True, hides="G L Delta_F"),
    ),
    algorithm="wang-xu-2019/algorithm-2",
    relies_on="wang-xu-2019/theorem-1 wang-xu-2019/lemma-4",
    errata=Erratum(
        printed="a factor ‖C‖₂ in (6), for sets of any size",
        right="max(1, ‖C‖₂), with γ <= 1: on [-r, r] a linear loss has a gap of 0.7/r times the printed rate at "
        "every n",
        severity="constant",
        evidence="test_theorem_4.py::test_small_sets_have_a_larger_gap_than_printed",
        survives="sets with ‖C‖₂ >= 1; Table 1 (where ‖C‖₂ <= 1, without the factor); (6) if the constant may "
        "depend on C",
    ),
    notes="""
    - The noise of (3) suffices for ε <= a ln(1/δ) only: see the erratum of wang-xu-2019/theorem-1.
    - Only w_C is needed, not ‖C‖₂² + w_C²: see theorem-4/explicit, which needs no symmetry either.
    - (6) is not homogeneous in the set: scaled by r, the gap of a linear loss scales by r, the rate by r^(3/2).
    """,
)
