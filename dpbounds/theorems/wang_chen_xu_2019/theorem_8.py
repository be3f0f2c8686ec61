r"""There are constants $c_1, c_2$ such that with $\sigma_1^2 = c_1 G^2 T \ln(1/\delta)/(n\varepsilon)^2$ and
$\sigma_2^2 = c_2 L^2 d T \ln(1/\delta)/(n\varepsilon)^2$ Algorithm 5 is $(\varepsilon, \delta)$-DP, and with
probability $1 - \xi - T/d^C$ its output is an $\alpha$-SOSP if $n$ is at least $\tilde\Omega\big(L d \sqrt{L B
\ln(1/\delta)\ln(1/\xi)}\, G / (\rho_H \varepsilon\alpha^2)\big)$.

What is needed is the larger of (8) and $L d \sqrt{L B \ln(1/\delta) \ln(1/\xi)}/(\varepsilon \sqrt{\rho_H}
\alpha^{3/2})$: the first for the descent and the gradients, the second for the Hessians, whose noise has an operator
norm of order $\sigma_2 \sqrt d$ and must be below $\sqrt{\rho_H\alpha}$.
"""

from sympy import Expr, Max, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
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
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import UNCONSTRAINED
from dpbounds.theorems.record import (
    Claim,
    Erratum,
    Metric,
    Mode,
    Note,
    Privacy,
    Rate,
    Severity,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.wang_chen_xu_2019 import theorem_7
from dpbounds.theorems.wang_chen_xu_2019._assumptions import SECOND_ORDER
from dpbounds.theorems.wang_chen_xu_2019.algorithm_5 import mechanism


def _hessians() -> Expr:
    logs = log(1 / delta) * log(1 / failure_probability)
    return smoothness * dimension * sqrt(smoothness * loss_range * logs) / epsilon


def printed() -> Expr:
    return _hessians() * lipschitz / (hessian_lipschitz * stationarity**2)


def sample_size() -> Expr:
    for_hessians = _hessians() / (sqrt(hessian_lipschitz) * stationarity ** Rational(3, 2))
    return Max(theorem_7.sample_size(), for_hessians)


def reached() -> Expr:
    by_hessians = (_hessians() / (dataset_size * sqrt(hessian_lipschitz))) ** Rational(2, 3)
    return Max(theorem_7.reached(), by_hessians)


_GROWS = (smoothness, loss_range, dimension, lipschitz)

THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-8",
    title="finding an approximate local minimum",
    statement=__doc__,
    where="Section 5.1, Theorem 8",
    metric=Metric.SOSP,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SECOND_ORDER, UNCONSTRAINED),
    parts=(
        Rate(
            formula=reached,
            unit=Unit(1, -1),
            meaning="what n records reach, repaired: each term solved for α",
            logs_hidden=True,
            increasing_in=_GROWS,
            decreasing_in=(dataset_size, epsilon, delta, hessian_lipschitz, failure_probability),
        ),
        Rate(
            formula=sample_size,
            name="sample_size",
            unit=Unit(samples=1),
            meaning="how many records suffice, repaired",
            logs_hidden=True,
            increasing_in=_GROWS,
            decreasing_in=(epsilon, stationarity, delta, hessian_lipschitz, failure_probability),
        ),
        Rate(
            formula=printed,
            name="printed_sample_size",
            status=Status.FALSE,
            unit=Unit(samples=1),
            meaning="as printed; it scales like a length, see the errata",
            logs_hidden=True,
            bases=("loss", "samples"),
            increasing_in=_GROWS,
            decreasing_in=(epsilon, stationarity, delta, hessian_lipschitz, failure_probability),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, iterations, noise_constant)),
    algorithm="wang-chen-xu-2019/algorithm-5",
    relies_on=("wang-chen-xu-2019/theorem-7", "wang-chen-xu-2019/algorithm-5"),
    errata=(
        Erratum(
            printed="n >= Ω̃(M d √(MB ln(1/δ) ln(1/ξ)) L/(ρ ε α²)), in the letters of print",
            right="n >= Ω̃(max{L √(MBd ln(1/δ) ln(1/ξ))/(ε α²), M d √(MB ln(1/δ) ln(1/ξ))/(ε √ρ α^(3/2))}): the "
            "printed "
            "formula has the unit of a length and not of a number, and asks for less than (8), whose descent it "
            "contains, where ρ > M√d",
            severity=Severity.CONSTANT,
            evidence="test_theorem_8.py::test_the_printed_sample_size_is_not_a_number_of_records",
            survives="d/(εα²) where all other constants are of order 1 and α <= 1: sufficient, though loose, as the "
            "second term is only d/(εα^(3/2))",
        ),
    ),
    notes=(
        Note("p in the probability T/p^C is the dimension d. No range of ε is printed; that of Theorem 7 is meant."),
        Note("The thresholds of the tests must be tightened (see algorithm-5); with constants: theorem-8/explicit."),
    ),
    superseded_by=("dpbounds/negative-curvature-descent",),
)
