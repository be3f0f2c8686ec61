r"""With the noise of Theorem 1, step size $1/(2L)$ and $T = O(n\varepsilon / \sqrt{d \ln(1/\delta)})$ steps, the output
of DP-PGD has $E \|g_{C,R}\|_2 = O\big((d \ln(1/\delta))^{1/4} / \sqrt{n\varepsilon}\big)$, where
$g_{C,R} = (x_R - x_{R+1})/\gamma$. With its constants, and for the mapping at the true gradient as well, it is
`theorem-2/explicit`.
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
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    BOUNDED_RISK,
    CLOSED_CONVEX_SET,
    CONVEX_REGULARISER,
    LIPSCHITZ,
    SMOOTH_RISK,
)
from dpbounds.theorems.record import Metric, Mode, Note, Parameter, Rate, Side, Status, Theorem


def rate() -> Expr:
    return (dimension * log(1 / delta)) ** Rational(1, 4) / sqrt(dataset_size * epsilon)


def restored_rate() -> Expr:
    return sqrt(lipschitz) * (smoothness * initial_gap) ** Rational(1, 4) * rate()


def steps() -> Expr:
    return dataset_size * epsilon / sqrt(dimension * log(1 / delta))


def step_size() -> Expr:
    return 1 / (2 * smoothness)


THEOREM = Theorem(
    id="wang-xu-2019/theorem-2",
    title="projected gradient of DP-PGD",
    statement=__doc__,
    where="Low Dimension Case, Theorem 2 and equation (4)",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(SMOOTH_RISK, LIPSCHITZ, BOUNDED_RISK, CLOSED_CONVEX_SET, CONVEX_REGULARISER),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            hides=(lipschitz, smoothness, initial_gap),
            restored=restored_rate,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
        Parameter(
            formula=steps,
            name="steps",
            meaning="number of steps",
            up_to_constant=True,
            hides=(lipschitz, smoothness, initial_gap),
            increasing_in=(dataset_size, epsilon, delta),
            decreasing_in=(dimension,),
        ),
        Parameter(formula=step_size, name="step_size", unit=Unit(-1, 2), meaning="step size"),
    ),
    algorithm="wang-xu-2019/algorithm-1",
    relies_on=("wang-xu-2019/theorem-1",),
    notes=(
        Note(
            "g_{C,R} is the mapping at the noisy gradient ∇F + e, the step that was taken. For the mapping at ∇F, the "
            "measure that the paper defines, the same rate holds with σ√d added (Minkowski)."
        ),
        Note("Print has γ_k in the definition of g_{C,R}; the index is R."),
    ),
)
