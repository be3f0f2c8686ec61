r"""Fix a point, and let $n$ records be independent draws. With probability at least $1 - \omega$ the gradient of the
sample is within $O(G\log(d/\omega)/\sqrt n)$ of the population's, and the Hessian within $O(M\log(d/\omega)/\sqrt n)$
in operator norm.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, dimension, failure_probability, lipschitz, smoothness
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS, SMOOTH
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Side, Status, Theorem


def factor() -> Expr:
    return log(dimension / failure_probability) / sqrt(dataset_size)


def gradient() -> Expr:
    return lipschitz * factor()


def hessian() -> Expr:
    return smoothness * factor()


_BASES = ("loss", "length")
_LESS = (failure_probability,)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-4.5",
    title="sample and population at one point",
    statement=__doc__,
    where="Section 4.2, Lemma 4.5; proof in Appendix C.3",
    metric=Metric.GENERALISATION_GAP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    sampling="i.i.d.",
    assumptions=(LIPSCHITZ, SMOOTH, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=gradient,
            name="gradient",
            unit=Unit(1, -1),
            meaning="distance of the gradients",
            bases=_BASES,
            increasing_in=(lipschitz, dimension),
            decreasing_in=_LESS,
        ),
        Rate(
            formula=hessian,
            name="hessian",
            unit=Unit(1, -2),
            meaning="distance of the Hessians",
            bases=_BASES,
            increasing_in=(smoothness, dimension),
            decreasing_in=_LESS,
        ),
    ),
    relies_on=("ganesh-liu-oh-thakurta-2023/theorem-a.6", "ganesh-liu-oh-thakurta-2023/lemma-4.5/explicit"),
    notes=(
        Note("log(d/ω) is meant as log(2d/ω): for d = 1 and ω near 1 it would vanish."),
        Note("At one fixed point; for T points chosen from other data, ω/T, as Theorem 4.6 uses it."),
    ),
)
