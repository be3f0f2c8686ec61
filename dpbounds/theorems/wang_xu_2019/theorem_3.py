r"""Population gradient norm: if gradients are $\tau$-sub-Gaussian, the population Hessian is bounded, Hessians are
Lipschitz and $n = \Omega(d \log d)$, then for $0 < \varepsilon, \delta, \beta \le 1$ there is an
$(\varepsilon, \delta)$-DP algorithm whose output has, with probability $1 - \beta$,
$E_A \|E_z \nabla f(x_R, z)\|_2 = O\big(\sqrt{\tau^2 d \log(\tau/\beta) \log n / n} +
(d \log(1/\delta))^{1/4} / \sqrt{n\varepsilon}\big)$.
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
    lipschitz,
    smoothness,
    sub_gaussian,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import (
    BOUNDED_RISK,
    HESSIAN_LIPSCHITZ,
    LIPSCHITZ,
    SAMPLED_RECORDS,
    SMOOTH_RISK,
    SUB_GAUSSIAN_GRADIENTS,
    UNCONSTRAINED,
)
from dpbounds.theorems.record import (
    Condition,
    Metric,
    Mode,
    Note,
    Rate,
    Side,
    Status,
    Theorem,
)


def rate() -> Expr:
    sampling = sqrt(
        sub_gaussian**2 * dimension * log(sub_gaussian / failure_probability) * log(dataset_size) / dataset_size
    )
    return sampling + (dimension * log(1 / delta)) ** Rational(1, 4) / sqrt(dataset_size * epsilon)


def combined() -> Expr:
    inside = dimension * log(sub_gaussian / failure_probability) * log(dataset_size) * sqrt(log(1 / delta))
    return sub_gaussian * sqrt(inside / (dataset_size * epsilon))


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(holds=epsilon <= 1, why="assumed"),
        Condition(holds=sub_gaussian > failure_probability, why="log(τ/β) must be positive; see the errata"),
        Condition(holds=dataset_size >= dimension * log(dimension), why="n = Ω(d log d), up to a constant"),
    )


THEOREM = Theorem(
    id="wang-xu-2019/theorem-3",
    title="population gradient of DP-PGD",
    statement=__doc__,
    where="Extension to Population Risk, Theorem 3 and equation (5)",
    metric=Metric.POPULATION_GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.CLAIMED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(
        SMOOTH_RISK,
        LIPSCHITZ,
        BOUNDED_RISK,
        UNCONSTRAINED,
        SUB_GAUSSIAN_GRADIENTS,
        HESSIAN_LIPSCHITZ,
        SAMPLED_RECORDS,
    ),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="uniform convergence plus privacy",
            hides=(lipschitz, smoothness, initial_gap),
            bases=("loss", "length"),
            decreasing_in=(epsilon, delta),
        ),
        Rate(
            formula=combined,
            name="combined",
            unit=Unit(1, -1),
            meaning="the right-hand side of (5)",
            hides=(lipschitz, smoothness, initial_gap),
            bases=("loss", "length"),
            increasing_in=(dimension,),
            decreasing_in=(epsilon, delta),
        ),
    ),
    algorithm="wang-xu-2019/algorithm-1",
    relies_on=("wang-xu-2019/theorem-2", "cited/mei-bai-montanari-2016/theorem-1"),
    notes=(
        Note("The combined term of (5) is the sum's order for τ >= 1 and ln(1/δ) >= 1: at δ = 1 it would be 0."),
        Note(
            "The proof is in a supplement that was not seen; the uniform convergence it builds on (Mei, Bai & "
            "Montanari) "
            "is for a bounded parameter set and has a logarithm that stays positive."
        ),
        Note("log(τ/β) mixes units: τ is a gradient; a bounded radius r makes it log(rτ/β)."),
    ),
)
