r"""DP-GLD, gradient Langevin dynamics: from $w_0$ (fixed, or drawn from a density), for $k = 1, \dots, T$ step to
$w_k = w_{k-1} - \eta \nabla \hat F^r(w_{k-1}) + \sqrt{2\eta/\beta}\, \xi$ with $\xi \sim N(0, I_d)$ and $\eta = c\,
n^2 \varepsilon^2 / (G^2 \beta T \ln(1/\delta))$, $c = 1/c_2^2$ for the $c_2$ of Lemma 1; return $w_T$ (Theorem 2) or
$w_j$ with $j$ uniform (Theorem 3).

The noise is gradient noise of variance $2/(\eta\beta)$, and the time $\eta T$ of the diffusion is fixed by the
budget, whatever $T$ is.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    epsilon,
    inverse_temperature,
    lipschitz,
    noise_constant,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import (
    Claim,
    Erratum,
    Metric,
    Note,
    Parameter,
    Privacy,
    Severity,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers
from dpbounds.theorems.wang_chen_xu_2019._assumptions import REGULARISED


def step() -> Expr:
    return (dataset_size * epsilon / (noise_constant * lipschitz)) ** 2 / (inverse_temperature * steps * log(1 / delta))


def variance() -> Expr:
    return 2 * (noise_constant * lipschitz / (dataset_size * epsilon)) ** 2 * steps * log(1 / delta)


def diffusion_time() -> Expr:
    return (dataset_size * epsilon / (noise_constant * lipschitz)) ** 2 / (inverse_temperature * log(1 / delta))


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(noise_constant * sqrt(2 * steps * log(1 / delta)) / epsilon)) ** at.count(steps)


THEOREM = Theorem(
    id="wang-chen-xu-2019/algorithm-1",
    title="DP-GLD, private Langevin dynamics",
    statement=__doc__,
    where="Section 4, Algorithm 1, equations (1) and (2)",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(REGULARISED,),
    parts=(
        Parameter(
            formula=step,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="η, with c = 1/c₂² and c₂ given as noise_constant",
            up_to_constant=True,
            increasing_in=(dataset_size, epsilon, delta),
            decreasing_in=(lipschitz, inverse_temperature, steps, noise_constant),
        ),
        Parameter(
            formula=variance,
            name="noise_variance",
            unit=Unit(2, -2),
            meaning="2/(ηβ): variance of the noise as seen by the mean gradient",
            up_to_constant=True,
            increasing_in=(lipschitz, steps, noise_constant),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=diffusion_time,
            name="diffusion_time",
            unit=Unit(-1, 2),
            meaning="ηT: how long the Langevin diffusion runs, whatever T is",
            up_to_constant=True,
            increasing_in=(dataset_size, epsilon, delta),
            decreasing_in=(lipschitz, inverse_temperature, noise_constant),
        ),
    ),
    privacy=Privacy(claim=Claim.APPROXIMATE, mechanism=mechanism, needs=(epsilon, delta, steps, noise_constant)),
    errata=(
        Erratum(
            printed="c = 1/c₂²",
            right="c = 2/c₂² already gives gradient noise of the standard deviation that Lemma 1 asks for: the printed "
            "step doubles the variance",
            severity=Severity.HARMLESS,
            evidence="test_algorithm_1.py::test_the_printed_step_doubles_the_variance",
            where="Algorithm 1, line 2",
            survives="everything: the noise is larger than needed",
        ),
    ),
    notes=(
        Note(
            "Line 4 of the text at hand has the gradient without the superscript r of the regulariser, which may be "
            "lost; (1) has it, and the Gibbs distribution needs it. It depends on no record, and costs no privacy."
        ),
        Note("`spent` accounts for all iterates together; the step size that suffices is in theorem-1/explicit."),
    ),
)
