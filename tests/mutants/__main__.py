"""Plant bugs one at a time, and say which tests catch each: the measure of what the tests protect.

    python -m tests.mutants --list           all planted bugs
    python -m tests.mutants --all            each against the tests that are recorded to catch it
    python -m tests.mutants A01 R02          these
    python -m tests.mutants --record A01     these against all tests of their areas; writes which catch each

A bug that no recorded test catches is tried against all tests of its area in the layers *fast* and *seconds*. The exit
status is 1 where one survives or cannot be planted, or where a test that caught one fails without a bug, too.

Tests are collected once. Each bug is planted in a fork of this process. Hold the sources still while it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any

import pytest
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item

from tests.mutants.planting import Mutant, NotPlanted, plant, read_lists

Caught = dict[str, list[str]]


@dataclass
class Trial:
    """What tests said of one bug, or (without a bug) of sound code.

    Attributes:
        name: The id of the bug.
        mutant: The bug; None for sound code.
        chosen: The tests to run, in this order.
        ran: The tests that ran.
        failed: Those of them that failed, and the CPU seconds of each.
        error: Why the bug is not planted, or the trial was ended.
        seconds: CPU seconds of everything.
    """

    name: str
    mutant: Mutant | None
    chosen: list[pytest.Item]
    ran: int = 0
    failed: dict[str, float] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        numbers = f"{self.ran:4} of {len(self.chosen):4} tests, {self.seconds:6.2f} CPU s"
        said = f"caught by {', '.join(self.failed)}" if self.failed else "SURVIVED"
        return f"{self.name:6} {numbers}  {said} {self.error}".rstrip()


class Trials:
    """A plugin of pytest that runs trials in place of the tests.

    Args:
        choose: From a bug and all tests to those of its trial.
        enough: After so many functions have failed a trial ends.
        options: Of the command line.
    """

    def __init__(
        self,
        mutants: Sequence[Mutant],
        choose: Callable[[Mutant, list[pytest.Item]], list[pytest.Item]],
        enough: int,
        options: argparse.Namespace,
    ) -> None:
        self.mutants, self.choose, self.enough, self.options = mutants, choose, enough, options
        self.results: list[Trial] = []
        self.unsound: set[str] = set()

    def pytest_sessionstart(self) -> None:
        """Have Hypothesis find an example that fails, and not shrink it, which may take minutes with a bug."""
        from hypothesis import Phase, settings  # pytest has to rewrite it first

        found = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
        settings.register_profile("without shrinking", settings.default, phases=found)
        settings.load_profile("without shrinking")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every bug, and then sound code against the tests that caught one."""
        trials = [Trial(one.id, one, self.choose(one, session.items)) for one in self.mutants]
        self.results = self._all_of(trials, self.enough, show=True)
        catching = {name for trial in self.results for name in trial.failed}
        chosen = [item for item in session.items if item.nodeid in catching]
        shares = [chosen[place :: self.options.jobs] for place in range(self.options.jobs)]
        for trial in self._all_of([Trial("sound", None, share) for share in shares if share], len(chosen), show=False):
            self.unsound |= set(trial.failed) if not trial.error else {item.nodeid for item in trial.chosen}
        return True

    def _all_of(self, trials: list[Trial], enough: int, *, show: bool) -> list[Trial]:
        """Run trials, each in a fork, a few at a time."""
        waiting, running = list(trials), dict[int, tuple[Trial, IO[bytes]]]()
        while waiting or running:
            while waiting and len(running) < self.options.jobs:
                trial = waiting.pop(0)
                answers: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed when it was read)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # JAX has threads, which a fork does not have; no bug needs them
                    pid = os.fork()
                if not pid:
                    self._child(trial, answers, enough)
                running[pid] = trial, answers
            pid, status, used = os.wait4(-1, 0)
            trial, answers = running.pop(pid)
            trial.seconds = used.ru_utime + used.ru_stime
            _read(trial, answers, status)
            if show:
                print(trial, flush=True)
        return trials

    def _child(self, trial: Trial, answers: IO[bytes], enough: int) -> None:
        """In a fork: plant the bug, run tests until enough functions have failed, and end the process."""
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (self.options.limit, self.options.limit + 5))
            signal.alarm(50 * self.options.limit)  # for a process that waits, and uses no CPU time
            said: dict[str, Any] = {}
            try:
                if trial.mutant is not None:
                    plant(trial.mutant)
            except (NotPlanted, ImportError) as error:
                said, trial.chosen = {"error": f"not planted: {error}"}, []
                _write(answers, said)
            functions: set[str] = set()
            for item in trial.chosen:
                function = item.nodeid.partition("[")[0]
                if function in functions and trial.mutant is not None:
                    continue
                began = time.process_time()
                with catch_warnings_for_item(item.config, item.ihook, "runtest", item):  # as its marks say
                    failed = any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))
                _write(answers, {"name": item.nodeid, "failed": failed, "seconds": time.process_time() - began})
                if failed:
                    functions.add(function)
                if len(functions) == enough:
                    break
            status = 0
        finally:
            os._exit(status)


def _write(answers: IO[bytes], said: dict[str, Any]) -> None:
    answers.write(json.dumps(said).encode() + b"\n")
    answers.flush()


def _read(trial: Trial, answers: IO[bytes], status: int) -> None:
    """What a fork wrote before it ended, and how it ended."""
    with answers:
        answers.seek(0)
        for said in map(json.loads, answers):
            trial.error = said.get("error", "")
            trial.ran += "name" in said
            if said.get("failed"):
                trial.failed[said["name"]] = round(said["seconds"], 3)
    if os.WIFSIGNALED(status) or os.WEXITSTATUS(status):
        trial.error = (
            f"the process ended with status {os.waitstatus_to_exitcode(status)} (-24 is the limit on CPU time)"
        )


def read_record(file: Path) -> Caught:
    """Which tests caught each bug when they were recorded."""
    found: Caught = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def of_its_area(mutant: Mutant, items: list[pytest.Item]) -> list[pytest.Item]:
    """All tests that a bug names, in the order in which it names them; the fast ones first."""
    named = dict.fromkeys(item for each in mutant.tests for item in items if fnmatchcase(item.nodeid, each + "*"))
    return sorted(named, key=lambda item: item.get_closest_marker("seconds") is not None)


def files_of(tests: str) -> list[str]:
    """The files and folders of tests whose paths begin like that."""
    found = Path().glob(tests.partition("::")[0] + "*")
    return [str(each) for each in found if each.is_dir() or each.suffix == ".py"]


def collected(files: set[str], trials: Trials) -> None:
    """Run pytest on files of tests, of all layers but *minutes*, with the trials in place of the tests."""
    inside = [one for one in sorted(files) if not any(str(parent) in files for parent in Path(one).parents)]
    options = ["-n", "0", "-q", "-p", "no:cacheprovider", "-m", "not minutes", "--no-header"]
    status = pytest.main([*inside, *options], plugins=[trials])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest ended with {status!r}")


def tried(mutants: list[Mutant], caught: Caught, options: argparse.Namespace) -> Trials:
    """Try bugs against the tests that are recorded for each."""

    def recorded(mutant: Mutant, items: list[pytest.Item]) -> list[pytest.Item]:
        return sorted(
            (item for item in items if item.nodeid in caught[mutant.id]),
            key=lambda item: caught[mutant.id].index(item.nodeid),
        )

    trials = Trials([one for one in mutants if caught.get(one.id)], recorded, 1, options)
    files = {name.partition("::")[0] for one in trials.mutants for name in caught[one.id]}
    if existing := {file for file in files if Path(file).exists()}:
        collected(existing, trials)
    return trials


def main(arguments: list[str]) -> int:
    """Try planted bugs; 1 if one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ids", nargs="*", help="planted bugs")
    parser.add_argument("--all", action="store_true", help="all planted bugs")
    parser.add_argument("--list", action="store_true", help="list them, and try none")
    parser.add_argument("--record", action="store_true", help="try all tests, and write down which catch")
    parser.add_argument("--most", type=int, default=3, help="with --record: how many tests for each (default: 3)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--limit", type=int, default=120, help="CPU seconds for each (default: 120)")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="where the lists are")
    options = parser.parse_args(arguments)
    planted, record = read_lists(options.folder / "planted"), options.folder / "caught.json"
    caught = read_record(record)
    if unknown := set(options.ids) - set(planted):
        parser.error(f"no planted bug: {', '.join(sorted(unknown))}")
    mutants = [one for one in planted.values() if options.all or options.list or one.id in options.ids]
    if not mutants:
        parser.error("name planted bugs, or give --all or --list")
    if options.list:
        for one in mutants:
            print(f"{one.id:6} {one.area:12} {one.module.removeprefix('dpbounds.'):45} {one.flaw}")
        print("; ".join(f"{area} {count}" for area, count in Counter(one.area for one in mutants).items()))
        return 0

    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    known = Trials([], of_its_area, 1, options) if options.record else tried(mutants, caught, options)
    results = {trial.name: trial for trial in known.results if trial.failed or trial.error.startswith("not planted")}
    unsound = known.unsound
    if rest := [one for one in mutants if one.id not in results]:
        print("all tests of their areas:", *(one.id for one in rest))
        wide = Trials(rest, of_its_area, options.most if options.record else 1, options)
        collected({file for one in rest for each in one.tests for file in files_of(each)}, wide)
        results |= {trial.name: trial for trial in wide.results}
        unsound = unsound | wide.unsound
        if not options.record:
            print(
                "caught by tests that are not recorded (--record):", *(one.name for one in wide.results if one.failed)
            )
    for trial in results.values():
        trial.failed = {name: cost for name, cost in trial.failed.items() if name not in unsound}
    if options.record:
        caught = read_record(record)  # another run may have written meanwhile
        caught |= {name: sorted(trial.failed, key=trial.failed.__getitem__) for name, trial in results.items()}
        caught = {name: tests for name, tests in caught.items() if tests and name in planted}
        record.write_text(json.dumps(caught, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    survivors = [one.id for one in mutants if one.id not in results or not results[one.id].failed]
    own, forks = (sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"CPU seconds: {own:.0f} to collect tests, {forks:.0f} to run them")
    print(f"fail without a bug, too: {', '.join(sorted(unsound)) or 'none'}")
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} caught; not caught: {', '.join(survivors) or 'none'}")
    return 1 if survivors or unsound else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
