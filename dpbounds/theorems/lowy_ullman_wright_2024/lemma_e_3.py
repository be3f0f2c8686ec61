r"""Let $W$ be compact, with a point $\tilde w \in W$ from which no point of $W$ is further than $D$, and whose
population excess risk is at most $G D d/(\varepsilon n)$. The $\varepsilon$-DP exponential mechanism over a net of $W$
returns with probability $1 - \zeta$ a point of population excess risk of order $G D \big(\frac{d}{\varepsilon n} +
\sqrt{d/n}\big)$, up to logarithms. Equation 3 bounds its empirical excess risk, equation 4 is the union bound over the
net of $N$ points: all empirical risks are within $p$ of the population risks but for probability
$2 N \exp(-n p^2/(2 G^2 D^2))$.
"""

from sympy import Expr, exp, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    diameter,
    dimension,
    epsilon,
    failure_probability,
    lipschitz,
)
from dpbounds.privacy.mechanisms import Mechanism, PureDP
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.lowy_ullman_wright_2024._quantities_landscape import DEVIATION, deviation
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Erratum,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def rate() -> Expr:
    return lipschitz * diameter * (dimension / (epsilon * dataset_size) + sqrt(dimension / dataset_size))


def empirical() -> Expr:
    return lipschitz * diameter * dimension / (epsilon * dataset_size)


def union_bound() -> Expr:
    return 2 * candidates * exp(-dataset_size * deviation**2 / (2 * lipschitz**2 * diameter**2))


def needed_deviation() -> Expr:
    return lipschitz * diameter * sqrt(2 * log(8 * candidates / failure_probability) / dataset_size)


def printed_deviation() -> Expr:
    return lipschitz * diameter / sqrt(dataset_size) * sqrt(log(8 / failure_probability) + dimension)


def mechanism(at: Numbers) -> Mechanism:
    # ε-DP: W has diameter at most 2D, so replacing a record changes n times the risk by a function whose range over W
    # is at most 2G * 2D, and the scale is 4GD
    return PureDP(at[epsilon], relation=Relation.REPLACE_ONE)


_RISK = Unit(loss=1)
_POPULATION = ("loss", "length")

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-e.3",
    title="exponential mechanism for the population risk",
    statement=__doc__,
    where="Appendix E, Lemma E.3, equations 3 and 4",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SAMPLED_RECORDS),
    parts=(
        Rate(
            formula=rate,
            unit=_RISK,
            bases=_POPULATION,
            logs_hidden=True,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Rate(
            formula=empirical,
            name="equation-3",
            unit=_RISK,
            meaning="empirical excess risk, with probability 1 - ζ/2",
            logs_hidden=True,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Bound(
            formula=union_bound,
            name="equation-4",
            meaning="chance that some net point's empirical risk is off by more than p",
            bases=_POPULATION,
            increasing_in=(candidates, lipschitz, diameter),
            decreasing_in=(dataset_size, deviation),
        ),
        Parameter(
            formula=needed_deviation,
            name="deviation",
            unit=_RISK,
            meaning="repaired: p at which the proof's 4N exp(-np²/(2G²D²)) is ζ/2",
            bases=_POPULATION,
            increasing_in=(candidates, lipschitz, diameter),
            decreasing_in=(dataset_size, failure_probability),
        ),
    ),
    local=(DEVIATION,),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    errata=(
        Erratum(
            printed="p = (G D/√n) √(ln(8/ζ) + d) makes 4N exp(-np²/(2G²D²)) at most ζ/2",
            right="p = G D √(2 ln(8N/ζ)/n), and ln N is of order d ln(εn/d), not d/2; at the printed p the "
            "failure bound "
            "exceeds 1; in version 1",
            severity=Severity.CONSTANT,
            evidence="test_lemma_e_3.py::test_the_printed_deviation_is_too_small",
            where="Appendix E, end of the proof",
            survives="the lemma, whose order of growth hides the logarithm",
        ),
        Erratum(
            printed="f(w_j, x) lies in [-GD, GD]",
            right="f(w_j, x) - f(w̃, x) does; f itself may be shifted by any amount that depends on x; in version 1",
            severity=Severity.HARMLESS,
            evidence="test_lemma_e_3.py::test_losses_themselves_are_not_bounded",
            where="Appendix E, before equation 4",
            survives="all that follows, for the shifted losses, which have the same differences and gradients",
        ),
    ),
    notes=(
        Note(
            "The proof applies equation 4 to the minimiser of F, which is not in the net, and equation 3 refers to the "
            "infimum over R^d of the empirical risk, of which nothing is assumed. Comparing with the net point nearest "
            "w̃ avoids both: lowy-ullman-wright-2024/lemma-e.3/explicit."
        ),
        Note("p < 1 is asked for and not needed; one event with 2N in place of 4N is enough."),
    ),
)
