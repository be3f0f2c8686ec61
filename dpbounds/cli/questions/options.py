"""Options that verbs share: exact numbers, files, refusals and warnings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click

from dpbounds import documents
from dpbounds.errors import InvalidValue, did_you_mean, shortened
from dpbounds.expressions.exact import exact, positive_integer, to_float
from dpbounds.limits import PROCESSES, RUNS, SHOWN
from dpbounds.privacy.relations import Relation

# certified is the accountant of dominating pairs; all prints them side by side
METHODS = ("certified", "rdp", "zcdp", "zcdp-classical", "gdp", "optimal", "advanced", "basic", "all")

Callback = TypeVar("Callback", bound=Callable[..., Any])


class Word(click.Choice):  # type: ignore[type-arg] # Click 8.1 has none
    """The type of options that are one of a few words; an error suggests the nearest ones.

    Args:
        choices: The words.
        meant: Returns the word that is meant by a word that is not similar; None if unknown.
    """

    def __init__(self, choices: Iterable[str], meant: Callable[[str], str | None] = lambda text: None) -> None:
        super().__init__(list(choices))
        self._meant = meant

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See Click."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            meant = self._meant(str(value))
            near = f"did you mean {meant}?" if meant else did_you_mean(str(value), map(str, self.choices))
            message = error.message.rstrip(".") + (near and f" ({near})")
            raise click.BadParameter(message, ctx, param) from None


RELATIONS = Word(map(str, Relation), Relation.meant_by)


_NO_NOISE = "without noise nothing is private, and epsilon is infinite"
_NOTHING_HIDDEN = "an infinite epsilon promises nothing: train without noise, and state no guarantee"
# The meaning of 0 or infinity, for options that refuse it.
_AT_THE_ENDS = {
    ("--noise-multiplier", "0"): _NO_NOISE,
    ("--noise-stddev", "0"): _NO_NOISE,
    ("--noise-variance", "0"): _NO_NOISE,
    ("--sample-rate", "0"): "at rate 0 no record is ever used, and epsilon and delta are 0",
    ("--target-epsilon", "0"): "delta at epsilon 0 is an attacker's advantage: ask with --target-advantage",
    ("--target-epsilon", "inf"): _NOTHING_HIDDEN,
    ("--epsilon", "inf"): _NOTHING_HIDDEN,
}


def number(
    allowed: str, within: Callable[[Fraction], bool]
) -> Callable[[click.Context, click.Parameter, str | None], Fraction | None]:
    """An option's callback: an exact number within a domain; text such as 0.1, 1e-6, 1/3 or 2**-20 is exact."""

    def read(ctx: click.Context, option: click.Parameter, text: str | None) -> Fraction | None:
        if text is None:
            return None
        name, infinite = option.opts[0], text.strip().lower() in ("inf", "infinity")
        if infinite and (name, "inf") in _AT_THE_ENDS:
            raise InvalidValue(name, text, allowed, _AT_THE_ENDS[name, "inf"])
        value = exact(text, name)
        if not within(value):
            raise InvalidValue(name, text, allowed, "" if value else _AT_THE_ENDS.get((name, "0"), ""))
        return value

    return read


POSITIVE = number("greater than 0", lambda x: x > 0)
AT_LEAST_ZERO = number("at least 0", lambda x: x >= 0)
FROM_0_TO_1 = number("from 0 to 1", lambda x: 0 <= x <= 1)
LEAST_RATE = number("greater than 0 and less than 1/2", lambda x: 0 < x < Fraction(1, 2))
PROBABILITY = number("greater than 0 and less than 1", lambda x: 0 < x < 1)
PROBABILITY_OR_ZERO = number("at least 0 and less than 1", lambda x: 0 <= x < 1)
RATE = number("greater than 0 and at most 1", lambda x: 0 < x <= 1)


def whole(ctx: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """An option's callback: a positive whole number; 1e4 is one."""
    return None if text is None else positive_integer(text, option.opts[0])


def whole_numbers(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """An option's callback: positive whole numbers, between commas."""
    if text is None:
        return None
    return tuple(positive_integer(each.strip(), option.opts[0]) for each in text.split(","))


def number_of_runs(ctx: click.Context, option: click.Parameter, text: str) -> int:
    """Check an option: a number of runs, each of which is made."""
    return positive_integer(text, option.opts[0], RUNS)


def number_of_processes(ctx: click.Context, option: click.Parameter, text: str) -> int:
    """An option's callback: a number of processes on this machine."""
    return positive_integer(text, option.opts[0], PROCESSES)


def method(ctx: click.Context, option: click.Parameter, text: str) -> str:
    """An option's callback: how ε or δ is computed."""
    if text in METHODS:
        return text
    raise InvalidValue(option.opts[0], text, ", ".join(METHODS[:-1]) + f" or {METHODS[-1]}")


class _File(click.Path):
    """A path that the system can be asked about."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See Click."""
        if "\0" in os.fspath(value) or not os.fspath(value):
            raise InvalidValue(param.opts[0] if param else "path", repr(value), "the name of a file or of a directory")
        return super().convert(value, param, ctx)


FILE = _File(path_type=Path)


def writable(ctx: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """An option's callback: a file that can be written, so that no work is done, and no other file written, in vain."""
    rule = "a file that can be written"
    if path is not None and path.is_dir():
        raise InvalidValue(option.opts[0], path, rule, "this is a directory")
    if path is not None and not path.parent.is_dir():
        raise InvalidValue(option.opts[0], path, rule, f"there is no directory {path.parent}")
    if path is not None:
        try:
            documents.probe(path)
        except OSError as error:
            raise InvalidValue(option.opts[0], path, rule, error.strerror or "") from None
    return path


DATA, PICTURES = (".csv", ".json"), (".png", ".svg", ".pdf")


def data_or_picture(ctx: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Check an option: a writable file whose suffix determines its content (CSV for a pipe or a terminal)."""
    if writable(ctx, option, path) is None or path is None:
        return None
    ending = path.suffix.lower()
    if ending not in (*DATA, *PICTURES) and (not path.exists() or path.is_file()):
        allowed = f"a file that ends in {' or '.join(DATA)} (numbers), or {', '.join(PICTURES)} (a picture)"
        raise InvalidValue(option.opts[0], path, allowed)
    if ending in PICTURES and find_spec("matplotlib") is None:
        raise unfit(f"{option.opts[0]} {path}", "needs matplotlib to draw a picture", "pip install 'dpbounds[demo]'")
    return path


def options(*decorators: Callable[[Callback], Callback]) -> Callable[[Callback], Callback]:
    """Several options as one decorator, listed in the order of the help text."""

    def decorate(function: Callback) -> Callback:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def names_of(decorator: Callable[[Callable[[], None]], Callable[[], None]]) -> tuple[str, ...]:
    """Return the names under which a verb receives the options of a decorator, in the order of the help text.

    >>> names_of(options(click.option("--batch-size"), click.option("--redraw/--same-bins")))
    ('batch_size', 'redraw')
    """

    @click.command()
    @decorator
    def verb() -> None:
        """Do nothing."""

    return tuple(param.name for param in verb.params if param.name)


RECORDS_OPTIONS = options(
    click.option("--data", type=FILE, metavar="CSV", help="CSV file of your own records, with a line of column names."),
    click.option("--label", metavar="NAME", help="Label column of --data (default: the last)."),
    click.option("--positive", metavar="V", help="Label that means +1; all others mean -1."),
    click.option("--ranges", type=FILE, metavar="FILE", help="Public ranges: CSV with columns feature, lower, upper."),
)
CENTRE_OPTION = click.option(
    "--centre",
    callback=number("a number from 0 to 1", lambda x: 0 <= x <= 1),
    metavar="F",
    help="Point of its public range that a feature is centred at (default: 1/2, the middle).",
)


def required(
    name: str, wanted: str, callback: Callable[..., Any] | None = None, *, also: str | None = None, **given: Any
) -> Callable[[Callback], Callback]:
    """Return a required option: ``"E, a number"`` is its placeholder and the text of the error.

    ``also`` is a second name for it.
    """

    def read(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
        if value is None:
            raise missing(name, f"{name} {wanted}")
        return value if callback is None else callback(ctx, option, value)

    names = (name, *(() if also is None else (also,)), name.removeprefix("--").replace("-", "_"))
    return click.option(*names, callback=read, metavar=wanted.partition(",")[0], **given)


_WHY_THE_DEFAULT = {
    Relation.ADD_OR_REMOVE_ONE: "as in Opacus and dp-accounting",
    Relation.REPLACE_ONE: "as in the theorems",
}


def relation_option(default: Relation, apart: str = "") -> Callable[[Callback], Callback]:
    """Return the option of the neighbouring relation; ``apart`` says where the default is another one."""
    return click.option(
        "--relation",
        type=RELATIONS,
        default=str(default),
        show_default=True,
        help="Neighbouring relation; zero-out-one: one record is replaced by a null record, its place stays. "
        f"Default: {_WHY_THE_DEFAULT[default]}{apart}.",
    )


def words(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """An option's callback: words between commas."""
    return tuple(text.split(",")) if text else ()


RELATION_OPTION = relation_option(Relation.ADD_OR_REMOVE_ONE)
TARGET_OPTIONS = options(
    required(
        "--target-epsilon",
        "E, a number greater than 0",
        POSITIVE,
        also="--epsilon",
        help="ε of the privacy budget.",
    ),
    required(
        "--target-delta",
        "D, a number greater than 0 and less than 1",
        PROBABILITY,
        also="--delta",
        help="δ of the privacy budget.",
    ),
)
_EPSILON_OF_A_BUDGET = ("--target-epsilon", "E, a number greater than 0")
_DELTA_OF_A_BUDGET = ("--target-delta", "D, a number that is at least 0 and less than 1")
CALIBRATION_TARGET_OPTIONS = options(
    click.option(
        "--target-epsilon",
        "--epsilon",
        "target_epsilon",
        callback=POSITIVE,
        metavar="E",
        help="ε of the privacy budget.",
    ),
    click.option(
        "--target-delta",
        "--delta",
        "target_delta",
        callback=PROBABILITY_OR_ZERO,
        metavar="D",
        help="δ of the privacy budget; 0 for pure privacy.",
    ),
    click.option(
        "--target-advantage",
        callback=PROBABILITY,
        metavar="A",
        help="Membership advantage of an attacker, in place of a budget: true minus false positive rate.",
    ),
    click.option(
        "--target-tpr",
        callback=PROBABILITY,
        metavar="T",
        help="True positive rate of an attacker at --at-fpr, in place of a budget.",
    ),
    click.option("--at-fpr", callback=PROBABILITY, metavar="F", help="False positive rate, with --target-tpr."),
    click.option(
        "--target-mu",
        callback=POSITIVE,
        metavar="MU",
        help="μ of Gaussian differential privacy, in place of a budget.",
    ),
    click.option(
        "--least-rate",
        callback=LEAST_RATE,
        metavar="R",
        help="With --target-mu: tests with both error rates at least R count (default 1e-6).",
    ),
)


def budget_of(given: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Return ε and δ of the target that was given: a budget, or an advantage, which is a δ at ε = 0.

    Raises:
        UsageError: Something is missing, or two targets are given.
    """
    epsilon, delta, advantage = given["target_epsilon"], given["target_delta"], given["target_advantage"]
    if advantage is not None:
        for name, value in (("--target-epsilon", epsilon), ("--target-delta", delta)):
            if value is not None:
                raise unfit(name, "does not fit --target-advantage", "leave one of the two out")
        return Fraction(0), advantage
    for (name, wanted), value in ((_EPSILON_OF_A_BUDGET, epsilon), (_DELTA_OF_A_BUDGET, delta)):
        if value is None:
            raise missing(name, f"{name} {wanted}")
    return epsilon, delta


CHOICE_OPTIONS = {
    "assuming": click.option(
        "--assuming", callback=words, metavar="A,B", help="Special classes of problems, such as quasar-convex."
    ),
    "status": click.option(
        "--status",
        "statuses",
        callback=words,
        metavar="A,B",
        help="Statuses of the statements, such as proved,claimed,disputed.",
    ),
}
TIME_LIMIT_OPTION = click.option(
    "--time-limit",
    callback=POSITIVE,
    metavar="SECONDS",
    help="Stop after this time, with the best that is proven by then.",
)
LEDGER_OPTION = click.option(
    "--ledger", type=FILE, metavar="FILE", help="Ledger of a run (JSON), in place of the options above."
)
PUBLISHING_OPTIONS = options(
    click.option(
        "--statement",
        type=click.Choice(["full", "paper", "latex", "assessment"]),
        is_flag=False,
        flag_value="full",
        help="Print the privacy statement, too: in full, in two sentences for a paper (or in LaTeX), or for an "
        "impact assessment, in terms of attacks.",
    ),
    click.option(
        "--certificate",
        type=FILE,
        callback=writable,
        metavar="FILE",
        help="Write a certificate that `dpbounds check` verifies.",
    ),
    click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output."),
)


def note_if_stopped(complete: bool) -> None:
    """Say on standard error that a time limit ended the proofs."""
    if not complete:
        note("the time limit ended the search: the printed value is proven, and more time may improve it")


def missing(option: str, wanted: str) -> click.UsageError:
    """Return the error for an option that has to be given."""
    return click.UsageError(f"{option} is missing: give {wanted}")


def unfit(option: str, why: str, instead: str = "leave it out") -> click.UsageError:
    """Return the error for an option, maybe with its value, that does not go with the others."""
    return click.UsageError(f"{shortened(option, SHOWN)} {why}: {instead}")


def note(text: str) -> None:
    """Tell the person something that is not an error, on standard error."""
    click.echo(f"note: {text}", err=True)


def warn_if_delta_is_large(delta: Fraction | float, dataset_size: int | None, what: str = "delta") -> None:
    """Warn on standard error if δ is at or above 1/n: publishing one whole record would satisfy such a budget."""
    if dataset_size is not None and delta * dataset_size >= 1:
        value = to_float(delta, "up")
        click.echo(
            f"warning: {what} = {value:.6g} is at or above 1/{dataset_size}, one over the number of records: "
            "publishing a whole record at random would be allowed by it; choose a much smaller one",
            err=True,
        )


def reading(path: Path, what: str) -> str:
    """Return the text of a regular file that an option names, or ``InvalidValue``."""
    return documents.read_text(path, what)


def writing(path: Path, content: str | bytes, what: str) -> None:
    """Write a file that an option names, whole or not at all, or raise ``InvalidValue``."""
    try:
        documents.write(path, content)
    except OSError as error:
        raise InvalidValue(what, path, "a file that can be written", error.strerror or "") from None


def writing_before(
    first: Mapping[Path, str | bytes],
    last: Mapping[Path, str | bytes],
    between: Callable[[], None] | None = None,
    outdated: Iterable[Path] = (),
) -> None:
    """Write the evidence of ``--output``, then its subject: ``documents.write_before``, or ``InvalidValue``."""
    try:
        documents.write_before(first, last, between, outdated)
    except OSError as error:
        raise InvalidValue("--output", error.filename, "files that can be written", error.strerror or "") from None


def demand_place(path: Path) -> None:
    """Refuse early, without creating anything, if a directory cannot be created or written to."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass  # told below
    except OSError as error:
        raise InvalidValue("--output", path, "a directory that can be created", error.strerror or "") from None
    place = next(place for place in (path.absolute(), *path.absolute().parents) if os.path.lexists(place))
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        advice = f"{place} is not a directory that can be written to"
        raise InvalidValue("--output", path, "a directory that can be created", advice)


def make_directory(path: Path) -> None:
    """Make the directory of ``--output``, or raise ``InvalidValue``."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValue("--output", path, "a directory that can be created", error.strerror or "") from None


def _report(ctx: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        raise unfit(f"--report {path}", "must end with .html", "a browser prints the page to PDF")
    return writable(ctx, option, path)


def _report_with_pictures(ctx: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and find_spec("matplotlib") is None:
        raise unfit("--report", "needs matplotlib", "pip install 'dpbounds[demo]'")
    return _report(ctx, option, path)


def _report_fields(ctx: click.Context, option: click.Parameter, words: tuple[str, ...]) -> None:
    """Keep the fields for the page; the verbs do not see them."""
    given = ctx.find_root().obj or ()
    if words and not any(word == "--report" or word.startswith("--report=") for word in given):
        raise unfit("--report-field", "fills in a report", "add --report FILE.html")
    for word in words:
        name, equals, text = word.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise InvalidValue("--report-field", word, "NAME=TEXT", 'for example "controller=City hospital"')
        report_fields(ctx)[name.strip()] = text.strip()


def report_fields(ctx: click.Context) -> dict[str, str]:
    """Return the fields of a report that were given, by name."""
    fields: dict[str, str] = ctx.meta.setdefault("dpbounds.report_fields", {})
    return fields


def _report_option(callback: Callable[..., Path | None]) -> Callable[[Callback], Callback]:
    return options(
        click.option(
            "--report",
            type=FILE,
            callback=callback,
            metavar="FILE.html",
            help="Write a report to read, sign and print.",
        ),
        click.option(
            "--report-field",
            multiple=True,
            expose_value=False,
            callback=_report_fields,
            metavar="NAME=TEXT",
            help="Fill in a field of the report: title, model, version, purpose, controller, date or another.",
        ),
    )


REPORT_OPTION, PLAIN_REPORT_OPTION = _report_option(_report_with_pictures), _report_option(_report)
