r"""With the noise of Theorem 1, step size $1/(2L)$ and $T = O(n\varepsilon / \sqrt{d \ln(1/\delta)})$ steps, the output
of DP-PGD has $E \|g_{C,R}\|_2 = O\big((d \ln(1/\delta))^{1/4} / \sqrt{n\varepsilon}\big)$, where
$g_{C,R} = (x_R - x_{R+1})/\gamma$. With its constants, and for the mapping at the true gradient as well, it is
`theorem-2/explicit`.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Parameter, Rate, Rational, log, q, sqrt

rate = (q.d * log(1 / q.delta)) ** Rational(1, 4) / sqrt(q.n * q.epsilon)

THEOREM = PAPER.theorem(
    title="projected gradient of DP-PGD",
    where="Low Dimension Case, Theorem 2 and equation (4)",
    bounds="projected-gradient-norm, expectation",
    status="proved",
    assumptions="smooth risk, Lipschitz, bounded risk, closed convex set, convex regulariser",
    parts=(
        Rate(rate, hides="G L Delta_F", restored=sqrt(q.G) * (q.L * q.Delta_F) ** Rational(1, 4) * rate),
        Parameter(
            q.n * q.epsilon / sqrt(q.d * log(1 / q.delta)),
            "steps",
            "number of steps",
            up_to_constant=True,
            hides="G L Delta_F",
        ),
        Parameter(1 / (2 * q.L), "step_size", "step size"),
    ),
    algorithm="wang-xu-2019/algorithm-1",
    relies_on="wang-xu-2019/theorem-1",
    notes="""
    - g_{C,R} is the mapping at the noisy gradient ∇F + e, the step that was taken. For the mapping at ∇F, the measure
      that the paper defines, the same rate holds with σ√d added (Minkowski).
    - The paper has γ_k in the definition of g_{C,R}; the index is R.
    """,
)
