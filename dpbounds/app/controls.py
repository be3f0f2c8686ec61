"""Forms for the verbs, from the options of Click; and the words of a command from the fields.

What would read or write a file, run one, or open a connection has no control: the app does none of that. Where a verb
needs a document, its control holds the text, which becomes a file of that question's own folder.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import click

from dpbounds.cli import _commands
from dpbounds.cli.questions.options import METHODS
from dpbounds.cli.questions.training import samplings
from dpbounds.errors import InvalidValue, nearest, shortened
from dpbounds.limits import LINE, SHOWN

VALUE = "value."  # prefix of a quantity that is given as NAME=VALUE
_WITHOUT = (*("json", "scheduler", "label", "positive", "centre", "check", "figures", "bibtex", "latex", "markdown"),)
_CHOICES = {  # labels of options without their own, or of files
    "sampling": samplings(),
    "method": METHODS,
    "format": ("md", "latex", "csv", "bib"),
    "matrix": ("optimal",),
    "axis": ("rank", "width"),
    "severity": ("typo", "harmless", "constant", "gap", "false", "privacy"),
}
_DOCUMENTS = {  # files that are given as text: the names that they get
    ("remaining", "ledger"): "ledger.json",
    ("check", "file"): "certificate.json",
    ("check", "ledger"): "ledger.json",
    ("audit", "scores"): "scores.csv",
    ("audit", "scores-out"): "scores-out.csv",
    ("audit", "claim"): "claim.json",
}
_ALWAYS_CHOSEN = ("sampling",)  # choices without an empty one
_LABELS = {"ID": "statement", "NAME=VALUE": "values, as NAME=VALUE", "NAME|all": "table", "FILE": "certificate"}
_LONGEST = 16_000  # characters of a document, which is part of an address
_MOST = 300  # choices of a list

_OPTION = re.compile(r"--([a-z][a-z-]*[a-z])")

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Control:
    """The description of one option or argument.

    Attributes:
        name: In the address: the long option without its dashes, or the argument's name.
        label: For people.
        kind: "text", "check", "choice", or "document": the text of a file.
        default: The default value.
        required: Whether it has to be given.
        many: Whether several words may be given, with blanks in between.
        option: The option as it is written; "" for an argument.
        metavar: The letter that stands for its value in messages of the command line.
        empty: The words for "nothing is chosen"; None where there is always a choice.
        closed: Whether nothing but its choices is passed on: any other word would be a file.
    """

    name: str
    label: str
    kind: str
    help: str
    choices: tuple[str, ...]
    default: str
    required: bool
    many: bool
    option: str
    metavar: str = ""
    empty: str | None = ""
    closed: bool = False

    @property
    def help_in_words(self) -> str:
        """The help with labels in place of options."""
        return _OPTION.sub(lambda match: f"“{match[1].replace('-', ' ')}”", self.help)

    @property
    def offered(self) -> tuple[str, ...]:
        """The choices beside the empty one, which is the default; the default relation may be chosen, too."""
        return tuple(one for one in self.choices if one != self.default or not self.empty or self.name == "relation")


@cache
def command(verb: str) -> click.Command:
    """The command of a verb."""
    found = _commands.get_command(click.Context(_commands), verb)
    if found is None:
        raise InvalidValue("verb", verb, "one of the command line's")
    return found


@cache
def controls(verb: str) -> tuple[Control, ...]:
    """Return the controls of a verb, in the order of its help."""
    context = click.Context(command(verb), info_name=verb)
    return tuple(one for param in command(verb).params for one in _controls(context, param))


def _controls(context: click.Context, param: click.Parameter) -> Iterable[Control]:
    is_option = isinstance(param, click.Option)
    flags = (*param.opts, *param.secondary_opts) if getattr(param, "is_flag", False) else (max(param.opts, key=len),)
    for option in flags:
        name = option.lstrip("-")
        document = (context.info_name, name) in _DOCUMENTS
        if name in _WITHOUT or (isinstance(param.type, click.Path) and name not in _CHOICES and not document):
            continue
        choices = () if document else _choices(context, param, name)
        is_flag = isinstance(param, click.Option) and param.is_flag
        kind = "document" if document else "check" if is_flag else "choice" if choices else "text"
        default = "" if param.default is None or kind == "check" else str(param.default)
        default = default if "Sentinel" not in default else ""
        yield Control(
            name,
            _label(param, name),
            kind,
            getattr(param, "help", None) or "",
            choices,
            default,
            param.required or (isinstance(param, click.Option) and param.callback is not None and _asked_for(param)),
            param.nargs == -1 or bool(getattr(param, "multiple", False)),
            option if is_option else "",
            param.metavar or "",
            None if name in _ALWAYS_CHOSEN else default and f"{default} (default)",
            isinstance(param.type, click.Path) and not document,
        )


def _asked_for(param: click.Option) -> bool:
    """Return whether the option's own callback refuses nothing at all."""
    return getattr(param.callback, "__qualname__", "").startswith("required.")


def _choices(context: click.Context, param: click.Parameter, name: str) -> tuple[str, ...]:
    if isinstance(param.type, click.Choice):
        return tuple(map(str, param.type.choices))
    if name in _CHOICES:
        return _CHOICES[name]
    return tuple(one.value for one in param.shell_complete(context, ""))[:_MOST]


def _label(param: click.Parameter, name: str) -> str:
    if isinstance(param, click.Argument):
        words = (param.metavar or name).strip("[].").replace("...", "")
        return _LABELS.get(words, words.lower())
    return name.replace("-", " ")


def words(verb: str, pairs: Pairs) -> list[str]:
    """Return the arguments of ``dpbounds`` from the values of an address or a form.

    Raises:
        InvalidValue: There is no such control, it is given twice, or its value is a file to be read or a program to be
            run.
    """
    known = {one.name: one for one in controls(verb)}
    given: dict[str, str] = {}
    values = []
    for name, text in pairs:
        if not text.strip():
            continue
        if name.startswith(VALUE):
            values.append(f"{name.removeprefix(VALUE)}={text}")
            continue
        if name not in known:
            near = nearest(name, list(known))
            raise InvalidValue("option", shortened(name, SHOWN), f"one of {verb}'s", *(f"as {one}" for one in near[:1]))
        if name in given:
            raise InvalidValue(name, text, "given once only")
        if known[name].closed and text not in known[name].choices:
            allowed, advice = " or ".join(known[name].choices), "the app reads no files, the command line does"
            raise InvalidValue(name, shortened(text, SHOWN), allowed, advice)
        given[name] = _DOCUMENTS[verb, name] if known[name].kind == "document" else text
    options = [word for name, text in given.items() if known[name].option for word in _option(known[name], text)]
    arguments = [word for one in known.values() if not one.option for word in _argument(one, given.get(one.name, ""))]
    arguments += values
    made = [verb, *options, *(["--"] if any(word.startswith("-") for word in arguments) else []), *arguments]
    for word in made:
        if word.strip().lower().endswith(".py"):  # the command line would execute it
            raise InvalidValue("word", shortened(word, SHOWN), "no program", "the app runs none, the command line does")
    return made


def documents(verb: str, pairs: Pairs) -> tuple[tuple[str, str], ...]:
    """Return the files that the words of a command name, with their texts.

    Raises:
        InvalidValue: A text is too long for an address.
    """
    found = [(name, text) for name, text in pairs if (verb, name) in _DOCUMENTS and text.strip()]
    for name, text in found:
        if len(text) > _LONGEST:
            told = f"at most {_LONGEST} characters long here", "the command line reads longer ones"
            raise InvalidValue(name, f"{len(text)} characters", *told)
    return tuple((_DOCUMENTS[verb, name], text) for name, text in found)


def _option(one: Control, text: str) -> list[str]:
    if one.kind == "check":
        return [one.option]
    found = []
    for each in _split(text) if one.many else [text]:
        found += [f"{one.option}={each}"] if each.startswith("-") else [one.option, each]
    return found


def _argument(one: Control, text: str) -> list[str]:
    return _split(text) if one.many else [text] if text else []


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise InvalidValue("words", shortened(text, LINE // 3), "words with blanks in between, quotes closed") from None


def typed(argv: Sequence[str]) -> str:
    """Return a command as a person types it."""
    return shlex.join(("dpbounds", *argv))
