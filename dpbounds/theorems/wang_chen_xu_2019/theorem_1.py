r"""DP-GLD is $(\varepsilon, \delta)$-DP: there are constants $c_1, c_2$ such that it is for all $0 < \varepsilon <
c_1 T$ and $0 < \delta < 1$. The constants are not stated, and none serves the whole printed range;
`theorem-1/explicit` has a step size that does.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon, noise_constant, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import (
    Claim,
    Metric,
    Note,
    Parameter,
    Privacy,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED
from dpbounds.theorems.wang_chen_xu_2019.algorithm_1 import mechanism


def multiplier() -> Expr:
    return noise_constant * sqrt(2 * steps * log(1 / delta)) / epsilon


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-1",
    title="privacy of DP-GLD",
    statement=__doc__,
    where="Section 4, Theorem 1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    parts=(
        Parameter(
            formula=multiplier,
            name="noise_multiplier",
            unit=Unit(samples=1),
            meaning="noise of the sum of gradients per unit of G that Algorithm 1 amounts to, with its c = 1/c₂²",
            up_to_constant=True,
            increasing_in=(noise_constant, steps),
            decreasing_in=(epsilon, delta),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, steps, noise_constant)),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on=("wang-chen-xu-2019/lemma-1", "cited/abadi-et-al-2016/theorem-1"),
    notes=(
        Note(
            "Its range of ε is too wide, too; here ε <= a ln(1/δ) with c₂² = (1 + √(1+a))²: see the erratum of "
            "wang-xu-2019/theorem-1."
        ),
        Note(
            "The range is that of Abadi et al. 2016, Theorem 1, at sampling probability q = 1, where that theorem's "
            "analysis (small q) does not apply."
        ),
    ),
)
