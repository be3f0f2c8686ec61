"""Noise for a budget, under the name and with the parameters that users of Opacus know."""

from __future__ import annotations

import math
from fractions import Fraction

from dpbounds.errors import InvalidValue, NotCertified, demand_one_of
from dpbounds.expressions.exact import ExactLike, exact, positive_integer, to_float
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.budgets.targets import calibrate_by_renyi
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.values import positive, positive_rate


def steps_for_epochs(epochs: ExactLike, sample_rate: ExactLike) -> int:
    """Return the number of steps, epochs / sample_rate, rounded up exactly: 3 epochs at "0.1" are 30 steps."""
    return math.ceil(positive(epochs, "epochs") / positive_rate(sample_rate))


def get_noise_multiplier(
    *,
    target_epsilon: ExactLike,
    target_delta: ExactLike,
    sample_rate: ExactLike,
    epochs: ExactLike | None = None,
    steps: int | None = None,
    accountant: str = "certified",
    epsilon_tolerance: float = 0.01,
) -> float:
    """Return the noise multiplier (stddev / clipping norm) of DP-SGD with Poisson sampling for an (ε, δ) budget.

    The parameters are those of Opacus. The value is certified under add-or-remove-one: it suffices, and is much closer
    to the smallest sufficient one than ``epsilon_tolerance``.

    Args:
        target_epsilon: At least 0.
        target_delta: In (0, 1).
        sample_rate: In (0, 1]; expected batch size over dataset size. The rate of Opacus' sampler differs in the eighth
            digit: ``drawn_rate(sample_rate)``, to be given with ``steps``.
        epochs: Passes over the data, rounded up to whole steps; or
        steps: number of steps. Exactly one of the two.
        accountant: "certified"; or "rdp" for the Rényi accountant, which is proven, too, and needs more noise.
        epsilon_tolerance: Kept for compatibility; greater than 0. The answer is always tighter.

    Returns:
        A float, rounded up.

    Raises:
        InvalidValue: A value is not allowed, or both or neither of epochs and steps are given.
        NotCertified: The proof did not close, or only for a value far from the smallest; the message has it.
    """
    demand_one_of("accountant", accountant, ("certified", "rdp"))
    if (epochs is None) == (steps is None):
        raise InvalidValue("epochs, steps", (epochs, steps), "one of the two alone")
    positive(epsilon_tolerance, "epsilon_tolerance")
    rate = exact(sample_rate, "sample_rate")
    by_epochs = steps_for_epochs(epochs, rate) if epochs is not None else None
    count = positive_integer(steps, "steps") if by_epochs is None else by_epochs

    def training(z: Fraction) -> Mechanism:
        return PoissonSampled(Gaussian(z), rate) ** count

    if accountant == "rdp":
        return to_float(calibrate_by_renyi(training, target_epsilon, target_delta), "up")
    found = calibrate(training, target_epsilon, target_delta)
    if not found.within_tolerance:
        raise NotCertified(f"the search did not come close enough; {found}; calibrate returns that value")
    return to_float(found.value, "up")
