r"""On a closed convex set of diameter $D$ that contains the origin, a sample of $\pi \propto e^{-\beta(F_D +
\frac\lambda2\|w\|^2)}$ has an expected regularised risk of at most $\frac d\beta\big(1 + \ln\frac{\beta(G + \lambda
D)D}d\big)$ above the minimum if $\beta(G + \lambda D)D \ge d$, and of at most $(G + \lambda D)D$ otherwise.
"""

from sympy import Expr, Piecewise, log

from dpbounds.expressions.symbols import (
    Unit,
    diameter,
    dimension,
    inverse_temperature,
    lipschitz,
    regularisation,
)
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions_sampling import ORIGIN_IN_SET
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Read, Side, Status, Theorem


def bound() -> Expr:
    span = (lipschitz + regularisation * diameter) * diameter
    colder = dimension / inverse_temperature * (1 + log(inverse_temperature * span / dimension))
    return Piecewise((span, inverse_temperature * span <= dimension), (colder, True))


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit",
    title="regularised risk of a Gibbs sample, with constants",
    statement=__doc__,
    where="derived here; compare Lemma 5.3",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    assumptions=(LIPSCHITZ, BOUNDED_SET, ORIGIN_IN_SET),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(loss=1),
            meaning="expected regularised risk above its minimum",
            increasing_in=(lipschitz, diameter, regularisation, dimension),
            decreasing_in=(inverse_temperature,),
        ),
    ),
    makes_explicit="ganesh-liu-oh-thakurta-2023/lemma-5.3",
    derivation="gibbs.md",
    notes=(Note("Nearly sharp: on a thin cone with a conical loss the factor after d/β tends to 1 + ln(u/d)."),),
)
