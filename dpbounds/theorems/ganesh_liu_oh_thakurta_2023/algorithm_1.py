r"""Stochastic Spider: follow an estimate $\nabla_t$ of the gradient with steps of length $\eta = 1/M$. As long as the
squared length travelled since the last fresh estimate (the drift) is below $\kappa$, update the estimate by a query
of the second kind, $\nabla_t = \nabla_{t-1} + O_2(x_t, x_{t-1})$; else take a fresh one, $\nabla_t = O_1(x_t)$, and
set the drift to 0. Where the last estimate was small and the last kick is $\Gamma$ steps ago, take a fresh one, too,
with $N(0, \zeta_1^2 I_d/d)$ added. Return all iterates.

For the guarantees, the drift that is compared with $\kappa$ must include the step that was just taken.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dimension,
    drift_threshold,
    failure_probability,
    hessian_lipschitz,
    loss_range,
    smoothness,
)
from dpbounds.theorems.assumptions import HESSIAN_LIPSCHITZ, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._assumptions import BOUNDED_RANGE, GOOD_ORACLES
from dpbounds.theorems.ganesh_liu_oh_thakurta_2023._quantities import (
    ACCURACY,
    CONSTANT,
    FIRST_NOISE,
    SECOND_NOISE,
    first_oracle_noise,
    gradient_accuracy,
    second_oracle_noise,
    universal_constant,
)
from dpbounds.theorems.record import Erratum, Metric, Note, Parameter, Severity, Status, Theorem


def scale() -> Expr:
    return loss_range * smoothness * dimension / (hessian_lipschitz * failure_probability)


def gamma() -> Expr:
    variance = second_oracle_noise**2 * drift_threshold + 4 * first_oracle_noise**2
    return sqrt(4 * universal_constant * variance * log(scale()))


def escape_time() -> Expr:
    return smoothness * log(scale() / gradient_accuracy) / sqrt(hessian_lipschitz * gradient_accuracy)


def steps() -> Expr:
    return loss_range * smoothness * log(scale() / gradient_accuracy) ** 4 / gradient_accuracy**2


def small() -> Expr:
    return gradient_accuracy * log(scale()) ** 3


def step_size() -> Expr:
    return 1 / smoothness


_LOGS = "the argument of the logarithm carries units, see the errata"

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/algorithm-1",
    title="Stochastic Spider",
    statement=__doc__,
    where="Section 3, Algorithm 1",
    metric=Metric.SOSP,
    status=Status.REPAIRED,
    assumptions=(LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RANGE, GOOD_ORACLES, UNCONSTRAINED),
    local=(ACCURACY, CONSTANT, FIRST_NOISE, SECOND_NOISE),
    parts=(
        Parameter(
            formula=gamma,
            name="gradient_accuracy",
            unit=Unit(1, -1),
            meaning=f"γ, with an absolute constant C; {_LOGS}",
            bases=(),
        ),
        Parameter(formula=escape_time, name="escape_steps", meaning=f"Γ; {_LOGS}", bases=()),
        Parameter(formula=steps, name="steps", meaning=f"T; {_LOGS}", bases=()),
        Parameter(
            formula=small,
            name="small-estimate",
            unit=Unit(1, -1),
            meaning=f"norm of an estimate up to which a kick is due; {_LOGS}",
            bases=(),
        ),
        Parameter(formula=step_size, name="step_size", unit=Unit(-1, 2), meaning="η", decreasing_in=(smoothness,)),
    ),
    errata=(
        Erratum(
            printed="line 9 compares drift_{t-1} with κ",
            right="drift_t: drift_{t-1} lacks the step from x_{t-1} to x_t, so that O₂ is asked right after a step of "
            "any length (up to about G/M), and Lemma 3.3 does not hold",
            severity=Severity.TYPO,
            evidence="test_algorithm_1.py::test_line_9_as_printed_misses_the_last_step",
            where="Algorithm 1, line 9",
            survives="everything, with drift_t; drift₀ = κ in line 4 shows that this was meant",
        ),
        Erratum(
            printed="the kick of line 8 is N(0, ζ₁²I/d)",
            right="Lemma 3.4, which is applied to it, has N(0, γ²I/(d log(d/ω))), whose variance is larger by a "
            "factor of "
            "γ²/(ζ₁² log(d/ω)), at least 16C log(BMd/(ρω))/log(d/ω)",
            severity=Severity.CONSTANT,
            evidence="test_algorithm_1.py::test_the_two_kicks_differ",
            where="Algorithm 1, line 8, and Lemma 3.4",
            survives="what does not concern saddle points",
        ),
        Erratum(
            printed="logarithms of BMd/(ρω) and dMB/(ργω)",
            right="a number without units: BM/ρ is a loss times a length, and BM/(ργ) a squared length, so that T"
            " and γ "
            "depend on the units in which parameters are measured; for ρ >= BMd/ω, γ is not real",
            severity=Severity.HARMLESS,
            evidence="test_algorithm_1.py::test_logarithms_depend_on_units",
            where="Algorithm 1, lines 2, 3 and 6",
            survives="the orders of growth in n, d and φ",
        ),
    ),
    notes=(
        Note(
            "γ² has the factor 4C and log(BMd/(ρω)) here, 16C and log(Td/ω) in Lemma 3.3. With 4C errors are at most "
            "γ/2, not γ/4, which is still enough for both ends of Lemma 3.5."
        ),
        Note(
            "The kick of line 8 takes a fresh estimate each time: it costs privacy like line 10, which the count of "
            "Lemma 3.7 leaves out; see ganesh-liu-oh-thakurta-2023/theorem-4.2."
        ),
        Note(
            "Section 1.2 adds the drift up from the step that led to the fresh estimate; the algorithm, and the proof, "
            "from the one after it."
        ),
        Note("The loop runs while t <= T, and {x_1, ..., x_T} is returned; steps are counted from 0 to T - 1 here."),
    ),
)
