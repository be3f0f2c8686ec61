r"""For $\pi \propto e^{-\beta(F_D + \frac\lambda2\|w\|^2)}$ and $\beta G D > d$ print bounds the expected regularised
risk minus its minimum by $\frac d\beta \ln\frac{\beta G D}d$. As printed it is false by a constant: a linear loss on
an interval has more at $\beta G D = 1.5$. With $1 + \ln$, and the regulariser in the Lipschitz constant, it holds.
"""

from sympy import Expr, log

from dpbounds.expressions.symbols import Unit, diameter, dimension, inverse_temperature, lipschitz
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ
from dpbounds.theorems.record import (
    Bound,
    Condition,
    Erratum,
    Metric,
    Mode,
    Note,
    Severity,
    Side,
    Status,
    Theorem,
)


def printed() -> Expr:
    return dimension / inverse_temperature * log(inverse_temperature * lipschitz * diameter / dimension)


def cold() -> tuple[Condition, ...]:
    return (Condition(holds=inverse_temperature * lipschitz * diameter > dimension, why="stated range"),)


THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/lemma-5.3",
    title="regularised risk of a Gibbs sample",
    statement=__doc__,
    where="Section 5.1, Lemma 5.3",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.FALSE,
    assumptions=(LIPSCHITZ, BOUNDED_SET),
    conditions=cold,
    parts=(
        Bound(
            formula=printed,
            name="printed",
            unit=Unit(loss=1),
            meaning="as printed: not a bound",
            increasing_in=(lipschitz, diameter),
        ),
    ),
    errata=(
        Erratum(
            printed="(d/β) ln(βGD/d) for βGD > d",
            right="(d/β)(1 + ln(β(G + λD)D/d)): the 1 is needed in every dimension, and the regulariser adds λD to G",
            severity=Severity.CONSTANT,
            evidence="test_lemma_5_3.py::test_thin_cones_exceed_the_printed_bound",
            survives="the order of growth for βGD >= 2d and λD <= G, which is how Theorem 5.6 uses it",
        ),
    ),
    superseded_by=("ganesh-liu-oh-thakurta-2023/lemma-5.3/explicit",),
    notes=(
        Note("Print calls it a more general version of Theorem 3.4 of Ganesh et al. 2022, which was not compared."),
        Note("The proof of Theorem 5.6 cites it also where βGD <= d; there the printed risk is of order GD at least."),
    ),
)
