"""Checks at every step that it is one release on one whole sample, with noise that was never used before.

Opacus' optimiser sees gradients and not where they come from. Here the sampler writes down how many records it drew and
at what rate. Before the optimiser adds noise, it checks that it has summed one gradient for each of these records,
clipped to no more than what the noise is drawn for. Section 4 of ``neighbours.md`` says why each check is needed.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch
from opacus.data_loader import DPDataLoader
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch.utils.data import DataLoader

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import exact
from dpbounds.opacus.augmenting import AllCopies, Copies
from dpbounds.privacy.publishing.interoperability.opacus_sampler import GRID, demand_known_sampler

if TYPE_CHECKING:
    from dpbounds.opacus.forward import ForwardWatch, Inputs


class Watch:
    """One loader and the optimiser that steps on its batches.

    Args:
        seen: Digests of the states in which generators drew samples or noise; shared with the accountant.
        broken: Reasons for which the whole run has no guarantee; shared likewise.
        account: Records a step of an optimiser, before its noise is added.

    Attributes:
        drawn: Sizes and rates of the batches that were drawn in this pass and not stepped on.
        rate: At which the batch of the last step was drawn.
        ahead: Whether batches are drawn before they are asked for, as they are for worker processes.
        steps: Taken in this pass.
        stepped: Whether a step was ever taken.
        gathered: Gradients of single records that were summed since the last step.
        squared_bound: The largest squared l2 norm that one of them may have, exact.
        token: A token of the present epoch, for schemes that distinguish epochs.
        copies: Rows of a batch for each record: the number of augmented copies.
        adds_noise: Whether the noise is drawn here, and not by another worker.
    """

    forward: ForwardWatch

    def __init__(self, seen: set[str], broken: list[str], account: Callable[[Any], None]) -> None:
        self.seen, self.broken, self.account = seen, broken, account
        self.drawn: deque[tuple[int, float]] = deque()
        self.rate, self.ahead, self.steps, self.stepped = 0.0, False, 0, False
        self.optimizer: Any = None
        self.token: object = None
        self.copies, self.adds_noise = 1, True
        self._inputs: list[Inputs] = []  # inputs of forward passes that were stepped on in this epoch
        self._forget()

    def _forget(self) -> None:
        self.gathered, self.squared_bound = 0, Fraction(0)
        # sums of clipped gradients, each with the version of its content
        self._sums: list[tuple[torch.Tensor, int]] = []

    def _summed(self) -> list[tuple[torch.Tensor, int]]:
        return [(each.summed_grad, each.summed_grad._version) for each in self.optimizer.params]

    def refuse(self, reason: str) -> NoReturn:
        """Raise ``UnsupportedMechanism``, now and whenever ε of this run is asked for."""
        self.broken.append(reason)
        raise UnsupportedMechanism(reason)

    def draws_from(self, generator: Any) -> None:
        """Samples or noise are about to be drawn; None is PyTorch's own generator.

        Raises:
            UnsupportedMechanism: The generator, or another, has drawn in this state before: samples or noise would be
                the same again, and the difference of two outputs would have no noise.
        """
        generator = torch.default_generator if generator is None else generator
        state = sha256(generator.get_state().cpu().numpy().tobytes()).hexdigest()
        if state in self.seen:
            raise UnsupportedMechanism(
                "a generator was seeded as before: it would draw the samples or the noise of an earlier step again; "
                "seed a generator once, before make_private, and anew after a checkpoint"
            )
        self.seen.add(state)

    def begin(self) -> None:
        """A pass over the loader begins; a batch that was drawn in an earlier one must have been stepped on."""
        if self.drawn and not self.ahead and self.stepped:
            self.refuse(
                "a pass was left after a batch had been drawn and before a step on it: stopping because of the batch "
                "changes which samples are used; stop after a step, or use itertools.islice(loader, k)"
            )
        self.drawn.clear()
        self._inputs.clear()
        self.steps = 0
        self._forget()
        if self.optimizer is not None:  # an earlier pass of a BatchMemoryManager may have been left in the middle
            self.optimizer.forget()

    def end(self) -> None:
        """End an epoch: with steps in it, a batch without a step was left out, which may reveal its content."""
        if self.steps and self.drawn:
            self.refuse(_LEFT_OUT)
        self.drawn.clear()

    def gather(self, sizes: set[int], squared_bound: Fraction) -> None:
        """Note that gradients were clipped and summed, as many for each parameter as ``sizes`` states."""
        if len(sizes) != 1:
            raise UnsupportedMechanism(
                f"parameters have gradients of {sorted(sizes)} records each: every record needs one of each parameter"
            )
        self.gathered += sizes.pop()
        self._sums = self._summed()
        self.squared_bound = max(self.squared_bound, squared_bound)

    def close(self, optimizer: Any, divisor: int) -> None:
        """A step is about to be taken: raise ``UnsupportedMechanism`` unless it is one release on one whole sample."""
        if not self.drawn:
            raise UnsupportedMechanism(
                "a step was taken without a batch of the loader that make_private returned: train on that loader, "
                "one step for each of its batches"
            )
        drawn, self.rate = self.drawn.popleft()
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
        pairs = zip(self._sums, self._summed(), strict=True)
        if not all(mine is now and version == found for (mine, version), (now, found) in pairs):
            raise UnsupportedMechanism(
                "summed gradients were changed after clipping and before noise: change them after the step's noise, "
                "by a rule that looks at nothing else"
            )
        if optimizer.expected_batch_size != divisor:
            raise InvalidValue(
                "expected_batch_size", optimizer.expected_batch_size, f"{divisor}, as make_private set it"
            )
        inputs = self.forward.inputs()
        if drawn and any(one.same_as(other) for one in inputs for other in self._inputs):
            raise UnsupportedMechanism(
                "a step on a batch that was stepped on before in this pass: each step needs the batch that the loader "
                "drew for it"
            )
        self._inputs = [each for each in (*self._inputs, *inputs) if each.alive()]
        self.forward.stop_watching_losses()
        if optimizer.noise_multiplier and self.adds_noise:
            self.draws_from(optimizer.generator)
        self.steps, self.stepped = self.steps + 1, True
        self._forget()


_LEFT_OUT = (
    "a batch was drawn and no step was taken on it: omitting batches because of their content (empty ones, for "
    "example) reveals the draw; take the step, also for an empty batch"
)


_WORDS = 624  # words of the state of a Mersenne twister
_BEFORE = 24  # bytes of PyTorch's own before them, each word in eight


def own_generator(device: Any = "cpu") -> torch.Generator:
    """Return a new generator that is seeded by the operating system.

    PyTorch's generator for the CPU keeps 32 bits of a seed: few enough to try them all. So its whole state is set, from
    256 bits. On other devices a seed has 63 bits.

    Raises:
        UnsupportedMechanism: The installed PyTorch keeps the state otherwise.
    """
    generator = torch.Generator(device=device).manual_seed(secrets.randbits(63))
    if generator.device.type != "cpu":
        return generator
    key = np.random.SeedSequence(secrets.randbits(256)).generate_state(_WORDS).astype(np.uint32)
    state = generator.get_state()
    state[_BEFORE : _BEFORE + 8 * _WORDS] = torch.from_numpy(key.astype(np.uint64).view(np.uint8))
    generator.set_state(state)
    same = np.random.MT19937()
    same.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": _WORDS}}
    expected = torch.from_numpy((same.random_raw(8) % GRID).astype(np.float64))
    if not torch.equal(torch.rand(8, generator=generator.clone_state(), dtype=torch.float32).double() * GRID, expected):
        raise UnsupportedMechanism(
            f"PyTorch {torch.__version__} keeps the state of a generator in a way that is not supported: give a "
            "noise_generator, and a loader with a generator, seeded from the operating system"
        )
    return generator


class PoissonSampler(UniformWithReplacementSampler):  # type: ignore[misc]  # Opacus has no types
    """Opacus' Poisson sampler, which notifies a watch of the size and the rate of each batch.

    Attributes:
        watch: The watch to notify.
    """

    watch: Watch

    def __iter__(self) -> Iterator[list[int]]:
        self.watch.begin()
        batches, known = super().__iter__(), None
        for _ in range(self.steps):
            rate = self.sample_rate
            if rate != known:
                demand_known_sampler(rate)
                known = rate
            if self.num_samples:  # a worker may have no records
                self.watch.draws_from(self.generator)
            batch = next(batches)
            self.watch.drawn.append((len(batch), rate))
            yield batch
        if not self.watch.ahead:
            self.watch.end()


class PoissonLoader(DPDataLoader):  # type: ignore[misc]
    """Opacus' Poisson loader around a sampler of this package, with all other options of the original loader."""

    def __init__(self, made: Any, sampler: Any) -> None:
        self.sample_rate, self.distributed, self.watch = sampler.sample_rate, False, sampler.watch
        copies = sampler.watch.copies
        DataLoader.__init__(
            self,
            dataset=made.dataset if copies == 1 else Copies(made.dataset, copies),
            batch_sampler=sampler,
            num_workers=made.num_workers,
            collate_fn=made.collate_fn if copies == 1 else AllCopies(made.collate_fn),
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
