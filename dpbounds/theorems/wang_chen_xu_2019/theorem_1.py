r"""DP-GLD is $(\varepsilon, \delta)$-DP: there are constants $c_1, c_2$ such that it is for all $0 < \varepsilon <
c_1 T$ and $0 < \delta < 1$. The constants are not stated, and none serves the whole printed range;
`theorem-1/explicit` has a step size that does.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, delta, epsilon, noise_constant, steps
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import (
    Claim,
    Erratum,
    Metric,
    Note,
    Parameter,
    Privacy,
    Severity,
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
    errata=(
        Erratum(
            printed="for all 0 < ε < c₁T and 0 < δ < 1",
            right="for ε <= a ln(1/δ) with c₂² = (1 + √(1+a))²; for every c₂ a larger ε below c₁T, and a δ near enough "
            "to 1, make w_T alone leak more",
            severity=Severity.PRIVACY,
            evidence="test_theorem_1.py::test_no_constant_serves_the_printed_range",
            survives="ε <= ln(1/δ) with c₂ = 1 + √2, which is all that is used in practice",
            relation=Relation.REPLACE_ONE,
        ),
    ),
    relies_on=("wang-chen-xu-2019/lemma-1", "cited/abadi-et-al-2016/theorem-1"),
    notes=(
        Note(
            "The range is that of Abadi et al. 2016, Theorem 1, at sampling probability q = 1, where that theorem's "
            "analysis (small q) does not apply."
        ),
    ),
)
