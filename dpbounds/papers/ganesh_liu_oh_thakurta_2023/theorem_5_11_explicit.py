r"""For $d \ge 4$ and $G$-Lipschitz losses on a ball of diameter $D$ every algorithm has, for some distribution, an
excess population risk of at least $\frac{GD}8\min\big(\frac18, \frac{\sqrt3}{16}\sqrt{d\ln 2/n}\big)$. Every
$(\varepsilon, \delta)$-DP one under replace-one has one of at least $\frac{GD}{16}\min\big(1,
\frac\lambda{n(e^\varepsilon - 1)}\big)$ with $\lambda = \min\big((d - 2)\ln 2, \ln\frac{e^\varepsilon -
1}{4\delta}\big)$, if positive; $\lambda = (d - 1)\ln 2$ if $\delta = 0$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, Condition, Expr, Max, Min, Rational, exp, log, q, sqrt


def _scaled(level: Expr) -> Expr:
    return q.G * q.D / 16 * Min(1, level / (q.n * (exp(q.epsilon) - 1)))


sampling = q.G * q.D / 8 * Min(Rational(1, 8), sqrt(3) / 16 * sqrt(q.d * log(2) / q.n))
pure = _scaled((q.d - 1) * log(2))
approximate = _scaled(Max(0, Min((q.d - 2) * log(2), log((exp(q.epsilon) - 1) / (4 * q.delta)))))
enough_dimensions = Condition(q.d >= 4, "2^d >= 16 coins")

THEOREM = PAPER.theorem(
    title="lower bounds for excess population risk, with constants",
    bounds="excess-population-risk, lower, expectation",
    sampling="",
    assumptions="Lipschitz, i.i.d. records",
    parts=(
        Bound(
            Max(sampling, approximate),
            meaning="(ε, δ)-DP: the larger of the two terms",
            conditions=enough_dimensions,
            bases="loss length",
            increasing_in="d",
        ),
        Bound(sampling, "sampling", "every algorithm", conditions=enough_dimensions, bases="loss length"),
        Bound(approximate, "privacy", "(ε, δ)-DP, the term due to privacy", bases="loss length", increasing_in="d"),
        Bound(pure, "pure_privacy", "ε-DP, the term due to privacy", under="ε-DP", bases="loss length"),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.9/explicit ganesh-liu-oh-thakurta-2023/theorem-5.10/explicit",
    derivation="lower_bounds.md",
    notes="For ε <= 1 the second is of order GD min(d, ln(ε/δ))/(εn).",
)
