r"""Private SpiderBoost (anchors that release a gradient, and in between noisy differences of gradients, whose noise is
proportional to the distance moved) finds a point at which the empirical gradient has expected norm of order
$\left(\sqrt{\Delta_F L G}\, \frac{\sqrt{d \ln(1/\delta)}}{n\varepsilon}\right)^{2/3}
+ G\, \frac{\sqrt{d \ln(1/\delta)}}{n\varepsilon}$.

Proof in outline, with full batches, $\bar a = \sqrt d / (n\sqrt\rho)$ and step length $\eta = 1/(2L)$: errors of the
gradient estimates add up as martingales, so their mean square is at most that of the anchor plus $d \sigma_2^2 \eta^2$
times the squared estimates since the anchor; as long as a phase has at most $1 + n^2\rho/(2dT)$ steps, the descent
absorbs the latter, and $E|\nabla F|^2 \le 4 L \Delta_F / T + d \sigma_1^2$. Anchors are then so few that
$d \sigma_1^2$ is of order $G^2 \bar a^4 T^2$ (or $G^2 \bar a^2$), and $T$ balances the two.
"""

from sympy import Expr, Max, Rational, log, sqrt

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
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Read, Side, Status, Theorem


def rate() -> Expr:
    share = sqrt(dimension * log(1 / delta)) / (dataset_size * epsilon)
    return (sqrt(initial_gap * smoothness * lipschitz) * share) ** Rational(2, 3) + lipschitz * share


def conditions() -> tuple[Condition, ...]:
    first = (lipschitz * epsilon) ** 2 / (initial_gap * smoothness * dimension * log(1 / delta))
    second = sqrt(dimension) * Max(1, sqrt(smoothness * initial_gap) / lipschitz) / epsilon
    return (
        Condition(holds=epsilon <= 1, why="range of the theorem"),
        Condition(holds=dataset_size >= first, why="batches are no larger than the data; not needed with full batches"),
        Condition(holds=dataset_size >= second, why="below it the rate exceeds the trivial G"),
    )


THEOREM = Theorem(
    id="cited/arora-et-al-2023/theorem-4.2",
    statement=__doc__,
    title="stationary points by private SpiderBoost",
    where="Theorem 4.2 (constants: Theorem B.3); quoted as Lemma 3.1 of Lowy, Ullman & Wright 2024, version 1, "
    "without the conditions",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    read=Read.QUOTED,
    relation=Relation.REPLACE_ONE,
    assumptions=(LIPSCHITZ, SMOOTH, UNCONSTRAINED, BOUNDED_RISK),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            meaning="norm of the empirical gradient",
            increasing_in=(dimension, initial_gap, smoothness, lipschitz),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    notes=(
        Note(
            "The proof that was redone is the one for full batches, outlined above; the source also has mini-batches, "
            "whose privacy needs an account of its own. ln(1/δ) is taken to be at least of the order of ε."
        ),
    ),
)
