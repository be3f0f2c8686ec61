r"""Advanced composition (quoted from Dwork, Rothblum & Vadhan 2010): for $0 < \varepsilon' < 1$ it suffices that each
of $k$ mechanisms is $(\varepsilon, \delta)$-DP with $\varepsilon = \varepsilon' / \sqrt{8 k \ln(1/\delta')}$ for the
composition to be $(\varepsilon', k\delta + \delta')$-DP.
"""

from dpbounds.papers.wang_xu_2019 import PAPER
from dpbounds.privacy.mechanisms import PureDP
from dpbounds.theorems.language import Condition, Parameter, Privacy, log, q, sqrt

step_budget = q.epsilon / sqrt(8 * q.T * log(1 / q.delta))

THEOREM = PAPER.theorem(
    title="advanced composition",
    where="Preliminaries, Lemma 1",
    bounds="privacy, upper",
    status="proved",
    sampling="",
    conditions=Condition(q.epsilon < 1, "range of the lemma"),
    parts=Parameter(step_budget, "step_epsilon", "pure ε of each of T steps (δ stands for the δ' of the paper)"),
    privacy=Privacy(lambda at: PureDP(at.up(step_budget), relation=at.relation) ** at.count(q.T), "epsilon delta T"),
    notes="Pure ε-DP is (ε²/2)-zCDP, so this budget is (ε'²/16 ln(1/δ))-zCDP: enough for every ε' <= 8 ln(1/δ).",
)
