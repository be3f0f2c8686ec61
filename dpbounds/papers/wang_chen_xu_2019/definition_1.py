r"""A randomised algorithm is $(\varepsilon, \delta)$-differentially private if for all datasets that differ in one
entry and all events, $P(A(D) \in S) \le e^\varepsilon P(A(D') \in S) + \delta$; with $\delta = 0$ it is
$\varepsilon$-differentially private.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.papers.wang_xu_2019 import definition_4

THEOREM = PAPER.same_as(
    definition_4.THEOREM,
    where="Preliminaries, Definition 1",
    notes="Differing in one entry is the replace-one relation; the number of records is public.",
)
