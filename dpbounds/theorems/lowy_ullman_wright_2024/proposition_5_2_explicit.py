r"""Noisy projected gradient descent on full batches, $\rho$-zCDP under replace-one with $\sigma^2 = 2G^2T/(n^2\rho)$:
for every $T \ge 1$, with $\eta = D/\sqrt{T(G^2 + d\sigma^2)}$, the expected excess empirical risk of a uniformly drawn
iterate is at most $\frac{G D}{q_c} \sqrt{\frac1T + \frac{2d}{n^2\rho}}$. Each iterate may be projected onto the ball of
radius $D$ around $w_1$, which holds the minimiser.

Of $N$ such runs at $\rho/N$ each, an exponential mechanism of budget $\varepsilon_0$ over the outputs (which lie within
$2D$ of each other) selects one whose excess is at most the part `selected` with probability $1 - 2^{-N} - \zeta/2$,
which for $N \ge \log_2(2/\zeta)$ is at least $1 - \zeta$.
"""

from sympy import Expr, log, sqrt

from dpbounds.expressions.symbols import (
    Unit,
    candidates,
    dataset_size,
    diameter,
    dimension,
    failure_probability,
    lipschitz,
    quasar_convexity,
    rho,
    step_epsilon,
    steps,
)
from dpbounds.privacy.mechanisms import Gaussian, Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ, QUASAR_CONVEX, UNCONSTRAINED
from dpbounds.theorems.record import (
    Bound,
    Claim,
    Condition,
    Metric,
    Mode,
    Note,
    Parameter,
    Privacy,
    Read,
    Side,
    Status,
    Theorem,
)
from dpbounds.theorems.spending import Numbers


def bound() -> Expr:
    return lipschitz * diameter / quasar_convexity * sqrt(1 / steps + 2 * dimension / (dataset_size**2 * rho))


def noise() -> Expr:
    return lipschitz / dataset_size * sqrt(2 * steps / rho)


def length_of_step() -> Expr:
    return diameter / (lipschitz * sqrt(steps * (1 + 2 * dimension * steps / (dataset_size**2 * rho))))


def selected() -> Expr:
    one_run = bound().subs(rho, rho / candidates)
    error = 4 * lipschitz * diameter / (step_epsilon * dataset_size) * log(2 * candidates / failure_probability)
    return 2 * one_run + error


def enough_runs() -> tuple[Condition, ...]:
    return (Condition(holds=2**candidates >= 2 / failure_probability, why="one run in which Markov's bound holds"),)


def mechanism(at: Numbers) -> Mechanism:
    return Gaussian(at.down(sqrt(2 * steps / rho))) ** at.count(steps)


THEOREM = Theorem(
    id="lowy-ullman-wright-2024/proposition-5.2/explicit",
    title="private minimisation of quasar-convex losses, with constants",
    statement=__doc__,
    where="derived here; compare Propositions 5.2 and D.1",
    metric=Metric.EXCESS_EMPIRICAL_RISK,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.PROVED_HERE,
    read=Read.HERE,
    relation=Relation.REPLACE_ONE,
    sampling="full batch",
    assumptions=(LIPSCHITZ, QUASAR_CONVEX, UNCONSTRAINED),
    parts=(
        Bound(
            formula=bound,
            unit=Unit(loss=1),
            meaning="one run, in expectation",
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, rho, steps, quasar_convexity),
        ),
        Bound(
            formula=selected,
            name="selected",
            unit=Unit(loss=1),
            meaning="the selected one of N projected runs at ρ/N each, with probability 1 - ζ",
            conditions=enough_runs,
            increasing_in=(lipschitz, diameter, dimension),
            decreasing_in=(dataset_size, rho, steps, quasar_convexity, step_epsilon, failure_probability),
        ),
        Parameter(
            formula=noise,
            name="noise_stddev",
            unit=Unit(1, -1),
            meaning="σ for a budget ρ and T steps",
            increasing_in=(steps, lipschitz),
            decreasing_in=(dataset_size, rho),
        ),
        Parameter(
            formula=length_of_step,
            name="step_size",
            unit=Unit(-1, 2),
            meaning="η at that noise",
            increasing_in=(diameter, dataset_size, rho),
            decreasing_in=(steps, lipschitz, dimension),
        ),
    ),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=mechanism, needs=(rho, steps)),
    makes_explicit="lowy-ullman-wright-2024/proposition-5.2",
    derivation="proposition_5_2_explicit.md",
    notes=(
        Note(
            "`spent` covers one run. The selection costs another ε₀ (pure), hence ε₀²/8 in zCDP: it is bounded-range."
        ),
        Note("Quasar-convexity is needed at all iterates: with projection, on the ball of radius D around w₁."),
    ),
)
