"""An accountant with the interface of Opacus' own, whose ε is proven.

It works without Opacus. ``register_with_opacus`` makes it known there by Opacus' own registry; then

    engine = opacus.PrivacyEngine(accountant="certified")

What it says holds for what Opacus' accountants assume, and no more: a step is one Gaussian release on a Poisson sample,
divided by a public constant. See ``docs/names.md`` for what Opacus lets pass that is none of these.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from typing import Protocol

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.accountants import epsilon, valid_delta
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled

NAME = "certified"


class Optimizer(Protocol):
    """What a step needs to know of Opacus' ``DPOptimizer``."""

    noise_multiplier: float

    @property
    def accumulated_iterations(self) -> int:
        """How many batches the step is made of."""


class CertifiedAccountant:
    """Writes down the steps of DP-SGD, and proves what they spent under add-or-remove-one.

    Attributes:
        history: (noise multiplier, sample rate, number of steps) of consecutive equal steps, as Opacus keeps them.

    >>> accountant = CertifiedAccountant()
    >>> for _ in range(100):
    ...     accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    >>> accountant.history, len(accountant)
    ([(1.0, 0.01, 100)], 100)
    >>> round(accountant.get_epsilon(delta=1e-5), 6)
    0.718036
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Write down one step.

        Args:
            noise_multiplier: Noise in units of the clipping norm, at least 0. A step without noise is written down;
                ε is infinite from then on.
            sample_rate: In (0, 1].

        Raises:
            InvalidValue: A value is not allowed.
        """
        self._append(noise_multiplier, sample_rate, 1)

    def _append(self, noise_multiplier: float, sample_rate: float, steps: int) -> None:
        if exact(noise_multiplier, "noise_multiplier") < 0:
            raise InvalidValue("noise_multiplier", noise_multiplier, "a number that is at least 0")
        if not 0 < exact(sample_rate, "sample_rate") <= 1:
            raise InvalidValue("sample_rate", sample_rate, "a number greater than 0 and at most 1")
        count = positive_integer(steps, "steps")
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            count += self.history.pop()[2]
        self.history.append((noise_multiplier, sample_rate, count))

    @property
    def composition(self) -> Mechanism | None:
        """All steps as one mechanism, for other questions (δ at a given ε, replace-one, a certificate); or None.

        Raises:
            InvalidValue: A step had no noise, and so no guarantee.
        """
        if not self.history:
            return None
        return Composed(tuple((PoissonSampled(Gaussian(z), rate), steps) for z, rate, steps in self.history))

    def get_epsilon(
        self, delta: ExactLike, alphas: object = None, *, eps_error: object = None, delta_error: object = None
    ) -> float:
        """The proven upper end of ε(δ) of all steps so far, under add-or-remove-one.

        Args:
            delta: In (0, 1).
            alphas: Accepted, like the next two, because Opacus' accountants have them; without effect.
            eps_error: As above.
            delta_error: As above.

        Returns:
            A float, rounded up: 0 before the first step, infinity after a step without noise.

        Raises:
            InvalidValue: δ is not allowed.
            NotCertified: The proof did not close.
        """
        failure = valid_delta(delta)
        if any(z == 0 for z, _, _ in self.history):
            return math.inf
        composition = self.composition
        return 0.0 if composition is None else epsilon(composition, failure).upper

    def __len__(self) -> int:
        """Number of steps taken so far."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name under which Opacus knows this accountant."""
        return NAME

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Optimizer], None]:
        """Return the function that Opacus' optimiser calls at every step.

        It refuses steps which are not one Gaussian release on a Poisson sample.

        Args:
            sample_rate: Of one batch, in (0, 1].

        Raises:
            UnsupportedMechanism: (when called) Several batches were accumulated for one step, or the clipping norm
                adapts to the data.
        """

        def hook(optimizer: Optimizer) -> None:
            batches = optimizer.accumulated_iterations
            if batches != 1:
                raise UnsupportedMechanism(
                    f"{batches} batches were accumulated for one step: a record that is in several of them counts "
                    "several times, so that this is no Poisson sample; take one batch per step, split where memory is "
                    "short by opacus.utils.batch_memory_manager.BatchMemoryManager"
                )
            if hasattr(optimizer, "unclipped_num_std"):
                raise UnsupportedMechanism(
                    "adaptive clipping publishes a noisy count divided by the number of records that were drawn, which "
                    "is data, too: no pair is proven here for it; use clipping='flat' or 'per_layer'"
                )
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate)

        return hook

    def state_dict(self, destination: MutableMapping[str, object] | None = None) -> MutableMapping[str, object]:
        """Return what ``load_state_dict`` needs, in ``destination`` if one is given."""
        state: MutableMapping[str, object] = OrderedDict() if destination is None else destination
        state["history"] = list(self.history)
        state["mechanism"] = self.mechanism()
        return state

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Take over the history of a ``state_dict`` (also one that went through JSON) in place of the present one.

        Raises:
            InvalidValue: The state is incomplete, belongs to another accountant, or a step in it is not allowed.
        """
        if not state_dict or not {"history", "mechanism"} <= set(state_dict):
            raise InvalidValue("state_dict", state_dict, "a mapping with the keys history and mechanism")
        if state_dict["mechanism"] != self.mechanism():
            raise InvalidValue(
                "mechanism", state_dict["mechanism"], self.mechanism(), "load it into its own accountant"
            )
        history = state_dict["history"]
        loaded = CertifiedAccountant()
        if not isinstance(history, list | tuple):
            raise InvalidValue("history", history, "a list of steps")
        for entry in history:
            if not isinstance(entry, list | tuple) or len(entry) != 3:
                raise InvalidValue("history", entry, "(noise multiplier, sample rate, number of steps)")
            loaded._append(*entry)
        self.history = loaded.history


def register_with_opacus() -> None:
    """Make ``PrivacyEngine(accountant="certified")`` and ``create_accountant("certified")`` work in Opacus.

    It uses Opacus' own registry, and declares the class a virtual subclass of ``opacus.accountants.IAccountant``, as
    Python's abstract base classes allow. Calling it again changes nothing.

    Raises:
        DpboundsError: Opacus is not installed, has no registry, or has another accountant of that name.
    """
    try:
        from opacus.accountants import IAccountant, create_accountant, register_accountant
    except ModuleNotFoundError:
        raise DpboundsError("Opacus is not installed; install it with: pip install opacus") from None
    except ImportError:
        raise DpboundsError("this version of Opacus has no registry of accountants; install a newer one") from None
    IAccountant.register(CertifiedAccountant)
    try:
        registered = create_accountant(NAME)
    except ValueError:  # not registered yet
        register_accountant(NAME, CertifiedAccountant)
        return
    if not isinstance(registered, CertifiedAccountant):
        raise DpboundsError(f"Opacus already has another accountant named {NAME!r}: {type(registered).__name__}")
