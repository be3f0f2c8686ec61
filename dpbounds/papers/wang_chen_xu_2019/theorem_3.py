r"""Under the assumptions of Theorem 2, from a fixed $w_0$, the iterate $w_j$ of DP-GLD with $j$ uniform on $1, \dots,
T$ has, for large $T$, an expected excess empirical risk (5) of $O\big(C (\tfrac{\beta^2
\ln(1/\delta)}{(n\varepsilon)^2} + \tfrac{(n\varepsilon)^2}{T \beta^2 \ln(1/\delta)}) + \tfrac{d \ln\beta}\beta\big)$.

Here $C = C(d, \beta)$ is claimed to be polynomial in $\beta$ with a degree that does not depend on $d$; from that
follows (6), a rate $C_0(d) \ln(1/\delta)/(n\varepsilon)^\tau$ for some $0 < \tau < 1$. With $t = \eta T$ the bracket
is $\beta/t + \eta/\beta$ up to constants. For potentials with a metastable well $C$ grows at least like $e^{\beta
h/2}/\beta$, with $h$ the height of the barrier, and (6) fails.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER, rate_exponent, time_average_constant
from dpbounds.papers.wang_chen_xu_2019.theorem_2 import conditions
from dpbounds.theorems.language import Erratum, Rate, log, q

_concentration = q.d * log(q.beta) / q.beta
slow = q.beta**2 * log(1 / q.delta) / (q.n * q.epsilon) ** 2

THEOREM = PAPER.theorem(
    title="excess risk of a random iterate of DP-GLD",
    where="Section 4, Theorem 3, equations (5) and (6)",
    bounds="excess-empirical-risk, expectation",
    status="false",
    assumptions="regularised Lipschitz loss",
    conditions=conditions,
    parts=(
        Rate(
            time_average_constant * (slow + 1 / (slow * q.T)) + _concentration,
            meaning="(5), with an unrestricted C = C(d, β) as time_average_constant",
            status="claimed",
            hides="G L regularisation",
            increasing_in="d",
        ),
        Rate(
            time_average_constant * log(1 / q.delta) / (q.n * q.epsilon) ** rate_exponent,
            "polynomial",
            "(6), with C₀(d) as time_average_constant and τ as rate_exponent: refuted",
            logs_hidden=True,
            hides="G L regularisation",
        ),
    ),
    algorithm="wang-chen-xu-2019/algorithm-1",
    relies_on="wang-chen-xu-2019/theorem-1",
    errata=(
        Erratum(
            printed="C(d, β) is polynomial in β with degree independent of d",
            right="C(d, β) is at least of the order of exp(βh/2)/β for a potential with a second well behind a "
            "barrier of height h: the chain leaves it after a time of order exp(βh) only, while the n at which t "
            "= ηT is exp(βh/2) makes the bracket exponentially small",
            severity="false",
            evidence="test_theorem_3.py::test_the_constant_is_not_polynomial",
            survives="inequality (5) with an unrestricted C(d, β); Theorem 2; potentials without such wells, see "
            "dpbounds/langevin-under-pl",
            also="wang-chen-xu-2019/remark-2",
        ),
        Erratum(
            printed="(6): a rate of n^(-τ), and with it the 1/n^Ω(1) of the abstract and of Remark 2 for Algorithm 1",
            right="with β a power of n the chain never leaves a second well, and the excess stays above a constant",
            severity="false",
            evidence="test_theorem_3.py::test_no_power_of_n_is_reached",
            where="equation (6), the abstract, Remark 2",
            survives="the rate log(n)^(-1) of Theorem 2; for constant d the ε-DP net of Theorem 4 attains d/(nε)",
        ),
    ),
    notes="""
    - (6) prints w_T where the theorem is about w_j.
    - The proof is in a supplement that was not seen; the counterexample is in the test, by quadrature.
    """,
)
