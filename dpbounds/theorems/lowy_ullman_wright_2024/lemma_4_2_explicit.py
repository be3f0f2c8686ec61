r"""The exponential mechanism on $N$ points of a compact set $W$ of diameter $D$, a net of radius $r_n$, with
probability proportional to $\exp(-\lambda F)$, $\lambda = \varepsilon n/(2GD)$, is $\varepsilon$-DP under
replace-one, and $E F(w_0) - \min_W F \le G r_n + 2GD \ln N/(\varepsilon n)$; with probability at least $1 - \zeta$,
$\ln N + \ln(1/\zeta)$ stands for $\ln N$. There is a net with $N \le (1 + \sqrt2\, D/r_n)^d$; with $r_n =
Dd/(\varepsilon n)$ the expectation is at most $\frac{GDd}{\varepsilon n} (1 + 2 \ln(1 + \sqrt2\, \varepsilon n/d))$.

The temperature is half of that of Definition 4.1, and so is the error. The proof is in the Markdown file beside the
code.
"""

from fractions import Fraction

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    diameter,
    dimension,
    epsilon,
    failure_probability,
    lipschitz,
    net_radius,
)
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import COMPACT_SET
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


def inverse_temperature() -> Expr:
    return epsilon * dataset_size / (2 * lipschitz * diameter)


def bound() -> Expr:
    return lipschitz * net_radius + log(candidates) / inverse_temperature()


def tail() -> Expr:
    return lipschitz * net_radius + (log(candidates) + log(1 / failure_probability)) / inverse_temperature()


def net_size() -> Expr:
    return (1 + sqrt(2) * diameter / net_radius) ** dimension


def tuned() -> Expr:
    size = epsilon * dataset_size / dimension
    return lipschitz * diameter / size * (1 + 2 * log(1 + sqrt(2) * size))


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor, 2)  # a record added moves the risk by half as much as one replaced
    return ExponentialMechanism(share * at[epsilon], relation=at.relation)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/lemma-4.2/explicit",
    title="excess risk of the exponential mechanism, sharper",
    statement=__doc__,
    where="derived here; compare Definition 4.1 and Lemma 4.2",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, COMPACT_SET),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(loss=1),
            meaning="in expectation, above the minimum over W, for a net of N points and radius r",
            increasing_in=(lipschitz, diameter, net_radius, candidates),
            decreasing_in=(dataset_size, epsilon),
        ),
        Bound(
            formula=tail,
            name="tail",
            unit=Unit(loss=1),
            meaning="the same, missed with probability at most ζ",
            increasing_in=(lipschitz, diameter, net_radius, candidates),
            decreasing_in=(dataset_size, epsilon, failure_probability),
        ),
        Bound(
            formula=tuned,
            name="tuned",
            unit=Unit(loss=1),
            meaning="in expectation, above the minimum over W, for the smallest net of radius Dd/(εn)",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=inverse_temperature,
            name="inverse_temperature",
            unit=Unit(loss=-1),
            meaning="factor of the risk in the exponent",
            increasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=net_size,
            name="candidates",
            meaning="points that a net of radius r needs at most",
            increasing_in=(diameter, dimension),
            decreasing_in=(net_radius,),
        ),
    ),
    privacy=Privacy(claim=Claim.PURE, mechanism=mechanism, needs=(epsilon,)),
    algorithm="lowy-ullman-wright-2024/definition-4.1",
    makes_explicit="lowy-ullman-wright-2024/lemma-4.2",
    derivation="lemma_4_2_explicit.md",
    notes=(
        Note(
            "Measured from the infimum over R^d, add what the best point of W is above it: GDd/(εn) in the "
            "setting of the "
            "paper."
        ),
    ),
)
