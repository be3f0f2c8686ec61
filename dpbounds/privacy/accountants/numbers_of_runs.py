"""The number K of runs of private tuning, drawn beforehand: its distribution, and what it does to privacy.

``tuning.md`` has the derivations. There f(x) = E x^K, and one run ends at or below an output with probability x on one
dataset and x' on a neighbour; u = 1 - x and u' = 1 - x'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb

from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.values import open_unit, positive

_PRECISION = 128
_BISECTIONS = 16

Profile = Callable[[Fraction], Fraction]
"""From ε >= 0 to an upper bound on δ(ε) of one run, between any two neighbours in either order."""
Divergence = Callable[[Fraction], Fraction]
"""From λ > 1 to an upper bound on D_λ of one run, between any two neighbours in either order."""


class NumberOfRuns(ABC):
    """A distribution of the number of runs."""

    __slots__ = ()

    def mean(self) -> Enclosure:
        """Enclose E[K]."""
        with working(_PRECISION):
            value = self.mean_ball()
            return Enclosure.from_balls(value, value, "closed form", _PRECISION)

    @abstractmethod
    def mean_ball(self) -> arb:
        """Return E[K] as a ball at the working precision."""

    @abstractmethod
    def winner(self, mass: arb) -> arb:
        """Return 1 - f(1 - p), the probability that the best run is among preferred outputs of probability p."""

    @abstractmethod
    def pure(self, epsilon: Fraction) -> Fraction:
        """Return an ε for the best of runs that are ε-DP each, rounded up."""

    @abstractmethod
    def log_ratio(self, profile: Profile, other_epsilon: Fraction) -> Fraction:
        """Bound log f'(x)/f'(x') by δ of one run at ε₁, rounded up."""

    @abstractmethod
    def least_log_ratio(self, profile: Profile, most: Fraction) -> Fraction:
        """Return the bound at a good ε₁ from 0 to ``most``."""

    @abstractmethod
    def places(self, orders: Iterable[Fraction], others: Iterable[Fraction]) -> Iterable[tuple[Fraction, Fraction]]:
        """Return the pairs of λ and λ̂ to try, where λ̂ matters, from candidates of both."""

    @abstractmethod
    def divergence(self, divergence: Divergence, profile: Profile, order: Fraction, other: Fraction) -> Fraction:
        """Bound D_λ of the best run by D_λ of one run, and by its D_λ̂ or its profile, rounded up."""


@dataclass(frozen=True, slots=True, init=False)
class RandomRuns(NumberOfRuns):
    """Truncated negative binomial: f(x) proportional to (1-(1-γ)x)^(-η) - 1, or to -log(1-(1-γ)x) for η = 0; K >= 1.

    Args:
        gamma: γ, in (0, 1): the smaller, the more runs.
        eta: η, greater than -1; 1 is the geometric distribution with mean 1/γ, 0 the logarithmic distribution. With the
            same mean, a smaller η costs less privacy, and K varies more.

    Raises:
        InvalidValue: A value is not allowed.

    Source: Papernot & Steinke 2022; ``tuning.md``.
    """

    gamma: Fraction
    eta: Fraction

    def __init__(self, gamma: ExactLike, eta: ExactLike = 1) -> None:
        power = exact(eta, "eta")
        if power <= -1:
            raise InvalidValue("eta", eta, "greater than -1", "1 is the geometric distribution, 0 the logarithmic one")
        object.__setattr__(self, "gamma", open_unit(gamma, "gamma"))
        object.__setattr__(self, "eta", power)

    def mean_ball(self) -> arb:
        """Return E[K] = η (1-γ) / (γ (1 - γ^η)); for η = 0, (1-γ) / (γ log(1/γ))."""
        gamma, eta = ball(self.gamma), ball(self.eta)
        if self.eta == 0:
            return (1 - gamma) / (gamma * -gamma.log())
        return eta * (1 - gamma) / (gamma * -(eta * gamma.log()).expm1())

    def winner(self, mass: arb) -> arb:
        """Return (γ^-η - (γ + (1-γ) p)^-η) / (γ^-η - 1); for η = 0, log(1 + (1-γ) p/γ) / log(1/γ)."""
        gamma, eta = ball(self.gamma), ball(self.eta)
        grows = ((1 - gamma) * mass / gamma).log1p()  # log of 1 - (1-γ)(1-p) in units of γ
        if self.eta == 0:
            return grows / -gamma.log()
        return (-eta * grows).expm1() / (eta * gamma.log()).expm1()

    def pure(self, epsilon: Fraction) -> Fraction:
        """Return (2+η)ε."""
        return (2 + self.eta) * epsilon

    def log_ratio(self, profile: Profile, other_epsilon: Fraction) -> Fraction:
        """Return (1+η) log κ with κ = max(e^ε₁, 1 + (1-γ) δ(ε₁)/γ)."""
        with working(_PRECISION):
            gain = ball(profile(other_epsilon) * (1 - self.gamma) / self.gamma).log1p()
            return (1 + self.eta) * max(other_epsilon, ball_end(gain, "up"))

    def least_log_ratio(self, profile: Profile, most: Fraction) -> Fraction:
        """Bisect, as e^ε₁ crosses 1 + (1-γ) δ(ε₁)/γ between 0 and ``most``, or beyond; any ε₁ is valid."""
        least, found = Fraction(0), []
        for _ in range(_BISECTIONS):
            middle = Fraction(float(least + most) / 2)
            found.append(self.log_ratio(profile, middle))
            least, most = (least, middle) if found[-1] == (1 + self.eta) * middle else (middle, most)
        return min(found)

    def places(self, orders: Iterable[Fraction], others: Iterable[Fraction]) -> Iterable[tuple[Fraction, Fraction]]:
        """Return all pairs."""
        return product(orders, others)

    def divergence(self, divergence: Divergence, profile: Profile, order: Fraction, other: Fraction) -> Fraction:
        """Return D_λ + (1+η) (1-1/λ̂) D_λ̂ + (1+η) log(1/γ)/λ̂ + log E[K]/(λ-1) (Papernot & Steinke 2022, Theorem 2)."""
        here, there = divergence(order), divergence(other)
        with working(_PRECISION):
            factor = ball(1 + self.eta)
            bound = (
                ball(here)
                + factor * (1 - 1 / ball(other)) * ball(there)
                - factor * ball(self.gamma).log() / ball(other)
                + self.mean_ball().log() / (ball(order) - 1)
            )
            return ball_end(bound, "up")


@dataclass(frozen=True, slots=True, init=False)
class PoissonRuns(NumberOfRuns):
    """Poisson distribution: f(x) = e^(-m (1-x)). With probability e^-m there is no run, and nothing is published.

    Args:
        runs: m, the mean number of runs, greater than 0.

    Raises:
        InvalidValue: m is not greater than 0.

    Source: Papernot & Steinke 2022; ``tuning.md``.
    """

    runs: Fraction

    def __init__(self, runs: ExactLike) -> None:
        object.__setattr__(self, "runs", positive(runs, "runs"))

    def mean_ball(self) -> arb:
        """Return E[K] = m."""
        return ball(self.runs)

    def winner(self, mass: arb) -> arb:
        """Return 1 - e^(-mp)."""
        return -(-ball(self.runs) * mass).expm1()

    def pure(self, epsilon: Fraction) -> Fraction:
        """Return ε + m tanh(ε/2): the total variation of ε-DP runs is at most tanh(ε/2)."""
        with working(_PRECISION):
            return epsilon + ball_end(ball(self.runs) * ball(epsilon / 2).tanh(), "up")

    def log_ratio(self, profile: Profile, other_epsilon: Fraction) -> Fraction:
        """Bound m (u' - u) by m (1 - (1 - δ(ε₁)) e^-ε₁), as u' <= e^ε₁ u + δ(ε₁), and u' <= 1."""
        with working(_PRECISION):
            kept = ball(max(Fraction(0), 1 - profile(other_epsilon))) * (-ball(other_epsilon)).exp()
            return ball_end(ball(self.runs) * (1 - kept), "up")

    def least_log_ratio(self, profile: Profile, most: Fraction) -> Fraction:
        """Return m δ(0): no other ε₁ is better."""
        return self.log_ratio(profile, Fraction(0))

    def places(self, orders: Iterable[Fraction], others: Iterable[Fraction]) -> Iterable[tuple[Fraction, Fraction]]:
        """Return the first order alone."""
        return ((order, order) for order in orders)

    def divergence(self, divergence: Divergence, profile: Profile, order: Fraction, other: Fraction) -> Fraction:
        """Return log(e^-m + m e^((λ-1)(D_λ + m δ(log(λ/(λ-1))))))/(λ-1) (after Papernot & Steinke 2022, Theorem 6)."""
        with working(_PRECISION):
            place = ball_end(ball(order / (order - 1)).log(), "down")
        here, rest = divergence(order), profile(place)
        with working(_PRECISION):
            m, excess = ball(self.runs), ball(order - 1)
            exponent = excess * (ball(here) + m * ball(rest)) + m.log()
            nothing = (-m - exponent).exp().log1p()  # log(1 + the share of P(K = 0))
            return ball_end((exponent + nothing) / excess, "up")
