r"""$(\varepsilon, \delta)$-differential privacy: $P(M(S) \in A) \le e^\varepsilon P(M(S') \in A) + \delta$ for all
neighbours $S, S'$ and all events $A$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER

THEOREM = PAPER.theorem(
    title="differential privacy",
    where="Section II, Definition 2 and equation (2)",
    bounds="privacy",
    status="definition",
    relation="replace-one",
    notes="Neighbours differ in one entry (Definition 1), so the number of records is public.",
)
