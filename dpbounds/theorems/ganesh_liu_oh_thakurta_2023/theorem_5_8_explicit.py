r"""The exponential mechanism with $\beta = \frac{\varepsilon n}{2GD}$ on a net of radius $r$ of a set in a ball of
radius $R$ is pure $\varepsilon$-DP under replace-one. With $\ln|P| \le d\ln(1 + \frac{2R}r)$ its expected excess
population risk is at most $Gr + \frac{2GD}{\varepsilon n}\ln|P| + GR\sqrt{2\ln|P|/n}$; without the last term, its
empirical one.
"""

from fractions import Fraction

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    diameter,
    dimension,
    enclosing_radius,
    epsilon,
    lipschitz,
    net_radius,
)
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET, LIPSCHITZ, SAMPLED_RECORDS
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def log_size() -> Expr:
    return dimension * log(1 + 2 * enclosing_radius / net_radius)


def empirical() -> Expr:
    return lipschitz * net_radius + 2 * lipschitz * diameter / (epsilon * dataset_size) * log_size()


def population() -> Expr:
    return empirical() + lipschitz * enclosing_radius * sqrt(2 * log_size() / dataset_size)


def tuned() -> Expr:
    share = dimension / (epsilon * dataset_size)
    level = log(1 + 2 * epsilon * dataset_size / dimension)
    return lipschitz * diameter * (share * (1 + 2 * level) + sqrt(2 * dimension * level / dataset_size))


def temperature() -> Expr:
    return epsilon * dataset_size / (2 * lipschitz * diameter)


def mechanism(at: Numbers) -> Mechanism:
    return ExponentialMechanism(Fraction(at.relation.sensitivity_factor, 2) * at[epsilon], relation=at.relation)


_LOSS = Unit(loss=1)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit",
    title="the exponential mechanism on a net, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 5.8",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, BOUNDED_SET, SAMPLED_RECORDS),
    parts=(
        Bound(
            formula=population,
            unit=_LOSS,
            meaning="expected excess population risk against the whole set",
            bases=("loss", "length"),
            increasing_in=(lipschitz, diameter, enclosing_radius, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Bound(
            formula=empirical,
            name="empirical",
            unit=_LOSS,
            meaning="expected excess empirical risk against the whole set",
            increasing_in=(lipschitz, diameter, enclosing_radius, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="population risk at the printed radius Dd/(εn), with R = D",
            bases=("loss", "length"),
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size,),
        ),
        Bound(
            formula=log_size,
            name="log_net_size",
            meaning="of the logarithm of the number of points",
            increasing_in=(dimension, enclosing_radius),
            decreasing_in=(net_radius,),
        ),
        Parameter(
            formula=temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="β",
            increasing_in=(epsilon, dataset_size),
            decreasing_in=(lipschitz, diameter),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-5.8",
    derivation="discrete_mechanism.md",
    notes=(Note("The net must not depend on the data; the set need not be convex."),),
)
