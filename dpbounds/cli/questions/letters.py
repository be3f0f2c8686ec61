"""Letters for quantities, as a paper has them."""

from __future__ import annotations

import re
from dataclasses import replace

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import Quantity, quantity
from dpbounds.theorems.lettering import GREEK

IN_ORDER = ("dataset_size", "dimension", "lipschitz", "smoothness")
_LETTER = re.compile(r"([A-Za-z]+)(?:_([A-Za-z0-9]+))?")


def letters(text: str) -> tuple[Quantity, ...]:
    r"""Quantities with other letters: those for n, d, the Lipschitz constant and the smoothness, then NAME=LETTER.

    Raises:
        InvalidValue: A word is neither, or there is no such quantity.

    >>> [(one.name, one.latex) for one in letters("n,d,L_0,beta,initial_gap=Delta")][2:]
    [('lipschitz', 'L_{0}'), ('smoothness', '\\beta'), ('initial_gap', '\\Delta')]
    """
    found: dict[str, Quantity] = {}
    for place, word in enumerate(text.split(",")):
        name, equals, letter = word.strip().rpartition("=")
        if not equals:
            if place >= len(IN_ORDER):
                raise InvalidValue("--letters", word, f"NAME=LETTER after those for {', '.join(IN_ORDER)}")
            name = IN_ORDER[place]
        record = quantity(name)
        if record.name in found:
            raise InvalidValue("--letters", word, f"one letter for {record.name}")
        found[record.name] = replace(record, latex=_latex(letter))
    return tuple(found.values())


def _latex(letter: str) -> str:
    match = _LETTER.fullmatch(letter)
    if match is None or not (len(match[1]) == 1 or match[1] in GREEK):
        raise InvalidValue("--letters", repr(letter), "a letter such as L, beta or L_0")
    stem = match[1] if len(match[1]) == 1 else "\\" + match[1]
    return stem if match[2] is None else f"{stem}_{{{match[2]}}}"
