r"""Advanced composition (quoted from Dwork, Rothblum & Vadhan 2010): for $0 < \varepsilon' < 1$ it suffices that each
of $k$ mechanisms is $(\varepsilon, \delta)$-DP with $\varepsilon = \varepsilon' / \sqrt{8 k \ln(1/\delta')}$ for the
composition to be $(\varepsilon', k\delta + \delta')$-DP.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon, steps
from dpbounds.privacy.mechanisms import Mechanism, PureDP
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Claim, Condition, Metric, Note, Parameter, Privacy, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers


def step_budget() -> Expr:
    return epsilon / sqrt(8 * steps * log(1 / delta))


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=epsilon < 1, why="range of the lemma"),)


def mechanism(at: Numbers) -> Mechanism:
    return PureDP(at.up(step_budget()), relation=at.relation) ** at.count(steps)


THEOREM = Theorem(
    id="wang-xu-2019/lemma-1",
    title="advanced composition",
    statement=__doc__,
    where="Preliminaries, Lemma 1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    conditions=conditions,
    parts=(
        Parameter(
            formula=step_budget,
            name="step_epsilon",
            unit=Unit(samples=-1),
            meaning="what each of T steps may spend, purely (δ stands for the δ' of print)",
            increasing_in=(epsilon, delta),
            decreasing_in=(steps,),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, steps)),
    notes=(
        Note("Pure ε-DP is (ε²/2)-zCDP, so this budget is (ε'²/16 ln(1/δ))-zCDP: enough for every ε' <= 8 ln(1/δ)."),
    ),
)
