"""Questions and the places of their answers: each runs once, in its own process, which can be stopped."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dpbounds.app import work

KEPT = 200  # answers
_PATIENCE = 10.0  # seconds after which an abandoned question is cancelled, unless it is to be kept
_BEAT = 0.01  # seconds between two looks at a folder


@dataclass(frozen=True, slots=True)
class Task:
    """A question.

    Attributes:
        argv: The arguments of ``dpbounds``.
        extra: A function of ``extras``, or "".
        documents: Files that it reads, with their texts.
    """

    argv: tuple[str, ...]
    extra: str = ""
    documents: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Return the same name for the same question."""
        return hashlib.sha256(json.dumps([self.argv, self.extra, self.documents]).encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a question.

    Attributes:
        status: The exit status.
        out: The whole output.
        err: The output on standard error.
        folder: The folder of its files.
        extra: Additions that are shown beside the answer.
        rows: Named values of the output: name, value, remark.
        table: The table of the output, its head first.
        text: The output without them.
    """

    status: int
    out: str
    err: str
    folder: Path
    extra: Any = None
    rows: tuple[tuple[str, str, str], ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    text: str = ""


@dataclass(slots=True)
class Job:
    """A question, and the place of its answer.

    Attributes:
        folder: The folder of the last attempt.
        kept: Whether it continues when its page was left.
        state: "new", "waiting", "running", "stopped" or "done".
    """

    task: Task
    folder: Path
    kept: bool = False
    state: str = "new"
    seen: float = 0.0
    begun: float = 0.0
    answer: Answer | None = field(default=None, repr=False)

    @property
    def progress(self) -> tuple[int, int, str]:
        """The amount done, the total (0 if unknown), and the kind of work."""
        try:
            done, total, what = (self.folder / "progress").read_text("utf-8").split(" ", 2)
        except (OSError, ValueError):
            return 0, 0, ""
        return int(done), int(total), what

    @property
    def seconds(self) -> int:
        """Since it was begun."""
        return int(time.monotonic() - self.begun)

    @property
    def remaining(self) -> int | None:
        """The expected time that is left, in seconds; None where nothing countable is done yet."""
        done, total, _ = self.progress
        return math.ceil((time.monotonic() - self.begun) * (total - done) / done) if done and total else None


class Starter(Protocol):
    """Return the process starter of this platform."""

    def __call__(self, folder: Path) -> None:
        """Start it."""

    def stop(self, folder: Path) -> None:
        """End the process of a folder, with those that it started."""

    def gone(self, folder: Path) -> bool:
        """Return whether it has ended."""

    def close(self) -> None:
        """End the rest."""


class Forked:
    """Processes forked from a process that has imported everything."""

    def __init__(self) -> None:
        self._asked: dict[Path, subprocess.Popen[bytes]] = {}
        self._parent = self._begun()

    def _begun(self) -> subprocess.Popen[bytes]:
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, "-m", "dpbounds.app.work"]
        environment = {**os.environ, **one_thread}  # threads do not survive a fork
        return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)  # noqa: S603 (ourselves)

    def __call__(self, folder: Path) -> None:
        """Ask for a process; of another parent where the first has ended."""
        if self._parent.poll() is not None:
            self.close()
            self._parent = self._begun()
        self._asked = {one: parent for one, parent in self._asked.items() if one.exists()} | {folder: self._parent}
        assert self._parent.stdin is not None
        with suppress(BrokenPipeError):  # it has just ended, as `gone` shows
            self._parent.stdin.write(f"{folder}\n".encode())
            self._parent.stdin.flush()

    def _process(self, folder: Path) -> int | None:
        try:
            return int((folder / "pid").read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def stop(self, folder: Path) -> None:
        """Stop it; a task that has not begun finds its folder gone, and does nothing."""
        gone = folder.with_name(f"{folder.name}.stopped")
        with suppress(FileNotFoundError):
            folder.rename(gone)  # at once: from here on its process has either left its id, or cannot
        process = self._process(gone)
        if process is not None:
            work.stop(process)
        shutil.rmtree(gone, ignore_errors=True)

    def gone(self, folder: Path) -> bool:
        """Return whether it, or the process from which it is forked, has ended."""
        process = self._process(folder)
        if process is None:
            return self._asked[folder].poll() is not None
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        return False

    def close(self) -> None:
        """End them all."""
        assert self._parent.stdin is not None
        with suppress(BrokenPipeError):
            self._parent.stdin.close()
        try:
            self._parent.wait(5)
        except subprocess.TimeoutExpired:
            self._parent.kill()
            self._parent.wait()


class Spawned:
    """Processes that import everything themselves, for systems without fork; slower."""

    def __init__(self) -> None:
        self._children: dict[Path, subprocess.Popen[bytes]] = {}

    def __call__(self, folder: Path) -> None:
        """Start it."""
        command = [sys.executable, "-m", "dpbounds.app.work", str(folder)]
        self._children[folder] = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 (ourselves)

    def stop(self, folder: Path) -> None:
        """End it."""
        child = self._children.pop(folder, None)
        if child is not None:
            child.kill()
            child.wait()

    def gone(self, folder: Path) -> bool:
        """Return whether it has ended."""
        child = self._children.get(folder)
        return child is None or child.poll() is not None

    def close(self) -> None:
        """End them all."""
        for folder in list(self._children):
            self.stop(folder)


def starter() -> Starter:
    """Return the ways of starting processes on this platform."""
    return Forked() if hasattr(os, "fork") else Spawned()


class Jobs:
    """All questions of a session; the newest answers are kept."""

    def __init__(self, start: Starter, processes: int | None = None, clock: Callable[[], float] = time.monotonic):
        self._start = start
        self._most = processes or max(2, os.cpu_count() or 2)
        self._clock = clock
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._home = Path(tempfile.mkdtemp(prefix="dpbounds-app-"))
        self._attempts = 0

    def of(self, argv: Sequence[str], extra: str = "", documents: tuple[tuple[str, str], ...] = ()) -> Job:
        """Return the job of a question; a new one is not started yet."""
        task = Task(tuple(argv), extra, documents)
        if task.id not in self._jobs:
            self._jobs[task.id] = Job(task, self._home / task.id)
        self._jobs.move_to_end(task.id)
        return self._jobs[task.id]

    def get(self, name: str) -> Job | None:
        """Return the job of that id, if it is known still."""
        return self._jobs.get(name)

    def begin(self, job: Job, *, kept: bool = False) -> None:
        """Let it be answered, unless it is or was."""
        job.kept = job.kept or kept
        job.seen = self._clock()
        if job.state in ("new", "stopped"):
            job.state = "waiting"
            self._attempts += 1  # what was stopped may take a moment to end: it must not write where this one does
            job.folder = self._home / f"{job.task.id}-{self._attempts}"
        self.look()

    def stop(self, job: Job) -> None:
        """End it, if it has not ended."""
        if job.state == "running":
            self._start.stop(job.folder)
        if job.state in ("running", "waiting"):
            job.state = "stopped"
        self.look()

    def look(self) -> None:
        """Collect finished jobs, cancel abandoned ones, and start waiting ones."""
        for job in list(self._jobs.values()):
            if job.state == "running":
                self._take(job)
            if job.state in ("running", "waiting") and not job.kept and self._clock() - job.seen > _PATIENCE:
                if job.state == "running":
                    self._start.stop(job.folder)
                job.state = "new"
        running = sum(job.state == "running" for job in self._jobs.values())
        for job in [job for job in self._jobs.values() if job.state == "waiting"][: max(0, self._most - running)]:
            job.folder.mkdir()
            for name, text in job.task.documents:
                (job.folder / name).write_text(text, "utf-8")
            (job.folder / "task.json").write_text(json.dumps({"argv": job.task.argv, "extra": job.task.extra}), "utf-8")
            job.state, job.begun = "running", time.monotonic()
            self._start(job.folder)
        for name in [name for name, job in self._jobs.items() if job.state not in ("running", "waiting")][:-KEPT]:
            shutil.rmtree(self._jobs.pop(name).folder, ignore_errors=True)

    def _take(self, job: Job) -> None:
        gone = self._start.gone(job.folder)  # asked first: what has ended has left its status before
        if not (job.folder / "status").exists():
            if gone:
                job.answer = Answer(3, "", "dpbounds: the process ended without an answer: out of memory?", job.folder)
                job.state = "done"
            return
        found = {
            name: json.loads(path.read_text("utf-8")) if (path := job.folder / f"{name}.json").exists() else None
            for name in ("extra", "pieces")
        }
        pieces = found["pieces"] or {"rows": (), "table": (), "text": ""}
        job.answer = Answer(
            int((job.folder / "status").read_text("utf-8")),
            (job.folder / "out").read_text("utf-8"),
            (job.folder / "err").read_text("utf-8"),
            job.folder,
            found["extra"],
            tuple(map(tuple, pieces["rows"])),
            tuple(map(tuple, pieces["table"])),
            pieces["text"],
        )
        job.state = "done"

    async def wait(self, job: Job, seconds: float) -> None:
        """Until it has ended, or so long."""
        end = self._clock() + seconds
        while True:
            job.seen = self._clock()
            self.look()
            if job.state not in ("running", "waiting") or self._clock() >= end:
                return
            await asyncio.sleep(_BEAT)

    def close(self) -> None:
        """Stop all tasks, and delete their files."""
        for job in self._jobs.values():
            if job.state == "running":
                self._start.stop(job.folder)
        self._start.close()
        shutil.rmtree(self._home, ignore_errors=True)
