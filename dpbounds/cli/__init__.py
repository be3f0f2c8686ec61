"""The command line: one file per verb. Only the verb that is asked for is imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from dpbounds import __version__
from dpbounds.errors import BudgetExceeded, CertificateError, DpboundsError, NotCertified

DONE, DOES_NOT_HOLD, BAD_INPUT = 0, 1, 2

# each lives in the module of its name
_VERBS = (
    *("demo", "calibrate", "epsilon", "delta", "remaining", "ball", "check"),
    *("theorems", "show", "evaluate", "compare", "errata", "table", "regimes", "plan", "verify", "audit"),
)


class _Verbs(click.Group):
    """A group of verbs that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command = importlib.import_module(f"dpbounds.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"verb = {args[0]!r} is not allowed: one of {', '.join(_VERBS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Verbs, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dpbounds", message="%(prog)s %(version)s")
@click.pass_context
def _commands(ctx: click.Context) -> None:
    """Certified privacy bounds: how much noise a budget needs, what a training run spends, what theorems promise.

    Numbers may be written 0.1, 1e-6, 1/3 or 2**-20 and are taken exactly. Every verb has --json for programs.
    Exit status: 0 done, 1 what was asked for does not hold, 2 bad input.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; errors are one line on standard error.

    Args:
        arguments: What follows ``dpbounds``; the process's own arguments by default.

    Returns:
        0 done, 1 the thing asked for does not hold, 2 bad input (130 when interrupted from the keyboard).
    """
    for stream in (sys.stdout, sys.stderr):
        _print_what_can_be_printed(stream)
    try:
        status = _commands.main(
            args=None if arguments is None else list(arguments), prog_name="dpbounds", standalone_mode=False
        )
    except click.Abort:
        return _say("interrupted", 130)
    except click.ClickException as error:
        return _say(error.format_message(), BAD_INPUT)
    except (BudgetExceeded, CertificateError, NotCertified) as error:
        return _say(str(error), DOES_NOT_HOLD)
    except DpboundsError as error:
        return _say(str(error), BAD_INPUT)
    except OSError as error:
        return _say(f"{error.filename or 'a file'} cannot be read or written: {error.strerror}", BAD_INPUT)
    return status if isinstance(status, int) else DONE


def _say(message: str, status: int) -> int:
    print("dpbounds:", " ".join(message.split()), file=sys.stderr)
    return status


def _print_what_can_be_printed(stream: TextIO) -> None:
    # A terminal without Greek letters gets question marks, not a traceback.
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
