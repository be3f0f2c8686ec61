r"""Warm start by a good empirical risk: if $A$ is $(\varepsilon/2, \delta/2)$-DP and its output has $F(w_0) - \inf F
\le \psi$ with probability at least $1 - \zeta$, $\zeta \le \sqrt d/(\varepsilon n)$, then Algorithm 2 with DP-SPIDER
in the second half is $(\varepsilon, \delta)$-DP and $E \|\nabla F(w)\| \lesssim G A + (G L \psi)^{1/3} A^{2/3}$ with
$A = \sqrt{d \ln(1/\delta)}/(\varepsilon n)$.

Proof: where $w_0$ is good, Lemma 3.1 holds with $\Delta_F = \psi$; elsewhere the norm is at most $G$, which adds
$\zeta G \le G A$ as $\ln(1/\delta) \ge 1$.
"""

from sympy import Expr, Rational, exp, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    dataset_size,
    delta,
    dimension,
    epsilon,
    excess_risk,
    failure_probability,
    lipschitz,
    smoothness,
)
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import BOUNDED_RISK, LIPSCHITZ, SMOOTH, UNCONSTRAINED
from dpbounds.theorems.lowy_ullman_wright_2024._assumptions import WARM_START
from dpbounds.theorems.record import Condition, Metric, Mode, Note, Rate, Side, Status, Theorem


def noise_ratio() -> Expr:
    return sqrt(dimension * log(1 / delta)) / (epsilon * dataset_size)


def rate() -> Expr:
    warm = (lipschitz * smoothness * excess_risk) ** Rational(1, 3) * noise_ratio() ** Rational(2, 3)
    return lipschitz * noise_ratio() + warm


def conditions() -> tuple[Condition, ...]:
    return (
        Condition(holds=failure_probability <= sqrt(dimension) / (epsilon * dataset_size), why="ζ <= √d/(εn), assumed"),
        Condition(holds=epsilon <= 1, why="inherited from Lemma 3.1"),
        Condition(holds=delta <= exp(-1), why="so that ζG is at most the first term"),
    )


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/theorem-3.2",
    title="stationarity after a warm start",
    statement=__doc__,
    where="Section 3, Theorem 3.2",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED,
    relation=Relation.REPLACE_ONE,
    sampling="batches",
    assumptions=(LIPSCHITZ, SMOOTH, BOUNDED_RISK, UNCONSTRAINED, WARM_START),
    conditions=conditions,
    parts=(
        Rate(
            formula=rate,
            unit=Unit(1, -1),
            increasing_in=(dimension, lipschitz, smoothness, excess_risk),
            decreasing_in=(dataset_size, epsilon, delta),
        ),
    ),
    algorithm="lowy-ullman-wright-2024/algorithm-2",
    relies_on=("lowy-ullman-wright-2024/lemma-3.1", "lowy-ullman-wright-2024/algorithm-2"),
    notes=(
        Note("ψ must be known: the parameters of DP-SPIDER are set from it, and not from the gap that was realised."),
        Note(
            "An expectation of F(w₀) - inf F is enough, and no ζ is needed: "
            "lowy-ullman-wright-2024/theorem-3.2/explicit. It improves on Lemma 3.1 exactly if ψ is below Δ_F."
        ),
    ),
)
