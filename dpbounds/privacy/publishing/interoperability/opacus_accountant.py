"""An accountant with the interface of Opacus' own, whose ε is proven.

It works without Opacus. ``register_with_opacus(sampling="poisson")`` makes it known there by Opacus' own registry; then

    engine = opacus.PrivacyEngine(accountant="certified")

An accountant sees noise and a rate, and neither the data loader nor the divisor: what it says holds where the user is
right in what ``sampling="poisson"`` declares. ``dpbounds.opacus.PrivacyEngine`` looks instead of believing.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Protocol

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.publishing.interoperability.opacus_sampler import demand_known_sampler, drawn_rate
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import promised_delta

NAME = "certified"
POISSON = "poisson"


class Optimizer(Protocol):
    """The attributes of Opacus' ``DPOptimizer`` that a step needs."""

    noise_multiplier: float

    @property
    def accumulated_iterations(self) -> int:
        """The number of batches of the step."""


class CertifiedAccountant:
    """An accountant for Opacus: records the steps of DP-SGD, and proves their ε.

    Args:
        sampling: "poisson" declares: every step is one Gaussian release on a Poisson sample of Opacus'
            ``UniformWithReplacementSampler`` at the recorded rate, and rate, divisor (the expected batch size) and
            clipping norm are public constants. Opacus computes the first two from the number of records, which is data
            under add-or-remove-one, and draws no Poisson sample with ``poisson_sampling=False``.
        relation: The neighbouring relation if a method names none; Opacus' own accountants have add-or-remove-one only.

    Attributes:
        sampling: As declared.
        relation: As given.
        history: (noise multiplier, sample rate, number of steps) of consecutive equal steps, as Opacus keeps them. The
            rate is the requested one; the account uses ``drawn_rate`` of it.

    Raises:
        InvalidValue: Nothing, or something else, is declared, or there is no such relation.

    >>> accountant = CertifiedAccountant(sampling="poisson")
    >>> for _ in range(100):
    ...     accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    >>> accountant.history, len(accountant)
    ([(1.0, 0.01, 100)], 100)
    >>> round(accountant.get_epsilon(delta=1e-5), 6)
    0.718039
    """

    def __init__(self, sampling: str | None = None, *, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE) -> None:
        self.sampling = _declared(sampling)
        self.relation = as_relation(relation)
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record one step.

        Args:
            noise_multiplier: Noise in units of the clipping norm, at least 0. A step without noise is recorded; ε is
                infinite from then on.
            sample_rate: In (0, 1].

        Raises:
            InvalidValue: A value is not allowed.
        """
        self._append(noise_multiplier, sample_rate, 1)

    def _append(self, noise_multiplier: float, sample_rate: float, steps: int) -> None:
        if exact(noise_multiplier, "noise_multiplier") < 0:
            raise InvalidValue("noise_multiplier", noise_multiplier, "at least 0")
        drawn_rate(sample_rate)
        count = positive_integer(steps, "steps")
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            count += self.history.pop()[2]
        self.history.append((noise_multiplier, sample_rate, count))

    @property
    def composition(self) -> Mechanism | None:
        """Return all steps as one mechanism, at the rates that were drawn at; None before the first step.

        Raises:
            InvalidValue: A step had no noise, and so no guarantee.
        """
        return _composition(tuple(self.history)) if self.history else None

    def asked(self, relation: str | Relation | None) -> Relation:
        """Return the relation of a question: the given one, else the accountant's."""
        return self.relation if relation is None else as_relation(relation)

    def account(self, delta: ExactLike, relation: str | Relation | None = None) -> Account:
        """Account for all steps so far at δ, with a proof; the proof is cached until the next step.

        Args:
            delta: In (0, 1).
            relation: None for the accountant's.

        Raises:
            InvalidValue: δ or the relation is not allowed, there is no step yet, or one had no noise.
            NotCertified: The proof did not close.
        """
        if not self.history:
            raise InvalidValue("number of steps", 0, "at least 1", "nothing was released yet")
        return _account(tuple(self.history), promised_delta(delta), self.asked(relation))

    def get_epsilon(
        self,
        delta: ExactLike,
        alphas: object = None,
        *,
        eps_error: object = None,
        delta_error: object = None,
        relation: str | Relation | None = None,
    ) -> float:
        """Return the proven upper bound of ε(δ) of all steps so far.

        Args:
            delta: In (0, 1).
            alphas: Accepted, like the next two, because Opacus' accountants have them; without effect.
            eps_error: As above.
            delta_error: As above.
            relation: None for the accountant's.

        Returns:
            A float, rounded up: 0 before the first step, infinity after a step without noise.

        Raises:
            InvalidValue: δ or the relation is not allowed.
            NotCertified: The proof did not close.
        """
        failure, neighbours = promised_delta(delta), self.asked(relation)
        if any(z == 0 for z, _, _ in self.history):
            return math.inf
        return self.account(failure, neighbours).enclosure.upper if self.history else 0.0

    def __len__(self) -> int:
        """Number of steps taken so far."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """Return the name of this accountant in Opacus."""
        return NAME

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Optimizer], None]:
        """Return the function that Opacus' optimiser calls at every step.

        It raises an error for steps that are not one Gaussian release on a Poisson sample.

        Args:
            sample_rate: The rate of one batch, in (0, 1].

        Raises:
            UnsupportedMechanism: (when called) Several batches were accumulated for one step, or the clipping norm
                adapts to the data.
        """

        def hook(optimizer: Optimizer) -> None:
            batches = optimizer.accumulated_iterations
            if batches != 1:
                raise UnsupportedMechanism(
                    f"{batches} batches were accumulated for one step: a record that is in several of them counts "
                    "several times, so that this is not a Poisson sample; take one batch per step, and split it with "
                    "opacus.utils.batch_memory_manager.BatchMemoryManager if memory is short"
                )
            if hasattr(optimizer, "unclipped_num_std"):
                raise UnsupportedMechanism(
                    "adaptive clipping of Opacus publishes a noisy count divided by the number of records that were "
                    "drawn, which is data, too: use dpbounds.opacus.PrivacyEngine, which accounts for a count of its "
                    "own, or clipping='flat' or 'per_layer'"
                )
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate)

        return hook

    def state_dict(self, destination: MutableMapping[str, object] | None = None) -> MutableMapping[str, object]:
        """Return the state for ``load_state_dict``, in ``destination`` if one is given."""
        state: MutableMapping[str, object] = OrderedDict() if destination is None else destination
        state["history"] = list(self.history)
        state["mechanism"] = self.mechanism()
        state["sampling"] = self.sampling
        return state

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Load the history of a ``state_dict`` (also one that went through JSON), in place of the present one.

        Raises:
            InvalidValue: The state is incomplete, belongs to another accountant, does not contain the sampling scheme,
                or a step in it is not allowed.
        """
        if not state_dict or not {"history", "mechanism"} <= set(state_dict):
            raise InvalidValue("state_dict", state_dict, "a mapping with the keys history and mechanism")
        if state_dict["mechanism"] != self.mechanism():
            raise InvalidValue(
                "mechanism", state_dict["mechanism"], self.mechanism(), "load it into its own accountant"
            )
        if state_dict.get("sampling") != self.sampling:
            raise InvalidValue(
                "sampling",
                state_dict.get("sampling"),
                repr(self.sampling),
                "states of older versions do not say it: where it is true of all their steps, add the key",
            )
        history = state_dict["history"]
        loaded = CertifiedAccountant(POISSON, relation=self.relation)  # this constructor checks every entry
        if not isinstance(history, list | tuple):
            raise InvalidValue("history", history, "a list of steps")
        for entry in history:
            if not isinstance(entry, list | tuple) or len(entry) != 3:
                raise InvalidValue("history", entry, "(noise multiplier, sample rate, number of steps)")
            loaded._append(*entry)
        self.history = loaded.history


def _declared(sampling: str | None) -> str:
    if not isinstance(sampling, str) or sampling != POISSON:
        raise InvalidValue(
            "sampling",
            sampling,
            repr(POISSON),
            "an accountant does not see the data loader: declare that every step is a Poisson sample at a public rate "
            "with a public divisor, or let dpbounds.opacus.PrivacyEngine look",
        )
    return sampling


def _composition(history: tuple[tuple[float, float, int], ...]) -> Mechanism:
    return Composed(tuple((PoissonSampled(Gaussian(z), drawn_rate(rate)), steps) for z, rate, steps in history))


@lru_cache(maxsize=64)
def _account(history: tuple[tuple[float, float, int], ...], delta: Fraction, relation: Relation) -> Account:
    return account(_composition(history), delta=delta, relation=relation)


def register_with_opacus(sampling: str | None = None) -> None:
    """Make ``PrivacyEngine(accountant="certified")`` and ``create_accountant("certified")`` work in Opacus.

    It uses Opacus' own registry, and declares the class a virtual subclass of ``opacus.accountants.IAccountant``, as
    Python's abstract base classes allow. Calling it again changes nothing.

    Args:
        sampling: "poisson", see ``CertifiedAccountant``: Opacus' own engine does not report whether this is so.

    Raises:
        InvalidValue: Nothing, or something else, is declared.
        UnsupportedMechanism: The installed Opacus or PyTorch draws Poisson samples in a way that is not supported.
        DpboundsError: Opacus is not installed, has no registry, or has another accountant of that name.
    """
    declared = _declared(sampling)
    try:
        from opacus.accountants import IAccountant, create_accountant, register_accountant
    except ModuleNotFoundError:
        raise DpboundsError("Opacus is not installed; install it with: pip install 'dpbounds[opacus]'") from None
    except ImportError:
        raise DpboundsError("this version of Opacus has no registry of accountants; install a newer one") from None
    demand_known_sampler(1 / 3)
    IAccountant.register(CertifiedAccountant)
    try:
        registered = create_accountant(NAME)
    except ValueError:  # not registered yet
        register_accountant(NAME, partial(CertifiedAccountant, declared))
        return
    if not isinstance(registered, CertifiedAccountant):
        raise DpboundsError(f"Opacus already has another accountant named {NAME!r}: {type(registered).__name__}")
