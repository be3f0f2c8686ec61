r"""Private gradient descent on smooth, Lipschitz losses that need not be convex: the gradient at a random iterate has
norm of order $\left(d \ln(1/\delta)\right)^{1/4} / \sqrt{n\varepsilon}$. With the constants put back it is
$\sqrt{G}\, (L \Delta_F)^{1/4}$ times that. Proof in outline: $T$ steps of length $\gamma \le 1/L$ with noise of
variance $\sigma^2 = 2G^2T/(n^2\rho)$ give $E|\nabla F|^2 \le 2\Delta_F/(\gamma T) + L \gamma d \sigma^2$, and $\gamma
T = \frac{n}{G} \sqrt{\Delta_F \rho / (L d)}$ balances the two, with $\rho$ of order $\varepsilon^2/\ln(1/\delta)$.
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
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.record import Metric, Mode, Note, Rate, Read, Side, Status, Theorem

HIDDEN = (lipschitz, smoothness, initial_gap)


def rate() -> Expr:
    return (dimension * log(1 / delta)) ** Rational(1, 4) / sqrt(dataset_size * epsilon)


def restored() -> Expr:
    return sqrt(lipschitz) * (smoothness * initial_gap) ** Rational(1, 4) * rate()


THEOREM = Theorem(
    id="cited/wang-ye-xu-2017/main-result",
    statement=__doc__,
    title="stationary points by private gradient descent",
    where="Main result for non-convex losses; quoted in Table 1 of Wang & Xu 2019 and before Theorem 7 of Wang, "
    "Chen & Xu 2019",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, SMOOTH, UNCONSTRAINED, BOUNDED_RISK),
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="norm of the gradient, without a regulariser",
            hides=HIDDEN,
            restored=restored,
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    superseded_by=("cited/arora-et-al-2023/theorem-4.2", "cited/tran-cutkosky-2022/main-result"),
    notes=(
        Note(
            "Valid for ε of at most the order of ln(1/δ), as for every noise with variance proportional to ln(1/δ)/ε²."
        ),
        Note(
            "The abstract also announces a bound under the Polyak-Łojasiewicz condition; its formula is quoted nowhere "
            "in the five papers, and not recorded."
        ),
    ),
)
