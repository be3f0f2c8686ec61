"""Checks of a model and its loss during training: the gradient of a record must depend on no other record.

Layers that mix the records of a batch, or keep statistics of them, are refused by their type. The rest is tested on the
run itself. A buffer that changes in a forward pass would be published with the model, without noise. If a record's
output or loss changes when the rest of the batch is left out, its gradient depends on other records. Section 4 of
``neighbours.md`` says why each check is needed, and what no check can see.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.modules.loss import _Loss
from torch.nn.modules.module import register_module_forward_hook
from torch.utils._pytree import tree_leaves, tree_map

from dpbounds.errors import UnsupportedMechanism
from dpbounds.opacus.gradients import watch_gradients

TESTED_FIRST = 2  # batches of a run whose independence is tested, beside later ones
TESTED_LATER = 50  # one in this number of the later batches is tested, at random
TESTED_RECORDS = 3  # records of a tested batch that are computed alone
TOLERANCE = 0.02  # between a record alone and in its batch, relative to the largest value of the batch; TF32 errs less

_INSTEAD = "take GroupNorm or LayerNorm, or keep the layer in evaluation mode (layer.eval() after each model.train())"


def demand_independent_layers(module: torch.nn.Module) -> None:
    """Raise ``UnsupportedMechanism`` if a layer, trained or not, mixes records or keeps statistics of them."""
    for name, layer in module.named_modules():
        if isinstance(layer, _BatchNorm | _InstanceNorm) and (reason := _mixes(layer)):
            raise UnsupportedMechanism(f"layer {name or type(layer).__name__}: {reason}")


def _mixes(layer: Any) -> str:
    """Why a normalisation layer, in its present mode, lets gradients depend on other records; "" if it does not."""
    kind = type(layer).__name__
    if isinstance(layer, _InstanceNorm):
        kept = layer.training and layer.running_mean is not None
        return (
            f"{kind} with track_running_stats publishes statistics of records without noise; {_INSTEAD}" if kept else ""
        )
    if layer.running_mean is None:
        return (
            f"{kind} without running statistics mixes the records of a batch in every mode; take GroupNorm or LayerNorm"
        )
    if layer.training:
        return (
            f"{kind} in training mode mixes the records of a batch and publishes their means without noise; {_INSTEAD}"
        )
    return ""


class Hook:
    """A hook of a module. Copies of the module, by ``copy`` or ``pickle``, have a hook without effect."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the hook, as PyTorch does."""
        return self._call(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Hook, (_nothing,)


def _nothing(*_: Any, **__: Any) -> None:
    """Return the argument of a hook unchanged."""


class Inputs:
    """The tensors that one forward pass was given, without keeping them alive."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        self._tensors = [(weakref.ref(each), each._version) for each in tensors]

    def alive(self) -> bool:
        """Return whether all tensors are still in use."""
        return all(tensor() is not None for tensor, _ in self._tensors)

    def same_as(self, other: Inputs) -> bool:
        """Return whether both are the same tensors, unchanged since."""
        mine, theirs = ([(tensor(), version) for tensor, version in each._tensors] for each in (self, other))
        pairs = list(zip(mine, theirs, strict=False))
        same = all(a is not None and a is b and v == w for (a, v), (b, w) in pairs)
        return bool(pairs) and len(mine) == len(theirs) and same


class ForwardWatch:
    """Looks at every forward pass that trains.

    Args:
        module: The user's model.
        batch_first: Whether records are along the first axis of inputs, or along the second.
        refuse: Called with the reason if the whole run has no guarantee; it raises.

    Attributes:
        tested: Number of batches that were tested for independence.
        losses_tested: Number of batches whose loss was tested, too.
    """

    testing = False  # whether one of these runs a model or a loss itself, which the others then leave alone

    def __init__(self, module: torch.nn.Module, batch_first: bool, refuse: Callable[[str], NoReturn]) -> None:
        self.module, self.axis, self._refuse = module, 0 if batch_first else 1, refuse
        self.tested = self.losses_tested = 0
        self._passes = 0
        self._inputs: list[Inputs] = []  # inputs of forward passes since the last step
        self._before: list[tuple[str, torch.Tensor, torch.Tensor]] = []
        self._losses: Any = None  # a hook on all modules, while a tested batch waits for its loss
        self._outputs: set[Any] = set()  # nodes of the graph that the loss of a tested batch comes from
        watch_gradients(module.parameters())
        module.register_forward_pre_hook(Hook(self._begins), with_kwargs=True)
        module.register_forward_hook(Hook(self._ends), with_kwargs=True)

    def inputs(self) -> list[Inputs]:
        """Return the inputs of the forward passes since the last call."""
        found, self._inputs = self._inputs, []
        return found

    def _trains(self) -> bool:
        if ForwardWatch.testing or not torch.is_grad_enabled():
            return False
        return any(layer.training for layer in self.module.modules())  # the model as a whole may be evaluating

    def _begins(self, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        if not self._trains():
            return
        demand_independent_layers(module)
        watch_gradients(module.parameters())  # some may be trained from now on
        self._before = [(name, buffer, buffer.clone()) for name, buffer in module.named_buffers()]
        self._inputs.append(Inputs(_tensors((args, kwargs))))

    def _ends(self, module: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if not self._trains():
            return
        now = dict(module.named_buffers())
        for name, buffer, before in self._before:
            if now.get(name) is not buffer or not same_values(buffer, before):
                self._refuse(
                    f"buffer {name} changed in a forward pass: it would be published with the model, without noise; "
                    "take a layer without running statistics, or keep it in evaluation mode"
                )
        self._before = []
        self._passes += 1
        self.stop_watching_losses()
        if self._passes <= TESTED_FIRST or secrets.randbelow(TESTED_LATER) == 0:
            with _testing():
                self._test(args, kwargs)
            self._outputs = {each.grad_fn for each in _tensors(output)} - {None}
            self._losses = register_module_forward_hook(self._test_loss, with_kwargs=True)

    def stop_watching_losses(self) -> None:
        """A step is taken, or another forward pass begins."""
        if self._losses is not None:
            self._losses.remove()
            self._losses, self._outputs = None, set()

    def _test(self, args: Any, kwargs: Any) -> None:
        """Compare the outputs of some records in their batch with those of the same records alone."""
        given = _tensors((args, kwargs))
        sizes = {each.shape[self.axis] for each in given if each.dim() > self.axis}
        # one record is alone; what has several sizes cannot be cut; half precision errs by more than the tolerance
        if len(sizes) != 1 or min(sizes) < 2 or any(map(_is_coarse, given)):
            return
        (size,) = sizes
        devices = [each.device for each in given if each.device.type == "cuda"]
        exact_kind = torch.autocast(given[0].device.type, enabled=False)
        kept = [(buffer, buffer.clone()) for buffer in self.module.buffers()]
        with torch.no_grad(), exact_kind, torch.random.fork_rng(devices), _without_dropout(self.module):

            def run(rows: slice) -> list[torch.Tensor]:
                cut = tree_map(lambda each: self._cut(each, rows, size), (args, kwargs))
                return _tensors(self.module(*cut[0], **cut[1]))

            whole, again = run(slice(None)), run(slice(None))
            if not all(map(same_values, whole, again)):  # the model draws random numbers
                return
            for _ in range(min(TESTED_RECORDS, size)):
                row = secrets.randbelow(size)
                for together, alone in zip(whole, run(slice(row, row + 1)), strict=True):
                    self._compare(together, alone, row, size)
        for buffer, before in kept:
            if not same_values(buffer, before):
                buffer.data.copy_(before)
        self.tested += 1

    def _test_loss(self, loss: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        """Compare the gradient of a loss at some records' outputs with that of these records' losses alone."""
        factor = {"mean": True, "batchmean": True, "sum": False}.get(getattr(loss, "reduction", ""))
        known = isinstance(loss, _Loss) and not isinstance(loss, torch.nn.CTCLoss) and factor is not None
        values = args[0] if args else kwargs.get("input")
        if ForwardWatch.testing or not known or not isinstance(values, torch.Tensor):
            return
        if values.dim() == 0 or len(values) < 2 or not self._is_ours(values):
            return
        size = len(values)

        def cut(each: Any, rows: slice) -> Any:
            return each[rows] if isinstance(each, torch.Tensor) and each.shape[:1] == (size,) else each

        def gradient(rows: slice) -> torch.Tensor:
            at = values.detach()[rows]
            at = (at.float() if _is_coarse(at) else at).requires_grad_()
            rest = [cut(each, rows) for each in args[1:]]
            named = {name: cut(each, rows) for name, each in kwargs.items() if name != "input"}
            with torch.enable_grad():
                (found,) = torch.autograd.grad(loss(at, *rest, **named), at)
            return found.nan_to_num()

        with _testing():
            whole = gradient(slice(None)) * (size if factor else 1)
            for row in {secrets.randbelow(size) for _ in range(2 * TESTED_RECORDS)}:
                alone = gradient(slice(row, row + 1))
                if ((whole[row : row + 1] - alone).abs() > TOLERANCE * whole.abs().max()).any():
                    self._refuse(
                        f"{type(loss).__name__}: the gradient of a record's loss changes when the rest of its batch is "
                        "left out (class weights or ignore_index under a mean divide by what others have): use "
                        "reduction='sum' with loss_reduction='sum', or a mean of losses with weights of your own"
                    )
        self.losses_tested += 1
        self.stop_watching_losses()

    def _is_ours(self, values: torch.Tensor) -> bool:
        """Return whether values were computed from the model's outputs of the tested batch."""
        waiting, seen = [values.grad_fn], set()
        while waiting:
            node = waiting.pop()
            if node in self._outputs:
                return True
            if node is not None and node not in seen:
                seen.add(node)
                waiting += [following for following, _ in node.next_functions]
        return False

    def _cut(self, each: Any, rows: slice, size: int) -> Any:
        batched = isinstance(each, torch.Tensor) and each.dim() > self.axis and each.shape[self.axis] == size
        return each[(slice(None),) * self.axis + (rows,)] if batched else each

    def _compare(self, together: torch.Tensor, alone: torch.Tensor, row: int, size: int) -> None:
        axis = next((axis for axis, length in enumerate(together.shape) if length == size), None)
        if axis is None or not together.is_floating_point():
            return
        expected = together.narrow(axis, row, 1)
        if expected.shape != alone.shape:
            return
        finite = expected.isfinite() & alone.isfinite()
        scale = together[together.isfinite()].abs().max() if together.isfinite().any() else 0
        if ((expected - alone).abs()[finite] > TOLERANCE * scale).any():
            self._refuse(
                "the model's output for a record changes when the rest of its batch is left out: a layer mixes "
                "records, so that one record moves the gradients of others, which clipping does not bound"
            )


def _tensors(values: Any) -> list[torch.Tensor]:
    return [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]


def _is_coarse(values: torch.Tensor) -> bool:
    """Return whether values are floating-point numbers of less than single precision."""
    return values.is_floating_point() and values.element_size() < 4


def same_values(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors have one shape and the same values, bit for bit but for those that are not finite."""
    return one.shape == other.shape and bool(torch.equal(one.nan_to_num(), other.nan_to_num()))


@contextmanager
def _testing() -> Iterator[None]:
    ForwardWatch.testing = True
    try:
        yield
    finally:
        ForwardWatch.testing = False


@contextmanager
def _without_dropout(module: torch.nn.Module) -> Iterator[None]:
    """Dropout layers do nothing inside: their masks differ between a batch and a record alone."""
    layers = [layer for layer in module.modules() if isinstance(layer, _DropoutNd) and layer.training]
    for layer in layers:
        layer.training = False
    try:
        yield
    finally:
        for layer in layers:
            layer.training = True
