"""Noisy subgradient steps on a cone: the analysis loses only the last iterate. The proof is in instances.md."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.expressions.backends import to_arb
from dpbounds.rates.tightness.instances import Instance, Values
from dpbounds.rates.tightness.losses import cone

if TYPE_CHECKING:
    from flint import arb


def _mean_excess(at: Values, steps: int, noise_square: Fraction, step: arb | None = None) -> arb:
    """A random one of T iterates on G|w| on the line, from distance D, for σ²/G²; by default at the prescribed step."""
    assert at["dimension"] == at["quasar_convexity"] == 1
    slope, start, square = to_arb(at["lipschitz"]), to_arb(at["diameter"]), to_arb(1 + noise_square)
    eta = start / (slope * (steps * square).sqrt()) if step is None else step
    pull = min(_ONE, 1 / noise_square) if noise_square else _ONE  # θηG
    spread = to_arb(pull**2 * noise_square / 2)
    theta = to_arb(pull) / (eta * slope)
    kept = (spread - to_arb(pull)).exp()
    moment = (theta * start + steps * (spread - to_arb(pull))).exp() + (spread + to_arb(pull)).exp() / (1 - kept)
    last = 4 * to_arb(Fraction(-2)).exp() * moment / theta**2
    whole = start**2 / (2 * eta * steps) + eta * slope**2 * square / 2
    return (whole - last / (2 * eta * steps)).union(whole)


def any_noise(at: Values) -> arb:
    """Return the value at the prescribed step size."""
    return _mean_excess(at, int(at["steps"]), (at["noise_stddev"] / at["lipschitz"]) ** 2)


def any_step(at: Values) -> arb:
    """Return the value at a given step size."""
    noise = (at["noise_stddev"] / at["lipschitz"]) ** 2
    return _mean_excess(at, int(at["steps"]), noise, to_arb(at["step_size"]))


def private(at: Values) -> arb:
    """Return the value with σ² = 2G²T/(n²ρ)."""
    return _mean_excess(at, int(at["steps"]), 2 * at["steps"] / _spent(at))


def balanced(at: Values) -> arb:
    """Return the mean excess with the number of steps for which σ = G."""
    return _mean_excess(at, _whole(_spent(at) / 2), _ONE)


def balanced_by_half(at: Values) -> arb:
    """Return the same for half of the budget."""
    return _mean_excess(at, _whole(_spent(at) / 4), _ONE)


def _spent(at: Values) -> Fraction:
    return at["dataset_size"] ** 2 * at["rho"]


def _whole(count: Fraction) -> int:
    assert count.denominator == 1
    return int(count)


_ONE = Fraction(1)
_RUN = {"lipschitz": _ONE, "diameter": _ONE, "dimension": _ONE, "quasar_convexity": _ONE}
_NOISE = _RUN | {"steps": Fraction(10_000), "noise_stddev": Fraction(1, 2)}
_STEP = _NOISE | {"step_size": Fraction(1, 100)}
_PRIVATE = _RUN | {"dataset_size": Fraction(10_000), "rho": Fraction(1, 1250)}
_WORDS = "at least 10 000 steps in one dimension; a random iterate"
_GAP = "the distance of the last iterate, which the sum drops"
_PROPOSITION = "lowy-ullman-wright-2024/proposition-"

INSTANCES = (
    Instance(f"{_PROPOSITION}d.1", "bound", _NOISE, cone(_ONE), _WORDS, any_noise, _GAP, start=_ONE),
    Instance(f"{_PROPOSITION}d.1", "telescoped", _STEP, cone(_ONE), _WORDS, any_step, _GAP, start=_ONE),
    Instance(f"{_PROPOSITION}d.1/explicit", "any-noise", _NOISE, cone(_ONE), _WORDS, any_noise, _GAP, start=_ONE),
    Instance(f"{_PROPOSITION}d.1/explicit", "tuned", _PRIVATE, cone(_ONE), _WORDS, balanced, _GAP, start=_ONE),
    Instance(
        f"{_PROPOSITION}5.2/explicit",
        "bound",
        _PRIVATE | {"steps": Fraction(10_000)},
        cone(_ONE),
        _WORDS,
        private,
        _GAP,
        start=_ONE,
    ),
)
