r"""Private empirical risk minimisation of convex, Lipschitz losses on a bounded set: excess empirical risk of order
$GD \sqrt{d \ln(1/\delta)} / (n\varepsilon)$ under $(\varepsilon, \delta)$-privacy and $GD\, d / (n\varepsilon)$ under
pure $\varepsilon$-privacy, up to logarithms; lower bounds of the same orders in $n$, $d$ and $\varepsilon$ exist. The
second is attained by the exponential mechanism, whose proof does not need convexity on a net of the set.
"""

from functools import partial

from dpbounds.papers.cited.bassily_smith_thakurta_2014 import PAPER
from dpbounds.theorems.language import Condition, Min, Rate, log, q, sqrt

approximate = sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon)
pure = q.d / (q.n * q.epsilon)
approximate_lower = Min(1, sqrt(q.d) / (q.n * q.epsilon))
pure_lower = Min(1, pure)
small_epsilon = (Condition(q.epsilon <= 1, "the usual range of the lower bound"),)

row = partial(Rate, logs_hidden=True, hides="G D")

THEOREM = PAPER.theorem(
    title="private convex empirical risk minimisation, upper and lower bounds",
    where="Main results; quoted by Wang, Chen & Xu 2019 (after Theorem 2, after Theorem 4) and by Ganesh et al. 2023",
    bounds="excess-empirical-risk, tight, expectation",
    status="claimed",
    assumptions="Lipschitz, convex, bounded set",
    parts=(
        row(approximate, "approximate", "under (ε, δ)-privacy", side="upper", restored=q.G * q.D * approximate),
        row(pure, "pure", "under pure ε-privacy", side="upper", under="ε-DP", restored=q.G * q.D * pure),
        row(
            approximate_lower,
            "approximate-lower",
            "under (ε, δ)-privacy, at least; without the upper bound's power of ln(1/δ), which "
            "cannot be meant for every δ: an ε-private method reaches the pure order, whatever δ is",
            side="lower",
            restored=q.G * q.D * approximate_lower,
            conditions=(*small_epsilon, Condition(q.delta <= 1 / q.n, "the usual range of the lower bound")),
        ),
        row(
            pure_lower,
            "pure-lower",
            "under pure ε-privacy, at least",
            side="lower",
            under="ε-DP",
            restored=q.G * q.D * pure_lower,
            conditions=small_epsilon,
        ),
    ),
    notes="""
    - Tight up to logarithms, and within the range where the rate is below the trivial risk GD.
    - For strongly convex losses the quoted order is d ln(1/δ)/(nε)²; it is not recorded as a part here.
    """,
)
