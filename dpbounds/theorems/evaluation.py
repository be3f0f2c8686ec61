"""The value of a part of a statement, with every condition checked and reported one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from sympy import Expr
from sympy.logic.boolalg import Boolean, BooleanFalse, BooleanTrue

from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import MISSING, InvalidValue, NotCertified, did_you_mean
from dpbounds.expressions import evaluation
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.expressions.symbols import by_name
from dpbounds.theorems.consistency import conditions_for
from dpbounds.theorems.parts import Condition, Part
from dpbounds.theorems.vocabulary import Kind

if TYPE_CHECKING:
    from dpbounds.theorems.record import Theorem


@dataclass(frozen=True, slots=True)
class Checked:
    """A condition, its purpose, and whether it holds at the given values.

    Attributes:
        holds: Proven or refuted; None where a value that it needs was not given, or at the boundary. Where one of its
            sides is not defined it does not hold.
        missing: The names of those values.
        undefined: The undefined side, and why; empty if both are defined.
    """

    text: str
    why: str
    holds: bool | None
    missing: tuple[str, ...] = ()
    undefined: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Displayed):
    """The value of a part of a statement, and whether the statement applies there.

    Attributes:
        formula_value: A proven enclosure of the formula, whether or not the statement applies; None where the formula
            is not defined. Where a condition fails, nothing follows from it.
        up_to_constant: The formula holds up to an unstated constant: the value is not a bound.
        conditions: Each condition of the statement and of the part, and what the constants of every problem satisfy
            under its assumptions (``consistency.limits``), where those are given.
    """

    id: str
    part: str
    kind: Kind
    formula_value: Enclosure | None
    up_to_constant: bool
    conditions: tuple[Checked, ...]
    _refusal: InvalidValue | None = field(default=None, compare=False)

    @property
    def value(self) -> Enclosure:
        """A proven enclosure of the formula's value, where no condition of the statement fails.

        Raises:
            InvalidValue: A condition fails: the statement does not apply at these values. It is the first that fails
                which the message names.
        """
        if self._refusal is not None:
            raise self._refusal
        assert self.formula_value is not None  # `evaluate` raises where all conditions hold and there is no value
        return self.formula_value

    @property
    def applies(self) -> bool | None:
        """Whether every condition holds; None where one could not be checked and none fails."""
        answers = [condition.holds for condition in self.conditions]
        return False if False in answers else None if None in answers else True

    @property
    def failing(self) -> tuple[str, ...]:
        """The conditions that do not hold."""
        return tuple(condition.text for condition in self.conditions if condition.holds is False)

    def _sheet(self) -> Sheet:
        order = ", up to a constant that is not stated" if self.up_to_constant else ""
        value = f"{self.value}{order}" if self.applies is not False else "none: the statement does not apply"
        told = {True: "holds", False: "fails", None: "not checked"}
        rows = [(condition.text, told[condition.holds]) for condition in self.conditions]
        columns = ("condition", "at these values") if rows else ()
        return Sheet(f"{self.id} {self.part}", (("value", value),), columns, rows)

    def __str__(self) -> str:
        if self.applies is False:
            return f"{self.id} {self.part}: does not apply: {', '.join(self.failing)} fails"
        order = " up to a constant that is not stated" if self.up_to_constant else ""
        return f"{self.id} {self.part}: {self.value}{order}"


def evaluate(theorem: Theorem, part: str | None, values: Mapping[str, Any], *, digits: int = 15) -> Evaluation:
    """Evaluate a part of a statement.

    Args:
        theorem: The statement.
        part: The part's name; by default the bound, else the rate.
        values: A value for each quantity that occurs, under its name or alias; text and fractions are exact.
        digits: Significant digits that are certified.

    Returns:
        The evaluation, alike for all statements: where a condition fails (or is not defined), ``applies`` is False,
        ``failing`` says which, and ``value`` raises.

    Raises:
        InvalidValue: There is no such part; a value is missing, unknown, or outside its domain; or no condition fails,
            and the formula is not defined.
        NotCertified: The digits could not be reached.
    """
    chosen = theorem.part(part)
    known = admitted(theorem, values)
    _refuse_missing(theorem, chosen, known)
    stated = (*theorem.conditions, *chosen.conditions, *conditions_for(theorem.assumptions, known))
    judged = judge(stated, known)
    refused = refusal(theorem, stated, judged, known)
    value: Enclosure | None
    try:
        value = evaluation.evaluate(chosen.expression, known, digits=digits)
    except (InvalidValue, NotCertified):
        if refused is None:
            raise
        value = None
    return Evaluation(theorem.id, chosen.name, chosen.kind, value, chosen.is_order, judged, refused)


def judge(conditions: Iterable[Condition], values: Mapping[str, Any]) -> tuple[Checked, ...]:
    """Decide each condition. A condition with an undefined side does not hold."""
    return tuple(_judged(condition, values) for condition in conditions)


def _judged(condition: Condition, values: Mapping[str, Any]) -> Checked:
    try:
        return check(condition, values)
    except InvalidValue as error:
        return Checked(_told(condition.holds)[0], condition.why, False, undefined=str(error))


def refusal(
    theorem: Theorem, conditions: Iterable[Condition], judged: Iterable[Checked], values: Mapping[str, Any]
) -> InvalidValue | None:
    """Return the condition that the values violate, in the record's words; None if none is violated.

    Of several that fail it is the first that is defined; else the first.
    """
    failing = [(one, each) for one, each in zip(conditions, judged, strict=True) if each.holds is False]
    broken = next((pair for pair in failing if not pair[1].undefined), next(iter(failing), None))
    if broken is None:
        return None
    condition, found = broken
    return _does_not_apply(theorem, condition, values, f"here {found.undefined}" if found.undefined else "")


def _does_not_apply(theorem: Theorem, condition: Condition, values: Mapping[str, Any], but: str = "") -> InvalidValue:
    text, names = _told(condition.holds)
    why = f" ({condition.why})" if condition.why else ""
    shown = ", ".join(str(values[name]) for name in names)
    return InvalidValue(
        ", ".join(names), shown, f"such that {theorem.id} applies, which it does where {text}{why}", but
    )


def admitted(theorem: Theorem, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values under their quantities' own names.

    Raises:
        InvalidValue: A name is neither in the symbol table nor local to the statement, is given twice, or its value is
            outside its domain.
    """
    own = {quantity.name: quantity for quantity in theorem.local}
    result: dict[str, Any] = {}
    for name, value in values.items():
        record = own.get(name) or by_name().get(name)
        if record is None:
            used = sorted({name for part in theorem.parts for name in _names(part.expression)})
            rule = f"a quantity of the statement or of the symbol table (it uses: {', '.join(used) or 'none'})"
            raise InvalidValue(name, value, rule, did_you_mean(name, used) or did_you_mean(name, (*by_name(), *own)))
        if record.name in result:
            raise InvalidValue(name, value, f"given once only: it is another name of {record.name}")
        ends = (value.exact_lower, value.exact_upper) if isinstance(value, Enclosure) else (exact(value, record.name),)
        if not all(isinstance(end, Fraction) and record.domain.contains(end) for end in ends):
            raise InvalidValue(record.name, value, str(record.domain))
        result[record.name] = value
    return result


def _refuse_missing(theorem: Theorem, part: Part, known: Mapping[str, Any]) -> None:
    """List all missing values at once, each with its meaning."""
    missing = [name for name in _names(part.expression) if name not in known]
    if missing:
        records = {record.name: record for record in (*by_name().values(), *theorem.local)}
        asked = [records[name] for name in missing if name in records]
        wanted = "; ".join(f"{' or '.join((one.name, *one.aliases))}: {one.meaning}, {one.domain}" for one in asked)
        raise InvalidValue(", ".join(missing), MISSING, wanted or "a value for each", "give NAME=VALUE for each")


@cache
def _names(expression: Expr) -> tuple[str, ...]:
    return tuple(sorted(symbol.name for symbol in expression.free_symbols))


def check(condition: Condition, values: Mapping[str, Any]) -> Checked:
    """Decide one condition.

    Raises:
        InvalidValue: A value is outside its domain, or a side of the condition is not defined there.
    """
    relation = condition.holds
    text, names = _told(relation)
    if isinstance(relation, bool | BooleanTrue | BooleanFalse):
        return Checked(text, condition.why, bool(relation))
    missing = tuple(name for name in names if name not in values)
    if missing:
        return Checked(text, condition.why, None, missing)
    try:
        return Checked(text, condition.why, evaluation.decide(relation, values))
    except NotCertified:  # exactly on the boundary, as far as the precision reaches
        return Checked(text, condition.why, None)


@cache
def _told(relation: Boolean | bool) -> tuple[str, tuple[str, ...]]:
    """Return a condition in letters, and the names it needs."""
    from dpbounds.theorems.formulas import inline  # (here: SymPy's printers are for those that have conditions)

    if isinstance(relation, bool | BooleanTrue | BooleanFalse):
        return str(bool(relation)), ()
    return inline(relation), tuple(sorted(symbol.name for symbol in relation.free_symbols))
