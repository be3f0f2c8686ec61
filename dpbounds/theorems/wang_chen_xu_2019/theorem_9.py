r"""There are constants $c_1, c_2, c_3$ such that for $0 < \varepsilon < c_1 T$, $0 < \delta < 1$ Algorithm 6 is
$(\varepsilon, \delta)$-DP with $\sigma_1^2 = c_2 G^2 T \ln(1/\delta)/(n\varepsilon)^2$ and $\sigma_2^2 = c_3 d L^2 T
\ln(1/\delta)/(n\varepsilon)^2$. With $T = O(\max(D^2 L B/\alpha^2, B \sqrt{\rho_H} D^6/(\Phi^3\alpha^{3/2})))$,
$\theta = \Phi\sqrt{\rho_H\alpha}/(2\rho_H D^3)$, $\eta = \alpha/(2D^2L)$ and $r = \Phi^2 \alpha/(72 D^3)$ it outputs,
with probability $1 - \xi - T/d^C$, an $\alpha$-SOSP in the set, if $n$ is at least of the order of the largest of
three terms (given below), in which $\Phi$ and logarithms are left out.
"""

from sympy import Expr, Max, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    approximation_ratio,
    delta,
    diameter,
    dimension,
    epsilon,
    failure_probability,
    hessian_lipschitz,
    lipschitz,
    loss_range,
    noise_constant,
    smoothness,
    stationarity,
)
from dpbounds.expressions.symbols import (
    steps as iterations,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_SET
from dpbounds.theorems.record import (
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
from dpbounds.theorems.wang_chen_xu_2019._assumptions import SECOND_ORDER

_QUARTER = Rational(1, 4)


def sample_size() -> Expr:
    private = sqrt(log(1 / delta)) / epsilon
    chance = log(1 / failure_probability)
    small = sqrt(dimension * smoothness * loss_range * chance) * private * lipschitz * hessian_lipschitz**_QUARTER
    hessians = dimension * sqrt(loss_range * smoothness**3) * private * diameter**5 * chance
    return Max(
        diameter**7 * small / stationarity**2,
        diameter**4 * small / stationarity**2,
        hessians / (hessian_lipschitz**_QUARTER * stationarity ** Rational(3, 2)),
    )


def steps() -> Expr:
    first = diameter**2 * smoothness * loss_range / stationarity**2
    second = diameter**6 * loss_range * sqrt(hessian_lipschitz)
    return Max(first, second / (approximation_ratio**3 * stationarity ** Rational(3, 2)))


def combined_steps() -> Expr:
    scale = loss_range * smoothness * sqrt(hessian_lipschitz) * diameter**6
    return scale / (approximation_ratio**3 * stationarity**2)


def step_size() -> Expr:
    return stationarity / (2 * diameter**2 * smoothness)


def share() -> Expr:
    return approximation_ratio * sqrt(stationarity / hessian_lipschitz) / (2 * diameter**3)


def slack() -> Expr:
    return approximation_ratio**2 * stationarity / (72 * diameter**3)


def mechanism(at: Numbers) -> Mechanism:
    each = Gaussian(at.down(sqrt(noise_constant * iterations * log(1 / delta)) / epsilon))
    return each ** (2 * at.count(iterations))


_BASES = ("samples",)  # see definition-10: α is a loss there, and the square root of ρα is none

THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-9",
    title="second-order stationary points in a set",
    statement=__doc__,
    where="Section 5.2, Theorem 9",
    metric=Metric.SAMPLE_SIZE,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SECOND_ORDER, BOUNDED_SET),
    parts=(
        Rate(
            formula=sample_size,
            name="sample_size",
            meaning="how many records suffice",
            hides=(approximation_ratio,),
            logs_hidden=True,
            increasing_in=(diameter, lipschitz, smoothness, dimension, loss_range),
            decreasing_in=(epsilon, stationarity, delta, failure_probability),
        ),
        Parameter(
            formula=steps,
            name="steps",
            meaning="number of steps",
            up_to_constant=True,
            bases=_BASES,
            increasing_in=(diameter, smoothness, loss_range, hessian_lipschitz),
            decreasing_in=(stationarity, approximation_ratio),
        ),
        Parameter(
            formula=combined_steps,
            name="combined_steps",
            meaning="the larger form printed next to it, for D, L and ρ_H at least 1 (and α at most 1)",
            up_to_constant=True,
            bases=_BASES,
            increasing_in=(diameter, smoothness, loss_range, hessian_lipschitz),
            decreasing_in=(stationarity, approximation_ratio),
        ),
        Parameter(
            formula=step_size,
            name="first_order_share",
            meaning="η: share of the way to the Frank-Wolfe point",
            bases=_BASES,
            increasing_in=(stationarity,),
            decreasing_in=(diameter, smoothness),
        ),
        Parameter(
            formula=share,
            name="second_order_share",
            meaning="θ: share of the way to the point of least curvature",
            bases=_BASES,
            increasing_in=(stationarity, approximation_ratio),
            decreasing_in=(diameter, hessian_lipschitz),
        ),
        Parameter(
            formula=slack,
            name="slack",
            meaning="r: how much slope the quadratic program allows",
            bases=_BASES,
            increasing_in=(stationarity, approximation_ratio),
            decreasing_in=(diameter,),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, iterations, noise_constant)),
    algorithm="wang-chen-xu-2019/algorithm-6",
    relies_on=("wang-chen-xu-2019/lemma-1", "cited/abadi-et-al-2016/theorem-1"),
    errata=(
        Erratum(
            printed="three terms in G, L, B, D, ρ_H and α, one in D⁷/α², one in D⁴/α², one in D⁵/α^(3/2)",
            right="no unit of α makes numbers of them: the definition compares α with changes of the loss, and "
            "√(ρ_H α) with "
            "changes of its slope, so that everything is tied to sets of diameter about 1 and constants of order 1. "
            "Two tolerances have units: theorem-9/explicit",
            severity=Severity.CONSTANT,
            evidence="test_theorem_9.py::test_no_unit_of_the_tolerance_makes_the_terms_numbers",
            survives="the powers of n, d and ε; and the statement with two tolerances, with constants",
        ),
    ),
    notes=(
        Note(
            "Its range of ε is too wide, too; here c₂ = c₃ = 2(6 + 4√2) serve ε <= ln(1/δ): see the erratum of "
            "wang-xu-2019/theorem-1."
        ),
        Note(
            "The text at hand is damaged here: it has θ = Φα/(2D³), r = Φ²Φα/(72ρD³), Φ <= 9/5. Read as Φ√(ρα)/(2ρD³) "
            "and Φ²ρα/(72ρD³), which is what the descent needs (second_order.md, section 4); an oracle's Φ is at most "
            "1."
        ),
        Note(
            "The three terms are what this descent needs with the combined T, up to Φ and logarithms: noise below r/D "
            "and α/D for the gradients and below Φ√(ρ_H α)/D² for the Hessians. With constants, and with units that "
            "fit: theorem-9/explicit."
        ),
        Note("p in the probability T/p^C is the dimension d."),
    ),
)
