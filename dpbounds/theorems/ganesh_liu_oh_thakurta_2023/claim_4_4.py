r"""For i.i.d. records the oracles of equation (3) have norm-sub-Gaussian parameters $O(G\sqrt{\log d}/\sqrt{b_1} +
\sqrt d\,\sigma_1)$ and $O(M\sqrt{\log d}/\sqrt{b_2} + \sqrt d\,\sigma_2)$, towards the population's gradient.
"""

from sympy import Expr, Symbol, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    difference_noise_stddev,
    dimension,
    lipschitz,
    noise_stddev,
    smoothness,
)
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import FRESH_SAMPLES
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    FIRST_BATCH,
    SECOND_BATCH,
    first_batch,
    second_batch,
)
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem


def parameter(bound: Symbol, batch: Symbol, noise: Symbol) -> Expr:
    return bound * sqrt(log(dimension) / batch) + sqrt(dimension) * noise


def first() -> Expr:
    return parameter(lipschitz, first_batch, noise_stddev)


def second() -> Expr:
    return parameter(smoothness, second_batch, difference_noise_stddev)


_BASES = ("loss", "length")

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/claim-4.4",
    title="how accurate batches are",
    statement=__doc__,
    where="Section 4.2, Claim 4.4; proof in Appendix C.2",
    metric=Metric.ESTIMATION_ERROR,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    sampling="fresh batches",
    assumptions=(LIPSCHITZ, SMOOTH, SAMPLED_RECORDS, FRESH_SAMPLES),
    local=(FIRST_BATCH, SECOND_BATCH),
    parts=(
        Rate(
            formula=first,
            name="first",
            unit=Unit(1, -1),
            meaning="parameter of a fresh estimate",
            bases=_BASES,
            increasing_in=(lipschitz, noise_stddev, dimension),
            decreasing_in=(first_batch,),
        ),
        Rate(
            formula=second,
            name="second",
            unit=Unit(1, -2),
            meaning="parameter of a difference, per distance",
            bases=_BASES,
            increasing_in=(smoothness, difference_noise_stddev, dimension),
            decreasing_in=(second_batch,),
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/fact-2.3", "ganesh-liu-oh-thakurta-2023/lemma-2.4"),
    notes=(
        Note("Print has L where the Lipschitz constant is called G everywhere else."),
        Note("log d is meant as log(2d): for d = 1 there is sampling noise, too."),
        Note(
            "The logarithm of d is not needed: bounded vectors of mean 0 in a Hilbert space obey 2 exp(-r²/(2b²)), see "
            "ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit."
        ),
    ),
)
