"""The parts of a statement: formulas, conditions, a privacy guarantee, errata, notes.

Formulas are SymPy expressions in the quantities of the symbol table (or of the paper), with exact rationals only. Three
kinds of numbers are distinguished: a ``Bound`` has explicit constants and can be evaluated and verified; a ``Rate``
holds up to an unstated constant; a ``Parameter`` is prescribed by the statement.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import attrs
from attrs.converters import optional

from dpbounds.errors import MISSING, InvalidValue
from dpbounds.expressions.exact import exact
from dpbounds.expressions.symbols import Unit
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import Assumption, named
from dpbounds.theorems.quantities import q, symbols
from dpbounds.theorems.vocabulary import Claim, Kind, Severity, Side, Status

if TYPE_CHECKING:
    from sympy import Expr, Symbol
    from sympy.logic.boolalg import Boolean

    from dpbounds.privacy.mechanisms import Mechanism

BASES = ("loss", "length", "samples")
UNSAID = Unit()  # this object and no other: the unit of a part that does not say one
DIGITS = 30  # in the last of which what becomes a mechanism is rounded

_Item = TypeVar("_Item")


def several(given: _Item | Iterable[_Item], kind: type[_Item]) -> tuple[_Item, ...]:
    """One item, or several, as a tuple."""
    return (given,) if isinstance(given, kind) else tuple(given)  # type: ignore[arg-type]  # an iterable, else a TypeError


@attrs.frozen
class Condition:
    """A predicate that must hold for a statement, or a part of it, to apply, and its purpose."""

    holds: Boolean | bool
    why: str = ""

    @property
    def symbols(self) -> set[Symbol]:
        """Every quantity that occurs."""
        return getattr(self.holds, "free_symbols", set())


Conditions: TypeAlias = Condition | Iterable[Condition] | Callable[[], Iterable[Condition]]


def conditions(given: Conditions) -> tuple[Condition, ...]:
    """Return conditions, given as one, several, or the result of a function."""
    return several(given() if callable(given) else given, Condition)


def names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names, or one text that holds them."""
    return tuple(given.split()) if isinstance(given, str) else tuple(given)


def assumed(given: str | Assumption | Iterable[Assumption]) -> tuple[Assumption, ...]:
    """Assumptions, or one; those of ``assumptions`` may be given by their names, in one text."""
    return tuple(map(named, given.split(", "))) if isinstance(given, str) else several(given, Assumption)


def _formula(given: Expr | Callable[[], Expr]) -> Expr:
    """Return a formula, or the result of a function (a symbol can be called, too, and is none)."""
    from sympy import Basic

    return given() if callable(given) and not isinstance(given, Basic) else given


def _maybe_formula(given: Expr | Callable[[], Expr] | None) -> Expr | None:
    return None if given is None else _formula(given)


@attrs.frozen
class Part:
    """A named formula of a statement.

    Quantities are given as symbols, or as one text of names and letters of the symbol table: ``"n epsilon"``.

    Attributes:
        name: The name of the part: "bound" or "rate" by default.
        unit: The unit of its value; a test finds formulas that scale differently. By default the unit of the name or of
            the metric (see ``Theorem.usual_unit``).
        bases: The units under whose rescaling it is checked. Without "samples" where log(1/δ) and ε meet in one sum,
            or where sampling from a population is what is bounded.
        increasing_in: Quantities in which the value never falls, where ``monotonicity`` cannot derive that.
        decreasing_in: Quantities in which it never rises, likewise.
        side: The direction in which this part bounds the metric. A part with its own side is compared as a separate
            claim; by default the statement's.
        status: The status of this part; by default that of the statement.
        relies_on: The ids that this part's proof uses; by default those of the statement.
        assumptions: Further assumptions of this part.
        under: The privacy that this part is about, if it is not (ε, δ)-DP: a lower bound for ε-DP binds no others.
    """

    kind: ClassVar[Kind]
    usual_name: ClassVar[str] = ""

    formula: Expr = attrs.field(converter=_formula)
    name: str = attrs.field()
    meaning: str = ""
    unit: Unit = attrs.field(default=UNSAID, kw_only=True)
    conditions: tuple[Condition, ...] = attrs.field(default=(), converter=conditions, kw_only=True)
    bases: tuple[str, ...] = attrs.field(default=BASES, converter=names, kw_only=True)
    increasing_in: tuple[Symbol, ...] = attrs.field(default=(), converter=symbols, kw_only=True)
    decreasing_in: tuple[Symbol, ...] = attrs.field(default=(), converter=symbols, kw_only=True)
    side: Side | None = attrs.field(default=None, converter=optional(Side), kw_only=True)
    status: Status | None = attrs.field(default=None, converter=optional(Status), kw_only=True)
    relies_on: tuple[str, ...] | None = attrs.field(default=None, converter=optional(names), kw_only=True)
    assumptions: tuple[Assumption, ...] = attrs.field(default=(), converter=assumed, kw_only=True)
    under: Claim | None = attrs.field(default=None, converter=optional(Claim), kw_only=True)

    @name.default
    def _(self) -> str:
        if not self.usual_name:
            raise InvalidValue("name", MISSING, "the name under which a parameter is asked for")
        return self.usual_name

    @property
    def expression(self) -> Expr:
        """The formula."""
        return self.formula

    @property
    def restored_expression(self) -> Expr | None:
        """The formula with omitted factors restored, if they are known."""
        return getattr(self, "restored", None)

    @property
    def is_order(self) -> bool:
        """Whether the formula holds up to an unstated constant."""
        return self.kind is Kind.RATE or getattr(self, "up_to_constant", False)


@attrs.frozen
class Bound(Part):
    """A bound with explicit constants."""

    kind = Kind.BOUND
    usual_name = "bound"


@attrs.frozen
class Rate(Part):
    """An order of growth: it holds up to a constant that is not stated.

    Attributes:
        hides: Quantities that the paper takes as constants (as 1). Because of them the printed formula does not scale.
        restored: The same rate with those quantities put back, where they could be derived; equal to the formula where
            each of them is 1.
        logs_hidden: Whether powers of logarithms are left out, too (Õ).
    """

    kind = Kind.RATE
    usual_name = "rate"
    hides: tuple[Symbol, ...] = attrs.field(default=(), converter=symbols, kw_only=True)
    restored: Expr | None = attrs.field(default=None, converter=_maybe_formula, kw_only=True)
    logs_hidden: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class Parameter(Part):
    """A quantity that the statement prescribes: noise, a number of steps, a step size, a threshold, a radius.

    Attributes:
        up_to_constant: Printed as an order of growth.
    """

    kind = Kind.PARAMETER
    up_to_constant: bool = attrs.field(default=False, kw_only=True)
    hides: tuple[Symbol, ...] = attrs.field(default=(), converter=symbols, kw_only=True)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The values at which a mechanism is composed, for a relation, rounded to the safe side.

    Noise that a statement prescribes is rarely a rational number. It is rounded down (and a rate or a sensitivity up)
    in its 30th digit before it becomes a mechanism, so that what is computed is never less than what is spent.
    """

    values: Mapping[str, Any]
    relation: Relation

    def __getitem__(self, symbol: Symbol) -> Fraction:
        """The exact value of a quantity."""
        if symbol.name not in self.values:
            raise InvalidValue(symbol.name, MISSING, "a value: the mechanism needs it")
        return exact(self.values[symbol.name], symbol.name)

    def down(self, expression: Expr) -> Fraction:
        """Return a formula's value, rounded down: for noise."""
        from dpbounds.expressions.evaluation import evaluate

        return Fraction(evaluate(expression, self.values, digits=DIGITS).exact_lower)

    def up(self, expression: Expr) -> Fraction:
        """Return a formula's value, rounded up: for privacy losses."""
        from dpbounds.expressions.evaluation import evaluate

        return Fraction(evaluate(expression, self.values, digits=DIGITS).exact_upper)

    def count(self, expression: Expr) -> int:
        """Return a formula's value as a number of steps, rounded up, at least 1."""
        value = self.up(expression)
        return max(1, -(-value.numerator // value.denominator))


@attrs.frozen
class Privacy:
    """The claimed privacy, and the mechanism from which the privacy spent is computed.

    Attributes:
        mechanism: Takes the values of all quantities and composes the algorithm's releases, each with its explicit
            sensitivity: the noise is given per unit of the per-record bound, so that the relation supplies the factor.
        needs: Quantities without which the mechanism is not determined (a constant that the paper leaves open among
            them).
        claim: The kind of promise; ε, δ or ρ are those of the symbol table. By default the one in those of them that
            are needed.
        guess: Of releases on samples: about which ρ one may have, as a formula in ``gaussian_mu``, the μ of the one
            Gaussian that keeps the same budget. A search for parameters goes by it; nothing rests on it. Such a
            statement prescribes a ``noise_multiplier`` in proportion to 1/√ρ.
    """

    mechanism: Callable[[Numbers], Mechanism]
    needs: tuple[Symbol, ...] = attrs.field(converter=symbols)
    claim: Claim = attrs.field(converter=Claim)
    relation: Relation = attrs.field(default=Relation.REPLACE_ONE, converter=Relation)
    guess: Expr | None = None

    @claim.default
    def _(self) -> Claim:
        if q.epsilon in self.needs:
            return Claim.APPROXIMATE if q.delta in self.needs else Claim.PURE
        return Claim.ZCDP if q.rho in self.needs else Claim.TOTAL_VARIATION


@attrs.frozen(kw_only=True)
class Erratum:
    """An error in a paper, and its evidence.

    One rule distinguishes an erratum from a note. An erratum is an error in the published version, taken literally: a
    claim or a formula that fails somewhere in the range that is given for it, or that displays its constants and does
    not have the unit of what it bounds; a step of a proof that does not give what is concluded; an account of privacy
    that does not cover what is released. Everything else is a note: conventions, looseness, damage of the text at hand,
    parts that were not read, and slips that mislead no reader (a letter, an index, a reference). A logarithm in an
    order of growth is read as at least 1. An error is recorded once, where it arises; the statements that inherit it
    are in ``also``.

    Attributes:
        evidence: The test that derives it or exhibits the example: ``file.py::test``, in the paper's folder
            of ``tests/papers``, or of ``proofs`` where it does not use the package.
        where: The place, if it is not the statement itself.
        relation: The relation under which it is one, where that matters.
        also: Ids of other statements with the same fault.
    """

    printed: str
    right: str
    severity: Severity = attrs.field(converter=Severity)
    evidence: str
    where: str = ""
    survives: str = ""
    relation: Relation | None = attrs.field(default=None, converter=optional(Relation))
    also: tuple[str, ...] = attrs.field(default=(), converter=names)


@attrs.frozen
class Note:
    """A remark that is not an erratum: a convention, a reading of a damaged text, a looseness."""

    text: str


def notes(given: str | Note | Iterable[str | Note]) -> tuple[Note, ...]:
    r"""Notes: a text is one, or a list of several whose lines begin with hyphens.

    >>> [note.text for note in notes("- first,\n  wrapped\n- second")]
    ['first, wrapped', 'second']
    """
    if isinstance(given, str):
        text = textwrap.dedent(given).strip()
        items = text.removeprefix("- ").split("\n- ") if text.startswith("- ") else [text]
        return tuple(Note(" ".join(item.split())) for item in items)
    return (given,) if isinstance(given, Note) else tuple(one for each in given for one in notes(each))


def parts(given: Part | Iterable[Part]) -> tuple[Part, ...]:
    """Parts, or one."""
    return several(given, Part)


def errata(given: Erratum | Iterable[Erratum]) -> tuple[Erratum, ...]:
    """Errata, or one."""
    return several(given, Erratum)
