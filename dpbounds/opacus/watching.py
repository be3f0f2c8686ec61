"""What is watched while a model trains: that every step is one release on one whole Poisson sample.

Opacus' optimiser sees gradients and not where they come from. Here the sampler writes down how many records it drew,
and the optimiser checks, before it adds noise, that the gradients that it has summed are one for each of them, clipped
to no more than what the noise is drawn for. See ``neighbours.md``, section 4, for why each of this is needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any

from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping, DPPerLayerOptimizer
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch.utils.data import DataLoader

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import exact
from dpbounds.privacy.publishing.interoperability.opacus_sampler import demand_known_sampler


class Watch:
    """One loader and the optimiser that steps on its batches.

    Args:
        generators: Of samples and of noise; each once.
        seen: Digests of the states in which generators began a pass; shared with whoever keeps them.

    Attributes:
        drawn: Sizes of the batches that were drawn in this pass and not stepped on.
        steps: Taken in this pass.
        gathered: Gradients of single records that were summed since the last step.
        squared_bound: The largest squared l2 norm that one of them may have, exact.
        token: Of the pass that is going on, where passes are told apart.
    """

    def __init__(self, generators: Sequence[Any], seen: set[str]) -> None:
        self.generators, self.seen = generators, seen
        self.drawn: deque[int] = deque()
        self.steps = 0
        self.optimizer: Any = None
        self.token: object = None
        self._forget()

    def _forget(self) -> None:
        self.gathered, self.squared_bound = 0, Fraction(0)

    def begin(self) -> None:
        """A pass over the loader begins: what was drawn in an earlier one and not stepped on is given up.

        Raises:
            UnsupportedMechanism: A generator is in a state in which it, or another, began a pass before: samples and
                noise would be those of that pass again, and the difference of two outputs would have none.
        """
        for generator in self.generators:
            state = sha256(generator.get_state().numpy().tobytes()).hexdigest()
            if state in self.seen:
                raise UnsupportedMechanism(
                    "a generator was seeded as before: this pass would draw the samples or the noise of an earlier one "
                    "again; seed once (torch.manual_seed), and anew after a checkpoint"
                )
            self.seen.add(state)
        self.drawn.clear()
        self.steps = 0
        self._forget()
        if self.optimizer is not None:  # an earlier pass of a BatchMemoryManager may have been left in the middle
            self.optimizer._step_skip_queue.clear()
            self.optimizer._is_last_step_skipped = False
            for parameter in self.optimizer.params:
                parameter.summed_grad = None

    def end(self) -> None:
        """A pass is over: a batch without a step, in a pass with steps, was left out in view of the data."""
        if self.steps and self.drawn:
            raise _left_out()

    def gather(self, sizes: set[int], squared_bound: Fraction) -> None:
        """Gradients were clipped and summed: as many of every parameter as ``sizes`` says, of bounded squared norm."""
        if len(sizes) != 1:
            raise UnsupportedMechanism(
                f"parameters have gradients of {sorted(sizes)} records each: every record needs one of each parameter"
            )
        self.gathered += sizes.pop()
        self.squared_bound = max(self.squared_bound, squared_bound)

    def close(self, optimizer: Any, divisor: int) -> None:
        """A step is about to be taken: raise ``UnsupportedMechanism`` unless it is one release on one whole sample."""
        if not self.drawn:
            raise UnsupportedMechanism(
                "a step was taken without a batch of the loader that make_private returned: train on that loader, "
                "one step for each of its batches"
            )
        drawn = self.drawn.popleft()
        if drawn != self.gathered:
            raise UnsupportedMechanism(
                f"a step on {self.gathered} gradients, while {drawn} records were drawn: each record needs one "
                "gradient and each batch one step, empty ones too (split large batches by BatchMemoryManager; evaluate "
                "on another loader)"
            )
        if self.squared_bound > exact(optimizer.max_grad_norm, "max_grad_norm") ** 2:
            raise UnsupportedMechanism(
                f"gradients were clipped to more than {optimizer.max_grad_norm}, for which the noise is drawn: change "
                "the clipping norm only between batches, and not at all with clipping='per_layer' or "
                "grad_sample_mode='ghost'"
            )
        if optimizer.expected_batch_size != divisor:
            raise InvalidValue(
                "expected_batch_size", optimizer.expected_batch_size, f"{divisor}, as make_private set it"
            )
        self.steps += 1
        self._forget()


def _left_out() -> UnsupportedMechanism:
    return UnsupportedMechanism(
        "a batch was drawn and no step was taken on it: leaving batches out in view of what is in them (empty ones, "
        "say) tells what was drawn; take the step, the noise of an empty batch is counted like any other"
    )


class PoissonSampler(UniformWithReplacementSampler):  # type: ignore[misc]  # Opacus has no types
    """Opacus' Poisson sampler, which tells a watch how many records it drew.

    Attributes:
        watch: Whom it tells.
        ahead: Whether batches are drawn before they are asked for, as they are for worker processes.
    """

    watch: Watch
    ahead: bool

    def __iter__(self) -> Iterator[list[int]]:
        demand_known_sampler(self.sample_rate)
        self.watch.begin()
        for batch in super().__iter__():
            self.watch.drawn.append(len(batch))
            yield batch
        if not self.ahead:
            self.watch.end()


class PoissonLoader(DPDataLoader):  # type: ignore[misc]
    """Opacus' Poisson loader around a sampler of our own, with what it was made from in all other respects."""

    def __init__(self, made: Any, sampler: Any) -> None:
        self.sample_rate, self.distributed, self.watch = sampler.sample_rate, False, sampler.watch
        DataLoader.__init__(
            self,
            dataset=made.dataset,
            batch_sampler=sampler,
            num_workers=made.num_workers,
            collate_fn=made.collate_fn,
            pin_memory=made.pin_memory,
            timeout=made.timeout,
            worker_init_fn=made.worker_init_fn,
            multiprocessing_context=made.multiprocessing_context,
            generator=made.generator,
            prefetch_factor=made.prefetch_factor,
            persistent_workers=made.persistent_workers,
        )

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        self.watch.end()


class _Watched:
    """What the optimisers below have in common."""

    watch: Watch
    divisor: int
    step_hook: Any

    def watched_by(self, watch: Watch, divisor: int) -> None:
        """Have every step checked by a watch; the divisor is what Opacus calls expected batch size."""
        self.watch, self.divisor = watch, divisor
        watch.optimizer = self

    def add_noise(self) -> None:
        """As there, after the watch has let the step pass."""
        self.watch.close(self, self.divisor)
        super().add_noise()  # type: ignore[misc]

    def attach_step_hook(self, fn: Any) -> None:
        """Attach a hook beside those that are there: the first one accounts."""
        before = self.step_hook

        def both(optimizer: Any) -> None:
            before(optimizer)
            fn(optimizer)

        self.step_hook = fn if before is None else both


def _counts(optimizer: Any) -> set[int]:
    return {len(gradients) for gradients in optimizer.grad_samples}


class FlatOptimizer(_Watched, DPOptimizer):  # type: ignore[misc]
    """All parameters clipped together."""

    def clip_and_accumulate(self) -> None:
        """As there, and tell the watch."""
        super().clip_and_accumulate()
        self.watch.gather(_counts(self), exact(self.max_grad_norm, "max_grad_norm") ** 2)


class PerLayerOptimizer(_Watched, DPPerLayerOptimizer):  # type: ignore[misc]
    """Each parameter clipped to a norm of its own; the root of the sum of their squares bounds them together."""

    def clip_and_accumulate(self) -> None:
        """As there, and tell the watch."""
        super().clip_and_accumulate()
        self.watch.gather(_counts(self), sum_of_squares(self.max_grad_norms))


class GhostOptimizer(_Watched, DPOptimizerFastGradientClipping):  # type: ignore[misc]
    """The module clips, through the criterion; the optimiser only adds noise.

    Attributes:
        module: What clips: it knows the norms of the gradients that it clipped last, and to what.
    """

    module: Any

    def accumulate(self) -> None:
        """As there, and tell the watch; ``UnsupportedMechanism`` where nothing was clipped."""
        norms = self.module._per_sample_gradient_norms
        if norms is None:
            raise UnsupportedMechanism(
                "a step on gradients that were not clipped: with grad_sample_mode='ghost' every loss has to come from "
                "the criterion that make_private returned"
            )
        self.module.per_sample_gradient_norms = None
        super().accumulate()
        self.watch.gather({len(norms)}, exact(self.module.max_grad_norm, "max_grad_norm") ** 2)


def sum_of_squares(norms: Any) -> Fraction:
    """Of clipping norms, exact."""
    return sum((exact(norm, "max_grad_norm") ** 2 for norm in norms), Fraction(0))


# Opacus' optimisers that were looked at, and those that do the same while they are watched
OPTIMIZERS: dict[type, type] = {
    DPOptimizer: FlatOptimizer,
    DPPerLayerOptimizer: PerLayerOptimizer,
    DPOptimizerFastGradientClipping: GhostOptimizer,
}
