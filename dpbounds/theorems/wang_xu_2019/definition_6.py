r"""The exponential mechanism picks $r$ with probability proportional to $\exp(\varepsilon u(D, r) / 2\Delta_u)$ where
$\Delta_u$ bounds how much a neighbour changes any score; it is $\varepsilon$-differentially private.
"""

from sympy import Expr

from dpbounds.expressions.symbols import Unit, score_sensitivity, step_epsilon
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Metric, Note, Parameter, Side, Status, Theorem


def inverse_temperature() -> Expr:
    return step_epsilon / (2 * score_sensitivity)


THEOREM = Theorem(
    id="wang-xu-2019/definition-6",
    title="the exponential mechanism",
    statement=__doc__,
    where="Preliminaries, Definition 6",
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
        ),
    ),
    notes=(
        Note(
            "Its loss lies in a range of length ε (bounded range), so it is also (ε²/8)-zCDP, four times less than "
            "ε²/2: composed, it costs a quarter of what advanced composition charges."
        ),
    ),
)
