r"""An $\alpha$-second-order stationary point of the population risk without a private selection at the end: noisy SGD
that declares a saddle escaped once the iterate has drifted far enough, with an adaptive SPIDER estimate of the
gradient. The abstract says that earlier error rates overlook the variance of gradients in the escape from saddles,
and that this method rectifies them; $\alpha$ is then of order $n^{-1/3} + \left(\frac{\sqrt
d}{n\varepsilon}\right)^{2/5}$, up to logarithms.
"""

from sympy import Expr, Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size,
    dimension,
    epsilon,
    hessian_lipschitz,
    initial_gap,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    HESSIAN_LIPSCHITZ,
    LIPSCHITZ,
    SAMPLED_RECORDS,
    SMOOTH,
)
from dpbounds.theorems.record import (
    Metric,
    Mode,
    Note,
    Rate,
    Read,
    Side,
    Status,
    Theorem,
)

HIDDEN = (lipschitz, smoothness, hessian_lipschitz, initial_gap)


def rate() -> Expr:
    return dataset_size ** Rational(-1, 3) + (sqrt(dimension) / (dataset_size * epsilon)) ** Rational(2, 5)


THEOREM = Theorem(
    id="cited/tao-et-al-2025/main-result",
    statement=__doc__,
    title="population second-order stationary points by drift",
    where="Abstract; the exponent 2/5 from a published summary of the text",
    metric=Metric.POPULATION_SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    read=Read.ABSTRACT,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            meaning="the α of the point",
            hides=HIDDEN,
            logs_hidden=True,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
    ),
    notes=(
        Note(
            "The abstract states no exponent: 2/5 comes from a single summary by a third party, and should be compared "
            "with the theorem before anything is built on it."
        ),
        Note(
            "Whether the criticism also concerns Liu & Talwar 2024, whose order is smaller, is not said in the "
            "abstract."
        ),
    ),
)
