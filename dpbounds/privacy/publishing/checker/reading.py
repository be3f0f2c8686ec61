"""JSON with one meaning only, its fields, and exact numbers."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections import Counter
from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.limits import BYTES, JSON_DIGITS, LABEL, NESTING, NUMBER_BITS
from dpbounds.privacy.publishing.checker.verdicts import Malformed

# exact numbers: p and q have at most 2000 digits, exponents four or five, and the number at most 13 000 bits either way
NUMBER = re.compile(r"(-?[0-9]{1,2000})(?:/([0-9]{1,2000}))?(?:\*2\*\*(-?[0-9]{1,5}))?(?:\*5\*\*(-?[0-9]{1,5}))?")


def read(path: str) -> Any:
    """The JSON document in a regular file: no field twice, finite numbers, moderate in size, digits and nesting."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # asked before it is opened: a pipe would block
            raise Malformed("this is not a regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            raw = file.read(BYTES + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, ValueError) as reason:
        raise Malformed(f"the file cannot be read: {getattr(reason, 'strerror', None) or reason}") from None
    if len(raw) > BYTES:
        raise Malformed(f"the file has more than {BYTES} bytes")
    return parsed(text)


def parsed(text: str) -> Any:
    """JSON with one meaning only."""
    depth = 0
    # strings (one may lack its end) and all else but brackets are left out, in one pass
    for bracket in re.sub(r'"(?:[^"\\]|\\.)*+"?|[^\[\]{}"]+', "", text, flags=re.DOTALL):
        depth += 1 if bracket in "[{" else -1
        if depth > NESTING:
            raise Malformed(f"more than {NESTING} brackets in one another")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = Counter(name for name, _ in pairs)
            raise Malformed(f"the field {quoted(max(names, key=lambda name: names[name]))} occurs twice in one object")
        return found

    def refused(word: str) -> Any:
        raise Malformed(f"{quoted(word)} is not a finite number of at most {JSON_DIGITS} characters")

    def whole(digits: str) -> int:
        return int(digits if len(digits) <= JSON_DIGITS else refused(digits))

    def real(digits: str) -> float:
        value = float(digits if len(digits) <= JSON_DIGITS else refused(digits))
        return value if math.isfinite(value) else float(refused(digits))

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refused, parse_int=whole, parse_float=real)
    except json.JSONDecodeError as reason:
        raise Malformed(f"not JSON: {reason.msg} in line {reason.lineno}") from None


def quoted(value: object) -> str:
    """Quote a value of the file in an error: on one line, short, and without terminal control characters."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return ascii(value if not isinstance(value, str) or len(value) <= 60 else value[:60] + "...")[:80]


def label(record: Any, name: str) -> None:
    """A word or a few."""
    if re.fullmatch(rf"[\w ,;()-]{{0,{LABEL}}}", field(record, name, str)) is None:
        raise Malformed(f"the field {name!r} is {quoted(record[name])}")


def rational(text: object, least: int | None = None) -> Fraction:
    """Return an exact number, written p, p/q or p/q*2**a*5**b; refused below ``least``."""
    match = NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None or (match[2] is not None and int(match[2]) == 0):
        raise Malformed(f"{quoted(text)} is not an exact number such as 1/3 or 7*2**-60")
    two, five = int(match[3] or 0), int(match[4] or 0)
    if max(abs(two), abs(five)) > NUMBER_BITS:
        raise Malformed(f"{quoted(text)} has too large an exponent")
    value = Fraction(int(match[1]), int(match[2] or 1)) * Fraction(2) ** two * Fraction(5) ** five
    if max(abs(value.numerator), value.denominator).bit_length() > NUMBER_BITS:
        raise Malformed(f"{quoted(text)} has more than {NUMBER_BITS} bits")
    if least is not None and value < least:
        raise Malformed(f"{quoted(text)} is below {least}")
    return value


def field(record: object, name: str, kind: type | tuple[type, ...]) -> Any:
    """Return the value of a field that must be there, of that type."""
    if not isinstance(record, dict) or name not in record:
        raise Malformed(f"the field {name!r} is missing")
    if not isinstance(record[name], kind) or isinstance(record[name], bool):
        raise Malformed(f"the field {name!r} is {quoted(record[name])}")
    return record[name]


def positive(record: object, name: str) -> Fraction | None:
    """Return a positive exact number, or None where the field is null."""
    text = field(record, name, (str, type(None)))
    value = None if text is None else rational(text)
    if value is not None and value <= 0:
        raise Malformed(f"{name} = {quoted(text)} is not positive")
    return value


def nonnegative(record: object, name: str) -> Fraction:
    """Return an exact number, at least 0."""
    return rational(field(record, name, str), 0)


def finite(record: object, name: str) -> float:
    """Return a hint: a number of moderate size."""
    value = field(record, name, (int, float))
    if not abs(value) < 1e9:
        raise Malformed(f"the field {name!r} is {value}")
    return float(value)
