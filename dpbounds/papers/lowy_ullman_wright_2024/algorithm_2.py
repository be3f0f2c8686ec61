r"""The warm start: an $(\varepsilon/2, \delta/2)$-DP algorithm that makes the empirical risk small returns $w_0$; an
$(\varepsilon/2, \delta/2)$-DP algorithm that finds stationary points starts there. Together they are
$(\varepsilon, \delta)$-DP by basic composition.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import ApproximateDP, Mechanism
from dpbounds.theorems.language import Numbers, Parameter, Privacy, q


def mechanism(at: Numbers) -> Mechanism:
    # two mechanisms given by their guarantees; the second uses the output of the first
    return ApproximateDP(at[q.epsilon] / 2, at[q.delta] / 2, relation=at.relation) ** 2


THEOREM = PAPER.theorem(
    title="warm start, empirical risk",
    where="Section 3, Algorithm 2",
    bounds="privacy, upper",
    status="proved",
    parts=(
        Parameter(q.epsilon / 2, "step_epsilon", "ε of each of the two algorithms"),
        Parameter(q.delta / 2, "step_delta", "δ of each of the two algorithms"),
    ),
    privacy=Privacy(mechanism, "epsilon delta"),
    relies_on="lowy-ullman-wright-2024/lemma-2.6",
    notes="""
    If the first algorithm is pure (ε/2)-DP, as the exponential mechanism of Definition 4.1, the second may have all of
    δ. Accounted in zCDP the two budgets add, ρ_A + ρ_B, with ρ_A = ε_A²/8 for an exponential mechanism: that is what
    lowy-ullman-wright-2024/corollary-4.3/explicit does.
    """,
)
