"""The processes that answer questions: one for each, which can be stopped.

``python -m dpbounds.app.work`` is the process from which they are forked. It imports what they need, one module at a
time, while idle; each line on its standard input is the folder of a task, and when that input ends it stops what still
runs. ``python -m dpbounds.app.work FOLDER`` performs one task by itself, where processes cannot be forked.

A folder holds ``task.json``, and then ``pid``, ``progress``, ``out``, ``err``, ``extra.json``, whatever files the
command writes, and at last ``status``.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

# what an answer needs, most wanted first; a module that is not installed is one of an extra
FIRST = (
    *("dpbounds.cli", "dpbounds.cli.verbs.calibrate", "dpbounds.cli.verbs.epsilon", "dpbounds.cli.answers.methods"),
    *("dpbounds.privacy.accountants.certified", "dpbounds.privacy.accountants.groups", "dpbounds.app.extras"),
    *("dpbounds.privacy.accountants.routing", "dpbounds.privacy.budgets.calibration", "dpbounds.cli.printing.wording"),
    "dpbounds.privacy.routes.drawn_steps",
    *("dpbounds.privacy.routes.grouping", "dpbounds.privacy.routes.outcomes"),
    *("dpbounds.privacy.notions.composition_theorems", "dpbounds.privacy.notions.group_privacy"),
)
LATER = (
    *("scipy.special", "scipy.optimize"),  # SciPy functions import these when needed
    *("dp_accounting", "dpbounds.privacy.publishing.interoperability.events", "dpbounds.cli.answers.side_by_side"),
    *("dpbounds.privacy.publishing.interoperability", "dpbounds.privacy.accountants.side_by_side"),
    *("dpbounds.privacy.notions.optimal_composition", "dpbounds.privacy.notions.random_signs"),
    *("dpbounds.privacy.accountants.trade_off", "dpbounds.cli.answers.curves", "dpbounds.render.curves"),
    *("matplotlib.figure", "matplotlib.backends.backend_svg", "dpbounds.privacy.publishing.certificates"),
    *("dpbounds.privacy.accountants.attackers", "dpbounds.cli.verbs.attacker", "dpbounds.cli.verbs.check"),
    *("dpbounds.privacy.publishing.standalone_checker", "dpbounds.cli.verbs.show", "dpbounds.cli.verbs.evaluate"),
    *("dpbounds.cli.verbs.plan", "dpbounds.rates.plan", "dpbounds.rates.regimes", "dpbounds.rates.planes"),
    *("dpbounds.render.catalogue", "dpbounds.render.forms", "dpbounds.cli.questions.letters"),
    *("dpbounds.theorems.checking", "dpbounds.algorithms.verification.catalogue"),
)
_DEFECT = 3


def perform(folder: Path) -> None:
    """Run the task of a folder; always write an exit status there."""
    from dpbounds.cli import main
    from dpbounds.cli.printing.output import kept_in_pieces
    from dpbounds.cli.printing.progress import telling

    task = json.loads((folder / "task.json").read_text("utf-8"))

    def tell(what: str, done: int, total: int) -> None:
        _put(folder / "progress", f"{done} {total} {what}")

    status = _DEFECT
    try:
        with (
            open(folder / "out", "w", encoding="utf-8") as out,
            open(folder / "err", "w", encoding="utf-8") as err,
            redirect_stdout(out),
            redirect_stderr(err),
            chdir(folder),
            telling(tell),
            kept_in_pieces() as kept,
        ):
            try:
                status = main(task["argv"])
                out.flush()
                text = Path("out").read_text("utf-8")
                for printed in kept.printed:
                    text = text.replace(printed, "", 1)
                pieces = {"rows": kept.rows, "table": kept.table, "text": text.strip("\n")}
                _put(folder / "pieces.json", json.dumps(pieces))
                if task["extra"] and status in (0, 1):
                    from dpbounds.app import extras

                    found = getattr(extras, task["extra"])(task["argv"], kept.rows)
                    _put(folder / "extra.json", json.dumps(found))
            except BaseException:
                status = _DEFECT
                traceback.print_exc()
    finally:
        _put(folder / "status", str(status))


def _put(path: Path, text: str) -> None:
    """Write a file atomically."""
    draft = path.with_name(f".{path.name}")
    draft.write_text(text, "utf-8")
    draft.replace(path)


def _lines() -> Iterator[str]:
    """Lines of standard input, with imports in between."""
    from dpbounds.theorems.index import modules

    waiting = iter((*LATER, *modules()))
    buffer = b""
    while True:
        idle = not select.select([0], [], [], 0)[0]
        if idle and (module := next(waiting, None)) is not None:
            with suppress(ImportError):  # the command says what is missing
                importlib.import_module(module)
            continue
        read = os.read(0, 1 << 16)
        if not read:
            return
        *lines, buffer = (buffer + read).split(b"\n")
        yield from (line.decode() for line in lines)


def _serve() -> None:
    for module in FIRST:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children need no wait: their folders show when they end
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the keyboard; the app ends this process
    children: dict[int, Path] = {}
    for line in _lines():
        child = os.fork()
        if child:
            children[child] = Path(line)
            continue
        os.setpgid(0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        folder = Path(line)
        try:
            _put(folder / "pid", str(os.getpid()))
        except FileNotFoundError:  # it was stopped before it began
            os._exit(0)
        perform(folder)
        os._exit(0)
    for child, folder in children.items():
        if folder.exists() and not (folder / "status").exists():
            stop(child)


def stop(process: int) -> None:
    """End a task's process, with those that it started."""
    with suppress(ProcessLookupError, PermissionError):  # it has ended
        os.killpg(process, signal.SIGKILL)


if __name__ == "__main__":
    if sys.argv[1:]:
        perform(Path(sys.argv[1]))
    else:
        _serve()
