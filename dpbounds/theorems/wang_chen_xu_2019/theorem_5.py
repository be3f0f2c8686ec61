r"""For the generalised linear model (Assumption 2) and for robust regression (Assumption 3) on unit l2 balls there
are constants $c_1, c_2$ such that for $0 < \varepsilon < c_1 T$ DP-FW-L2 is $(\varepsilon, \delta)$-DP with $\sigma^2
= c_2 C_\sigma^2 (B_\sigma + 1)^2 T \ln(1/\delta)/(n\varepsilon)^2$ (robust regression: $c_2 C_\psi^2 T
\ln(1/\delta)/(n\varepsilon)^2$), and with $T = O(n\varepsilon/\sqrt{d \ln(1/\delta)})$ steps of size $\gamma = O((d
\ln(1/\delta))^{1/4}/\sqrt{n\varepsilon})$ its expected excess population risk is $O((d
\ln(1/\delta))^{1/4}/\sqrt{n\varepsilon})$.

The proof needs $L_P(w) - L_P(w^*) \le \mu \langle \nabla L_P(w), w - w^*\rangle$. Assumption 2 gives it; Assumption 3
does not, because $h'(0) > 0$ says nothing of $h(s) = E\,\psi'(s + \xi)$ away from 0. With $h(s) \ge \kappa s$ on $(0,
2]$ it holds again.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    initial_gap,
    lipschitz,
    noise_constant,
    smoothness,
)
from dpbounds.expressions.symbols import (
    steps as iterations,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import SAMPLED_RECORDS
from dpbounds.theorems.record import (
    Claim,
    Condition,
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
from dpbounds.theorems.wang_chen_xu_2019._assumptions import GLM_LINK
from dpbounds.theorems.wang_chen_xu_2019._quantities import (
    INFLUENCE_CONSTANT,
    LINK_BOUND,
    LINK_CONSTANT,
    LINK_SLOPE,
    influence_constant,
    link_bound,
    link_constant,
    link_slope,
)

CONSTANTS = (link_constant, link_slope)
HIDDEN = (lipschitz, smoothness, initial_gap, *CONSTANTS)


def rate() -> Expr:
    return (dimension * log(1 / delta)) ** Rational(1, 4) / sqrt(dataset_size * epsilon)


def restored() -> Expr:
    return link_constant / link_slope * sqrt(lipschitz * sqrt(smoothness * initial_gap)) * rate()


def steps() -> Expr:
    return dataset_size * epsilon / sqrt(dimension * log(1 / delta))


def variance() -> Expr:
    scale = noise_constant * iterations * log(1 / delta) / (dataset_size * epsilon) ** 2
    return scale * (link_constant * (link_bound + 1)) ** 2


def robust_variance() -> Expr:
    return noise_constant * influence_constant**2 * iterations * log(1 / delta) / (dataset_size * epsilon) ** 2


def mechanism(at: Numbers) -> Mechanism:
    # a record's gradient is at most 2 C_σ (B_σ + 1)
    return Gaussian(at.down(sqrt(noise_constant * iterations * log(1 / delta)) / (2 * epsilon))) ** at.count(iterations)


def conditions() -> tuple[Condition, ...]:
    return (Condition(holds=rate() <= 1, why="a Frank-Wolfe step is a convex combination; not printed"),)


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-5",
    title="population risk of DP-FW-L2",
    statement=__doc__,
    where="Section 4, Theorem 5",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(GLM_LINK, SAMPLED_RECORDS),
    conditions=conditions,
    local=(LINK_CONSTANT, LINK_SLOPE, LINK_BOUND, INFLUENCE_CONSTANT),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            meaning="excess population risk; hides the constants of link or loss, too",
            hides=HIDDEN,
            restored=restored,
            bases=("loss", "samples"),
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=steps,
            name="steps",
            meaning="number of steps",
            up_to_constant=True,
            hides=HIDDEN,
            increasing_in=(dataset_size, epsilon, delta),
            decreasing_in=(dimension,),
        ),
        Parameter(
            formula=rate,
            name="step_fraction",
            meaning="γ_t, the same for all t: 1/√T",
            up_to_constant=True,
            hides=HIDDEN,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=variance,
            name="noise_variance",
            unit=Unit(),
            meaning="σ² for the generalised linear model; c stands for c₂",
            up_to_constant=True,
            bases=("samples",),
            increasing_in=(link_constant, link_bound, iterations, noise_constant),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=robust_variance,
            name="robust_noise_variance",
            unit=Unit(),
            meaning="σ² for robust regression; c stands for c₂",
            up_to_constant=True,
            bases=("samples",),
            increasing_in=(influence_constant, iterations, noise_constant),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, iterations, noise_constant)),
    algorithm="wang-chen-xu-2019/algorithm-2",
    relies_on=("wang-chen-xu-2019/lemma-1", "wang-chen-xu-2019/assumption-2"),
    errata=(
        Erratum(
            printed="robust regression under Assumption 3 (with h'(0) > c_ψ) has the same excess population risk",
            right="needs h(s) > 0, say h(s) >= κs, on all of (0, 2]: for a loss that satisfies Assumption 3 w* "
            "need not "
            "even minimise the population risk, and DP-FW-L2 started there stays there",
            severity=Severity.FALSE,
            evidence="test_theorem_5.py::test_a_slope_at_zero_is_not_enough",
            where="second paragraph of Theorem 5; the inequality before Algorithm 2",
            survives="the generalised linear model; robust regression with h(s) >= κs, among it the biweight loss with "
            "c >= 1 + Y",
            also=("wang-chen-xu-2019/theorem-6",),
        ),
    ),
    notes=(
        Note(
            "Its range of ε is too wide, too; here c₂ = 4(6 + 4√2) serves ε <= ln(1/δ): see the erratum of "
            "wang-xu-2019/theorem-1."
        ),
        Note(
            "The O hides the constants of the link, of which the bound has C_σ/c_σ as a factor, and the sampling error "
            "of order 1/√n, which is smaller for ε <= √(d ln(1/δ)). With constants: theorem-5/explicit."
        ),
        Note("The conditions are taken from Foster et al. 2018 (as the paper says), which was not compared here."),
    ),
)
