"""Gradients without noise, on which no optimiser of PyTorch may step.

``backward`` leaves the sum of a batch's gradients at every parameter, neither clipped nor noisy. The optimiser that
``make_private`` returned replaces it before it lets the optimiser that it was made of step. That one, or another on the
same parameters, can be called directly, too: it would publish a function of the raw gradient without accounting for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from dpbounds.errors import UnsupportedMechanism

_watched: WeakValueDictionary[int, torch.Tensor] = WeakValueDictionary()
_raw: WeakValueDictionary[int, torch.Tensor] = WeakValueDictionary()  # those with a gradient that has no noise


def watch_gradients(parameters: Iterable[Any]) -> None:
    """Let no optimiser step on a gradient of these parameters without noise, from now on."""
    _watch_optimizers()
    for parameter in parameters:
        if parameter.requires_grad and id(parameter) not in _watched:
            _watched[id(parameter)] = parameter
            parameter.register_post_accumulate_grad_hook(_note)


def noisy(parameters: Iterable[torch.Tensor]) -> None:
    """Noise was added to the gradients of these parameters."""
    for parameter in parameters:
        _raw.pop(id(parameter), None)


def _note(parameter: torch.Tensor) -> None:
    _raw[id(parameter)] = parameter


@cache
def _watch_optimizers() -> None:
    register_optimizer_step_pre_hook(_before_step)


def _before_step(optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise ``UnsupportedMechanism`` before a step on a raw gradient, or one that computes gradients by a closure."""
    closure = kwargs.get("closure", args[1] if len(args) > 1 else None)  # PyTorch gives the optimiser first
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            raw = id(parameter) in _raw and parameter.grad is not None and bool(parameter.grad.any())
            if raw or (closure is not None and id(parameter) in _watched):
                raise UnsupportedMechanism(
                    f"{type(optimizer).__name__} would step on gradients without noise, which no accountant sees: on "
                    "the parameters of a private model call step of the optimiser that make_private returned, and of "
                    "no other; to train on public data, load its weights into another model"
                )
