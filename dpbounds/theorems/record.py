"""What a statement is: plain frozen records, one per numbered item of a paper.

A file of the library holds one ``Theorem`` named ``THEOREM``. Formulas sit in functions, and are SymPy expressions in
the quantities of the symbol table (or in ``local`` ones), with exact rationals only. Three kinds of numbers are told
apart: a ``Bound`` has explicit constants and can be evaluated and verified; a ``Rate`` holds up to a constant that
nobody stated; a ``Parameter`` is what the statement prescribes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import Quantity, Unit
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import Assumption

if TYPE_CHECKING:
    from sympy import Expr, Symbol
    from sympy.logic.boolalg import Boolean

    from dpbounds.privacy.mechanisms import Mechanism
    from dpbounds.theorems.evaluation import Evaluation
    from dpbounds.theorems.spending import Numbers

BASES = ("loss", "length", "samples")
PURE = Unit()


class Metric(StrEnum):
    """What is bounded. "Population" quantities are expectations over the records' distribution."""

    GRADIENT_NORM = "gradient-norm"
    POPULATION_GRADIENT_NORM = "population-gradient-norm"
    PROJECTED_GRADIENT_NORM = "projected-gradient-norm"
    FRANK_WOLFE_GAP = "frank-wolfe-gap"
    SOSP = "sosp"  # the α of an α-second-order stationary point of the empirical risk
    POPULATION_SOSP = "population-sosp"
    EXCESS_EMPIRICAL_RISK = "excess-empirical-risk"
    EXCESS_POPULATION_RISK = "excess-population-risk"
    SAMPLE_SIZE = "sample-size"  # how many records suffice
    PRIVACY = "privacy"  # ε, δ, ρ, or the noise that keeps them
    ESTIMATION_ERROR = "estimation-error"  # of a gradient estimate, a selection, a random matrix
    COUNT = "count"  # of oracle calls, of steps
    GENERALISATION_GAP = "generalisation-gap"
    DISTANCE = "distance"  # between distributions or iterates
    FUNCTIONAL_INEQUALITY = "functional-inequality"  # a constant of one
    NONE = "none"  # a definition, an assumption, a problem


class Side(StrEnum):
    """In which direction the statement bounds its metric."""

    UPPER = "upper"
    LOWER = "lower"
    TIGHT = "tight"


class Mode(StrEnum):
    """In which sense it holds."""

    EXPECTATION = "expectation"
    PROBABILITY = "probability"
    ALWAYS = "always"


class Kind(StrEnum):
    """The three kinds of numbers."""

    BOUND = "bound"
    RATE = "rate"
    PARAMETER = "parameter"


class Read(StrEnum):
    """What of the source was read here."""

    FULL_TEXT = "full text"
    ABSTRACT = "abstract only"
    QUOTED = "as quoted by another paper"
    HERE = "derived here"


class Status(StrEnum):
    """What is known of the statement."""

    DEFINITION = "definition"
    PROVED = "proved"  # the proof was read or redone, and nothing is wrong with it that matters
    PROVED_HERE = "proved here"  # the derivation is in this library
    REPAIRED = "repaired"  # as recorded here it holds; as printed it does not, see the errata
    CLAIMED = "claimed"  # the proof was not seen, or not checked
    CONJECTURED = "conjectured"  # a sketch: nobody has proved it, nobody is known to claim it
    DISPUTED = "disputed"  # a step of the proof is known to fail; the statement itself is neither proved nor refuted
    FALSE = "false"  # as printed it is refuted by an example in the errata
    EMPIRICAL = "empirical"  # a figure or a table of measurements or of other statements


class Severity(StrEnum):
    """How much an erratum matters."""

    TYPO = "typo"
    HARMLESS = "harmless"
    CONSTANT = "constant"
    GAP = "gap"
    FALSE = "false"
    PRIVACY = "privacy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A predicate that must hold for a statement to apply, or for a part of it.

    Attributes:
        holds: A SymPy relation, or relations joined by And and Or.
        why: What it is for.
    """

    holds: Boolean | bool
    why: str = ""


Conditions = Callable[[], tuple[Condition, ...]]


def unconditional() -> tuple[Condition, ...]:
    """No condition."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A named formula of a statement.

    Attributes:
        formula: Returns the SymPy expression.
        name: How it is asked for.
        unit: How its value scales; a formula that does not scale like this is caught by a test.
        meaning: What the number is, in one line.
        conditions: What else this part needs.
        bases: The units under whose rescaling it is checked. Without "samples" where log(1/δ) and ε meet in one sum,
            or where sampling from a population is what is bounded.
        increasing_in: Quantities in which the value never falls.
        decreasing_in: Quantities in which it never rises.
        side: In which direction this part bounds the metric. A part that has a side of its own is compared as a claim
            of its own; by default the statement's.
        status: What is known of this part; by default what is known of the statement.
        relies_on: What this part's proof uses; by default what the statement relies on.
        assumptions: What this part assumes beyond the statement.
        under: The privacy that this part is about, if it is not (ε, δ)-DP: a lower bound for ε-DP binds no others.
    """

    kind: ClassVar[Kind]

    formula: Callable[[], Expr]
    name: str
    unit: Unit = PURE
    meaning: str = ""
    conditions: Conditions = unconditional
    bases: tuple[str, ...] = BASES
    increasing_in: tuple[Symbol, ...] = ()
    decreasing_in: tuple[Symbol, ...] = ()
    side: Side | None = None
    status: Status | None = None
    relies_on: tuple[str, ...] | None = None
    assumptions: tuple[Assumption, ...] = ()
    under: Claim | None = None

    @property
    def expression(self) -> Expr:
        """The formula, built once."""
        return _built(self.formula)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound(Part):
    """A bound with explicit constants."""

    kind: ClassVar[Kind] = Kind.BOUND
    name: str = "bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Part):
    """An order of growth: it holds up to a constant that is not stated.

    Attributes:
        hides: Quantities that print takes as constants (as 1). Because of them the printed formula does not scale.
        restored: The same rate with those quantities put back, where they could be derived; equal to the formula where
            each of them is 1.
        logs_hidden: Whether powers of logarithms are left out, too (Õ).
    """

    kind: ClassVar[Kind] = Kind.RATE
    name: str = "rate"
    hides: tuple[Symbol, ...] = ()
    restored: Callable[[], Expr] | None = None
    logs_hidden: bool = False

    @property
    def restored_expression(self) -> Expr | None:
        """The formula with the hidden quantities put back."""
        return None if self.restored is None else _built(self.restored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Part):
    """What a statement prescribes: noise, a number of steps, a step size, a threshold, a radius.

    Attributes:
        up_to_constant: Printed as an order of growth.
        hides: As for a rate: what print takes as 1.
    """

    kind: ClassVar[Kind] = Kind.PARAMETER
    up_to_constant: bool = False
    hides: tuple[Symbol, ...] = ()


@cache
def _built(formula: Callable[[], Expr]) -> Expr:
    return formula()


class Claim(StrEnum):
    """Which kind of privacy is promised, and in which quantities of the symbol table."""

    APPROXIMATE = "(ε, δ)-DP"
    PURE = "ε-DP"
    ZCDP = "ρ-zCDP"
    TOTAL_VARIATION = "(0, δ)-DP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """What is promised, and the mechanism by which what is really spent can be computed.

    Attributes:
        claim: The kind of promise; ε, δ or ρ are those of the symbol table.
        mechanism: Takes the values of all quantities and composes the algorithm's releases, each with its explicit
            sensitivity: the noise is given per unit of the per-record bound, so that the relation supplies the factor.
        needs: Quantities without which the mechanism is not determined (a constant that print leaves open among them).
        relation: Under which the promise is made.
    """

    claim: Claim
    mechanism: Callable[[Numbers], Mechanism]
    needs: tuple[Symbol, ...]
    relation: Relation = Relation.REPLACE_ONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """Something wrong in print, and how that is known.

    One rule tells an erratum from a note. An erratum is what is wrong when print is taken at its word: a claim or a
    formula that fails somewhere in the range that is given for it, or that displays its constants and does not have
    the unit of what it bounds; a step of a proof that does not give what is concluded; an account of privacy that
    does not cover what is released. Everything else is a note: conventions, looseness, damage of the text at hand, what
    was not read, and slips of the pen by which nobody is misled (a letter, an index, a reference). A logarithm in an
    order of growth is read as at least 1. A fault is entered once, where it arises; what inherits it is in ``also``.

    Attributes:
        printed: What is printed.
        right: What is right.
        severity: How much it matters.
        evidence: The test that derives it or exhibits the example: ``file.py::test``, beside the statement's twin.
        where: The place, if it is not the statement itself.
        survives: What remains true.
        relation: The relation under which it is one, where that matters.
        also: Ids of other statements with the same fault.
    """

    printed: str
    right: str
    severity: Severity
    evidence: str
    where: str = ""
    survives: str = ""
    relation: Relation | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A remark that is no erratum: a convention, a reading of a damaged text, a looseness."""

    text: str


_ID = re.compile(r"[a-z0-9-]+(/[a-z0-9.-]+)+")
_ITEM = re.compile(
    r"(definition|lemma|theorem|corollary|proposition|remark|algorithm|equation|table|figure|assumption|claim|fact|"
    r"section|step|appendix|experiment)-([a-z]?\.?[0-9.]+[a-z]?|[a-z])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """One statement: a claim next to its number.

    Attributes:
        id: Permanent: ``<paper>/<item as printed>``, ``<...>/explicit`` for our version with constants, ``cited/...``,
            ``dpbounds/<name>``.
        title: A few words.
        statement: The claim in our words (the file's docstring), Markdown with ``$...$``.
        where: Section and page or equation, so that a reader finds it.
        metric: What is bounded; with ``side`` and ``mode`` in which sense.
        status: What is known of it, and of each part that does not say otherwise.
        read: What of the source was read here.
        relation: The neighbouring relation of the statement.
        sampling: How records are drawn in each step: "full batch", "Poisson", "fresh batches", ...
        assumptions: What is assumed.
        conditions: Predicates that are checked on evaluation, and reported one by one.
        parts: The formulas.
        local: Quantities of this paper that the symbol table does not have.
        in_text: The letters (LaTeX) that the claim has for quantities which formulas show by another letter.
        privacy: What is promised and spent, for an algorithm.
        algorithm: The id of the algorithm's record.
        errata: What is wrong in print.
        notes: What else a reader should know.
        relies_on: Ids of statements that its proof uses and that matter for its status.
        superseded_by: Ids of statements that replace it.
        makes_explicit: The id of the printed statement of which this is the version with constants.
        derivation: A Markdown file beside the code.
    """

    id: str
    title: str
    statement: str | None
    where: str
    metric: Metric
    status: Status
    side: Side | None = None
    mode: Mode | None = None
    read: Read = Read.FULL_TEXT
    relation: Relation | None = None
    sampling: str = ""
    assumptions: tuple[Assumption, ...] = ()
    conditions: Conditions = unconditional
    parts: tuple[Part, ...] = ()
    local: tuple[Quantity, ...] = ()
    in_text: tuple[tuple[Symbol, str], ...] = ()
    privacy: Privacy | None = None
    algorithm: str | None = None
    errata: tuple[Erratum, ...] = ()
    notes: tuple[Note, ...] = ()
    relies_on: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    makes_explicit: str | None = None
    derivation: str | None = None

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise InvalidValue("id", self.id, "paper/item in lower case letters, digits, dots and hyphens")
        names = [part.name for part in self.parts]
        if len(set(names)) != len(names):
            raise InvalidValue("parts", names, "each part under its own name")

    @property
    def paper(self) -> str:
        """The part of the id before the item: ``lowy-ullman-wright-2024``, ``cited/abadi-et-al-2016``."""
        pieces = self.id.split("/")
        return "/".join(pieces[:2]) if pieces[0] == "cited" else pieces[0]

    @property
    def number(self) -> str:
        """The item as a reader would say it: "Theorem 2", "Corollary 4.3, explicit"."""
        pieces = self.id.removeprefix(self.paper + "/").split("/")
        return ", ".join(_spoken(piece) for piece in pieces)

    @property
    def bound(self) -> Bound | None:
        """The (first) bound with explicit constants."""
        return next((part for part in self.parts if isinstance(part, Bound)), None)

    @property
    def rate(self) -> Rate | None:
        """The (first) order of growth."""
        return next((part for part in self.parts if isinstance(part, Rate)), None)

    def status_of(self, part: Part) -> Status:
        """What is known of a part by itself, whatever it rests on (see ``standing``)."""
        return part.status or self.status

    def side_of(self, part: Part) -> Side | None:
        """In which direction a part bounds the metric."""
        return part.side or self.side

    def foundations_of(self, part: Part) -> tuple[str, ...]:
        """Ids of what a part's proof uses."""
        return self.relies_on if part.relies_on is None else part.relies_on

    def assumptions_of(self, part: Part) -> tuple[Assumption, ...]:
        """What a part assumes."""
        return (*self.assumptions, *part.assumptions)

    def part(self, name: str | None = None) -> Part:
        """The part of that name; without one the bound, else the rate, else the only part.

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
        """The value of a part, with every condition checked.

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


def _spoken(piece: str) -> str:
    match = _ITEM.fullmatch(piece)
    if match is None:
        return piece.replace("-", " ")
    word, number = match.groups()
    return f"{word.capitalize()} {number.upper() if number[0].isalpha() else number}"
