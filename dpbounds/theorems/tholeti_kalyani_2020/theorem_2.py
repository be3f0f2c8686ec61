r"""Convergence, taken over from Ge, Huang, Jin & Yuan 2015: let $f$ be strict saddle, $|f| \le B$, with Lipschitz
gradients and Hessians, and let the noise of the stochastic gradient have $E[nn^\top] = \sigma^2 I$. For some threshold
$\eta_{\max}$, every failure probability $\zeta$ and every $\eta \le \eta_{\max} / \max(1, \log(1/\zeta))$, stochastic
gradient descent is after $t = O(\eta^{-2} \log(1/\zeta))$ steps at a point $O(\sqrt{\eta \log(1/\zeta)})$-close to some
local minimum, with probability $1 - \zeta$.
"""

from fractions import Fraction

from sympy import Expr, Max, Symbol, log, sqrt

from dpbounds.expressions.symbols import (
    Domain,
    Quantity,
    Unit,
    dimension,
    failure_probability,
    hessian_lipschitz,
    loss_range,
    noise_stddev,
    smoothness,
    step_size,
)
from dpbounds.theorems.assumptions import BOUNDED_LOSS, HESSIAN_LIPSCHITZ, SMOOTH_RISK, STRICT_SADDLES, UNCONSTRAINED
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Parameter, Rate, Side, Status, Theorem

step_threshold = Symbol("step_threshold", positive=True)
STEP_THRESHOLD = Quantity(
    name="step_threshold",
    symbol=step_threshold,
    domain=Domain(Fraction(0)),
    unit=Unit(-1, 2),
    meaning="step size up to which the theorem holds at constant confidence; its value is not stated",
    latex=r"\eta_{\max}",
)

HIDDEN = (dimension, noise_stddev, loss_range, smoothness, hessian_lipschitz)


def largest_step() -> Expr:
    return step_threshold / Max(1, log(1 / failure_probability))


def iterations() -> Expr:
    return log(1 / failure_probability) / step_size**2


def closeness() -> Expr:
    return sqrt(step_size * log(1 / failure_probability))


def short_steps() -> tuple[Condition, ...]:
    return (Condition(holds=step_size <= largest_step(), why="range of the theorem"),)


THEOREM = Theorem(
    id="tholeti-kalyani-2020/theorem-2",
    title="convergence to a local minimum",
    statement=__doc__,
    where="Section IV.B, Theorem 2, and the two sentences after it",
    metric=Metric.DISTANCE,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    sampling="one uniformly random record per step",
    assumptions=(UNCONSTRAINED, STRICT_SADDLES, BOUNDED_LOSS, SMOOTH_RISK, HESSIAN_LIPSCHITZ),
    local=(STEP_THRESHOLD,),
    parts=(
        Rate(
            formula=closeness,
            unit=Unit(length=1),
            meaning="distance to some local minimum",
            hides=HIDDEN,
            conditions=short_steps,
            increasing_in=(step_size,),
            decreasing_in=(failure_probability,),
        ),
        Parameter(
            formula=largest_step,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="the largest step size that is allowed",
            increasing_in=(failure_probability, step_threshold),
        ),
        Parameter(
            formula=iterations,
            name="steps",
            meaning="number of steps",
            up_to_constant=True,
            hides=HIDDEN,
            conditions=short_steps,
            decreasing_in=(step_size, failure_probability),
        ),
    ),
    algorithm="tholeti-kalyani-2020/algorithm-1",
    relies_on=("cited/ge-et-al-2015/theorem-6",),
    notes=(
        Note(
            "Quoted in print without proof; it was not compared with its source here. The constants, and how they "
            "depend on d, σ and the strictness of the saddles, are hidden."
        ),
        Note(
            "That the noise of Algorithm 1 'automatically' has E[nnᵀ] = σ²I is true for the noise that is added, with "
            "σ² = r²/(d+2). The oracle's total noise also contains the choice of the record, and its covariance is the "
            "sum of the two; whether the theorem needs equality or only enough noise in every direction was not "
            "checked."
        ),
        Note(
            "Together with Theorem 1: steps of the order of η⁻² cost a δ of the order of η⁻² δ₁/N, so a small δ and a "
            "point close to a minimum need N far above η⁻² δ₁. Print combines no constants; a bound for the gradient "
            "norm that has them is tholeti-kalyani-2020/algorithm-1/explicit."
        ),
    ),
)
