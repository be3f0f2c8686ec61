r"""A sample of $\pi_D \propto e^{-\beta(F_D + \frac\lambda2\|w\|^2)}$ on a bounded convex set generalises: $E[F_P -
F_D] = O\big(\frac{G^2 e^{\beta G D}}{n\lambda}\big)$. The proof bounds the Wasserstein distance of two neighbours'
Gibbs distributions by their log-Sobolev constant.
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
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem


def rate() -> Expr:
    growth = exp(inverse_temperature * lipschitz * diameter)
    return lipschitz**2 * growth / (dataset_size * regularisation)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-5.5",
    title="generalisation of a Gibbs sample",
    statement=__doc__,
    where="Section 5.1, Lemma 5.5; proof in Appendix D.1",
    metric=Metric.GENERALISATION_GAP,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    assumptions=(LIPSCHITZ, BOUNDED_SET, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            bases=("loss", "length"),
            increasing_in=(lipschitz, diameter, inverse_temperature),
            decreasing_in=(dataset_size, regularisation),
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/lemma-5.2", "ganesh-liu-oh-thakurta-2023/lemma-5.4"),
    superseded_by=("ganesh-liu-oh-thakurta-2023/lemma-5.5/explicit",),
    notes=(
        Note("Holds with the constant 2. A bound without e^{βGD} and without λ is in lemma-5.5/explicit."),
        Note("The restriction to the convex set does not hurt the log-Sobolev inequality of the regulariser."),
    ),
)
