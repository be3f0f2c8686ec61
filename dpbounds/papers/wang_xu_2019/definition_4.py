r"""$(\varepsilon, \delta)$-differential privacy: $P(A(D) \in S) \le e^\varepsilon P(A(D') \in S) + \delta$ for all
neighbours $D, D'$ (datasets of the same size that differ in one entry) and all events $S$; pure if $\delta = 0$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="differential privacy",
    where="Preliminaries, Definition 4",
    bounds="privacy",
    status="definition",
    relation="replace-one",
    notes="The relation is replace-one: a record moves the mean gradient by at most 2G/n, and n is public.",
)
