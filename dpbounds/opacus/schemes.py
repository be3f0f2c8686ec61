"""Sampling schemes of the engine other than Poisson sampling: a loader that draws the batches, and their accounts.

Each scheme draws its own batches, and tests compare them with the distribution that is accounted; the bits come from
the loader's generator. An epoch that is left early counts as a whole one, which publishes less. ``neighbours.md``,
section 6, derives what is guaranteed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
import torch
from torch.utils.data import Sampler

from dpbounds.errors import InvalidValue, UnsupportedMechanism, demand_one_of
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.opacus.watching import Watch
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    Composed,
    Gaussian,
    Mechanism,
    RandomlyAllocated,
    SampledWithoutReplacement,
    Shuffled,
    TruncatedPoisson,
)
from dpbounds.privacy.mechanisms.schemes.drawing import Generator, Rows, drawable_rate, in_turn
from dpbounds.privacy.mechanisms.schemes.sampling import Dealing, Sampling
from dpbounds.privacy.publishing.interoperability.opacus_accountant import POISSON
from dpbounds.privacy.relations import Relation, as_relation

TRUNCATED, FIXED_SIZE, SHUFFLED, FRESH_BINS, KEPT_BINS = (
    "truncated-poisson",
    "without-replacement",
    "shuffled",
    "random-allocation",
    "balls-in-bins",
)
SCHEMES = (POISSON, TRUNCATED, FIXED_SIZE, SHUFFLED, FRESH_BINS, KEPT_BINS)
_SHARED = (FIXED_SIZE, SHUFFLED)  # the number of records is a parameter, so that neighbours must share it


@dataclass(frozen=True, slots=True)
class Way:
    """A sampling scheme, without the number of steps of an epoch.

    Attributes:
        name: One of ``SCHEMES``, without Poisson samples.
        max_batch_size: B, with "truncated-poisson"; else None.
        participations: K, in how many batches of a pass every record is; other than 1 with "random-allocation" alone.
    """

    name: str
    max_batch_size: int | None = None
    participations: int = 1

    def __post_init__(self) -> None:
        demand_one_of("sampling", self.name, SCHEMES)
        if (self.max_batch_size is None) == (self.name == TRUNCATED):
            allowed = f"a number with sampling={TRUNCATED!r}, and None else"
            raise InvalidValue("max_batch_size", self.max_batch_size, allowed)
        if self.max_batch_size is not None:
            positive_integer(self.max_batch_size, "max_batch_size")
        if positive_integer(self.participations, "participations") > 1 and self.name != FRESH_BINS:
            raise InvalidValue("participations", self.participations, f"1, but with sampling={FRESH_BINS!r}")

    @property
    def by_passes(self) -> bool:
        """Whether batches of a pass depend on each other, so that passes are counted, and not steps."""
        return self.name in (SHUFFLED, FRESH_BINS, KEPT_BINS)

    def scheme(self, noise: Mechanism, steps: int, records: int, passes: int = 1) -> Sampling:
        """Return the scheme of one step, or epoch; for bins, ``passes`` epochs are one release."""
        match self.name:
            case "truncated-poisson":
                assert self.max_batch_size is not None
                return TruncatedPoisson(noise, drawable_rate(Fraction(1, steps)), self.max_batch_size, records)
            case "without-replacement":
                return SampledWithoutReplacement(noise, records // steps, records)
            case "shuffled":
                return Shuffled(noise, steps)
        if self.participations > 1:
            return RandomlyAllocated(noise, steps, self.participations)
        return BallsInBins(noise, steps, passes, redraw=self.name == FRESH_BINS)

    def spent(self, noise_multiplier: Fraction | float, steps: int, count: int, records: int) -> Mechanism:
        """Return ``count`` steps, or epochs, as one mechanism."""
        in_bins = self.name in (FRESH_BINS, KEPT_BINS) and self.participations == 1
        scheme = self.scheme(Gaussian(noise_multiplier), steps, records, passes=count)
        return scheme if in_bins else scheme**count


class SchemeAccounting:
    """Accounting of such schemes: a mixin that comes before ``EngineAccountant``.

    Attributes:
        way: The sampling scheme.
        records: From how many, as accounted; None before a loader was made private.
    """

    way: Way
    records: int | None
    relation: Relation
    public_dataset_size: int | None
    history: list[tuple[float, float, int]]

    def set_up(self, way: Way) -> None:
        """Initialise the account, before the first question."""
        if way.name in _SHARED and self.public_dataset_size is not None:
            raise InvalidValue(
                "public_dataset_size",
                self.public_dataset_size,
                f"None with sampling={way.name!r}",
                "batches of one size depend on the number of records, which neighbours have to share",
            )
        self.way, self.records, self.sampling = way, None, way.name
        self.open: object = None  # the pass that is going on
        self._begun, self._inside = False, (0.0, 0.0)
        self._loaded = False

    def accounted_for(self, records: int) -> int:
        """Return the number of records of the account, for a loader with ``records`` records."""
        return records if self.public_dataset_size is None else self.public_dataset_size

    def demand_accountable(self, records: int) -> None:
        """Raise unless one more loader, with ``records`` records, can be accounted for with the earlier releases."""
        n = self.accounted_for(records)
        if self.way.name == TRUNCATED and records > n:
            raise InvalidValue("public_dataset_size", n, f"an upper bound on the number of records, {records}")
        if self.way.name == KEPT_BINS and (self.records is not None or self._loaded):
            raise UnsupportedMechanism(
                "fixed bins belong to one loader and one attempt, as their records are not stored: "
                f"take a new engine, or sampling={FRESH_BINS!r}"
            )
        if self.records is not None and self.records != n:
            raise InvalidValue("number of records", n, f"{self.records}, as the steps so far were accounted for")

    def begin(self, token: object) -> None:
        """A pass over a loader begins, and every other one is over."""
        self.open, self._begun = token, True

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record one step; for dependent batches, the whole epoch at its first step.

        Raises:
            UnsupportedMechanism: The noise has changed within a pass whose batches depend on each other.
        """
        asked = float(noise_multiplier), sample_rate
        if self.way.by_passes and not self._begun:
            if asked != self._inside:
                raise UnsupportedMechanism(
                    f"the noise changed within a pass, of which sampling={self.way.name!r} accounts for the whole: "
                    "change it between passes"
                )
            return
        if self.way.name == KEPT_BINS and self.history and self.history[-1][:2] != asked:
            raise UnsupportedMechanism("all passes over bins that are kept are one release, with one noise multiplier")
        super().step(noise_multiplier=noise_multiplier, sample_rate=sample_rate)  # type: ignore[misc]
        self._begun, self._inside = False, asked

    @property
    def composition(self) -> Mechanism | None:
        """All steps so far as one mechanism; None before the first."""
        if not self.history:
            return None
        assert self.records is not None  # a loader was made private
        n = self.records
        return Composed(tuple((self.way.spent(z, round(1 / rate), count, n), 1) for z, rate, count in self.history))

    def account(self, delta: ExactLike, relation: str | Relation | None = None) -> Account:
        """Account for all steps so far at δ, with a proof."""
        past, neighbours = self.composition, self.asked(relation)
        if past is None:
            raise InvalidValue("number of steps", 0, "at least 1", "nothing was released yet")
        return account(past, delta=delta, relation=neighbours)

    def asked(self, relation: str | Relation | None) -> Relation:
        """Return the relation; for truncated samples an upper bound on the number of records is a part of it."""
        wanted = self.relation if relation is None else as_relation(relation)
        if self.way.name in _SHARED and wanted.counts_records:
            raise InvalidValue(
                "relation",
                wanted,
                f"'replace-one' or 'zero-out-one' with sampling={self.way.name!r}",
                "batches of one size depend on the number of records, which neighbours have to share; so leave out "
                "public_dataset_size",
            )
        found: Relation = super().asked(relation)  # type: ignore[misc]
        if self.way.name == TRUNCATED and self.public_dataset_size and not found.counts_records:
            raise InvalidValue(
                "relation", found, "add-or-remove-one with a public bound on the number of records, which others share"
            )
        return found

    def state_dict(self, destination: MutableMapping[str, object] | None = None) -> MutableMapping[str, object]:
        """Return the state, with the sampling scheme."""
        state: MutableMapping[str, object] = super().state_dict(destination)  # type: ignore[misc]
        state["way"] = {**asdict(self.way), "records": self.records}
        return state

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Load a state; ``InvalidValue`` also if batches were drawn otherwise, or from other numbers of records."""
        found = state_dict.get("way") if state_dict else None
        if isinstance(found, Mapping):
            found = {"participations": 1, **found}  # earlier checkpoints have no entry for it
        records = found.get("records") if isinstance(found, Mapping) else None
        if found != {**asdict(self.way), "records": records} or self.records not in (None, records):
            raise InvalidValue("way", found, str(asdict(self.way)), "make the engine as it was when saved")
        super().load_state_dict(state_dict)  # type: ignore[misc]
        if self.history:
            if self.way.name == KEPT_BINS:
                raise UnsupportedMechanism(
                    "cannot resume: a checkpoint does not store fixed bins. The spent budget is that of "
                    f"the engine that saved it; to be able to go on take sampling={FRESH_BINS!r}"
                )
            self.records, self._loaded = records, True
        self._begun = False


class SchemeSampler(Sampler[list[int]]):
    """Sampler of batches of records, one epoch at a time; a watch is notified of their sizes.

    Args:
        records: The number of records.
        steps: The number of steps of an epoch.
        scheme: The sampling scheme.
        accounting: The accountant, which is notified when an epoch begins.
        generator: A generator of PyTorch; None for a new one. An epoch takes 256 bits of it.
    """

    def __init__(
        self,
        records: int,
        steps: int,
        scheme: Sampling,
        accounting: SchemeAccounting,
        generator: torch.Generator | None,
    ) -> None:
        self.num_samples, self.sample_rate, self.steps = records, 1 / steps, steps
        self.scheme, self.accounting, self.generator = scheme, accounting, generator
        self.watch: Watch
        self._kept: Rows | None = None
        self._made = True

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_made", False) and name in ("num_samples", "sample_rate", "steps", "scheme", "accounting"):
            raise UnsupportedMechanism(
                f"{name} of a sampler was changed, but make_private fixed it and accounts for it; call make_private "
                "for another loader"
            )
        super().__setattr__(name, value)

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        self.watch.begin()
        token = object()
        self.watch.token = token
        self.accounting.begin(token)
        self.watch.draws_from(self.generator)
        for batch in self._batches():
            if self.accounting.open is not token:
                raise UnsupportedMechanism("another pass began while this one went on: passes are released in turn")
            self.watch.drawn.append((len(batch), self.sample_rate))
            yield batch
        if not self.watch.ahead:
            self.watch.end()

    def _batches(self) -> Iterator[list[int]]:
        bits = torch.randint(0, 2**32, (8,), generator=self.generator, dtype=torch.int64).tolist()
        source = Generator(np.random.Generator(np.random.PCG64(np.random.SeedSequence(bits))))
        if isinstance(self.scheme, Dealing):
            if self._kept is None or self.scheme.redraws:
                self._kept = self.scheme.deal(self.num_samples, source)
            batches: Iterable[Rows] = in_turn(self._kept, self.steps)
        else:
            draws = (self.scheme.draw(self.num_samples, source) for _ in range(self.steps))
            batches = itertools.chain.from_iterable(draws)
        for batch in batches:
            yield batch.tolist()
