r"""Proposition 5.2 with its parameters and its proof. Inside it, for every $T \ge 1$, step size $\eta > 0$ and noise
$\sigma$ per coordinate, the output of Algorithm 3 satisfies $E F(\hat w) - \inf F \le \frac{D^2}{2 \eta q_c T} +
\frac{\eta (G^2 + d \sigma^2)}{2 q_c}$, where $F$ is the empirical risk, $q_c$-quasar-convex along the iterates, and $D$
bounds the distance from $w_1$ to a minimiser; at the prescribed $\eta$ that is $\frac{D \sqrt{G^2 + d\sigma^2}}{q_c
\sqrt T}$.

Proof: $E[|w_{t+1} - w^*|^2 \mid w_t] \le |w_t - w^*|^2 - 2\eta q_c (F(w_t) - \inf F) + \eta^2 (G^2 + d\sigma^2)$; sum
over $t$.
"""

from sympy import Expr, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    diameter,
    dimension,
    lipschitz,
    noise_stddev,
    quasar_convexity,
    step_size,
    steps,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, QUASAR_CONVEX, UNCONSTRAINED
from dpbounds.theorems.record import Bound, Metric, Mode, Note, Side, Status, Theorem


def telescoped() -> Expr:
    second_moment = lipschitz**2 + dimension * noise_stddev**2
    return diameter**2 / (2 * step_size * quasar_convexity * steps) + step_size * second_moment / (2 * quasar_convexity)


def at_the_prescribed_step() -> Expr:
    return diameter * sqrt(lipschitz**2 + dimension * noise_stddev**2) / (quasar_convexity * sqrt(steps))


_LARGER = (lipschitz, diameter, dimension, noise_stddev)
_SMALLER = (steps, quasar_convexity)

THEOREM = Theorem(
    id="lowy-ullman-wright-2024/proposition-d.1",
    title="excess risk of noisy gradient descent, quasar-convex",
    statement=__doc__,
    where="Appendix D, Proposition D.1 and its proof",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="with replacement",
    assumptions=(LIPSCHITZ, QUASAR_CONVEX, UNCONSTRAINED),
    parts=(
        Bound(
            formula=at_the_prescribed_step,
            unit=Unit(loss=1),
            meaning="at the step size of Proposition 5.2",
            increasing_in=_LARGER,
            decreasing_in=_SMALLER,
        ),
        Bound(
            formula=telescoped,
            name="telescoped",
            unit=Unit(loss=1),
            meaning="at any step size",
            increasing_in=_LARGER,
            decreasing_in=_SMALLER,
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-3",
    notes=(
        Note("Print goes on to (2D/(q_c√T))(G + √(dσ²)): right, and twice as large as needed."),
        Note(
            "In the proof a gradient sign is missing in one inner product, and |g_t|² stands for its expectation. "
            "Smoothness is not used. The prescribed batch is discussed in lowy-ullman-wright-2024/proposition-5.2."
        ),
    ),
)
