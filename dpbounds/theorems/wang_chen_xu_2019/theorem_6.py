r"""If features lie in the unit $\ell_\infty$ ball and parameters in the unit l1 ball, DP-FW-L1 is $(\varepsilon,
\delta)$-DP for the generalised linear model (score sensitivity $O(C_\sigma(B_\sigma + 1)/n)$) and for robust regression
($O(C_\psi/n)$), and with $T = O(n\varepsilon/(\sqrt{\ln(1/\delta)} \ln(dn/\zeta)))$ steps of size $O(\sqrt{2/T})$ its
excess population risk is, with probability $1 - \zeta$, $O\big((\ln(1/\delta))^{1/4}
\sqrt{\ln(nd/\zeta)}/\sqrt{n\varepsilon}\big)$: only logarithmic in $d$.
"""

from sympy import Expr, Rational, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    failure_probability,
    initial_gap,
    lipschitz_l1,
    smoothness_l1,
)
from dpbounds.expressions.symbols import (
    steps as iterations,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import L1_GEOMETRY, SAMPLED_RECORDS
from dpbounds.theorems.record import (
    Claim,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Rate,
    Side,
    Status,
    Theorem,
)
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
from dpbounds.theorems.wang_chen_xu_2019.algorithm_3 import mechanism

HIDDEN = (lipschitz_l1, smoothness_l1, initial_gap, link_constant, link_slope)


def rate() -> Expr:
    logs = log(1 / delta) ** Rational(1, 4) * sqrt(log(dataset_size * dimension / failure_probability))
    return logs / sqrt(dataset_size * epsilon)


def restored() -> Expr:
    return link_constant / link_slope * sqrt(lipschitz_l1 * sqrt(smoothness_l1 * initial_gap)) * rate()


def steps() -> Expr:
    return dataset_size * epsilon / (sqrt(log(1 / delta)) * log(dimension * dataset_size / failure_probability))


def step_size() -> Expr:
    return sqrt(2 / iterations)


def sensitivity() -> Expr:
    return 4 * link_constant * (link_bound + 1) / dataset_size


def robust_sensitivity() -> Expr:
    return 2 * influence_constant / dataset_size


THEOREM = Theorem(
    id="wang-chen-xu-2019/theorem-6",
    title="population risk of DP-FW-L1",
    statement=__doc__,
    where="Section 4, Theorem 6",
    metric=Metric.EXCESS_POPULATION_RISK,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.REPAIRED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(GLM_LINK, SAMPLED_RECORDS, L1_GEOMETRY),
    local=(LINK_CONSTANT, LINK_SLOPE, LINK_BOUND, INFLUENCE_CONSTANT),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(loss=1),
            meaning="excess population risk; hides the constants of link or loss, too",
            hides=HIDDEN,
            restored=restored,
            bases=("loss",),
            increasing_in=(dimension,),
            decreasing_in=(epsilon, delta, failure_probability),
        ),
        Parameter(
            formula=steps,
            name="steps",
            meaning="number of steps",
            up_to_constant=True,
            hides=HIDDEN,
            increasing_in=(epsilon, delta),
            decreasing_in=(dimension,),
        ),
        Parameter(
            formula=step_size, name="step_fraction", meaning="γ_t", up_to_constant=True, decreasing_in=(iterations,)
        ),
        Parameter(
            formula=sensitivity,
            name="score_sensitivity",
            unit=Unit(samples=-1),
            meaning="generalised linear model; print: O(C_σ(B_σ + 1)/n)",
            increasing_in=(link_constant, link_bound),
            decreasing_in=(dataset_size,),
        ),
        Parameter(
            formula=robust_sensitivity,
            name="robust_score_sensitivity",
            unit=Unit(samples=-1),
            meaning="robust regression; print: O(C_ψ/n)",
            increasing_in=(influence_constant,),
            decreasing_in=(dataset_size,),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, iterations)),
    algorithm="wang-chen-xu-2019/algorithm-3",
    relies_on=("wang-chen-xu-2019/assumption-2", "wang-xu-2019/lemma-1"),
    notes=(
        Note("With constants, in expectation: theorem-6/explicit."),
        Note("The budget of the choices covers ε up to 48 ln(1/δ), as in wang-xu-2019/theorem-6."),
        Note(
            "Robust regression needs h(s) >= κs on (0, 2], as in theorem-5, whose one-dimensional example serves "
            "here, too."
        ),
    ),
)
