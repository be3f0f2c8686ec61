r"""If all densities proportional to $e^{-\beta F_D - r}$ have the log-Sobolev inequality with constant $C$, one sample
is $\rho$-zCDP with $\rho = \frac{2CG^2\beta^2}{n^2}$ under replace-one (a quarter of it if a record is removed and the
factor $\frac1n$ stays), so $(\rho + 2\sqrt{\rho \ln(1/\delta)}, \delta)$-DP for every $\delta$. Attained by Gaussians.
"""

from fractions import Fraction

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    inverse_temperature,
    lipschitz,
    log_sobolev,
    rho,
)
from dpbounds.privacy.mechanisms import ZCDP, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import CLOSED_CONVEX_SET, LIPSCHITZ
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions_sampling import LOG_SOBOLEV
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Metric,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def budget() -> Expr:
    return 2 * log_sobolev * lipschitz**2 * inverse_temperature**2 / dataset_size**2


def loss() -> Expr:
    return budget() + 2 * sqrt(budget() * log(1 / delta))


def temperature() -> Expr:
    return dataset_size / lipschitz * sqrt(rho / (2 * log_sobolev))


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)
    return ZCDP(share**2 * at.up(budget().subs(inverse_temperature, temperature())), relation=at.relation)


GROWS = (lipschitz, inverse_temperature, log_sobolev)

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/theorem-5.1/explicit",
    title="a sample under a log-Sobolev inequality is zCDP",
    statement=__doc__,
    where="derived here; compare Theorem 5.1",
    metric=Metric.PRIVACY,
    side=Side.UPPER,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, CLOSED_CONVEX_SET, LOG_SOBOLEV),
    parts=(
        Bound(
            formula=loss,
            name="epsilon",
            meaning="at δ, any value",
            bases=("loss", "length"),
            increasing_in=GROWS,
            decreasing_in=(dataset_size, delta),
        ),
        Bound(
            formula=budget,
            name="rho",
            unit=Unit(samples=-2),
            meaning="zCDP budget of one sample",
            increasing_in=GROWS,
            decreasing_in=(dataset_size,),
        ),
        Parameter(
            formula=temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="the β that spends ρ",
            increasing_in=(rho, dataset_size),
            decreasing_in=(lipschitz, log_sobolev),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, dataset_size, lipschitz, log_sobolev)),
    makes_explicit="ganesh-liu-oh-thakurta-2023/theorem-5.1",
    derivation="log_sobolev.md",
)
