r"""Warm start for the population risk: an $(\varepsilon/2, \delta/2)$-DP algorithm $A$ finds $w_0$, an approximate
minimiser of the population risk; an $(\varepsilon/2, \delta/2)$-DP algorithm $B$, started at $w_0$, finds a stationary
point of the population risk. By basic composition the whole is $(\varepsilon, \delta)$-DP.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.privacy.mechanisms import ApproximateDP, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.language import PER_SAMPLE, Numbers, Parameter, Privacy, q

share_of_epsilon = q.epsilon / 2
share_of_delta = q.delta / 2


def mechanism(at: Numbers) -> Mechanism:
    # mechanisms given by their guarantees: the algorithm assumes that A and B keep their shares
    half = ApproximateDP(at.up(share_of_epsilon), at.up(share_of_delta), relation=Relation.REPLACE_ONE)
    return half**2


THEOREM = PAPER.theorem(
    title="warm start for the population risk",
    where="Section 7, Algorithm 4",
    bounds="population-sosp",
    status="definition",
    assumptions="Lipschitz, smooth, bounded risk, i.i.d. records, unconstrained",
    parts=(
        Parameter(share_of_epsilon, "epsilon_of_each", "ε of A and of B", unit=PER_SAMPLE),
        Parameter(share_of_delta, "delta_of_each", "δ of A and of B"),
    ),
    privacy=Privacy(mechanism, "epsilon delta"),
    notes="""
    In the paper A and B see all records (proof of Theorem E.2). Then B's guarantee for i.i.d. records cannot be used
    given w₀, which depends on them. If each gets its own half of the records, n changes by a constant factor, and both
    may use all of (ε, δ), as no record is in both halves.
    """,
)
