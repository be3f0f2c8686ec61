r"""Momentum with private aggregation, and a sensitivity analysis that uses how often examples recur: a gradient of
norm of order $d^{1/3} / (n\varepsilon)^{2/3}$, up to logarithms, after $n^{7/3} \varepsilon^{4/3} / d^{2/3}$ gradient
evaluations.
"""

from dpbounds.papers.cited.tran_cutkosky_2022 import PAPER
from dpbounds.theorems.language import SAMPLES, Rate, Rational, q

THEOREM = PAPER.theorem(
    title="stationary points by momentum aggregation",
    where="Abstract",
    bounds="gradient-norm",
    status="claimed",
    assumptions="Lipschitz, smooth, bounded risk",
    parts=(
        Rate(
            q.d ** Rational(1, 3) / (q.n * q.epsilon) ** Rational(2, 3),
            meaning="norm of the empirical gradient",
            logs_hidden=True,
            hides="delta G L Delta_F",
        ),
        Rate(
            q.n ** Rational(7, 3) * q.epsilon ** Rational(4, 3) / q.d ** Rational(2, 3),
            "gradient-evaluations",
            "how many gradients of one record are taken",
            unit=SAMPLES,
            hides="delta G L Delta_F",
        ),
    ),
    notes="""
    - Ganesh et al. 2023 (Table 2) quote it with a further term 1/√n; the abstract has none.
    - The order in n, d and ε is that of private SpiderBoost; neither replaces the other.
    """,
)
