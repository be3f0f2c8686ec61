"""Opacus' optimisers, watched: each record contributes a finite gradient of bounded norm, and noise is added to all.

Opacus scales a gradient by C / (norm + 1e-6). Where the norm is not a number, neither is the product: a single record
with a missing value would make the whole model NaN. Here the contribution of such a record is 0, whatever the others
hold. ``clipping.py`` has the engine's own clipping rules, and the table of all optimisers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import torch
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping, DPPerLayerOptimizer
from opacus.optimizers.optimizer import _check_processed_flag

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.exact import exact
from dpbounds.opacus.forward import Hook
from dpbounds.opacus.gradients import noisy
from dpbounds.opacus.watching import Watch

LARGEST = 1e15  # largest activation that ghost clipping multiplies: squares still fit into single precision


class _Watched:
    """The common part of the optimisers below."""

    watch: Watch
    divisor: int
    param_groups: Any
    params: Any
    noise_multiplier: float
    max_grad_norm: float
    _step_skip_queue: list[bool]  # these two are Opacus' own
    _is_last_step_skipped: bool

    def watched_by(self, watch: Watch, divisor: int) -> None:
        """Have every step checked by a watch; the divisor is Opacus' expected batch size."""
        self.watch, self.divisor = watch, divisor
        watch.optimizer = self

    def add_noise(self) -> None:
        """Add noise, after the watch has let the step pass and the accountant has recorded it."""
        self.demand_release()
        self.watch.account(self)
        self.release()
        noisy(self.params)

    def demand_release(self) -> None:
        """Raise ``UnsupportedMechanism`` unless a step is one release, with noise on each parameter that moves."""
        with_noise = {id(parameter) for parameter in self.params}
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None or id(parameter) in with_noise:
                    continue
                if parameter.grad.any():
                    raise UnsupportedMechanism(
                        "a parameter was frozen between backward and step: its gradient would be applied without "
                        "noise; call optimizer.zero_grad() before you freeze it, and freeze it before the forward pass"
                    )
                parameter.grad = None  # zeros, of a parameter that was frozen after optimizer.zero_grad()
        self.watch.close(self, self.divisor)

    def release(self) -> None:
        """Add noise to the sums of clipped gradients."""
        super().add_noise()  # type: ignore[misc]

    def forget(self) -> None:
        """Discard what was summed since the last step, for a batch whose parts were not all used."""
        self._step_skip_queue.clear()
        self._is_last_step_skipped = False
        for parameter in self.params:
            parameter.summed_grad = None


class WithGradients(_Watched):
    """An optimiser that holds the gradient of every record, the mean of those of the record's augmented copies."""

    grad_samples: Any

    def squared_bound(self) -> Fraction:
        """Return the bound on the squared norm of a clipped gradient, exact."""
        return exact(self.max_grad_norm, "max_grad_norm") ** 2

    def clip_and_accumulate(self) -> None:
        """Clip and sum gradients in the parameters' precision; a record whose gradient is not finite counts as 0."""
        for parameter in self.params:
            _check_processed_flag(parameter.grad_sample)
        samples = [
            gradients.to(parameter.dtype) for parameter, gradients in zip(self.params, self.grad_samples, strict=True)
        ]
        samples = [mean_over_copies(gradients, self.watch.copies) for gradients in samples]
        sizes = {len(gradients) for gradients in samples}
        if len(sizes) == 1:
            wrong = torch.stack([_not_finite(gradients).cpu() for gradients in samples]).any(0)
            for parameter, gradients in zip(self.params, samples, strict=True):
                parameter.grad_sample = torch.where(_along(wrong.to(gradients.device), gradients), 0.0, gradients)
        super().clip_and_accumulate()  # type: ignore[misc]
        self.watch.gather(sizes, self.squared_bound())


class FlatOptimizer(WithGradients, DPOptimizer):  # type: ignore[misc]  # Opacus has no types
    """All parameters clipped together."""


class PerLayerOptimizer(WithGradients, DPPerLayerOptimizer):  # type: ignore[misc]
    """Each parameter clipped to a norm of its own; the root of the sum of their squares bounds them together."""

    def squared_bound(self) -> Fraction:
        """Return the sum of the squares of the parameters' norms."""
        return sum_of_squares(self.max_grad_norms)


class GhostOptimizer(_Watched, DPOptimizerFastGradientClipping):  # type: ignore[misc]
    """The module clips, through the criterion; the optimiser only adds noise.

    Attributes:
        module: The clipping module: it has the norms of the gradients that it clipped last, and the clipping norm.
    """

    module: Any

    def accumulate(self) -> None:
        """Accumulate, and notify the watch; ``UnsupportedMechanism`` if nothing was clipped, or a sum is not finite."""
        norms = self.module._per_sample_gradient_norms
        if norms is None:
            raise UnsupportedMechanism(
                "a step on gradients that were not clipped: with grad_sample_mode='ghost' every loss has to come from "
                "the criterion that make_private returned"
            )
        self.module.per_sample_gradient_norms = None
        if not all(bool(parameter.grad.isfinite().all()) for parameter in self.params):
            self.watch.refuse(
                "ghost clipping gave a sum that is not finite, though every record's share was bounded: a layer of "
                "your own overflows; take grad_sample_mode='hooks', which bounds each record's gradient itself"
            )
        super().accumulate()
        self.watch.gather({len(norms)}, exact(self.module.max_grad_norm, "max_grad_norm") ** 2)


class FiniteGhost:
    """Keeps records that are not finite out of the sums that ghost clipping makes.

    Ghost clipping runs backward twice: to find the norm of each record's gradient, and to sum the scaled gradients. A
    record is left out of the sum if an input of a trained layer, a gradient at its output or the norm is not finite for
    it: inputs are replaced by 0, gradients at outputs by 0 in both runs, and the scale is 0.

    Args:
        module: Opacus' wrapper of the model, which computes norms and scales; records are along the first axis.
        model: The user's model.
        watch: Notified if a value cannot be attributed to a record.
    """

    def __init__(self, module: Any, model: torch.nn.Module, watch: Watch) -> None:
        self.module, self.watch = module, watch
        self.left_out: torch.Tensor | None = None
        self.unknown = False  # whether something was not finite in a layer whose rows are not records
        module.get_clipping_coef = Hook(self._scales)
        model.register_forward_pre_hook(Hook(self._forget), prepend=True)
        for layer in model.modules():
            if any(parameter.requires_grad for parameter in layer.parameters(recurse=False)):
                layer.register_forward_pre_hook(Hook(self._inputs))
                layer.register_full_backward_pre_hook(Hook(self._gradients))

    def _forget(self, *_: Any) -> None:
        if torch.is_grad_enabled():
            self.left_out, self.unknown = None, False

    def _leave_out(self, rows: torch.Tensor) -> None:
        rows = rows.cpu()
        if self.left_out is None:
            self.left_out = rows
        elif self.left_out.shape == rows.shape:
            self.left_out = self.left_out | rows
        else:
            self.unknown |= bool(rows.any())

    def _inputs(self, layer: torch.nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if not torch.is_grad_enabled():
            return args
        return tuple(self._bounded(each) if _floats(each) else each for each in args)

    def _bounded(self, values: torch.Tensor) -> torch.Tensor:
        rows = _not_finite(values)
        self._leave_out(rows)
        limit = min(LARGEST, torch.finfo(values.dtype).max)
        return torch.where(_along(rows, values), 0.0, values.clamp(-limit, limit))

    def _gradients(self, layer: torch.nn.Module, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self._kept(each) if _floats(each) else each for each in gradients)

    def _kept(self, values: torch.Tensor) -> torch.Tensor:
        rows = _not_finite(values)
        if self.module.hooks_enabled:  # the first run
            self._leave_out(rows)
        elif self.left_out is not None and self.left_out.shape == rows.shape:
            rows = rows | self.left_out.to(rows.device)
        return torch.where(_along(rows, values), 0.0, values)

    def _scales(self) -> torch.Tensor:
        norms = self.module.get_norm_sample()
        self._leave_out(~norms.isfinite())
        assert self.left_out is not None
        if self.unknown or self.left_out.shape != norms.shape:
            self.watch.refuse(
                "a value is not finite in a layer whose inputs are not one row for each record, so that ghost clipping "
                "cannot leave the record out; take grad_sample_mode='hooks'"
            )
        scales = (self.module.max_grad_norm / (norms + 1e-6)).clamp(max=1.0)
        return torch.where(self.left_out.to(norms.device), 0.0, scales)


def mean_over_copies(gradients: torch.Tensor, copies: int) -> torch.Tensor:
    """Return the mean gradient of each record, from gradients whose rows are the copies of one record after another."""
    if copies == 1:
        return gradients
    if len(gradients) % copies:
        raise UnsupportedMechanism(
            f"{len(gradients)} gradients are not {copies} for each record, as augmentations={copies} says: use the "
            "batches as the loader gives them, with all copies of a record in one part of a batch"
        )
    rows: torch.Tensor = gradients.reshape(len(gradients) // copies, copies, *gradients.shape[1:]).mean(1)
    return rows


def _not_finite(values: torch.Tensor) -> torch.Tensor:
    """For each row whether one of its values is not finite."""
    finite = values.isfinite()
    return ~(finite if values.dim() == 1 else finite.flatten(1).all(1))


def _along(rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Rows in a shape that values of any dimension can be compared with."""
    return rows.view(-1, *[1] * (values.dim() - 1))


def _floats(values: Any) -> bool:
    return isinstance(values, torch.Tensor) and values.is_floating_point() and values.dim() > 0


def sum_of_squares(norms: Any) -> Fraction:
    """Return the sum of squares of clipping norms, exact."""
    return sum((exact(norm, "max_grad_norm") ** 2 for norm in norms), Fraction(0))


def root_above(square: Fraction) -> float:
    """Return the root of a number, as a double that is not below it."""
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
