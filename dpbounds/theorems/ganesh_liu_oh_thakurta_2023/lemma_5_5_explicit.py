r"""Samples of the Gibbs distributions of two data sets that differ in one record are within total variation
$\tanh\frac{\beta G D}{2n}$, with or without a public regulariser. So $E[F_P - F_D] \le G D \tanh\frac{\beta G D}{2n}$;
by transport it is also at most $\frac{2G^2 e^{\beta G D}}{n\lambda}$ (the printed order, with its constant).
"""

from sympy import Expr, exp

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    inverse_temperature,
    lipschitz,
    regularisation,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def variation() -> Expr:
    growth = exp(inverse_temperature * lipschitz * diameter / dataset_size)
    return (growth - 1) / (growth + 1)


def gap() -> Expr:
    return lipschitz * diameter * variation()


def transport() -> Expr:
    growth = exp(inverse_temperature * lipschitz * diameter)
    return 2 * lipschitz**2 * growth / (dataset_size * regularisation)


GROWS = (lipschitz, diameter, inverse_temperature)
SCALED = ("loss", "length")

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-5.5/explicit",
    title="stability of a Gibbs sample, with constants",
    statement=__doc__,
    where="derived here; compare Lemma 5.5",
    metric=Metric.GENERALISATION_GAP,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, BOUNDED_SET, SAMPLED_RECORDS),
    parts=(
        Bound(
            formula=gap,
            unit=Unit(loss=1),
            meaning="expected F_P - F_D of one sample",
            bases=SCALED,
            increasing_in=GROWS,
            decreasing_in=(dataset_size,),
        ),
        Bound(
            formula=variation,
            name="total_variation",
            meaning="of two neighbours' samples: tanh(βGD/(2n))",
            bases=SCALED,
            increasing_in=GROWS,
            decreasing_in=(dataset_size,),
        ),
        Bound(
            formula=transport,
            name="transport",
            unit=Unit(loss=1),
            meaning="the same gap by the printed route",
            bases=SCALED,
            increasing_in=GROWS,
            decreasing_in=(dataset_size, regularisation),
        ),
    ),
    makes_explicit="ganesh-liu-oh-thakurta-2023/lemma-5.5",
    derivation="gibbs.md",
    notes=(
        Note("With λ = d/(D²β) the second exceeds the first unless d is of order e^{βGD}."),
        Note("The second needs a convex set and λ > 0; the first neither."),
    ),
)
