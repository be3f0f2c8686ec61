r"""RRPSGD (private stochastic gradient descent that stops after a random number of rounds) on smooth, Lipschitz
losses that need not be convex: the gradient at the output has norm of order $\left(d \ln(1/\delta)
\ln(2/\varepsilon)\right)^{1/4} / \sqrt{n\varepsilon}$.
"""

from dpbounds.papers.cited.zhang_et_al_2017 import PAPER
from dpbounds.theorems.language import Condition, Rate, Rational, log, q, sqrt

THEOREM = PAPER.theorem(
    title="stationary points by private SGD with a random number of rounds",
    where="Main result for non-convex losses; quoted in Table 1 of Wang & Xu 2019",
    bounds="gradient-norm, expectation",
    status="claimed",
    assumptions="Lipschitz, smooth, unconstrained",
    conditions=Condition(q.epsilon < 2, "the logarithm, as quoted, is positive"),
    parts=Rate(
        (q.d * log(1 / q.delta) * log(2 / q.epsilon)) ** Rational(1, 4) / sqrt(q.n * q.epsilon),
        meaning="norm of the gradient, without a regulariser",
        hides="G L Delta_F",
        decreasing_in="epsilon delta",
    ),
    superseded_by="cited/wang-ye-xu-2017/main-result",
    notes="""
    The factor ln(2/ε) is in the quotation; the source itself was not compared, and ln(n/δ) would be usual for an
    analysis by advanced composition.
    """,
)
