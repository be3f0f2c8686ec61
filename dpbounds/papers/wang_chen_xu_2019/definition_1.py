r"""A randomised algorithm is $(\varepsilon, \delta)$-differentially private if for all data sets that differ in one
entry and all events, $P(A(D) \in S) \le e^\varepsilon P(A(D') \in S) + \delta$; with $\delta = 0$ it is
$\varepsilon$-differentially private.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    id="definition-1",
    title="differential privacy",
    statement=__doc__,
    where="Preliminaries, Definition 1",
    bounds="privacy",
    status="definition",
    relation="replace-one",
    notes="Differing in one entry is the replace-one relation; the number of records is public.",
)
