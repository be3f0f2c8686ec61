"""Records of statements: plain and frozen, one per numbered item of a paper.

A file of the library holds one ``Theorem`` named ``THEOREM``, written by its paper, which supplies what all of them
share: ``THEOREM = PAPER.theorem(title="...", ...)``. The id is the name of the file, the claim its docstring. Words may
be given as text (``status="proved"``), and one item where several are possible.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
from attrs.converters import optional

from dpbounds.errors import MISSING, InvalidValue, nearest
from dpbounds.expressions.symbols import Domain, Quantity, Unit, by_name
from dpbounds.privacy.relations import Relation
from dpbounds.theorems import parts as _parts
from dpbounds.theorems.assumptions import Assumption, named
from dpbounds.theorems.index import EXPLICIT, ID, item_of
from dpbounds.theorems.parts import UNSAID, Bound, Condition, Conditions, Erratum, Note, Parameter, Part, Privacy, Rate
from dpbounds.theorems.quantities import symbols
from dpbounds.theorems.vocabulary import Claim, Kind, Metric, Mode, Read, Severity, Side, Status

if TYPE_CHECKING:
    from sympy import Symbol

    from dpbounds.theorems.evaluation import Evaluation

__all__ = [
    "Bound", "Claim", "Condition", "Conditions", "Erratum", "Kind", "Metric", "Mode", "Note", "Paper", "Parameter",
    "Part", "Privacy", "Rate", "Read", "Severity", "Side", "Status", "Theorem",
]  # fmt: skip

POSITIVE = Domain(Fraction(0))
COUNT = Domain(Fraction(1), lower_open=False, whole=True)
NONNEGATIVE = Domain(Fraction(0), lower_open=False)
AT_LEAST_ONE = Domain(Fraction(1), lower_open=False)
FRACTION = Domain(Fraction(0), Fraction(1), upper_open=False)
PROBABILITY = Domain(Fraction(0), Fraction(1))
REAL = Domain()
PURE, LOSS, LENGTH, GRADIENT, CURVATURE = Unit(), Unit(loss=1), Unit(length=1), Unit(1, -1), Unit(1, -2)
SAMPLES, PER_SAMPLE = Unit(samples=1), Unit(samples=-1)
_UNITS = {
    Metric.GRADIENT_NORM: GRADIENT,
    Metric.POPULATION_GRADIENT_NORM: GRADIENT,
    Metric.PROJECTED_GRADIENT_NORM: GRADIENT,
    Metric.SOSP: GRADIENT,
    Metric.POPULATION_SOSP: GRADIENT,
    Metric.FRANK_WOLFE_GAP: LOSS,
    Metric.EXCESS_EMPIRICAL_RISK: LOSS,
    Metric.EXCESS_POPULATION_RISK: LOSS,
}
_OF_PRIVACY = {"epsilon", "delta", "rho", "step_epsilon", "gaussian_mu", "noise_multiplier"}
_ITEM = re.compile(
    r"(definition|lemma|theorem|corollary|proposition|remark|algorithm|equation|table|figure|assumption|claim|fact|"
    r"section|step|appendix|experiment)-([a-z]?\.?[0-9.]+[a-z]?|[a-z])"
)
_Value = TypeVar("_Value")


@attrs.frozen
class Paper:
    """The common fields of the statements of one paper.

    Attributes:
        id: The part of their ids before the item.
        relation: The neighbouring relation of those that speak of privacy.
        sampling: The sampling scheme of its algorithms.
        read: The part of the source that was read.
    """

    id: str
    relation: Relation | None = attrs.field(default=Relation.REPLACE_ONE, converter=optional(Relation), kw_only=True)
    sampling: str = attrs.field(default="", kw_only=True)
    read: Read = attrs.field(default=Read.FULL_TEXT, converter=Read, kw_only=True)
    _own: dict[str, Quantity] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    _assumed: dict[str, Assumption] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    def quantity(self, name: str, letter: str, meaning: str, *, domain: Domain = POSITIVE, unit: Unit = PURE) -> Symbol:
        """Return a quantity of this paper that the symbol table does not have.

        Raises:
            InvalidValue: The symbol table, or another statement of the paper, has one of that name.
        """
        from sympy import Symbol

        assumptions = {"integer": True} if domain.whole else {}
        if domain.lower is None or domain.lower < 0:
            assumptions["real"] = True
        else:
            assumptions["nonnegative" if domain.lower == 0 and not domain.lower_open else "positive"] = True
        record = Quantity(name, Symbol(name, **assumptions), domain, unit, meaning, letter)
        if name in by_name() or self._own.setdefault(name, record) != record:
            raise InvalidValue("quantity", repr(name), f"a name that neither the symbol table nor {self.id} has yet")
        return record.symbol

    def borrowed(self, other: Paper, name: str) -> Symbol:
        """Return a quantity of another paper, in the same sense."""
        return self._own.setdefault(name, other._own[name]).symbol

    def assumption(self, name: str, text: str, *stronger_than: Assumption, holds_for: str) -> Assumption:
        """Return an assumption of this paper that ``assumptions`` does not have."""
        return self._assumed.setdefault(name, Assumption(name, text, stronger_than, holds_for))

    def theorem(self, *, bounds: str = "", assumptions: Any = (), **said: Any) -> Theorem:
        """Return a statement of this paper; fields with usual values may be omitted.

        The file that calls this gives the id, by its name (``item_of``), and the claim, by its docstring, unless the
        call gives them.

        Args:
            bounds: Metric, side and mode as one text, in any order: ``"gradient-norm, expectation"``. Without a side
                it is an upper bound.
            assumptions: Assumptions, or their names in one text, those of this paper among them.
            **said: Fields of ``Theorem``; the id without the paper.

        Raises:
            InvalidValue: A word is none of the vocabulary's, an assumption is not known, or a notebook, which has no
                file name, gives no id or no statement.
        """
        if isinstance(assumptions, str):
            assumptions = tuple(self._assumed.get(name) or named(name) for name in assumptions.split(", "))
        kinds = {str(word): kind.__name__.lower() for kind in (Metric, Side, Mode) for word in kind}
        words = bounds.split(", ") if bounds else ()
        for word in words:
            if word not in kinds:
                near = ", ".join(nearest(word, kinds) or Side)
                raise InvalidValue("bounds", repr(word), f"a metric, a side or a mode, such as {near}")
        sense = {kinds[word]: word for word in words}
        fields = {**_said_by_file(sys._getframe(1).f_globals), **sense, **said}
        for field in {"id", "statement"} - fields.keys():
            raise InvalidValue(field, MISSING, "given where no file gives it by its name and its docstring")
        return Theorem(source=self, assumptions=assumptions, **fields)

    def same_as(self, other: Theorem, **differing: Any) -> Theorem:
        """Return a statement that another paper also makes: its record, with the changes given here or by the file."""
        of_file = _said_by_file(sys._getframe(1).f_globals)
        said = {name: value for name, value in of_file.items() if value is not None}
        return attrs.evolve(other, source=self, **{**said, **differing})

    def own(self, symbols: set[Symbol]) -> tuple[Quantity, ...]:
        """Return those of some quantities that the paper defines."""
        return tuple(record for record in self._own.values() if record.symbol in symbols)


@attrs.frozen(kw_only=True)
class Theorem:
    """A statement: a claim with its formulas, conditions and source.

    Attributes:
        source: The paper, whose fields are the defaults. A file of your own may have none; then only its own fields
            count.
        id: Permanent: ``<paper>/<item as printed>``, ``<...>/explicit`` for our version with constants, ``cited/...``,
            ``dpbounds/<name>``.
        statement: The claim in our words, Markdown with ``$...$``.
        status: Its status, and that of each part without its own.
        where: Section and page or equation, so that a reader finds it.
        metric: The bounded quantity; ``side`` and ``mode`` say in which sense.
        privacy: The claimed privacy and the mechanism, for an algorithm.
        conditions: Predicates that are checked on evaluation, and reported one by one.
        side: Upper or lower; upper by default, if there are a metric and a bound.
        read: The part of the source that was read.
        relation: The neighbouring relation of the statement; by default the paper's, if the statement is about privacy.
        sampling: The sampling scheme: "full batch", "Poisson", "fresh batches", ...; by default the paper's.
        local: Quantities that the paper defines, and that occur.
        free: Quantities that the user may choose, within the conditions; a published prescription is then ignored. The
            planner minimises the bounds over them.
        reaches: For a statement on the sufficient number of records: the metric that is then at most α.
        in_text: The letters (LaTeX) that the claim has for quantities which formulas show by another letter.
        relies_on: Ids of statements that its proof uses and that matter for its status.
        superseded_by: Ids of statements that replace it.
        makes_explicit: The id of the printed statement of which this is the version with constants.
        derivation: A Markdown file beside the code.
    """

    source: Paper | None = attrs.field(default=None, repr=False)
    id: str
    title: str
    statement: str | None
    status: Status = attrs.field(converter=Status)
    where: str = attrs.field()
    metric: Metric = attrs.field(default=Metric.NONE, converter=Metric)
    parts: tuple[Part, ...] = attrs.field(default=(), converter=_parts.parts)
    privacy: Privacy | None = None
    conditions: tuple[Condition, ...] = attrs.field(default=(), converter=_parts.conditions)
    side: Side | None = attrs.field(converter=optional(Side))
    mode: Mode | None = attrs.field(default=None, converter=optional(Mode))
    read: Read = attrs.field(converter=Read)
    relation: Relation | None = attrs.field(converter=optional(Relation))
    sampling: str = attrs.field()
    assumptions: tuple[Assumption, ...] = attrs.field(default=(), converter=_parts.assumed)
    local: tuple[Quantity, ...] = attrs.field()
    free: tuple[Symbol, ...] = attrs.field(default=(), converter=symbols)
    reaches: Metric | None = attrs.field(default=None, converter=optional(Metric))
    in_text: tuple[tuple[Symbol, str], ...] = ()
    algorithm: str | None = None
    errata: tuple[Erratum, ...] = attrs.field(default=(), converter=_parts.errata)
    notes: tuple[Note, ...] = attrs.field(default=(), converter=_parts.notes)
    relies_on: tuple[str, ...] = attrs.field(default=(), converter=_parts.names)
    superseded_by: tuple[str, ...] = attrs.field(default=(), converter=_parts.names)
    makes_explicit: str | None = attrs.field()
    derivation: str | None = None

    @status.default
    def _(self) -> Status:
        return _usual(self, Status.PROVED_HERE, "status", f"one of {', '.join(Status)}")

    @where.default
    def _(self) -> str:
        printed = spoken(self.id.removesuffix(EXPLICIT))
        return _usual(self, f"derived here; compare {printed}", "where", "section, page or equation")

    @side.default
    def _(self) -> Side | None:
        bounds = self.metric is not Metric.NONE and any(isinstance(part, Bound | Rate) for part in self.parts)
        return Side.UPPER if self.source and bounds else None

    @read.default
    def _(self) -> Read:
        if self.source is None:
            return Read.FULL_TEXT
        return Read.HERE if self.id.endswith(EXPLICIT) else self.source.read

    @relation.default
    def _(self) -> Relation | None:
        return self.source.relation if self.source and self._speaks_of_privacy else None

    @sampling.default
    def _(self) -> str:
        return self.source.sampling if self.source and self._speaks_of_privacy else ""

    @local.default
    def _(self) -> tuple[Quantity, ...]:
        return self.source.own(self._symbols) if self.source else ()

    @makes_explicit.default
    def _(self) -> str | None:
        if self.source is None or not self.id.endswith(EXPLICIT):
            return None
        return _full(self.source, self.id.removesuffix(EXPLICIT))

    def __attrs_post_init__(self) -> None:
        if self.source:
            object.__setattr__(self, "id", _full(self.source, self.id))
            said = (attrs.evolve(one, unit=self.usual_unit(one)) if one.unit is UNSAID else one for one in self.parts)
            object.__setattr__(self, "parts", tuple(said))
        if not ID.fullmatch(self.id):
            raise InvalidValue("id", self.id, "paper/item in lower case letters, digits, dots and hyphens")
        names = [part.name for part in self.parts]
        if len(set(names)) != len(names):
            raise InvalidValue("parts", names, "different names, one for each part")

    def usual_unit(self, part: Part) -> Unit:
        """Return the default unit of a part.

        A parameter scales like the quantity whose name it has, a bound like what it bounds. A rate that the paper gives
        without its constants does not scale.
        """
        if isinstance(part, Parameter):
            record = by_name().get(part.name) or next((one for one in self.local if one.name == part.name), None)
            return PURE if record is None else record.unit
        if isinstance(part, Rate) and part.hides and part.restored is None:
            return PURE
        return _UNITS.get(self.metric, PURE)

    @property
    def every_condition(self) -> tuple[Condition, ...]:
        """The statement's own, and those of its parts."""
        return (*self.conditions, *(one for part in self.parts for one in part.conditions))

    @property
    def _symbols(self) -> set[Symbol]:
        """Every quantity that occurs."""
        formulas = [formula for part in self.parts for formula in (part.formula, part.restored_expression)]
        found = set(self.privacy.needs if self.privacy else ())
        return found.union(
            *(formula.free_symbols for formula in formulas if formula is not None),
            *(condition.symbols for condition in self.every_condition),
        )

    @property
    def _speaks_of_privacy(self) -> bool:
        return self.privacy is not None or any(symbol.name in _OF_PRIVACY for symbol in self._symbols)

    @property
    def paper(self) -> str:
        """The part of the id before the item: ``lowy-ullman-wright-2024``, ``cited/abadi-et-al-2016``."""
        pieces = self.id.split("/")
        return "/".join(pieces[:2]) if pieces[0] == "cited" else pieces[0]

    @property
    def number(self) -> str:
        """The item in words: "Theorem 2", "Corollary 4.3, explicit"."""
        return spoken(self.id.removeprefix(self.paper + "/"))

    def name_of(self, part: Part) -> str:
        """Return the id, with the part's name unless it is the (first) order of growth, else the bound."""
        return self.id if part is (self.rate or self.bound) else f"{self.id}: {part.name}"

    def own_values(self, values: Mapping[str, _Value]) -> dict[str, _Value]:
        """Return the values whose quantities are in the symbol table, or are the statement's own."""
        local = {quantity.name for quantity in self.local}
        return {name: value for name, value in values.items() if name in by_name() or name in local}

    @property
    def bound(self) -> Bound | None:
        """The (first) bound with explicit constants."""
        return next((part for part in self.parts if isinstance(part, Bound)), None)

    @property
    def rate(self) -> Rate | None:
        """The (first) order of growth."""
        return next((part for part in self.parts if isinstance(part, Rate)), None)

    def status_of(self, part: Part) -> Status:
        """Return the status of a part by itself, without the statements it relies on (see ``standing``)."""
        return part.status or self.status

    def side_of(self, part: Part) -> Side | None:
        """Return the direction in which a part bounds the metric."""
        return part.side or self.side

    def foundations_of(self, part: Part) -> tuple[str, ...]:
        """Return the ids that a part's proof uses."""
        return self.relies_on if part.relies_on is None else part.relies_on

    def assumptions_of(self, part: Part) -> tuple[Assumption, ...]:
        """Return the assumptions of a part."""
        return (*self.assumptions, *part.assumptions)

    def part(self, name: str | None = None) -> Part:
        """Return the part of that name; without a name the bound, else the rate, else the only part.

        Raises:
            InvalidValue: There is no such part; the message lists those that exist.
        """
        if name is None:
            found = self.bound or self.rate or (self.parts[0] if len(self.parts) == 1 else None)
        else:
            found = next((part for part in self.parts if part.name == name), None)
            if found is None and name in ("bound", "rate"):
                found = self.bound if name == "bound" else self.rate
        if found is None:
            names = ", ".join(part.name for part in self.parts) or "none: the statement has no formula"
            raise InvalidValue("part", name or "(not given)", f"one of the parts of {self.id}: {names}")
        return found

    def evaluate(self, part: str | None = None, *, digits: int = 15, **values: Any) -> Evaluation:
        """Return the value of a part, with every condition checked.

        >>> import dpbounds as dp
        >>> equation = dp.theorem("tholeti-kalyani-2020/equation-6")
        >>> equation.evaluate(distance=1, radius=1, dimension=3).value.contains("0.6875")
        True
        """
        from dpbounds.theorems.evaluation import evaluate

        return evaluate(self, part, values, digits=digits)

    def __str__(self) -> str:
        from dpbounds.theorems.wording import as_text

        return as_text(self)

    def _repr_markdown_(self) -> str:
        from dpbounds.theorems.wording import as_markdown

        return as_markdown(self)


def spoken(item: str) -> str:
    """Return an item in words.

    >>> spoken("theorem-2/explicit"), spoken("lemma-a.4")
    ('Theorem 2, explicit', 'Lemma A.4')
    """
    return ", ".join(_spoken(piece) for piece in item.split("/"))


def _said_by_file(names: Mapping[str, Any]) -> dict[str, Any]:
    """Id and claim, as the file with these global names gives them; nothing in a notebook, which has no file."""
    file = names.get("__file__")
    return {"id": item_of(Path(file).stem), "statement": names["__doc__"]} if file else {}


def _full(source: Paper, item: str) -> str:
    return item if item.startswith(f"{source.id}/") else f"{source.id}/{item}"


def _usual(theorem: Theorem, explicit: _Value, field: str, allowed: str) -> _Value:
    """Return the usual value of a field for a version with constants; any other must be explicit."""
    if theorem.source is None or not theorem.id.endswith(EXPLICIT):
        raise InvalidValue(field, MISSING, allowed)
    return explicit


def _spoken(piece: str) -> str:
    match = _ITEM.fullmatch(piece)
    if match is None:
        return piece.replace("-", " ")
    word, number = match.groups()
    return f"{word.capitalize()} {number.upper() if number[0].isalpha() else number}"
