r"""One sample of $\pi \propto e^{-\beta(F_D + \frac\mu2\|w\|^2)}$ with $\mu = \frac d{D^2\beta}$ and any $\beta > 0$
is pure $\frac{2\beta GD}n$-DP; its expected excess empirical risk is at most $\frac d\beta\big(\frac32 + \ln(1 +
\frac{\beta GD}d)\big)$, its population risk by $GD\tanh\frac{\beta GD}{2n}$ more. With $\ell = \frac32 + \ln(1 +
\sqrt{n/d})$ and $\beta = \frac1{GD}\min\big(\frac{\varepsilon n}2, \sqrt{dn\ell}\big)$ that is pure $\varepsilon$-DP
with a population risk of at most $GD\big(\frac{2d}{\varepsilon n}(\frac32 + \ln(1 + \frac{\varepsilon n}{2d})) +
1.7\sqrt{d\ell/n}\big)$: the order of Theorem 5.8, far below that of Theorem 5.6.
"""

from fractions import Fraction

from sympy import Expr, LambertW, Max, Min, Rational, exp, log, sqrt

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, temperature_constant
from dpbounds.papers.ganesh_liu_oh_thakurta_2023.theorem_5_6 import small_budget
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism
from dpbounds.theorems.language import Bound, Condition, Numbers, Parameter, Privacy, Unit, q


def _warmth(share: Expr) -> Expr:
    return Rational(3, 2) + log(1 + share)


def _tangent(double: Expr) -> Expr:
    """Return tanh(x/2)."""
    return (exp(double) - 1) / (exp(double) + 1)


empirical = q.d / q.beta * _warmth(q.beta * q.G * q.D / q.d)
span = q.G * q.D
population = empirical + span * _tangent(q.beta * span / q.n)
level = _warmth(sqrt(q.n / q.d))
tuned_span = Min(q.epsilon * q.n / 2, sqrt(q.d * q.n * level))
first = Max(2 * q.d / (q.epsilon * q.n), sqrt(q.d / (q.n * level)))
share = Min(q.epsilon * q.n / (2 * q.d), sqrt(q.n * level / q.d))
stability = _tangent(Min(q.epsilon / 2, sqrt(q.d * level / q.n)))


def simple() -> Expr:
    share = 2 * q.d / (q.epsilon * q.n)
    sampling = Rational(17, 10) * sqrt(q.d * level / q.n)
    return q.G * q.D * (share * _warmth(1 / share) + sampling)


printed_span = temperature_constant * q.epsilon * log(q.n * q.d) / sqrt(log(1 / q.delta))


def at_the_printed_temperature() -> Expr:
    span = printed_span
    return q.G * q.D * (q.d / span * _warmth(span / q.d) + _tangent(span / q.n))


budget = q.epsilon * q.n * sqrt(q.d) / (4 * sqrt(1 + 2 * log(1 / q.delta)))


def mechanism(at: Numbers) -> Mechanism:
    share = Fraction(at.relation.sensitivity_factor) / at.count(q.n)
    return ExponentialMechanism(share * at.up(tuned_span), relation=at.relation)


THEOREM = PAPER.theorem(
    title="risks of the regularised Gibbs sample, with constants",
    bounds="excess-population-risk, expectation",
    assumptions="Lipschitz, bounded set, origin in the set, i.i.d. records",
    parts=(
        Bound(population, meaning="expected excess population risk at any β", bases="loss length", increasing_in="G D"),
        Bound(empirical, "empirical", "expected excess empirical risk at any β"),
        Bound(
            q.G * q.D * (first * _warmth(share) + stability),
            "tuned",
            "expected excess population risk at the β below",
            bases="loss length",
            increasing_in="d",
            decreasing_in="n",
        ),
        Bound(simple, "simple", "the same, looser and easier to read", bases="loss length", decreasing_in="n"),
        Parameter(
            tuned_span / (q.G * q.D),
            "inverse_temperature",
            "β, pure ε-DP under replace-one",
            bases="loss length",
            increasing_in="d",
        ),
        Bound(
            at_the_printed_temperature,
            "printed_temperature",
            "expected excess population risk at the β of Theorem 5.6",
            conditions=(
                Condition(q.n * q.d >= 2, "β > 0"),
                Condition(temperature_constant <= Rational(3, 10), "(ε, δ)-DP by the printed route"),
                *small_budget,
            ),
            bases="loss length",
        ),
        Parameter(
            2 * LambertW(budget) / (q.G * q.D),
            "log_sobolev_temperature",
            "largest β that the route by Theorem 5.1 shows to be (ε, δ)-DP",
            unit=Unit(loss=-1),
            conditions=Condition(q.epsilon <= 1, "the zCDP of Theorem 5.1 is then (ε, δ)-DP"),
            bases="loss length",
            increasing_in="epsilon delta n d",
            decreasing_in="G D",
        ),
    ),
    privacy=Privacy(mechanism, "epsilon n d"),
    derivation="gibbs.md",
    notes="The time to sample at that β is not bounded here: the log-Sobolev constant is e^{βGD}D²/d.",
)
