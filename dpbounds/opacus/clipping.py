"""The engine's own clipping rules, automatic and adaptive, and the table of all optimisers.

Each rule multiplies the gradient of a record by a factor that depends on its norm alone. ``neighbours.md`` derives the
bound on a record's contribution: section 8 for automatic clipping, section 9 for adaptive clipping, whose contribution
has one number more than the gradient.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from opacus.optimizers import (
    AdaClipDPOptimizer,
    DPOptimizer,
    DPOptimizerFastGradientClipping,
    DPPerLayerOptimizer,
    get_optimizer_class,
)
from opacus.optimizers.optimizer import _mark_as_processed

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact, to_decimal, to_float
from dpbounds.opacus.optimizers import FlatOptimizer, GhostOptimizer, PerLayerOptimizer, WithGradients, root_above
from dpbounds.privacy.values import positive

AUTOMATIC = "automatic"
STABILITY = 0.01  # the default γ, as in Bu, Wang, Zha & Karypis 2023
_ADDED = 1e-6  # by Opacus, to the norm in the denominator
_SAVED = "max_grad_norm"  # key of an adaptive norm in the state of its optimiser


class _Scaled(DPOptimizer):  # type: ignore[misc]  # Opacus has no types
    """An optimiser that multiplies each gradient by a factor that depends on its norm alone."""

    def factors(self, norms: torch.Tensor) -> torch.Tensor:
        """Return the factors of gradients, from their norms, both in double precision."""
        raise NotImplementedError

    def clip_and_accumulate(self) -> None:
        """Scale the gradients, and add them to the sums."""
        samples = self.grad_samples
        factors = self.factors(norms_of_records(samples))
        for parameter, gradients in zip(self.params, samples, strict=True):
            largest = torch.finfo(gradients.dtype).max
            own = factors.clamp(max=largest).to(gradients.device, gradients.dtype)
            scaled = torch.einsum("i,i...", own, gradients)
            parameter.summed_grad = scaled if parameter.summed_grad is None else parameter.summed_grad + scaled
            _mark_as_processed(parameter.grad_sample)


class AutomaticOptimizer(WithGradients, _Scaled):
    """Automatic clipping: every gradient is scaled to C g / (|g| + γ), which is shorter than C.

    Args:
        optimizer: The optimiser of PyTorch.
        stability: γ > 0.
        **options: Of Opacus' ``DPOptimizer``.

    Source: Bu, Wang, Zha & Karypis 2023, Automatic Clipping.
    """

    def __init__(self, optimizer: Any, *, stability: ExactLike = STABILITY, **options: Any) -> None:
        super().__init__(optimizer, **options)
        self.stability = stability

    def factors(self, norms: torch.Tensor) -> torch.Tensor:
        """C / (|g| + γ)."""
        scaled: torch.Tensor = self.max_grad_norm / (norms + float(positive(self.stability, "stability")))
        return scaled


class AdaptiveOptimizer(WithGradients, _Scaled):
    """Adaptive clipping: the clipping norm follows a quantile of the norms, by a noisy count that each step pays for.

    A record that is drawn adds its clipped gradient to one sum. To another sum, the count, it adds 1/2 if its gradient
    is not longer than C, -1/2 if it is, and 0 if it is 0 or not finite. The noise multiplier z is that of both sums
    together: the count has noise of standard deviation s, and the gradients get the multiplier
    (z^-2 - (2 s)^-2)^(-1/2).

    Args:
        optimizer: The optimiser of PyTorch.
        target_unclipped_quantile: The share of gradients, in (0, 1), that shall not be longer than C.
        clipbound_learning_rate: The rate at which C follows, greater than 0.
        max_clipbound: The largest C.
        min_clipbound: The smallest C, greater than 0.
        unclipped_num_std: s, more than half of z.
        **options: Of Opacus' ``DPOptimizer``.

    Raises:
        InvalidValue: The count alone would spend as much as the step.

    Source: Andrew, Thakkar, McMahan & Ramaswamy 2021, Theorem 1.
    """

    def __init__(
        self,
        optimizer: Any,
        *,
        target_unclipped_quantile: ExactLike,
        clipbound_learning_rate: ExactLike,
        max_clipbound: ExactLike,
        min_clipbound: ExactLike,
        unclipped_num_std: ExactLike,
        **options: Any,
    ) -> None:
        super().__init__(optimizer, **options)
        self.quantile, self.rate = float(exact(target_unclipped_quantile)), float(exact(clipbound_learning_rate))
        self.logs = math.log(exact(min_clipbound)), math.log(exact(max_clipbound))
        self.count_std = to_float(exact(unclipped_num_std, "unclipped_num_std"), "up")
        self.doubled_count = 0  # twice the count of the records since the last step
        self._multiplier = multiplier_of_gradients(self.noise_multiplier, self.count_std)

    def factors(self, norms: torch.Tensor) -> torch.Tensor:
        """Return Opacus' factors of flat clipping, and count the gradients that are not longer than C."""
        within = torch.where(norms <= self.max_grad_norm, 1, -1)
        self.doubled_count += int(torch.where(norms > 0, within, 0).sum())
        clipped: torch.Tensor = (self.max_grad_norm / (norms + _ADDED)).clamp(max=1.0)
        return clipped

    def add_noise(self) -> None:
        """Add noise to both sums, as ``WithGradients`` does to one; ``InvalidValue`` if z left too little for one."""
        self._multiplier = multiplier_of_gradients(self.noise_multiplier, self.count_std)
        super().add_noise()

    def release(self) -> None:
        """Release the noisy gradients and the noisy count, from which the next C follows."""
        of_both, self.noise_multiplier = self.noise_multiplier, self._multiplier
        try:
            super().release()
        finally:
            self.noise_multiplier = of_both
        place = torch.device("cpu") if self.generator is None else self.generator.device
        noise = torch.normal(0.0, self.count_std, (1,), generator=self.generator, device=place, dtype=torch.float64)
        share = (self.doubled_count / 2 + float(noise)) / self.divisor + 1 / 2
        moved = math.log(self.max_grad_norm) - self.rate * (share - self.quantile)
        self.max_grad_norm = math.exp(min(max(moved, self.logs[0]), self.logs[1]))
        self.doubled_count = 0

    def forget(self) -> None:
        """Discard the sums, and the count."""
        super().forget()
        self.doubled_count = 0

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the optimiser of PyTorch, and the present C."""
        return {**super().state_dict(), _SAVED: self.max_grad_norm}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state, and the C that was saved with it; ``InvalidValue`` if that is not a positive number."""
        norm = float(positive(state_dict.get(_SAVED, self.max_grad_norm), _SAVED))
        super().load_state_dict(state_dict)
        self.max_grad_norm = norm


def multiplier_of_gradients(noise_multiplier: ExactLike, count_std: ExactLike) -> float:
    """Return (z^-2 - (2 s)^-2)^(-1/2), rounded up: the noise of gradients beside a count, where z is that of both.

    >>> multiplier_of_gradients(1, 1)  # √(4/3)
    1.1547005383792517
    """
    z, s = exact(noise_multiplier, "noise_multiplier"), exact(count_std, "unclipped_num_std")
    if z == 0:
        return 0.0
    if 2 * s <= abs(z):
        raise InvalidValue(
            "unclipped_num_std",
            s,
            f"greater than {to_decimal(abs(z) / 2, 4, 'up')}, half the noise multiplier",
            "the count of clipped gradients alone would spend as much as the whole step",
        )
    return root_above(1 / (1 / z**2 - 1 / (4 * s**2)))


def norms_of_records(samples: list[torch.Tensor]) -> torch.Tensor:
    """Return the l2 norm of each record's gradient over all parameters, in double precision."""
    rows = [gradients.reshape(len(gradients), math.prod(gradients.shape[1:])) for gradients in samples]
    norms = [torch.linalg.vector_norm(each, dim=1, dtype=torch.float64) for each in rows]
    together: torch.Tensor = torch.stack([each.to(norms[0].device) for each in norms]).norm(dim=0)
    return together


# Opacus' optimisers that were looked at, and those that take their place: they are watched, and the adaptive one counts
# otherwise, as Opacus divides its noisy count by the number of records that were drawn
OPTIMIZERS: dict[type, type] = {
    DPOptimizer: FlatOptimizer,
    DPPerLayerOptimizer: PerLayerOptimizer,
    DPOptimizerFastGradientClipping: GhostOptimizer,
    AdaClipDPOptimizer: AdaptiveOptimizer,
}


def watched_kind(*, clipping: str, grad_sample_mode: str) -> type:
    """Return the class of optimiser for these options of ``make_private``, on one worker."""
    if clipping == AUTOMATIC:
        return AutomaticOptimizer
    kind = get_optimizer_class(clipping=clipping, distributed=False, grad_sample_mode=grad_sample_mode)
    if kind not in OPTIMIZERS:
        raise UnsupportedMechanism(f"Opacus' optimiser {kind.__name__} is not supported")
    return OPTIMIZERS[kind]
