r"""For $k \ge 16$ coins and $n$ flips of each every choice, private or not, has for some probabilities an expected risk
of at least $\min\big(\frac18, \frac{\sqrt3}{16}\sqrt{\ln(k)/n}\big)$, by Fano's inequality.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import PURE, Bound, Condition, Min, Rational, log, q, sqrt

bound = Min(Rational(1, 8), sqrt(3) / 16 * sqrt(log(q.N) / q.n))

THEOREM = PAPER.theorem(
    title="the risk of choosing a coin, with constants",
    bounds="excess-population-risk, lower, expectation",
    assumptions="i.i.d. records",
    conditions=Condition(q.N >= 16, "Fano's inequality loses ln 2"),
    parts=Bound(bound, meaning="of the largest expected risk", unit=PURE, bases="loss length"),
    derivation="lower_bounds.md",
)
