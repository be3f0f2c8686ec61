r"""Under the assumptions of Theorem 2, from a fixed $w_0$, the iterate $w_j$ of DP-GLD with $j$ uniform on $1, \dots,
T$ has, for large $T$, an expected excess empirical risk (5) of $O\big(C (\tfrac{\beta^2
\ln(1/\delta)}{(n\varepsilon)^2} + \tfrac{(n\varepsilon)^2}{T \beta^2 \ln(1/\delta)}) + \tfrac{d \ln\beta}\beta\big)$.

Here $C = C(d, \beta)$ is claimed to be polynomial in $\beta$ with a degree that does not depend on $d$; from that
follows (6), a rate $C_0(d) \ln(1/\delta)/(n\varepsilon)^\tau$ for some $0 < \tau < 1$. With $t = \eta T$ the bracket
is $\beta/t + \eta/\beta$ up to constants. For potentials with a metastable well $C$ grows at least like $e^{\beta
h/2}/\beta$, with $h$ the height of the barrier, and (6) fails.
"""

from sympy import Expr, log

from dpbounds.expressions.symbols import (
    dataset_size,
    delta,
    dimension,
    epsilon,
    inverse_temperature,
    lipschitz,
    regularisation,
    smoothness,
    steps,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Erratum, Metric, Mode, Note, Rate, Severity, Side, Status, Theorem
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED
from dpbounds.theorems.wang_chen_xu_2019._quantities import (
    RATE_EXPONENT,
    TIME_AVERAGE_CONSTANT,
    rate_exponent,
    time_average_constant,
)
from dpbounds.theorems.wang_chen_xu_2019.theorem_2 import conditions

HIDDEN = (lipschitz, smoothness, regularisation)


def _concentration() -> Expr:
    return dimension * log(inverse_temperature) / inverse_temperature


def time_average() -> Expr:
    slow = inverse_temperature**2 * log(1 / delta) / (dataset_size * epsilon) ** 2
    return time_average_constant * (slow + 1 / (slow * steps)) + _concentration()


def claimed() -> Expr:
    return time_average_constant * log(1 / delta) / (dataset_size * epsilon) ** rate_exponent


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-3",
    title="excess risk of a random iterate of DP-GLD",
    statement=__doc__,
    where="Section 4, Theorem 3, equations (5) and (6)",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.FALSE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    conditions=conditions,
    local=(TIME_AVERAGE_CONSTANT, RATE_EXPONENT),
    parts=(
        Rate(
            formula=time_average,
            status=Status.CLAIMED,
            meaning="(5), with an unrestricted C = C(d, β) as time_average_constant",
            hides=HIDDEN,
            increasing_in=(dimension, time_average_constant),
            decreasing_in=(steps,),
        ),
        Rate(
            formula=claimed,
            name="polynomial",
            meaning="(6), with C₀(d) as time_average_constant and τ as rate_exponent: refuted",
            hides=HIDDEN,
            logs_hidden=True,
            decreasing_in=(delta,),
        ),
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on=("wang-chen-xu-2019/theorem-1",),
    errata=(
        Erratum(
            printed="C(d, β) is polynomial in β with degree independent of d",
            right="C(d, β) is at least of the order of exp(βh/2)/β for a potential with a second well behind a barrier "
            "of height h: the chain leaves it after a time of order exp(βh) only, while the n at which t = ηT is "
            "exp(βh/2) makes the bracket exponentially small",
            severity=Severity.FALSE,
            evidence="test_theorem_3.py::test_the_constant_is_not_polynomial",
            survives="inequality (5) with an unrestricted C(d, β); Theorem 2; potentials without such wells, see "
            "dpbounds/langevin-under-pl",
            also=("wang-chen-xu-2019/remark-2",),
        ),
        Erratum(
            printed="(6): a rate of n^(-τ), and with it the 1/n^Ω(1) of the abstract and of Remark 2 for Algorithm 1",
            right="with β a power of n the chain never leaves a second well, and the excess stays above a constant",
            severity=Severity.FALSE,
            evidence="test_theorem_3.py::test_no_power_of_n_is_reached",
            where="equation (6), the abstract, Remark 2",
            survives="the rate log(n)^(-1) of Theorem 2; for constant d the ε-DP net of Theorem 4 attains d/(nε)",
        ),
    ),
    notes=(
        Note("(6) prints w_T where the theorem is about w_j."),
        Note("The proof is in a supplement that was not seen; the counterexample is in the test, by quadrature."),
    ),
)
