r"""Quoted from Dwork & Roth 2014: the score of the exponential mechanism's choice falls short of the best score by more
than $\frac{2\Delta_u}{\varepsilon}(\ln|\mathcal R| + t)$ with probability at most $e^{-t}$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.theorems.language import Bound, Unit, log, q

THEOREM = PAPER.theorem(
    title="how good the exponential mechanism's choice is",
    where="Preliminaries, Lemma 3",
    bounds="estimation-error, probability",
    status="proved",
    relation=None,
    sampling="",
    parts=Bound(
        2 * q.Delta_u / q.epsilon_0 * (log(q.N) + log(1 / q.zeta)),
        meaning="largest shortfall of the score, with probability 1 - ζ (t = ln(1/ζ))",
        unit=Unit(loss=1, samples=1),
    ),
    relies_on="cited/dwork-roth-2014/theorem-3.11",
)
