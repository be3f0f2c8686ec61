"""Training with correlated noise as options describe it: the matrix, and in which steps a record takes part."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import click

from dpbounds.cli.printing.output import plain_text
from dpbounds.cli.questions.options import FILE, missing, options, reading, unfit, whole, words
from dpbounds.errors import InvalidValue, demand_one_of
from dpbounds.privacy.mechanisms.schemes.matrices import FITTING, Groups, Participation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms import MatrixMechanism
    from dpbounds.privacy.mechanisms.schemes.encoders import Encoder

CORRELATED = "correlated"  # what JSON calls this sampling
OPTIMAL = "optimal"
MATRICES = ("matrix", "toeplitz", "tree")
_NAMES = get_args(Participation)
_ERRORS = ("mean", "largest")
_OF_A_MATRIX = ("bands", "participation", "separation", "at_most", "groups", "error")
_UNIT = Fraction(1)


def _one_of(known: tuple[str, ...]) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    def read(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
        if text is not None:
            demand_one_of(option.opts[0], text, known)
        return text

    return read


MATRIX_OPTIONS = options(
    click.option(
        "--matrix",
        type=FILE,
        metavar="FILE",
        help="Correlated noise: file of the matrix C, row by row (.csv), or optimal.",
    ),
    click.option(
        "--toeplitz",
        callback=words,
        metavar="A,B",
        help="Correlated noise: coefficients of a Toeplitz matrix C, or square-root.",
    ),
    click.option("--tree", is_flag=True, help="Correlated noise: partial sums on a binary tree (DP-FTRL)."),
    click.option(
        "--bands", callback=whole, metavar="B", help="Number of coefficients that are used (bands of the matrix)."
    ),
    click.option(
        "--error",
        callback=_one_of(_ERRORS),
        metavar="NAME",
        help="Error of the prefix sums that --matrix optimal minimises: mean (default) or largest.",
    ),
    click.option(
        "--participation",
        callback=_one_of(_NAMES),
        metavar="NAME",
        help=f"The steps that a record may take part in: {', '.join(_NAMES)}.",
    ),
    click.option(
        "--separation",
        callback=whole,
        metavar="B",
        help="Minimum separation of two participations of a record; also the number of groups.",
    ),
    click.option(
        "--at-most",
        callback=whole,
        metavar="K",
        help="Maximum number of participations of a record, with minimum-separation.",
    ),
    click.option(
        "--groups",
        callback=_one_of(get_args(Groups)),
        metavar="NAME",
        help=f"How records are assigned to groups: {', '.join(get_args(Groups))} (default: position).",
    ),
)


def read_stream(given: dict[str, Any], unknown: str | None) -> MatrixMechanism | None:
    """Return the matrix mechanism that the options describe, with noise 1; None where there is no matrix among them.

    Args:
        given: The values of ``TRAINING_OPTIONS``, ``MATRIX_OPTIONS`` among them.
        unknown: The unknown.

    Raises:
        InvalidValue: Options that contradict each other, or a file that holds no such matrix.
        UsageError: Options that are missing.
    """
    chosen = [name for name in MATRICES if given[name]]
    if not chosen:
        for name in _OF_A_MATRIX:
            if given[name] is not None:
                option = f"--{name.replace('_', '-')} {plain_text(given[name])}"
                raise unfit(option, "goes with --matrix, --toeplitz or --tree", "give one of them, or leave it out")
        return None
    if len(chosen) > 1:
        raise unfit(f"--{chosen[1]}", f"does not fit --{chosen[0]}", "give one of the two")
    if unknown not in (None, "noise"):
        raise InvalidValue("--solve", unknown, f"noise with --{chosen[0]}")
    for name in ("sampling", "batch_size", "max_batch_size"):
        if given[name] is not None:
            option = f"--{name.replace('_', '-')} {given[name]}"
            raise unfit(option, f"does not fit --{chosen[0]}", "give --participation, or leave it out")
    if given["participation"] is None:
        raise missing("--participation", f"--participation NAME, one of {', '.join(_NAMES)}")
    told = f"--participation {given['participation']}"
    for name, (fitting, needed) in FITTING.items():
        option = f"--{name.replace('_', '-')}"
        if given["participation"] not in fitting and given[name] is not None:
            raise unfit(f"{option} {plain_text(given[name])}", f"does not fit {told}")
        if given["participation"] in needed and given[name] is None:
            raise missing(option, f"a number with {told}")
    from dpbounds.privacy.mechanisms import MatrixMechanism

    return MatrixMechanism(
        _UNIT,
        _matrix(given, chosen[0]),
        given["participation"],
        separation=given["separation"],
        at_most=given["at_most"],
        sample_rate=given["sample_rate"],
        groups=given["groups"],
    )


def _matrix(given: dict[str, Any], chosen: str) -> Encoder:
    from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, LowerTriangular, Toeplitz

    optimal = chosen == "matrix" and str(given["matrix"]) == OPTIMAL
    if chosen != "toeplitz" and not optimal and given["bands"] is not None:
        raise unfit(f"--bands {given['bands']}", f"does not fit --{chosen}")
    if optimal:
        return _optimal(given)
    if chosen == "matrix":
        for name in ("steps", "epochs"):
            if given[name] is not None:
                raise unfit(f"--{name} {plain_text(given[name])}", "does not fit --matrix, whose rows are the steps")
        rows = list(csv.reader(reading(given["matrix"], "--matrix").splitlines()))
        try:
            return LowerTriangular([[entry.strip() for entry in row if entry.strip()] for row in rows if row])
        except InvalidValue as error:
            raise InvalidValue("--matrix", given["matrix"], "a lower triangular matrix", str(error)) from None
    steps = _steps(given)
    if chosen == "tree":
        return BinaryTree(steps)
    coefficients = given["toeplitz"]
    return Toeplitz("square-root" if coefficients == ("square-root",) else coefficients, steps, given["bands"])


def _optimal(given: dict[str, Any]) -> Encoder:
    from dpbounds.privacy.budgets.prefix_sums import optimal_toeplitz

    steps, apart = _steps(given), given["separation"]
    bands = given["bands"] or apart or steps
    if apart is not None and bands > apart:
        raise InvalidValue("--bands", bands, f"at most --separation, {apart}, with --matrix {OPTIMAL}")
    sampled = given["participation"] == "cyclic-poisson"
    return optimal_toeplitz(steps, bands, separation=apart, error=given["error"] or "mean", sampled=sampled)


def _steps(given: dict[str, Any]) -> int:
    steps: int | None = given["steps"]
    epochs: Fraction | None = given["epochs"]
    if steps is not None and epochs is not None:
        raise InvalidValue("--epochs", plain_text(epochs), "either --steps or --epochs, not both")
    if steps is None and epochs is not None:
        separation: int | None = given["separation"]
        if separation is None:
            raise missing("--separation", "--separation B, the steps of an epoch, with --epochs; or --steps T")
        return math.ceil(epochs * separation)
    if steps is None:
        raise missing("--steps", "--steps T or --epochs N")
    return steps


def stream_parameters(stream: MatrixMechanism) -> dict[str, object]:
    """Return the options that were given, for JSON."""
    from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree

    return {
        "steps": stream.matrix.steps,
        "bands": None if isinstance(stream.matrix, BinaryTree) else stream.matrix.bands,
        "participation": stream.participation,
        "separation": stream.separation,
        "at_most": stream.at_most,
        "groups": stream.groups,
    }
