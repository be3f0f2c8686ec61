r"""Bilevel problems, strongly convex in the lower level and not necessarily convex in the upper one: a private method
that queries only gradients returns a point at which the gradient of the whole has norm of order $\left(\frac{\sqrt
d}{n\varepsilon}\right)^{1/2} + \left(\frac{\sqrt{d_v}}{n\varepsilon}\right)^{1/3}$, up to logarithms, for the empirical
and for the population risk.
"""

from dpbounds.papers.cited.kornowski_2026 import PAPER
from dpbounds.theorems.language import COUNT, Rate, Rational, q, sqrt

lower_dimension = PAPER.quantity("lower_dimension", r"d_{v}", "parameters v of the lower level", domain=COUNT)
bilevel = PAPER.assumption(
    "bilevel",
    "F(w) = f(w, v(w)), where v(w) minimises a strongly convex function of v",
    holds_for="can_be_chosen",  # as any F is, with (v - v₀)²
)

THEOREM = PAPER.theorem(
    title="private stationary points of bilevel problems",
    where="Abstract (third version)",
    bounds="gradient-norm",
    status="claimed",
    assumptions=f"smooth risk, {bilevel}",
    parts=Rate(
        sqrt(sqrt(q.d) / (q.n * q.epsilon)) + (sqrt(lower_dimension) / (q.n * q.epsilon)) ** Rational(1, 3),
        meaning="norm of the gradient of F",
        logs_hidden=True,
        hides="delta G L Delta_F",
    ),
    notes="d is the dimension of the upper level.",
)
