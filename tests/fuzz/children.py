"""Run something in a forked child with bounds on its processor time and memory, and see how it ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SECONDS, MEMORY = 20, 2 << 30  # of processor time; bytes beyond what the parent has mapped
SECONDS_OF = {
    "plan": 60,  # it calibrates some twenty times where batches are limited
    "remaining": 120,  # a calibration, and a search for the number of releases: ε = 1e6, or truncated samples
    "tuned_guarantee": 90,  # a whole profile down to δ = 1e-20: random allocation under replace-one takes 45
}
_BLOCKED = 30.0  # seconds without any processor time, after which a child waits for something that never comes
_FILES = 200 << 20
_CRASHED = 99


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: its exit status (negative: the signal), what it wrote, and why it was stopped, if it was."""

    status: int
    out: str
    err: str
    stopped: str


def run(action: Callable[[], int], place: Path, seconds: int = SECONDS) -> Ended:
    """Fork, run in that directory with standard output and error in files beside it, and wait."""
    out, err = place.with_suffix(".out"), place.with_suffix(".err")
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _child(action, place, out, err, seconds)
    status, stopped = _watched(pid)
    texts = [path.read_text(encoding="utf-8", errors="replace") if path.exists() else "" for path in (out, err)]
    for path in (out, err):
        path.unlink(missing_ok=True)
    return Ended(os.waitstatus_to_exitcode(status), texts[0], texts[1], stopped)


def _child(action: Callable[[], int], place: Path, out: Path, err: Path, seconds: int) -> None:
    status = _CRASHED
    try:
        os.setsid()
        os.chdir(place)
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FILES,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        for stream, path, how in ((0, Path(os.devnull), os.O_RDONLY), (1, out, flags), (2, err, flags)):
            opened = os.open(path, how, 0o600)
            os.dup2(opened, stream)
            os.close(opened)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (they live as long as the child)
        sys.stdout, sys.stderr = (open(stream, "w", encoding="utf-8", closefd=False) for stream in (1, 2))  # noqa: SIM115
        status = action()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status & 255)


def _watched(pid: int) -> tuple[int, str]:
    used, since = -1.0, time.monotonic()
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            stopped = (
                "too much processor time" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU else ""
            )
            return status, stopped
        now = _processor_time(pid)
        if now > used:
            used, since = now, time.monotonic()
        elif time.monotonic() - since > _BLOCKED:
            os.killpg(pid, signal.SIGKILL)
            return os.waitpid(pid, 0)[1], "waits for ever"
        time.sleep(0.005 if used < 0.5 else 0.05)


def _processor_time(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # its own, and that of its children that ended
