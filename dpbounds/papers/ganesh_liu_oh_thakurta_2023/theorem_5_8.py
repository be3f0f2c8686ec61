r"""There is an $\varepsilon$-DP algorithm (the exponential mechanism on a net of radius $\frac{Dd}{\varepsilon n}$)
with an expected excess population risk of $O\Big(GD\Big(\frac{d \ln(\varepsilon n/d)}{\varepsilon n} + \sqrt{\frac{d
\ln(\varepsilon n/d)}n}\Big)\Big)$, in exponential time, for Lipschitz losses that need not be convex.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Condition, Erratum, Parameter, Rate, log, q, sqrt

level = log(q.epsilon * q.n / q.d)
private = q.d * level / (q.epsilon * q.n)

THEOREM = PAPER.theorem(
    title="excess population risk in exponential time",
    where="Section 5.2, Theorem 5.8; proof in Appendix D.4",
    bounds="excess-population-risk, expectation",
    status="proved",
    assumptions="Lipschitz, bounded set, i.i.d. records",
    conditions=Condition(q.epsilon * q.n >= 2 * q.d, "the logarithm is positive, not near 0"),
    parts=(
        Rate(q.G * q.D * (private + sqrt(q.d * level) / sqrt(q.n)), bases="loss length", increasing_in="G D"),
        Parameter(q.D * q.d / (q.epsilon * q.n), "net_radius", "r"),
    ),
    relies_on="cited/bassily-smith-thakurta-2014/main-result",
    errata=Erratum(
        printed="the risk over the set is at most G plus the risk over the net",
        right="Gr, with r the radius of the net: G is not a loss, and would not vanish; the next display has Gr",
        severity="typo",
        evidence="test_theorem_5_8.py::test_the_net_costs_its_radius_times_the_slope",
        where="Appendix D.4, second sentence",
        survives="the proof",
    ),
    notes="""
    - The paper needs εn > d for its logarithm; where εn is close to d the printed bound is near 0 and cannot hold.
    - The paper says that a maximal packing has O((D/r)^d) points; (1 + 2D/r)^d is what volumes give.
    - The mechanism's scale is not printed; with β = εn/(2GD) see theorem-5.8/explicit.
    - The continuous mechanism of theorem-5.6/explicit has the same order without a net.
    """,
)
