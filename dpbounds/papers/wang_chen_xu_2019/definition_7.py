r"""The exponential mechanism picks $r$ with probability proportional to $\exp(\varepsilon u(D, r) / 2\Delta_u)$, where
$\Delta_u$ bounds how much a neighbour changes any score; it is $\varepsilon$-differentially private.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.papers.wang_xu_2019 import definition_6

THEOREM = PAPER.same_as(
    definition_6.THEOREM,
    where="Preliminaries, Definition 7",
    notes="Its loss has range ε (bounded range), so it is also (ε²/8)-zCDP; see wang-xu-2019/definition-6.",
)
