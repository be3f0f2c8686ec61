"""The command line: one file per verb. Only the verb that is asked for is imported."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

import click

from dpbounds import __version__
from dpbounds.errors import BudgetExceeded, CertificateError, DpboundsError, NotCertified, nearest, shortened
from dpbounds.limits import LINE, SHOWN

DONE, DOES_NOT_HOLD, BAD_INPUT, DEFECT = 0, 1, 2, 3
_INTERRUPTED, _NOT_READ = 130, 141  # as a shell says it: 128 and the number of the signal
TRACEBACK = "DPBOUNDS_TRACEBACK"

# each lives in the module of its name
_VERBS = (
    *("demo", "run", "calibrate", "epsilon", "delta", "remaining", "ball", "check"),
    *("theorems", "show", "evaluate", "compare", "tightness", "errata", "table", "regimes", "plan"),
    *("verify", "audit", "explain"),
)


class _Verbs(click.Group):
    """A group of verbs that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command = importlib.import_module(f"dpbounds.cli.verbs.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            near = "".join(f" (did you mean {verb}?)" for verb in nearest(args[0], _VERBS)[:1])
            word = shortened(repr(args[0]), SHOWN)
            raise click.UsageError(f"the verb must be one of {', '.join(_VERBS)}, not {word}{near}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Verbs, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dpbounds", message="%(prog)s %(version)s")
@click.pass_context
def _commands(ctx: click.Context) -> None:
    """Certified privacy bounds: how much noise a budget needs, what a training run spends, what theorems promise.

    Numbers may be written 0.1, 1e-6, 1/3 or 2**-20 and are taken exactly. Every verb has --json for programs.
    Exit status: 0 done, 1 what was asked for does not hold, 2 bad input, 3 a defect of dpbounds (please report it; the
    environment variable DPBOUNDS_TRACEBACK=1 shows where it arose).
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; errors are one line on standard error.

    Args:
        arguments: What follows ``dpbounds``; the process's own arguments by default.

    Returns:
        0 done, 1 the thing asked for does not hold, 2 bad input, 3 a defect (130 when interrupted from the keyboard,
        141 when nobody reads standard output any more).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        _print_what_can_be_printed(stream)
    try:
        status = _commands.main(args=given, prog_name="dpbounds", standalone_mode=False)
        click.echo(nl=False)  # flushes, while what goes wrong can still be told
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted", _INTERRUPTED)
    except click.ClickException as error:
        return _say(error.format_message(), BAD_INPUT)
    except (BudgetExceeded, CertificateError, NotCertified) as error:
        return _say(str(error), DOES_NOT_HOLD)
    except DpboundsError as error:
        return _say(str(error), BAD_INPUT)
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        return _say(_of_the_system(error), BAD_INPUT)
    except SystemExit:  # in this way, with status 1, Click leaves where nobody reads; nothing else does
        return _nobody_reads()
    except Exception as error:  # the one place for what nobody foresaw: the status of a verdict must not be its own
        return _defect(error, given)
    return status if isinstance(status, int) else DONE


def _of_the_system(error: OSError) -> str:
    """What the operating system refused; not every such error is about a file."""
    if error.filename is not None:
        return f"{error.filename} cannot be read or written: {error.strerror}"
    return f"the system reports {error.strerror or str(error) or type(error).__name__}"


def _defect(error: BaseException, given: Sequence[str]) -> int:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    what = shortened(f"{type(error).__name__}: {error}", SHOWN)
    command = shortened(shlex.join(["dpbounds", *given]), LINE // 3)
    return _say(f"a defect of dpbounds, please report it: {what}; the command was: {command}", DEFECT)


def _nobody_reads() -> int:
    _drop_output()
    return _NOT_READ


def _drop_output() -> None:
    # what is still in the buffer must not be tried again when Python ends
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, status: int) -> int:
    print("dpbounds:", shortened(printable(" ".join(message.split())), LINE - len("dpbounds: ")), file=sys.stderr)
    return status


def printable(text: str) -> str:
    r"""A text whose control characters are written out, so that no file can command a terminal.

    >>> print(printable("\x1b[2J"))
    \x1b[2J
    """
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _print_what_can_be_printed(stream: TextIO) -> None:
    # A terminal without Greek letters gets question marks, not a traceback.
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
