"""The command line: one file per verb; only the verb in use is imported."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TextIO

import click

from dpbounds import __version__
from dpbounds.errors import BudgetExceeded, CertificateError, DpboundsError, NotCertified, did_you_mean, shortened
from dpbounds.limits import LINE, SHOWN

DONE, DOES_NOT_HOLD, BAD_INPUT, DEFECT = 0, 1, 2, 3
_INTERRUPTED, _NOT_READ = 130, 141  # as a shell says it: 128 and the number of the signal
TRACEBACK = "DPBOUNDS_TRACEBACK"

# each lives in the module of its name
_GROUPS = {
    "Account": ("calibrate", "epsilon", "delta", "attacker", "convert", "remaining", "ball", "check"),
    "Theorems": (*("theorems", "show", "evaluate", "compare", "tightness", "errata", "table", "regimes", "plan"),),
    "Runs": ("demo", "run", "fit", "verify", "audit", "explain"),
    "Contribute": ("new",),
}
_VERBS = tuple(chain.from_iterable(_GROUPS.values()))
_APP = "app"  # a package of its own, above this one: it asks the verbs


class _Verbs(click.Group):
    """A group of verbs that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_VERBS, _APP]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in (*_VERBS, _APP):
            return None
        home = "dpbounds.app.verb" if cmd_name == _APP else f"dpbounds.cli.verbs.{cmd_name}"
        command = importlib.import_module(home).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, verbs in (*_GROUPS.items(), ("In a browser", (_APP,))):
            found = ((verb, self.get_command(ctx, verb)) for verb in verbs)
            with formatter.section(title):
                formatter.write_dl([(verb, one.get_short_help_str(80)) for verb, one in found if one is not None])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        verbs = self.list_commands(ctx)
        if args and args[0] not in verbs and not args[0].startswith("-"):
            from dpbounds.cli.meant import command_meant

            meant = command_meant(args[0], verbs)
            near = f"did you mean {meant}?" if meant else did_you_mean(args[0], verbs)
            word = shortened(repr(args[0]), SHOWN)
            raise click.UsageError(
                f"unknown command {word}{near and f': {near}'}; `dpbounds --help` lists the commands"
            )
        return super().resolve_command(ctx, args)


@click.group(cls=_Verbs, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dpbounds", message="%(prog)s %(version)s")
@click.pass_context
def _commands(ctx: click.Context) -> None:
    """Certified privacy bounds: how much noise a budget needs, what a training run spends, what theorems guarantee.

    Numbers may be written 0.1, 1e-6, 1/3 or 2**-20 and are taken exactly. Every verb has --json for programs.
    Exit status: 0 done, 1 what was asked for does not hold, 2 bad input, 3 a defect of dpbounds (please report it; the
    environment variable DPBOUNDS_TRACEBACK=1 shows where it arose).
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; errors are one line on standard error.

    With ``--json`` an error is an object on standard output, too.

    Args:
        arguments: The arguments after ``dpbounds``; by default those of the process.

    Returns:
        0 success, 1 the request does not hold, 2 wrong input, 3 a defect (130 when interrupted from the keyboard, 141
        when standard output was closed).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        _print_what_can_be_printed(stream)
    say = partial(_say, given)
    try:
        status = _commands.main(args=given, prog_name="dpbounds", standalone_mode=False, obj=tuple(given))
        click.echo(nl=False)  # flushes, while an error can still be reported
    except (click.Abort, KeyboardInterrupt):
        return say("interrupted", _INTERRUPTED)
    except click.NoSuchOption as error:
        from dpbounds.cli.meant import of_an_unknown_option

        return say(of_an_unknown_option(error), BAD_INPUT)
    except click.ClickException as error:
        return say(error.format_message(), BAD_INPUT)
    except (BudgetExceeded, CertificateError, NotCertified) as error:
        return say(str(error), DOES_NOT_HOLD)
    except DpboundsError as error:
        return say(str(error), BAD_INPUT)
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        return say(_of_the_system(error), BAD_INPUT)
    except (
        SystemExit
    ) as left:  # raised by Click after completions of a shell, or, with 1, if standard output was closed
        return _nobody_reads() if left.code else DONE
    except Exception as error:  # the one place for unexpected errors: their status must differ from that of a verdict
        return say(_defect(error, given), DEFECT)
    return status if isinstance(status, int) else DONE


def _of_the_system(error: OSError) -> str:
    """Describe an error of the operating system; not every such error is about a file."""
    if error.filename is not None:
        return f"{error.filename} cannot be read or written: {error.strerror}"
    return f"the system reports {error.strerror or str(error) or type(error).__name__}"


def _defect(error: BaseException, given: Sequence[str]) -> str:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    what = shortened(f"{type(error).__name__}: {error}", SHOWN)
    command = shortened(shlex.join(["dpbounds", *given]), LINE // 3)
    return f"a defect of dpbounds, please report it: {what}; the command was: {command}"


def _nobody_reads() -> int:
    _drop_output()
    return _NOT_READ


def _drop_output() -> None:
    # what is still in the buffer must not be tried again when Python ends
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(given: Sequence[str], message: str, status: int) -> int:
    line = shortened(printable(" ".join(message.split())), LINE - len("dpbounds: "))
    print("dpbounds:", line, file=sys.stderr)
    if "--json" in given:
        from dpbounds.cli.printing.output import print_json

        try:
            print_json(
                {"error": {"message": line, "status": status}}, next((one for one in given if one in _VERBS), None)
            )
        except OSError:
            _drop_output()
    return status


def printable(text: str) -> str:
    r"""Return a text whose control characters are written out, so that no file can command a terminal.

    >>> print(printable("\x1b[2J"))
    \x1b[2J
    """
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _print_what_can_be_printed(stream: TextIO) -> None:
    # A terminal without Greek letters gets question marks, not a traceback.
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
