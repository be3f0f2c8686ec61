r"""Corollary 8.2 again, with its proof: Lemma 8.1 with the private algorithm of Corollary 4.3 for $M$."""

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    epsilon,
    lipschitz,
    rank,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import GENERALISED_LINEAR, LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.lowy_ullman_wright_2024.corollary_8_2 import rate, restored
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/corollary-f.1",
    title="population gradient of generalised linear models, restated",
    statement=__doc__,
    where="Appendix F, Corollary F.1",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, GENERALISED_LINEAR, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            hides=(lipschitz, smoothness, diameter),
            restored=restored,
            bases=("loss", "length"),
            logs_hidden=True,
            increasing_in=(rank,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    relies_on=("lowy-ullman-wright-2024/corollary-8.2",),
    notes=(Note("A gap in its proof, and the repair, are with lowy-ullman-wright-2024/corollary-8.2."),),
)
