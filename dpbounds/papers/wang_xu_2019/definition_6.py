r"""The exponential mechanism picks $r$ with probability proportional to $\exp(\varepsilon u(D, r) / 2\Delta_u)$ where
$\Delta_u$ bounds how much a neighbour changes any score; it is $\varepsilon$-differentially private.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Parameter, Unit, q

THEOREM = PAPER.theorem(
    title="the exponential mechanism",
    where="Preliminaries, Definition 6",
    bounds="privacy, upper",
    status="proved",
    sampling="",
    parts=Parameter(
        q.epsilon_0 / (2 * q.Delta_u),
        "inverse_temperature",
        "factor of the score in the exponent",
        unit=Unit(loss=-1, samples=-1),
    ),
    notes="""
    Its loss lies in a range of length ε (bounded range), so it is also (ε²/8)-zCDP, four times less than ε²/2:
    composed, it spends a quarter of the bound by advanced composition.
    """,
)
