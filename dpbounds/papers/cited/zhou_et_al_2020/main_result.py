r"""Private stochastic gradient methods, adaptive ones among them, on smooth losses that need not be convex: the
population gradient at the output has norm of order $d^{1/4} / \sqrt{n}$ by the abstract, which takes the privacy
parameters as constants; with them another paper quotes it as $\varepsilon\sqrt d + (\sqrt d/(n\varepsilon))^{1/2}$.
The proof bounds the error of each gradient by differential privacy itself (adaptive data analysis) instead of by
uniform convergence over the set.
"""

from dpbounds.papers.cited.zhou_et_al_2020 import PAPER
from dpbounds.theorems.language import Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="population stationarity by adaptive private methods",
    where="Abstract; with ε as quoted in the introduction of Lowy, Ullman & Wright 2024, version 1",
    bounds="population-gradient-norm",
    status="claimed",
    assumptions="Lipschitz, smooth, i.i.d. records",
    parts=(
        Rate(
            q.epsilon * sqrt(q.d) + sqrt(sqrt(q.d) / (q.n * q.epsilon)),
            meaning="with ε, as another paper quotes it",
            logs_hidden=True,
            hides="delta G L Delta_F",
        ),
        Rate(
            q.d ** Rational(1, 4) / sqrt(q.n),
            "abstract",
            "with ε and δ as constants",
            logs_hidden=True,
            hides="epsilon delta G L Delta_F",
        ),
    ),
    notes="""
    - The two orders differ: the quoted one does not fall below ε√d, however many records there are.
    - Read literally, the abstract's order is at most the n^(-1/3) + (√d/n)^(1/2) that later work calls an improvement
      on it; that work compares with the form that has ε.
    """,
)
