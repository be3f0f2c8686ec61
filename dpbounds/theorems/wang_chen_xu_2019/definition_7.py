r"""The exponential mechanism picks $r$ with probability proportional to $\exp(\varepsilon u(D, r) / 2\Delta_u)$, where
$\Delta_u$ bounds how much a neighbour changes any score; it is $\varepsilon$-differentially private.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, score_sensitivity, step_epsilon
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Parameter, Side, Status, Theorem


def inverse_temperature() -> Expr:
    return step_epsilon / (2 * score_sensitivity)


THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-7",
    title="the exponential mechanism",
    statement=__doc__,
    where="Preliminaries, Definition 7",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    parts=(
        Parameter(
            formula=inverse_temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1, samples=-1),
            meaning="factor of the score in the exponent",
            increasing_in=(step_epsilon,),
            decreasing_in=(score_sensitivity,),
        ),
    ),
    notes=(Note("Its loss has range ε (bounded range), so it is also (ε²/8)-zCDP; see wang-xu-2019/definition-6."),),
)
