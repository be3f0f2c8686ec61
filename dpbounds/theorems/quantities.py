"""Quantities of the symbol table under short names, for formulas."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from sympy import Symbol

from dpbounds.errors import InvalidValue, nearest
from dpbounds.expressions.symbols import QUANTITIES, by_name


def plain_letter(latex: str) -> str:
    r"""Return a letter as one writes it in Python.

    >>> plain_letter(r"\Delta_{F}"), plain_letter(r"\tilde{L}"), plain_letter(r"\varepsilon_{0}")
    ('Delta_F', 'tildeL', 'epsilon_0')
    """
    return re.sub(r"[\\{}]", "", latex).replace("varepsilon", "epsilon")


@cache
def _symbols() -> Mapping[str, Symbol]:
    """Return each symbol under its name, its aliases and its letter; a name goes before a letter."""
    letters = {plain_letter(record.latex): record.symbol for record in QUANTITIES}
    usable = {letter: symbol for letter, symbol in letters.items() if not keyword.iskeyword(letter)}
    return {**usable, **{name: record.symbol for name, record in by_name().items()}}


def symbol(name: str) -> Symbol:
    """Return the symbol of that name, alias or letter.

    Raises:
        InvalidValue: There is none; the message names similar ones.
    """
    found = _symbols().get(name)
    if found is None:
        near = nearest(name, _symbols())
        raise InvalidValue(
            "quantity",
            repr(name),
            "a name or a letter of the symbol table",
            f"such as {', '.join(near)}" if near else "",
        )
    return found


def symbols(named: str | Symbol | Iterable[Symbol]) -> tuple[Symbol, ...]:
    """Symbols, given by themselves or by their names in one text.

    >>> symbols("n Delta_F")
    (dataset_size, initial_gap)
    """
    if isinstance(named, str):
        return tuple(symbol(name) for name in named.split())
    return (named,) if isinstance(named, Symbol) else tuple(named)


class Quantities:
    """The symbol table by attribute: ``q.n`` and ``q.dataset_size`` are the same symbol."""

    def __getattr__(self, name: str) -> Any:
        try:
            return symbol(name)
        except InvalidValue as error:
            raise AttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return sorted(_symbols())


q = Quantities()
