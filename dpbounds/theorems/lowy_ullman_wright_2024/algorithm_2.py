r"""The warm start: an $(\varepsilon/2, \delta/2)$-DP algorithm that makes the empirical risk small returns $w_0$; an
$(\varepsilon/2, \delta/2)$-DP algorithm that finds stationary points starts there. Together they are
$(\varepsilon, \delta)$-DP by basic composition.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, delta, epsilon
from dpbounds.privacy.mechanisms import ApproximateDP, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Claim, Metric, Note, Parameter, Privacy, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def half_epsilon() -> Expr:
    return epsilon / 2


def half_delta() -> Expr:
    return delta / 2


def mechanism(at: Numbers) -> Mechanism:
    # two black boxes; the second sees what the first has released
    return ApproximateDP(at[epsilon] / 2, at[delta] / 2, relation=at.relation) ** 2


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/algorithm-2",
    title="warm start, empirical risk",
    statement=__doc__,
    where="Section 3, Algorithm 2",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Parameter(
            formula=half_epsilon,
            name="step_epsilon",
            unit=Unit(samples=-1),
            meaning="ε of each of the two algorithms",
            increasing_in=(epsilon,),
        ),
        Parameter(
            formula=half_delta, name="step_delta", meaning="δ of each of the two algorithms", increasing_in=(delta,)
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta)),
    relies_on=("lowy-ullman-wright-2024/lemma-2.6",),
    notes=(
        Note(
            "If the first algorithm is pure (ε/2)-DP, as the exponential mechanism of Definition 4.1, the second may "
            "have all of δ. Accounted in zCDP the two budgets add, ρ_A + ρ_B, with ρ_A = ε_A²/8 for an exponential "
            "mechanism: that is what lowy-ullman-wright-2024/corollary-4.3/explicit does."
        ),
    ),
)
