"""Errors of the command line in the words of a form: labels in place of options, and the field that is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpbounds.app.controls import VALUE, Control, Pairs, controls

_OPTION = re.compile(r"(--[a-z][a-z-]*[a-z])(?: ([A-Z][A-Za-z.|]*)(?![\w/-]))?")


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a question has no answer.

    Attributes:
        name: The control that is wrong; "" where none is.
        text: The reason, in the words of the form.
    """

    name: str
    text: str


def in_words(verb: str, text: str) -> str:
    """Return a message of the command line with the labels of a form in place of its options.

    >>> in_words("epsilon", "--sample-rate 0.01 does not fit --sampling shuffled: give --batches M")
    '“sample rate” 0.01 does not fit “sampling” shuffled: fill in “batches”'
    """
    known = {one.option: one for one in controls(verb) if one.option}
    arguments = {one.metavar: one for one in controls(verb) if not one.option and one.metavar}
    first, _, rest = text.partition(" ")
    if first in arguments:
        text = f"“{arguments[first].label}” {rest}"

    def label(match: re.Match[str]) -> str:
        one = known.get(match[1])
        if one is None:
            return match[0]
        letter = match[2] or ""
        return f"“{one.label}”" + ("" if not letter or letter in one.metavar.split("|") else f" {letter}")

    return _OPTION.sub(label, text).replace("give “", "fill in “")


def fault(verb: str, message: str, pairs: Pairs = (), gone: Sequence[Control] = ()) -> Fault:
    """Return an error of a verb as a form shows it.

    Args:
        verb: The verb.
        message: The error as the command line prints it.
        pairs: The fields that were filled in.
        gone: Controls that the form does not show: the error appears at the next field that it names.
    """
    shown = [one for one in controls(verb) if one not in gone]
    by_option = {one.option: one.name for one in shown if one.option}
    options = [by_option[option] for option in re.findall(r"--[a-z][a-z-]*[a-z]", message) if option in by_option]
    first = message.split(" ", 1)[0]
    arguments = [one.name for one in shown if first in _names(one)]
    values = [name for name, _ in pairs if name.startswith(VALUE) and name.removeprefix(VALUE) == first]
    return Fault(next(iter((*arguments, *values, *options)), ""), in_words(verb, message))


def _names(one: Control) -> tuple[str, ...]:
    """Return the words by which an error may begin that is about a control."""
    return one.name, one.label, *([] if one.option else [one.metavar])
