"""The base class of mechanisms, and their composition: one after the other, or on disjoint parts of the data.

The class of a mechanism defines everything but its proof: its parameters, its name in files, its description, its
assumptions, and the properties (:class:`Trait`) that let it run inside a sample or a block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import InvalidValue, UnsupportedMechanism, demand, demand_one_of, shown
from dpbounds.expressions.exact import Direction, positive_integer
from dpbounds.privacy.mechanisms.parameters import parameters_of
from dpbounds.privacy.relations import Order, Relation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.bounds import Classes, Members
    from dpbounds.privacy.mechanisms.schemes.poisson import PoissonSampled
    from dpbounds.privacy.pairs import Pair, StepBound

Partition = Literal["record", "index"]
Writer = Callable[[Fraction, Direction], str]  # a number as text, rounded to that side where it has to be

CODE = "who wrote the code that computes and releases"
LOADER = "who wrote or configured the loading of records"
SETTINGS = "who chose the settings"


class Trait(StrEnum):
    """A property that a sampling scheme or a partition may require of the mechanisms inside it.

    A mechanism has none of them unless its class lists it: a new mechanism runs inside no other without a proof.
    """

    PUBLIC_RATE = "how likely a record takes part does not depend on how many others there are"
    ANY_RECORDS = "it runs on whichever records it is given, whatever their places in the dataset"
    UNDIVIDED = "it does not divide its records among blocks or steps by what they are or where they stand"
    UNALLOCATED = "it does not allocate records to steps in secret"
    BLIND = "a record that contributes nothing changes nothing"
    NOISY_SUM = "it adds noise to a sum, in which each record's term stays within the per-record bound"
    PER_RECORD = "its noise is given per unit of the per-record bound, not for a final distance"
    PRESENCE = "it is private where a record comes or goes"
    CERTAIN = "every record that it runs on takes part, none at random"
    ADDS_UP = "several of it, even chosen one by one, are as private as one with the sum of their squared shifts"


# of mechanisms that run on any records, however they are drawn, and draw nothing in secret themselves
ANYWHERE = frozenset((Trait.PUBLIC_RATE, Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED))
# of noise on a sum to which each record contributes within the per-record bound
ON_SUMS = ANYWHERE | {Trait.BLIND, Trait.PER_RECORD, Trait.PRESENCE, Trait.CERTAIN}


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption on a run, and who can confirm it."""

    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Loss:
    """A measure of the loss of releases of one family, which differ in one number only.

    Attributes:
        family: The common properties of the family.
        value: The number: the larger, the less private.
        adds_up: Whether only the sum of the numbers counts for several releases.
        name: The name of the number.
    """

    family: tuple[object, ...]
    value: Fraction = Fraction(0)
    adds_up: bool = False
    name: str = ""


class Mechanism(Displayed):
    """A randomised algorithm, described by the parameters that determine its privacy.

    ``m ** T`` is m run T times, ``a @ b`` is a and then b; each run may depend on the outputs of earlier ones, while
    the noise, the rates and the number of runs are fixed in advance.

    Attributes:
        name: The name in ledgers, certificates and on the command line; empty if it is not a single release.
        phrase: The noise in words, with the names of parameters in braces.
        whole: Whether it defines the records of its steps itself, so that it cannot be combined with a sampling scheme.
        chooses: Whether it selects one of several candidates by their scores.
        alone: Advice in the error that refuses it inside another mechanism.
        waits: Whether it waits for queries, which may depend on other releases in between (``interleaving.md``).
    """

    __slots__ = ()

    name: ClassVar[str] = ""
    phrase: ClassVar[str] = ""
    whole: ClassVar[bool] = False
    chooses: ClassVar[bool] = False
    alone: ClassVar[str] = (
        "run it on the whole dataset, or state its guarantee as PureDP, ApproximateDP, ZCDP or RenyiDP"
    )
    waits: ClassVar[bool] = False

    @property
    def inside(self) -> tuple[Mechanism, ...]:
        """The mechanisms that this one runs, each once."""
        return ()

    @property
    def traits(self) -> frozenset[Trait]:
        """The properties of this mechanism, without those of the mechanisms inside."""
        return frozenset()

    @property
    def noise(self) -> Mechanism:
        """The mechanism inside all sampling schemes."""
        return self

    def nested(self) -> Iterator[Mechanism]:
        """Yield this mechanism and all that are inside it."""
        yield self
        for each in self.inside:
            yield from each.nested()

    def resolved(self) -> Mechanism:
        """Return the same mechanism in simplest form: no sample of a sample, no sample at rate 1."""
        return self

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumptions on a run, without those of the mechanisms inside."""
        return ()

    def as_poisson(self) -> tuple[PoissonSampled, int] | None:
        """Return Poisson samples of the expected size of all batches, and how many; None where there are no batches."""
        return None

    def loss(self) -> Loss:
        """Return a measure of its privacy loss within its family; by default, its family is itself alone."""
        return Loss((self,))

    def divisor(self, records: int) -> Fraction:
        """Return the public number by which a sum over a batch is divided: the expected number of records."""
        return Fraction(records)

    def records_read(self, records: int) -> Fraction | None:
        """Return the average number of records, of ``records``, that one release uses; None if unknown."""
        return None

    @property
    def known_records(self) -> int | None:
        """The number of records, if its privacy depends on it; else None."""
        return None

    def dominated_by(self, order: Order) -> StepBound:
        """Return the pair that dominates one release on all the data, and pairs that attacks attain.

        Raises:
            UnsupportedMechanism: No pair is proven for it, or its guarantee is for another relation.
        """
        raise UnsupportedMechanism(f"no dominating pair is proven here for {shown(self)} ({order})")

    # --- classes of ordered neighbours

    def classes(self, order: Order) -> Classes:
        """Return the steps of each class of ordered neighbours; ``bounds.classes_of`` calls it, and resolves first."""
        return {(): ((self.dominated_by(order), 1),)}

    @property
    def group_key(self) -> Hashable:
        """Releases of a composition with equal keys have their classes in common, and are taken together."""
        return self

    def classes_together(self, members: Members, order: Order, most: int) -> list[Classes]:
        """Return the classes of unlike releases whose key is a class, with multiplicities; at most ``most`` in all."""
        raise NotImplementedError(f"{type(self).__name__} has its classes to itself")

    def in_block(self, index: int) -> Mechanism:
        """Return the mechanism on that block, where its key is a partition."""
        raise NotImplementedError(f"{type(self).__name__} runs on no partition as a whole")

    def group_pair(self, order: Order, k: int) -> Pair | None:
        """Return a pair that dominates one release for k > 1 records; None if a chain of neighbours is used."""
        return None

    def at_last_removal(self, k: int) -> Mechanism:
        """Return the mechanism for one more removed record after k - 1 removals.

        Raises:
            UnsupportedMechanism: No batch can be drawn from the remaining records.
        """
        return self

    def poisson_replaced(self, rate: Fraction) -> StepBound | None:
        """Return a replaced record on a Poisson sample, if more is known than the two guarantees; else None."""
        return None

    def shuffled_reports(self, reports: int) -> StepBound | None:
        """Return a replaced record's report among others in a secret order; None if only its largest loss is used."""
        return None

    # --- in words

    def in_words(self, write: Writer) -> str:
        """Describe the noise or the answer, without the batches."""
        return self.filled(self.phrase, write) if self.phrase else repr(self)

    @property
    def unit(self) -> str:
        """The unit of noise that is relative to one record's contribution; else empty."""
        return ""

    def drawn_in_words(self, write: Writer) -> str:
        """Return the records that it runs on."""
        return "the full batch"

    def releases_in_words(self, count: int, write: Writer) -> str:
        """Describe a number of releases and their records, without the noise."""
        many = "a single release" if count == 1 else f"{count} releases"
        return f"{many} on {self.drawn_in_words(write)}"

    def remark(self, relation: Relation) -> str:
        """Return a remark on what it spends under a relation, such as what gains nothing; empty if there is none."""
        return ""

    def draws(self, relation: Relation) -> str:
        """Describe how records come into batches, for a statement; empty if all records take part."""
        return ""

    @property
    def secret(self) -> str:
        """Description of what must stay secret; empty if nothing is drawn."""
        return ""

    def filled(self, phrase: str, write: Writer) -> str:
        """Return a phrase with the values of the parameters that it names."""
        told = {
            name: write(value, each.rounds) if isinstance(value := getattr(self, name), Fraction) else str(value)
            for name, each in parameters_of(self).items()
        }
        return phrase.format(**told)

    # --- as a record

    def _sheet(self) -> Sheet:
        rows = [(str(count), repr(part)) for part, count in parts_of(self)]
        return Sheet("mechanism", columns=("times", "release"), rows=rows)

    def _hold(self, **fields: object) -> None:
        """Set the fields of a frozen record, in its constructor."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __pow__(self, count: int) -> Composed:
        return Composed(((self, positive_integer(count, "steps")),))

    def __matmul__(self, other: Mechanism) -> Composed:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return Composed(((self, 1), (other, 1)))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Composed(Mechanism):
    """Several mechanisms one after the other, each with its count.

    Args:
        parts: (mechanism, count) pairs; counts are positive integers. Nested compositions are flattened.

    Raises:
        InvalidValue: There is no part, or a count is not a positive whole number.
    """

    parts: tuple[tuple[Mechanism, int], ...]

    @property
    def traits(self) -> frozenset[Trait]:
        """All properties: only those of the parts matter."""
        return frozenset(Trait)

    @property
    def inside(self) -> tuple[Mechanism, ...]:
        """The parts."""
        return tuple(part for part, _ in self.parts)

    def __init__(self, parts: tuple[tuple[Mechanism, int], ...]) -> None:
        given = listed_pairs(parts, "parts", "pairs of a mechanism and a count")
        if not given:
            raise InvalidValue("parts", parts, "at least one mechanism")
        self._hold(parts=tuple(_flattened(given)))

    def __repr__(self) -> str:
        told = [repr(part) if count == 1 else f"{part!r} ** {count}" for part, count in self.parts]
        return " @ ".join(told) if len(told) > 1 or self.parts[0][1] > 1 else f"{told[0]} ** 1"


def listed(values: object, name: str, wanted: str) -> tuple[Any, ...]:
    """Return the entries of an iterable as a list, or raise ``InvalidValue``."""
    try:
        found = iter(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else None
    except TypeError:  # an array without an axis says that it can be gone through
        found = None
    if found is None:
        raise InvalidValue(name, values, f"a list of {wanted}")
    return tuple(found)


def listed_pairs(values: object, name: str, wanted: str) -> tuple[tuple[Any, Any], ...]:
    """Return the pairs of a list or of a mapping, or ``InvalidValue``."""
    found = listed(values.items() if isinstance(values, Mapping) else values, name, wanted)
    for entry in found:
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise InvalidValue(name, entry, wanted)
    return tuple((first, second) for first, second in found)


def _flattened(parts: tuple[tuple[Any, Any], ...]) -> Iterator[tuple[Mechanism, int]]:
    for mechanism, given in parts:
        count = positive_integer(given, "steps")
        demand("parts", mechanism, Mechanism)
        if isinstance(mechanism, Composed):
            for inner, times in mechanism.parts:
                yield inner, positive_integer(times * count, "steps")
        else:
            yield mechanism, count


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class InParallel(Mechanism):
    """One mechanism per block of a partition of the data; each may depend on the other blocks' outputs.

    If it is used several times (``m ** T``, or the same object in ``a @ m @ b @ m``), the partition is the same each
    time. Two objects are two partitions, even if their blocks have equal mechanisms: an object is equal only to itself.

    Args:
        blocks: One mechanism per block, at least one.
        partition: "record" if a fixed function of the record's content determines its block; "index" if its public
            position does (then add-or-remove-one is not supported: a removal would shift the others).

    Raises:
        InvalidValue: There is no block, or no such kind of partition.
    """

    blocks: tuple[Mechanism, ...]
    partition: Partition

    @property
    def traits(self) -> frozenset[Trait]:
        """It divides the records, and is not a sum with noise."""
        return frozenset(
            (
                *(Trait.PUBLIC_RATE, Trait.ANY_RECORDS, Trait.UNALLOCATED, Trait.BLIND),
                *(Trait.PER_RECORD, Trait.PRESENCE, Trait.CERTAIN),
            )
        )

    @property
    def inside(self) -> tuple[Mechanism, ...]:
        """The mechanisms of the blocks."""
        return self.blocks

    @property
    def group_key(self) -> InParallel:
        """The partition."""
        return self

    def in_block(self, index: int) -> Mechanism:
        """Return the mechanism of the block."""
        return self.blocks[index]

    def __init__(self, blocks: tuple[Mechanism, ...], partition: Partition = "record") -> None:
        given = listed(blocks, "blocks", "mechanisms")
        if not given or not all(isinstance(block, Mechanism) for block in given):
            raise InvalidValue("blocks", given, "at least one mechanism, and nothing else")
        demand_one_of("partition", partition, get_args(Partition))
        self._hold(blocks=given, partition=partition)

    def records_read(self, records: int) -> Fraction | None:
        """Return the number of records: every record is in one block."""
        return Fraction(records)


def parts_of(mechanism: Mechanism) -> tuple[tuple[Mechanism, int], ...]:
    """Return the (mechanism, count) pairs of a composition; of any other mechanism, itself once."""
    return mechanism.parts if isinstance(mechanism, Composed) else ((mechanism, 1),)
