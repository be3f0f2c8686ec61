r"""What the exponential mechanism of Definition 4.1 reaches with half of the budget: with $\varepsilon/2$ for
$\varepsilon$ and $t = \ln(\varepsilon n/(2\sqrt d))$, with probability at least $1 - 2\sqrt d/(\varepsilon n)$,
$F(w_0) - \inf F \le \psi = 20\, GD \frac{d}{\varepsilon n} \ln \frac{\varepsilon n}{\sqrt d}$.

Proof: by Lemma 4.2 with $\varepsilon/2$, $\psi - \frac{8GD}{\varepsilon n}(d \ln \frac{\varepsilon n}{d} + t) -
\frac{4GDd}{\varepsilon n}$ is $\frac{GD}{\varepsilon n}$ times $12 d\ell - 8\ell + 4 d \ln d - 4d + 8 \ln 2$ with
$\ell = \ln(\varepsilon n/\sqrt d) \ge 0$, which is at least $8 \ln 2 - 4 > 0$ for $d = 1$ and positive for $d \ge 2$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import Unit, dataset_size, diameter, dimension, epsilon, lipschitz
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import NEAR_MINIMISER
from dpbounds.theorems.record import Bound, Condition, Metric, Mode, Note, Parameter, Side, Status, Theorem


def bound() -> Expr:
    size = epsilon * dataset_size
    return 20 * lipschitz * diameter * dimension / size * log(size / sqrt(dimension))


def failure() -> Expr:
    return 2 * sqrt(dimension) / (epsilon * dataset_size)


def tail() -> Expr:
    return log(epsilon * dataset_size / (2 * sqrt(dimension)))


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(
            holds=epsilon * dataset_size >= (2 + sqrt(2)) * dimension,
            why="Lemma 4.2 with ε/2; then t is positive, too (εn >= 3.42 d)",
        ),
    )


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/equation-2",
    title="excess risk of the warm start",
    statement=__doc__,
    where="Section 4, equation (2)",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.PROBABILITY,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, NEAR_MINIMISER),
    conditions=conditions,
    parts=(
        Bound(
            formula=bound,
            unit=Unit(loss=1),
            meaning="ψ of the warm start",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, epsilon),
        ),
        Bound(
            formula=failure,
            name="failure_probability",
            meaning="with which it is missed",
            increasing_in=(dimension,),
            decreasing_in=(dataset_size, epsilon),
        ),
        Parameter(
            formula=tail,
            name="tail_exponent",
            meaning="t in Lemma 4.2",
            increasing_in=(dataset_size, epsilon),
            decreasing_in=(dimension,),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/definition-4.1",
    relies_on=("lowy-ullman-wright-2024/lemma-4.2",),
    notes=(
        Note(
            "Theorem 3.2 asks for failure with probability at most √d/(εn), half of what is stated. With t = "
            "ln(εn/√d) the constant is still below 20 (19.26 for d = 1, less for larger d); as stated it is below 16."
        ),
        Note(
            "ψ is below the trivial GD only where εn/d is above 89 (d = 1), 111 (d = 5) or 146 (d = 100). With the "
            "constants of lowy-ullman-wright-2024/lemma-4.2/explicit it is so much earlier."
        ),
        Note("The privacy budget that is really spent is ε/4, see lowy-ullman-wright-2024/definition-4.1."),
    ),
)
