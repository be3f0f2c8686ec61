r"""Warm start for the population risk: an $(\varepsilon/2, \delta/2)$-DP algorithm $A$ finds $w_0$, an approximate
minimiser of the population risk; an $(\varepsilon/2, \delta/2)$-DP algorithm $B$, started at $w_0$, finds a stationary
point of the population risk. By basic composition the whole is $(\varepsilon, \delta)$-DP.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, delta, epsilon
from dpbounds.privacy.mechanisms import ApproximateDP, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Status, Theorem
from dpbounds.theorems.spending import Numbers


def share_of_epsilon() -> Expr:
    return epsilon / 2


def share_of_delta() -> Expr:
    return delta / 2


def mechanism(at: Numbers) -> Mechanism:
    # black boxes: that A and B keep their shares is what the algorithm asks of them
    half = ApproximateDP(at.up(share_of_epsilon()), at.up(share_of_delta()), relation=Relation.REPLACE_ONE)
    return half**2


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/algorithm-4",
    title="warm start for the population risk",
    statement=__doc__,
    where="Section 7, Algorithm 4",
    metric=Metric.POPULATION_SOSP,
    status=Status.DEFINITION,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, SAMPLED_RECORDS, UNCONSTRAINED),
    parts=(
        Parameter(
            formula=share_of_epsilon,
            name="epsilon_of_each",
            unit=Unit(samples=-1),
            meaning="ε of A and of B",
            increasing_in=(epsilon,),
        ),
        Parameter(formula=share_of_delta, name="delta_of_each", meaning="δ of A and of B", increasing_in=(delta,)),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta)),
    notes=(
        Note(
            "It is not said which records A and B see. If both see all of them, B's guarantee for i.i.d. records "
            "cannot "
            "be used given w₀, which depends on them. Give each its own half of the records: that costs constants"
            " in n, "
            "and both may then use all of (ε, δ), as no record is in both halves."
        ),
    ),
)
