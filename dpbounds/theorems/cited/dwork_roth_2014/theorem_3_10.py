r"""The exponential mechanism is private: choosing a candidate with probability proportional to
$\exp(\varepsilon u / 2\Delta_u)$, where no neighbour changes a score $u$ by more than $\Delta_u$, is
$\varepsilon$-differentially private. Its loss spans at most $\varepsilon$, which is more: it is
$\frac{\varepsilon^2}{8}$-zCDP.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, epsilon, score_sensitivity
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Note, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def weight() -> Expr:
    return epsilon / (2 * score_sensitivity)


def budget() -> Expr:
    return epsilon**2 / 8


def mechanism(at: Numbers) -> Mechanism:
    return ExponentialMechanism(at[epsilon], relation=at.relation)


THEOREM = Theorem(
    id="cited/dwork-roth-2014/theorem-3.10",
    title="privacy of the exponential mechanism",
    statement=__doc__,
    where="Section 3.4, Theorem 3.10 (McSherry & Talwar 2007); the zCDP: Cesar & Rogers 2021",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    mode=Mode.ALWAYS,
    status=Status.PROVED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Parameter(
            formula=weight,
            name="score-weight",
            unit=Unit(loss=-1, samples=-1),
            meaning="factor of the score in the exponent",
            increasing_in=(epsilon,),
            decreasing_in=(score_sensitivity,),
        ),
        Bound(
            formula=budget,
            name="rho",
            unit=Unit(samples=-2),
            meaning="its budget of zCDP: a quarter of what ε-privacy alone gives",
            increasing_in=(epsilon,),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    notes=(
        Note(
            "Under either relation, with the Δ_u that holds for it. What has to be bounded is the change of scores up "
            "to a constant: a common shift cancels."
        ),
    ),
)
