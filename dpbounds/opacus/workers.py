"""Training on several workers: each draws from its own share of the records, and the first one adds the noise.

Opacus' sampler for several workers leaves out empty batches, and with seeds that are equal on all workers it draws the
same positions of each share. Here a worker draws from every W-th record with a generator of its own, and takes a step
on an empty batch, too. Before the noise of a step, all workers compare the numbers that the step rests on, and the
model. Section 12 of ``neighbours.md`` has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed
from torch import distributed

from dpbounds.errors import DpboundsError, UnsupportedMechanism
from dpbounds.opacus.clipping import AutomaticOptimizer
from dpbounds.opacus.forward import same_values
from dpbounds.opacus.optimizers import FlatOptimizer, PerLayerOptimizer, WithGradients
from dpbounds.opacus.watching import PoissonSampler


@dataclass(frozen=True, slots=True)
class Workers:
    """The workers of PyTorch's default process group.

    Attributes:
        rank: The number of this worker, from 0.
        count: The number of all workers.
    """

    rank: int
    count: int

    @classmethod
    def present(cls) -> Workers:
        """Return the workers that run this program together."""
        return cls(distributed.get_rank(), distributed.get_world_size())

    def share(self, records: int) -> range:
        """Return the records of this worker: every record belongs to one worker."""
        return range(self.rank, records, self.count)


class ShareSampler(PoissonSampler):
    """A sampler of Poisson samples of one worker's share of the records.

    Args:
        workers: The workers.
        num_samples: The number of records of all workers.
        **options: Of Opacus' sampler.
    """

    def __init__(self, *, workers: Workers, num_samples: int, **options: Any) -> None:
        self.share = workers.share(num_samples)
        super().__init__(num_samples=max(len(self.share), 1), **options)
        self.num_samples = len(self.share)  # Opacus refuses 0, which a share may have

    def __iter__(self) -> Iterator[list[int]]:
        for batch in super().__iter__():
            yield [self.share[place] for place in batch]


class OnWorkers(WithGradients):
    """An optimiser whose sums are those of all workers; comes before the class of the optimiser.

    Attributes:
        workers: The workers.
        module: The model, as it was given to ``make_private``.
        records: The number of records of all workers.
    """

    workers: Workers
    module: torch.nn.Module
    records: int

    def demand_release(self) -> None:
        """Raise ``UnsupportedMechanism`` on every worker unless all may take the step, with the same numbers and model.

        The run then has no guarantee, as workers may have drawn what others did not step on.
        """
        reason = ""
        try:
            super().demand_release()
        except DpboundsError as error:
            reason = str(error)
        alike = _same_as_on_the_first(self.module)
        numbers = (self.noise_multiplier, self.max_grad_norm, self.watch.rate, self.divisor, self.records)
        found: list[Any] = [None] * self.workers.count
        distributed.all_gather_object(found, (reason, tuple(map(float, numbers)), alike))
        for rank, (reason, theirs, same) in enumerate(found):
            if reason:
                self.watch.refuse(f"worker {rank} of {self.workers.count} refused the step: {reason}")
            if theirs != found[0][1]:
                self.watch.refuse(
                    f"noise multiplier, clipping norm, sample rate, divisor and number of records have to be the same "
                    f"on all workers, but are {theirs} on worker {rank} and {found[0][1]} on worker 0"
                )
            if not same:
                self.watch.refuse(
                    f"the model on worker {rank} has other weights or buffers than that on worker 0: initialise and "
                    "change it in the same way on all workers"
                )

    def release(self) -> None:
        """Add the noise on the first worker, and then the sums of all workers."""
        if self.workers.rank == 0:
            super().release()
        else:
            for parameter in self.params:
                _check_processed_flag(parameter.summed_grad)
                parameter.grad = parameter.summed_grad.clone().view_as(parameter)
                _mark_as_processed(parameter.summed_grad)
        for parameter in self.params:
            distributed.all_reduce(parameter.grad)


def _same_as_on_the_first(module: torch.nn.Module) -> bool:
    """Return whether weights and buffers of a model are those of the first worker, bit for bit."""
    same = True
    for mine in (*module.parameters(), *module.buffers()):
        theirs = mine.detach().clone()
        distributed.broadcast(theirs, 0)
        same = same and same_values(theirs, mine.detach())
    return same


class FlatOnWorkers(OnWorkers, FlatOptimizer):
    """All parameters clipped together."""


class PerLayerOnWorkers(OnWorkers, PerLayerOptimizer):
    """Each parameter clipped to a norm of its own."""


class AutomaticOnWorkers(OnWorkers, AutomaticOptimizer):
    """Automatic clipping."""


ON_WORKERS: dict[type, type] = {
    FlatOptimizer: FlatOnWorkers,
    PerLayerOptimizer: PerLayerOnWorkers,
    AutomaticOptimizer: AutomaticOnWorkers,
}


def on_workers(kind: type) -> type:
    """Return the class of optimiser for several workers, from that for one worker."""
    if kind not in ON_WORKERS:
        raise UnsupportedMechanism(
            f"on several workers {kind.__name__} is not supported: take clipping='flat', 'per_layer' or 'automatic', "
            "with grad_sample_mode='hooks' or 'functorch'"
        )
    return ON_WORKERS[kind]
