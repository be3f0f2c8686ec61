"""An engine with the interface of Opacus' own, which refuses everything that its accountant does not support.

Opacus' ``PrivacyEngine`` accounts every loader as if it were a Poisson sample at rate 1 / len(loader), and computes
this rate and the divisor from the data. This one takes a plain loader, makes a Poisson loader of it at a rate that
follows from public numbers, accounts the rate that the installed sampler draws at, and watches that every step is one
release on one whole sample. ``neighbours.md`` derives what is guaranteed, and for whom. ``schemes.py`` has other draws
than Poisson samples.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import opacus
import torch
from opacus.optimizers import DPOptimizer

from dpbounds.algorithms.ledger import DescribedRelease, Ledger
from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism, demand_one_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, brief, exact, positive_integer, to_decimal, to_float
from dpbounds.opacus.clipping import multiplier_of_gradients, watched_kind
from dpbounds.opacus.forward import ForwardWatch
from dpbounds.opacus.optimizers import FiniteGhost, root_above, sum_of_squares
from dpbounds.opacus.options import demand_decided, demand_plain_loader, trains_on_workers
from dpbounds.opacus.schemes import SCHEMES, SchemeAccounting, SchemeSampler, Way
from dpbounds.opacus.watching import PoissonLoader, PoissonSampler, Watch, own_generator
from dpbounds.opacus.workers import ShareSampler, Workers, on_workers
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.budgets.calibration import Calibration, calibrate
from dpbounds.privacy.budgets.cheaper import cheaper_epsilon, cheaper_noise
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled, parts_of
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling as Scheme
from dpbounds.privacy.publishing import certificates, statements
from dpbounds.privacy.publishing.interoperability.opacus_accountant import NAME, POISSON, CertifiedAccountant
from dpbounds.privacy.publishing.interoperability.opacus_sampler import demand_known_sampler, drawn_rate
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.values import positive, promised_delta

_ADVICE_SECONDS = Fraction(1)  # time limit of the comparison with Poisson samples
_ADVICE_DIGITS = 4
_RAISED = 12  # how often noise is raised: by what is missing, then twice as much, ...
_NOISE_DRAWN = (
    "pseudo-random Gaussian numbers of PyTorch, in the precision of the parameters, from generators that are seeded by "
    "the operating system unless you gave your own; with a seed, the noise can be subtracted"
)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sample rate, divisor and steps of a plain loader, for a public number of records.

    Attributes:
        sample_rate: As given to Opacus' sampler: 1 / steps, a double.
        steps: Number of steps of an epoch.
        divisor: The expected batch size, by which the noisy sum is divided.
        scheme: The sampling scheme; None for Poisson samples.
    """

    sample_rate: float
    steps: int
    divisor: int
    scheme: Scheme | None = None


@dataclass(frozen=True, slots=True)
class _Making:
    """The decisions of ``make_private``, for the methods that Opacus calls to make loader and optimiser.

    Attributes:
        sampling: Rate, divisor and steps.
        watch: The watch of both.
        kind: The class of the optimiser.
        workers: The workers that train together; None for one worker.
    """

    sampling: Sampling
    watch: Watch
    kind: type
    workers: Workers | None


class PrivacyEngine(opacus.PrivacyEngine):  # type: ignore[misc]  # Opacus has no types
    """Opacus' engine with certified accounting; for methods that are not listed here, see Opacus.

    Args:
        accountant: "certified", the only one.
        secure_mode: False, the only one.
        relation: The neighbouring relation if a method names none: "add-or-remove-one", "replace-one" or
            "zero-out-one".
        public_dataset_size: A public number of records; required for "add-or-remove-one", under which the true number
            is private. It need not be the true one: use a round number near it. It is compared with the true one for
            "truncated-poisson" only, as an upper bound (an error would reveal it). Rate, divisor and the steps of an
            epoch follow from it. None, for "replace-one", takes the number of records, which neighbours then share.
        sampling: "poisson"; or "truncated-poisson" (of a larger sample a uniform choice of ``max_batch_size`` records
            is kept; a public number of records is an upper bound on it), "without-replacement" (batches of one size),
            "shuffled" (for each epoch, cut into batches of one size; the rest is left out), both for relations that
            keep the number of records, "random-allocation" (every record in one random batch of every epoch, or in
            ``participations`` of them) or "balls-in-bins" (the same batch in all epochs, which spends far more). The
            last three account whole epochs: the noise multiplier is the same within an epoch, and for "balls-in-bins"
            in all of them.
        max_batch_size: The largest batch, with "truncated-poisson".
        participations: The number of batches of an epoch that contain a record, with "random-allocation"; an epoch has
            this number of times as many steps.

    Raises:
        InvalidValue: An option is not allowed, or no public number is given for add-or-remove-one.
        UnsupportedMechanism: The installed Opacus or PyTorch draws Poisson samples in an unknown way.

    Warns:
        UserWarning: Once, at the first calibration or account: Poisson samples need less noise, or spend a smaller ε.
    """

    accountant: EngineAccountant

    def __init__(
        self,
        *,
        accountant: str = NAME,
        secure_mode: bool = False,
        relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
        public_dataset_size: int | None = None,
        sampling: str = POISSON,
        max_batch_size: int | None = None,
        participations: int = 1,
    ) -> None:
        demand_one_of("sampling", sampling, SCHEMES)
        if accountant != NAME:
            raise InvalidValue("accountant", accountant, NAME, "for another, use Opacus' own engine")
        if secure_mode:
            raise InvalidValue(
                "secure_mode",
                True,
                "False",
                "torchcsprng, which it needs, draws uniform numbers in a way that is not supported; give a "
                "noise_generator, and a loader with a generator, seeded from the operating system",
            )
        kept: EngineAccountant
        if sampling == POISSON:
            if max_batch_size is not None:
                raise InvalidValue("max_batch_size", max_batch_size, "None with sampling='poisson'")
            if participations != 1:
                raise InvalidValue("participations", participations, "1 with sampling='poisson'")
            kept = EngineAccountant(as_relation(relation), public_dataset_size)
            demand_known_sampler(1 / 3)
        else:
            kept = SchemeAccountant(
                Way(sampling, max_batch_size, participations), as_relation(relation), public_dataset_size
            )
        super().__init__(accountant="rdp")
        self.accountant = kept
        self._generators: list[Any] = []
        self._watches: list[Watch] = []
        self._making: _Making | None = None
        self._compared = False  # with Poisson samples

    # --- what is made private -----------------------------------------------------------------------------------------

    def make_private(self, **options: Any) -> Any:
        """Make model, optimiser and loader private; options and results as for Opacus' ``make_private``.

        Options that Opacus does not have are ``augmentations`` (copies of a record, whose gradients are averaged before
        they are clipped), and ``clipping="automatic"`` with ``stability``. ``options.py`` lists all of them. On several
        workers, each calls this with the same options and the same records in the same order.

        The loader must be a plain one, ``DataLoader(dataset, batch_size=b)``, shuffled or not. With n the public number
        of records, a pass over what is returned has ⌈n / b⌉ steps (⌊n / b⌋ with ``drop_last``), the rate is 1 over
        their number, and the divisor n over it, rounded down: what Opacus computes from the true n. With participations
        n is the number of records times these.

        Raises:
            InvalidValue: An option is not allowed.
            UnsupportedMechanism: An option, or what the loader does, has no proven analysis here.
        """
        demand_decided(options)
        self._demand_one_dataset(options["data_loader"].dataset)
        sampling = self._sampling(options["data_loader"])
        kept = self.accountant
        records = len(options["data_loader"].dataset)
        if isinstance(kept, SchemeAccountant):
            kept.demand_accountable(records)
        self._demand_secret_generators(options["data_loader"].generator, options.get("noise_generator"))
        mode, clipping = options.get("grad_sample_mode", "hooks"), options.get("clipping", "flat")
        ghost, kind, workers = mode == "ghost", watched_kind(clipping=clipping, grad_sample_mode=mode), None
        if clipping == "adaptive":
            multiplier_of_gradients(options["noise_multiplier"], options["unclipped_num_std"])
        if trains_on_workers(options["module"]):
            workers, kind = self._workers(options["data_loader"]), on_workers(kind)
        if ghost and not options.get("batch_first", True):
            raise InvalidValue("batch_first", False, "True with grad_sample_mode='ghost'")
        watch = Watch(self.accountant.generator_states, self.accountant.broken, self._account_step)
        watch.copies = positive_integer(options.pop("augmentations", 1), "augmentations")
        self._making = _Making(sampling, watch, kind, workers)
        try:
            made = super().make_private(**options)
        finally:
            self._making = None
        if isinstance(kept, SchemeAccountant):
            kept.records = kept.accounted_for(records)
        module, optimizer = made[0], made[1]
        model = options["module"]
        model = getattr(model, "_module", model)
        watch.forward = ForwardWatch(model, options.get("batch_first", True), watch.refuse)
        self._watches.append(watch)
        if ghost:
            FiniteGhost(module, model, watch)
        optimizer.module = module
        if workers is not None:
            optimizer.workers, optimizer.records, watch.adds_noise = workers, records, workers.rank == 0
        optimizer.step_hook = None  # Opacus' own, which would account a second time, and at one rate
        return made

    def _account_step(self, optimizer: Any) -> None:
        """Account a step at the rate at which its batch was drawn."""
        kept, watch = self.accountant, optimizer.watch
        if isinstance(kept, SchemeAccountant) and watch.token is not kept.open:
            raise UnsupportedMechanism("a step of a pass that is over, as another began: passes are taken in turn")
        kept.get_optimizer_hook_fn(sample_rate=watch.rate)(optimizer)

    def make_private_with_epsilon(
        self, *, target_epsilon: ExactLike, target_delta: ExactLike, epochs: ExactLike, **options: Any
    ) -> Any:
        """Make model, optimiser and loader private with the least noise for a budget, by certified calibration.

        Where that proves δ at the target, and ε at δ comes out a little above it, noise is raised until it does not.

        Args:
            target_epsilon: At least 0, under the engine's relation. It bounds all steps of this engine: those that were
                taken before, too.
            target_delta: In (0, 1).
            epochs: Passes over the loader, rounded up to whole steps.
            **options: Of ``make_private``, without ``noise_multiplier``.

        Raises:
            InvalidValue: As ``make_private``; or no noise keeps the budget, of which earlier steps may have spent too
                much.
            NotCertified: The proof did not close.
        """
        demand_decided({**options, "noise_multiplier": 1})
        sampling = self._sampling(options["data_loader"])
        planned = self._planned(sampling, positive(epochs, "epochs"), len(options["data_loader"].dataset))
        relation = self.accountant.asked(None)
        past = self.accountant.composition
        if past is not None and not self.enclosure(target_delta).less_than(exact(target_epsilon, "target_epsilon")):
            spent = self.get_epsilon(target_delta)
            raise InvalidValue("target_epsilon", target_epsilon, f"more than {spent}", "the steps so far have spent it")
        before = () if past is None else tuple(parts_of(past))

        def training(z: Fraction) -> Mechanism:
            return Composed((*before, *parts_of(planned(z))))

        found = calibrate(training, target_epsilon, target_delta, relation)
        if past is None:
            self._compare_noise(found, sampling, positive(epochs, "epochs"))
        return self.make_private(**options, noise_multiplier=_noise_that_reports(training, found))

    def _planned(self, sampling: Sampling, epochs: Fraction, held: int) -> Callable[[Fraction], Mechanism]:
        """Return the privacy spent by passes over a loader, as a function of the noise."""
        kept, steps = self.accountant, math.ceil(epochs * sampling.steps)
        if not isinstance(kept, SchemeAccountant):
            return lambda z: _on_poisson_samples(z, sampling.sample_rate, steps)
        count, records = math.ceil(epochs) if kept.way.by_passes else steps, kept.accounted_for(held)
        return lambda z: kept.way.spent(z, sampling.steps, count, records)

    def _sampling(self, loader: Any) -> Sampling:
        demand_plain_loader(loader)
        kept = self.accountant
        public = kept.public_dataset_size
        records, size = len(loader.dataset) if public is None else public, loader.batch_size
        taken = records * (kept.way.participations if isinstance(kept, SchemeAccountant) else 1)
        steps = taken // size if loader.drop_last else -(-taken // size)
        if steps == 0:
            raise InvalidValue("batch_size", size, f"at most {records} with drop_last", "no batch would be left")
        scheme = None
        if isinstance(kept, SchemeAccountant):
            scheme = kept.way.scheme(Gaussian(1), steps, kept.accounted_for(len(loader.dataset)))
        return Sampling(1 / steps, steps, taken // steps, scheme)

    def _workers(self, loader: Any) -> Workers:
        """Return the workers that train together; an error where their samples would not be one Poisson sample."""
        if isinstance(self.accountant, SchemeAccountant):
            raise UnsupportedMechanism(f"several workers with sampling={self.accountant.way.name!r}: take 'poisson'")
        if loader.generator is not None:
            raise InvalidValue(
                "generator of the loader",
                "given",
                "None on several workers",
                "with one seed they would draw the same positions of their shares",
            )
        return Workers.present()

    def _demand_one_dataset(self, dataset: object) -> None:
        if self.dataset is not None and self.dataset is not dataset:
            raise UnsupportedMechanism(
                "this engine was used with another dataset, and would account a record of both only once; use one "
                "engine for each dataset, for all of its loaders"
            )

    def _demand_secret_generators(self, *given: Any) -> None:
        """Refuse generators of samples and noise that draw the same numbers, or numbers that everybody can draw."""
        for generator in (each for each in given if each is not None):
            if generator.initial_seed() == torch.Generator().initial_seed():
                raise InvalidValue(
                    "seed of a generator",
                    generator.initial_seed(),
                    "a secret one",
                    "it is the one that PyTorch starts from, which everybody knows: call generator.seed()",
                )
            for other in (torch.default_generator, *self._generators):
                alike = generator.device.type == other.device.type and generator.initial_seed() == other.initial_seed()
                if alike and generator is not other:
                    raise InvalidValue(
                        "seed of a generator",
                        generator.initial_seed(),
                        "one of its own for each generator (samples, noise, PyTorch's default)",
                        "with the same seed they draw the same numbers",
                    )
            self._generators.append(generator)

    # Opacus' make_private calls these two -------------------------------------------------------------------------

    def _prepare_data_loader(self, data_loader: Any, **options: Any) -> Any:
        assert self._making is not None
        sampling, watch, workers = self._making.sampling, self._making.watch, self._making.workers
        made = super()._prepare_data_loader(data_loader, **{**options, "distributed": False})
        sampler: PoissonSampler | SchemeSampler
        if sampling.scheme is None:
            given: dict[str, Any] = {
                "num_samples": len(made.dataset),
                "sample_rate": sampling.sample_rate,
                "generator": made.generator or own_generator(),
                "steps": sampling.steps,
            }
            sampler = PoissonSampler(**given) if workers is None else ShareSampler(workers=workers, **given)
        else:
            assert isinstance(self.accountant, SchemeAccountant)
            n, told = len(made.dataset), self.accountant
            sampler = SchemeSampler(n, sampling.steps, sampling.scheme, told, made.generator or own_generator())
        sampler.watch, watch.ahead = watch, made.num_workers > 0
        return PoissonLoader(made, sampler)

    def _prepare_optimizer(self, *, optimizer: Any, noise_generator: Any = None, **options: Any) -> Any:
        assert self._making is not None
        sampling, watch, kind = self._making.sampling, self._making.watch, self._making.kind
        for decided in ("clipping", "distributed", "grad_sample_mode"):
            del options[decided]
        plain = optimizer.original_optimizer if isinstance(optimizer, DPOptimizer) else optimizer
        options["expected_batch_size"] = sampling.divisor
        if noise_generator is None:
            noise_generator = own_generator(plain.param_groups[0]["params"][0].device)
        made = kind(plain, generator=noise_generator, secure_mode=False, **options)
        if hasattr(made, "max_grad_norms"):  # Opacus' own root is rounded to single precision, downwards as it happens
            made.max_grad_norm = root_above(sum_of_squares(made.max_grad_norms))
        made.watched_by(watch, sampling.divisor)
        return made

    # --- comparison with Poisson samples ---------------------------------------------------------------------------

    def _demand_comparison(self) -> bool:
        """Return whether Poisson samples are worth a comparison, which is then the only one of this engine."""
        kept = self.accountant
        wanted = isinstance(kept, SchemeAccountant) and kept.way.participations == 1 and not self._compared
        self._compared = True
        return wanted

    def _compare_noise(self, found: Calibration, sampling: Sampling, epochs: Fraction) -> None:
        """Warn where Poisson samples of the same expected size need less noise for the budget."""
        if not self._demand_comparison():
            return
        steps = math.ceil(epochs * sampling.steps)
        value = cheaper_noise(
            found, lambda z: _on_poisson_samples(z, sampling.sample_rate, steps), seconds=_ADVICE_SECONDS
        )
        if value is not None:
            self._advise("noise multiplier", found.value, value, found.relation)

    def _compare_epsilon(self, spent: float, delta: ExactLike, relation: Relation) -> None:
        """Warn where the same steps on Poisson samples would have spent a smaller ε."""
        kept = self.accountant
        if not kept.history or math.isinf(spent) or not self._demand_comparison():
            return
        assert isinstance(kept, SchemeAccountant)
        instead = Composed(
            tuple(
                (_on_poisson_samples(z, rate, 1), count * (round(1 / rate) if kept.way.by_passes else 1))
                for z, rate, count in kept.history
            )
        )
        value = cheaper_epsilon(spent, instead, promised_delta(delta), relation, seconds=_ADVICE_SECONDS)
        if value is not None:
            self._advise("epsilon", spent, value, relation)

    def _advise(self, name: str, here: Fraction | float, there: Fraction, relation: Relation) -> None:
        """Warn that Poisson samples have a smaller number, and name the engine that draws them."""
        kept = self.accountant
        assert isinstance(kept, SchemeAccountant)
        given = "" if kept.public_dataset_size is None else f", public_dataset_size={kept.public_dataset_size}"
        numbers = [to_decimal(exact(value, name), _ADVICE_DIGITS, "up") for value in (here, there)]
        warnings.warn(
            f"sampling={kept.way.name!r}: {name} {numbers[0]}. With Poisson samples of the same expected size the "
            f"same training has {name} {numbers[1]} under {relation}: "
            f"PrivacyEngine(sampling={POISSON!r}, relation={str(relation)!r}{given})",
            stacklevel=4,
        )

    # --- what was spent -----------------------------------------------------------------------------------------------

    def account(self, delta: ExactLike, relation: str | Relation | None = None) -> Account:
        """Account for all steps so far at δ, with a proof.

        Args:
            delta: In (0, 1).
            relation: None for the engine's.

        Raises:
            InvalidValue: δ or the relation is not allowed, there is no step yet, or one had no noise.
            UnsupportedMechanism: Add-or-remove-one, where no public number of records was given.
            NotCertified: The proof did not close.
        """
        found = self.accountant.account(delta, relation)
        self._compare_epsilon(found.enclosure.upper, delta, found.relation)
        return found

    def enclosure(self, delta: ExactLike, relation: str | Relation | None = None) -> Enclosure:
        """Proven ends of the smallest ε; errors as for ``account``, but exactly 0 before the first step."""
        if not len(self.accountant):
            self.get_epsilon(delta, relation)
            return Enclosure.exactly(0)
        return self.account(delta, relation).enclosure

    def get_epsilon(self, delta: ExactLike, relation: str | Relation | None = None) -> float:
        """Return the proven upper bound of ε, rounded up; 0 before the first step, infinity after one without noise."""
        spent = self.accountant.get_epsilon(delta, relation=relation)
        self._compare_epsilon(spent, delta, self.accountant.asked(relation))
        return spent

    def statement(self, delta: ExactLike, relation: str | Relation | None = None) -> str:
        """Return a paragraph fit to publish; errors as for ``account``."""
        found = self.account(delta, relation)
        public = self.accountant.public_dataset_size
        known = "the number of records, which neighbours share" if public is None else f"the public number {public}"
        how = "the rate is the one that Opacus' sampler draws at"
        if isinstance(self.accountant, SchemeAccountant):
            how = "batches are drawn by a pseudo-random generator that PyTorch's has seeded"
        return " ".join(
            (
                statements.statement(found, noise_drawn=_NOISE_DRAWN),
                f"Rate and divisor come from {known}; {how}.",
                "Each record is taken to give one index of the dataset.",
                self._tested(),
            )
        )

    def _tested(self) -> str:
        """Describe the tests of the gradients, and the conditions left to the user."""
        watches = [watch.forward for watch in self._watches]
        models, losses = sum(each.tested for each in watches), sum(each.losses_tested for each in watches)
        if models and losses:
            said = f"on {models} batches, and that of its loss on {losses}"
        elif models:
            said = f"on {models} batches; of its loss, which is not a module of torch.nn, that is assumed"
        else:
            return "It was not possible to test that a record's gradient depends on no other record: it is assumed."
        return f"That the model's output for a record depends on no other record was tested {said}."

    def certificate(self, delta: ExactLike, relation: str | Relation | None = None) -> dict[str, object]:
        """Return the certificate for ``dpbounds check``, as JSON holds it; errors as for ``account``."""
        return certificates.certificate(self.account(delta, relation))

    def ledger(self) -> Ledger:
        """Return the releases so far: ``to_json`` writes the project's ledger file.

        Raises:
            UnsupportedMechanism: The run has no guarantee, as it was refused.
        """
        self.accountant.demand_guarantee()
        past = self.accountant.composition
        return Ledger(() if past is None else tuple(DescribedRelease(*part) for part in parts_of(past)))


class EngineAccountant(CertifiedAccountant):
    """The accountant of an engine, with the number of records from which the rates were computed.

    Attributes:
        relation: The neighbouring relation if a method names none.
        public_dataset_size: None where rates and divisors came from the number of records.
        generator_states: Digests of the states in which generators drew samples or noise.
        broken: Reasons for which the run has no guarantee; empty for a run that has one.
    """

    def __init__(self, relation: Relation, public_dataset_size: int | None) -> None:
        super().__init__(POISSON, relation=relation)
        self.public_dataset_size = (
            None if public_dataset_size is None else positive_integer(public_dataset_size, "public_dataset_size")
        )
        self.generator_states: set[str] = set()
        self.broken: list[str] = []
        self.asked(None)

    def demand_guarantee(self) -> None:
        """Raise ``UnsupportedMechanism`` if the run was refused for a reason that concerns its releases."""
        if self.broken:
            raise UnsupportedMechanism(f"this run has no guarantee, as it was refused: {self.broken[0]}")

    def asked(self, relation: str | Relation | None) -> Relation:
        """Return the relation of a question; an error if it protects the number that rates were computed from."""
        found = super().asked(relation)
        self.demand_guarantee()
        if found.counts_records and self.public_dataset_size is None:
            raise InvalidValue(
                "public_dataset_size",
                None,
                "a public number of records for add-or-remove-one",
                "rate and divisor would come from the number of records, which it protects: give a round number near "
                "it that you may publish, or ask for relation='replace-one' or 'zero-out-one'",
            )
        return found

    def state_dict(self, destination: MutableMapping[str, object] | None = None) -> MutableMapping[str, object]:
        """Return Opacus' state, the public number of records, and the states that no generator may have again."""
        state = super().state_dict(destination)
        state["public_dataset_size"] = self.public_dataset_size
        state["generator_states"] = sorted(self.generator_states)
        state["broken"] = list(self.broken)
        return state

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Load a state; ``InvalidValue`` also if the rates were computed from another number of records."""
        found = state_dict.get("public_dataset_size", "nothing") if state_dict else None
        if state_dict and found != self.public_dataset_size:
            raise InvalidValue(
                "public_dataset_size", found, str(self.public_dataset_size), "make the engine as it was when saved"
            )
        states = state_dict.get("generator_states") if state_dict else []
        if not isinstance(states, list | tuple):
            raise InvalidValue("generator_states", states, "a list of digests", "save the checkpoint with this engine")
        super().load_state_dict(state_dict)
        self.generator_states.update(map(str, states))
        broken = state_dict.get("broken", [])
        self.broken += map(str, broken if isinstance(broken, list | tuple) else [broken])


class SchemeAccountant(SchemeAccounting, EngineAccountant):
    """The accountant of an engine that draws no Poisson samples; ``history`` counts steps, or passes."""

    def __init__(self, way: Way, relation: Relation, public_dataset_size: int | None) -> None:
        self.way = way  # the first question is asked in what follows
        super().__init__(relation, public_dataset_size)
        self.set_up(way)
        self.asked(None)


# --- accounts and calibration -----------------------------------------------------------------------------------------


def _on_poisson_samples(noise_multiplier: Fraction | float, sample_rate: float, steps: int) -> Composed:
    """Return steps on Poisson samples, at the rate at which Opacus' sampler draws them."""
    return PoissonSampled(Gaussian(noise_multiplier), drawn_rate(sample_rate)) ** steps


def _noise_that_reports(training: Callable[[Fraction], Mechanism], found: Calibration) -> float:
    """At least the noise that was found, such that ε at the target δ, as it will be reported, is within the target."""
    noise, target = to_float(found.value, "up"), found.target_epsilon
    for attempt in range(_RAISED):
        spent = account(training(Fraction(noise)), delta=found.target_delta, relation=found.relation).enclosure
        if spent.at_most(target):
            return noise
        excess = (exact(spent.upper, "epsilon") - target) / target if target else Fraction(1, 2**20)
        noise = to_float(Fraction(noise) * (1 + min(excess, 1) * 2**attempt), "up")
    raise NotCertified(f"no noise was found that reports at most the target, {brief(target)}: ask for a larger one")
