r"""Generalised linear losses, by random projection: a private method for $k$ parameters that guarantees a gradient
norm $g(k)$ is run on features projected to $k$ dimensions, and its output is mapped back; the population gradient
then has expected norm of order $G/\sqrt n + g(k) + G/\sqrt k$ for features of norm 1 (the last term drops out once
$k$ exceeds the rank of the features, up to a logarithm). With private SpiderBoost as the method, $g(k) = (\sqrt k /
n\varepsilon)^{2/3}$: for rank $r$ this is of order $\frac{1}{\sqrt n} + \min\left(\left(\frac{\sqrt
r}{n\varepsilon}\right)^{2/3}, \frac{1}{(n\varepsilon)^{2/5}}\right)$, whatever the dimension.
"""

from sympy import Expr, Min, Rational, sqrt

from dpbounds.expressions.symbols import dataset_size, epsilon, initial_gap, lipschitz, rank, smoothness
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GENERALISED_LINEAR, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Parameter, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, initial_gap)


def projection() -> Expr:
    return (dataset_size * epsilon) ** Rational(4, 5)


def rate() -> Expr:
    ranked = (sqrt(rank) / (dataset_size * epsilon)) ** Rational(2, 3)
    return 1 / sqrt(dataset_size) + Min(ranked, (dataset_size * epsilon) ** Rational(-2, 5))


THEOREM = Theorem(
    id="cited/arora-et-al-2023/theorem-6.1",
    statement=__doc__,
    title="generalised linear losses by random projection",
    where="Theorem 6.1 and the abstract; quoted as Lemma 8.1 of Lowy, Ullman & Wright 2024, version 1",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, GENERALISED_LINEAR, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            meaning="norm of the population gradient",
            hides=HIDDEN,
            logs_hidden=True,
            bases=("loss", "length"),
            increasing_in=(rank,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=projection,
            name="projection-dimension",
            up_to_constant=True,
            meaning="k, where the rank is larger than that",
            increasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "A conversion of the source's text compares the identity with a projection followed by its lift, as if "
            "their difference had a small norm; it has norm at least 1, because the product has rank k < d. The bound "
            "itself does not need that: on the span of the leading right singular vectors of the features the "
            "projection is nearly an isometry, and what is left has norm of order 1/√k. The original was not compared."
        ),
        Note(
            "The projection does not depend on the data. That no projected feature is long holds with high probability "
            "only: clipping the projected features keeps the privacy exact."
        ),
    ),
)
