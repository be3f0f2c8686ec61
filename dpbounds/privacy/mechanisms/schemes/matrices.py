"""Sums over many steps with noise that is correlated from step to step: DP-FTRL, banded and Toeplitz factors, trees.

The release is C x + noise, row by row: x_l is the sum of the clipped vectors of step l, and each row has independent
Gaussian noise. Anything computed from it (prefix sums, models, estimates) is post-processing. The sensitivity depends
on C and on the steps in which a record may take part (``matrices.md``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

from dpbounds.errors import InvalidValue, demand_one_of
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.mechanisms.bounds import Classes
from dpbounds.privacy.mechanisms.core import CODE, LOADER, Assumption, Loss, Trait, Writer
from dpbounds.privacy.mechanisms.noises.gaussian import Gaussian
from dpbounds.privacy.mechanisms.parameters import (
    COUNT,
    NUMBER,
    WORD,
    parameter,
)
from dpbounds.privacy.mechanisms.schemes.encoders import (
    MATRIX,
    BinaryTree,
    Encoder,
    LowerTriangular,
    Toeplitz,
    is_encoder,
)
from dpbounds.privacy.mechanisms.schemes.sampling import InTurn
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive, positive_rate

Participation = Literal["single", "fixed-order", "minimum-separation", "cyclic-poisson", "balls-in-bins"]
Groups = Literal["position", "independent", "content"]

# the participations that a parameter belongs to, and whether they need it
_GROUPED: tuple[Participation, ...] = ("fixed-order", "minimum-separation", "cyclic-poisson", "balls-in-bins")
FITTING: dict[
    str, tuple[tuple[Participation, ...], tuple[Participation, ...]]
] = {  # participations that may have the parameter, and that must
    "separation": (_GROUPED, _GROUPED),
    "at_most": (("minimum-separation",), ()),
    "sample_rate": (("cyclic-poisson", "minimum-separation"), ("cyclic-poisson",)),
}

_PARTICIPATIONS = {
    "single": "each record takes part in one step at most",
    "fixed-order": "each record takes part in the steps of one group only",
    "minimum-separation": "of each record's steps any two are as far apart as said, and there are no more than said",
    "cyclic-poisson": "each record enters each step of its group independently with exactly the rate given, in secret, "
    "and no other step",
    "balls-in-bins": "each record draws its group on its own, uniformly and in secret, once, and takes part in the "
    "steps of that group only",
}
_GROUPS = {
    "position": "which group or steps these are follows from its public position",
    "independent": "which group or steps these are is drawn apart from what any record says",
    "content": "which group or steps these are follows from its own content alone",
}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MatrixMechanism(InTurn):
    """Release C x plus Gaussian noise row by row, x_l the sum of step l, which may depend on rows before.

    Args:
        noise_multiplier: Standard deviation of the noise of each row and coordinate, in units of the per-record l2
            bound of one step: the matrix is *not* scaled to sensitivity 1 before.
        matrix: C, as :class:`Toeplitz`, :class:`BinaryTree`, or rows of a lower triangular matrix.
        participation: The steps in which a record may take part. "single": one at most. "fixed-order": those of one
            group, the steps l with l mod ``separation`` the same, all of them. "minimum-separation": any that are
            ``separation`` apart or more, chosen in any way; with a ``sample_rate`` drawn, in secret: at each step that
            is ``separation`` or more behind its last one (or has none before it) with that probability. The certified ε
            holds for any choice of steps; only a Monte Carlo bound shows the gain of sampling (``probable_epsilon``).
            "cyclic-poisson": as in a fixed order, but in each of its steps with probability ``sample_rate`` only, drawn
            independently and in secret; the matrix must not have more bands than ``separation``. "balls-in-bins": as in
            a fixed order, the record's group being drawn uniformly, independently and in secret, once.
        separation: b; the number of groups.
        at_most: The largest number of steps of a record, with "minimum-separation"; as many as fit unless given.
        sample_rate: In (0, 1], with "cyclic-poisson", or with "minimum-separation" where steps are drawn.
        groups: How a record is assigned to its group, or to its steps: by its public "position"; by a draw that is
            "independent" of all content, and may be public; or by a function of its "content". The default is the
            position; a draw for "balls-in-bins", and for "minimum-separation" at a sample rate.

    Raises:
        InvalidValue: A value is out of its domain, or does not go with the others.

    >>> twice = MatrixMechanism(4, Toeplitz([1, "1/2"], steps=20), "fixed-order", separation=10)
    >>> twice.matrix.bands
    2
    """

    name = "matrix"
    whole = True

    noise_multiplier: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    matrix: Encoder = field(metadata=parameter(MATRIX))
    participation: Participation = field(metadata=parameter(WORD))
    separation: int | None = field(metadata=parameter(COUNT, optional=True))
    at_most: int | None = field(metadata=parameter(COUNT, optional=True))
    sample_rate: Fraction | None = field(metadata=parameter(NUMBER, optional=True))
    groups: Groups = field(metadata=parameter(WORD))

    def __init__(
        self,
        noise_multiplier: ExactLike,
        matrix: Encoder | Iterable[Iterable[ExactLike]],
        participation: Participation,
        *,
        separation: int | None = None,
        at_most: int | None = None,
        sample_rate: ExactLike | None = None,
        groups: Groups | None = None,
    ) -> None:
        demand_one_of("participation", participation, get_args(Participation))
        separated = participation == "minimum-separation" and sample_rate is not None
        drawn = participation == "balls-in-bins" or separated
        kind: Groups = ("independent" if drawn else "position") if groups is None else groups
        demand_one_of("groups", kind, ["independent"] if drawn else get_args(Groups))
        encoder = matrix if is_encoder(matrix) else LowerTriangular(matrix)  # type: ignore[arg-type]
        given = {"separation": separation, "at_most": at_most, "sample_rate": sample_rate}
        for name, (fitting, needed) in FITTING.items():
            if participation not in fitting and given[name] is not None:
                raise InvalidValue(name, given[name], f"left out with participation {participation}")
            if participation in needed and given[name] is None:
                raise InvalidValue(name, None, f"given with participation {participation}")
        if drawn and at_most is not None:
            raise InvalidValue("at_most", at_most, "left out where steps are drawn at a sample rate")
        self._hold(noise_multiplier=positive(noise_multiplier, "noise_multiplier"), matrix=encoder)
        self._hold(participation=participation, groups=kind)
        self._hold(separation=None if separation is None else positive_integer(separation, "separation"))
        self._hold(at_most=None if at_most is None else positive_integer(at_most, "at_most"))
        self._hold(sample_rate=None if sample_rate is None else positive_rate(sample_rate))

    def with_noise(self, noise_multiplier: ExactLike) -> MatrixMechanism:
        """Return the same with another noise multiplier.

        Raises:
            InvalidValue: It is not positive.
        """
        return MatrixMechanism(
            noise_multiplier,
            self.matrix,
            self.participation,
            separation=self.separation,
            at_most=self.at_most,
            sample_rate=self.sample_rate,
            groups=self.groups,
        )

    @property
    def noise(self) -> Gaussian:
        """The noise of one row."""
        return Gaussian(self.noise_multiplier)

    @property
    def batches(self) -> int:
        """One of each group."""
        return self.separation or 1

    def answers(self, count: int) -> int:
        """Return the rows of the matrix."""
        return count * self.matrix.steps

    @property
    def redraws(self) -> bool:
        """Groups are kept."""
        return False

    @property
    def one_by_one(self) -> bool:
        """Whether records draw their groups independently."""
        return self.participation == "balls-in-bins"

    @property
    def group_rate(self) -> Fraction | None:
        """The sample rate, where groups take turns."""
        return self.sample_rate if self.participation == "cyclic-poisson" else None

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties: the matrix mechanism has its own participation pattern."""
        return frozenset((Trait.PUBLIC_RATE, Trait.ANY_RECORDS, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    def classes(self, order: Order) -> Classes:
        """Return one class, with the steps that the matrix and the participation make (``matrices.md``)."""
        from dpbounds.privacy.mechanisms.schemes.streams import stream_steps  # arrays and integer matrices

        return {(): stream_steps(self, order)}

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Describe the contribution of a record and the dependence of the steps."""
        return (
            Assumption(
                CODE,
                "each record adds, in the steps that are said and in no others, a vector that is bounded one by one; a "
                "step looks at the rows before its own only, and each row has independent, ideal noise",
            ),
            Assumption(LOADER, f"{_PARTICIPATIONS[self.participation]}; {_GROUPS[self.groups]}"),
        )

    def loss(self) -> Loss:
        """Return 1 / noise multiplier as the loss; the family is fixed by all other parameters."""
        return Loss((self.with_noise(1),), 1 / self.noise_multiplier)

    def in_words(self, write: Writer) -> str:
        """Return the noise of one row."""
        return self.noise.in_words(write)

    def drawn_in_words(self, write: Writer) -> str:
        """Return the matrix, and in which steps a record takes part."""
        how = "drawn independently" if self.groups == "independent" else f"by {self.groups}"
        return f"{self.matrix.steps} steps with {self._noise_in_words()}, {self._steps_in_words(write)} ({how})"

    def _noise_in_words(self) -> str:
        match self.matrix:
            case BinaryTree():
                return "correlated noise by a binary tree"
            case Toeplitz(bands=1):
                return "independent noise"
            case Toeplitz(bands=bands):
                return f"correlated noise by a Toeplitz matrix of {bands} bands"
            case LowerTriangular(bands=bands):
                return f"correlated noise by a matrix of {bands} {'band' if bands == 1 else 'bands'}"

    def _steps_in_words(self, write: Writer) -> str:
        apart, chance = self.separation, "" if self.sample_rate is None else write(self.sample_rate, "up")
        match self.participation:
            case "single":
                return "a record in one step at most"
            case "fixed-order":
                return f"a record in every step of one of {apart} groups"
            case "balls-in-bins":
                return f"a record in every step of one of {apart} groups, drawn in secret"
            case "cyclic-poisson":
                return f"a record in the steps of one of {apart} groups with probability {chance} each"
        most = "" if self.at_most is None else f"{self.at_most} at most, "
        return f"a record in steps {most}{apart} or more apart{chance and f', drawn with probability {chance} each'}"

    def releases_in_words(self, count: int, write: Writer) -> str:
        """Describe the run, or ``count`` independent runs."""
        return f"{'' if count == 1 else f'{count} times '}{self.drawn_in_words(write)}"

    def draws(self, relation: Relation) -> str:
        """Describe the participation of records."""
        if self.participation == "balls-in-bins":
            return "that every record draws its group by itself, uniformly and once"
        return "that records take part as stated (where there is a rate, by draws that stay secret)"

    @property
    def secret(self) -> str:
        """The participation of records, if it is drawn."""
        if self.participation in ("balls-in-bins", "cyclic-poisson"):
            return "which records took part in which step, and how many"
        return ""

    def divisor(self, records: int) -> Fraction:
        """Return the size of the largest group, ⌈n/b⌉, times its sample rate; n/b if groups are drawn."""
        groups = self.separation or 1
        if self.participation == "balls-in-bins":
            return Fraction(records, groups)
        return -(-records // groups) * (self.sample_rate or Fraction(1))
