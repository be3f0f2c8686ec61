r"""Under Assumption 1 take a net of the ball $\|w\|_2 \le G/\lambda$ with at most $(1 + \frac{2G}{\lambda\alpha})^d$
points of it, such that every point of the ball is within $\alpha$ of one. The exponential mechanism with score $-\hat
F^r$, the losses centred at $w = 0$, and sensitivity $2G^2/(\lambda n)$ is $\varepsilon$-DP under replace-one, and with
probability $1 - \zeta$ its output has an excess empirical risk of at most
$2 G \alpha + \frac{4 G^2}{\lambda n \varepsilon} \big(d \ln(1 + \tfrac{2G}{\lambda\alpha}) + \ln \tfrac1\zeta\big)$.
At $\alpha = 2 G d/(\lambda n \varepsilon)$ that is $\frac{4G^2}{\lambda n\varepsilon} \big(d + d \ln(1 +
\tfrac{n\varepsilon}d) + \ln\tfrac1\zeta\big)$.
"""

from fractions import Fraction

from sympy import Expr, log

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    dimension,
    epsilon,
    failure_probability,
    lipschitz,
    net_radius,
    regularisation,
)
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Bound, Claim, Metric, Mode, Parameter, Privacy, Read, Side, Status, Theorem
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED


def _unit_of_noise() -> Expr:
    return 4 * lipschitz**2 / (regularisation * dataset_size * epsilon)


def risk() -> Expr:
    points = dimension * log(1 + 2 * lipschitz / (regularisation * net_radius))
    return 2 * lipschitz * net_radius + _unit_of_noise() * (points - log(failure_probability))


def best_radius() -> Expr:
    return 2 * lipschitz * dimension / (regularisation * dataset_size * epsilon)


def tuned() -> Expr:
    points = dimension * log(1 + dataset_size * epsilon / dimension)
    return _unit_of_noise() * (dimension + points - log(failure_probability))


def cost() -> Expr:
    return (1 + dataset_size * epsilon / dimension) ** dimension * dataset_size


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)  # an added or removed record moves scores by half as much
    return ExponentialMechanism(share * at[epsilon], relation=at.relation)


_LOSS = Unit(loss=1)

THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-4/explicit",
    title="the exponential mechanism on a net, with constants",
    statement=__doc__,
    where="derived here; compare Theorem 4",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    parts=(
        Bound(
            formula=risk,
            unit=_LOSS,
            meaning="excess empirical risk, for a net of a given resolution",
            increasing_in=(lipschitz, dimension),
            decreasing_in=(dataset_size, epsilon, failure_probability),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=_LOSS,
            meaning="excess empirical risk with the resolution below",
            increasing_in=(lipschitz,),
            decreasing_in=(dataset_size, epsilon, failure_probability, regularisation),
        ),
        Parameter(
            formula=best_radius,
            name="net_radius",
            unit=Unit(length=1),
            meaning="resolution of the net",
            increasing_in=(lipschitz, dimension),
            decreasing_in=(regularisation, dataset_size, epsilon),
        ),
        Parameter(
            formula=cost,
            name="cost",
            unit=Unit(samples=1),
            meaning="evaluations of a loss with that resolution, at most",
            increasing_in=(dataset_size, epsilon),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    makes_explicit="wang-chen-xu-2019/theorem-4",
    derivation="theorem_4_explicit.md",
)
