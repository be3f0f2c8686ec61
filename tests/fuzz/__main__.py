"""Fuzz the command line or the Python interface.

python -m tests.fuzz commands --count 3000 --seed 0
python -m tests.fuzz calls --count 6000 --only epsilon,delta
python -m tests.fuzz commands --seed 0 --case 17     # one case again, with what it printed
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: threads do not survive a fork


def main() -> int:
    """Run the cases, print a line for each that is at fault, and the statistics."""
    given = _arguments()
    only = tuple(given.only.split(",")) if given.only else ()
    _imported()
    cases = range(given.count) if given.case is None else (given.case,)
    statuses: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        for case in cases:
            name, status, text, faults, shown = _one(given.kind, given.seed, case, only, Path(folder) / "case")
            statuses[name][status] += 1
            bad += bool(faults)
            if faults:
                again = f"python -m tests.fuzz {given.kind} --seed {given.seed} --case {case}"
                again += f" --only {given.only}" if given.only else ""
                print(f"{again}\n    {text}\n    {'; '.join(faults)}", flush=True)
            if given.case is not None:
                print(text, status, shown, sep="\n")
    report = {"cases": len(cases), "faults": bad, "statuses": statuses}
    print(json.dumps(report))
    return 1 if bad else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("kind", choices=("commands", "calls"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--case", type=int, help="this one only")
    parser.add_argument("--only", default="", help="verbs, or names of the Python interface")
    return parser.parse_args()


def _one(kind: str, seed: int, case: int, only: tuple[str, ...], place: Path) -> tuple[str, str, str, list[str], str]:
    """Name, status, the case as text, faults, and what it printed."""
    if kind == "commands":
        from tests.fuzz import commands

        words = commands.drawn(seed, case, only or tuple(commands.BASES))
        ended, faults = commands.tried(words, place, _CERTIFICATE[0])
        text = ascii(
            shlex.join(["dpbounds", *(word if len(word) < 90 else f"{word[:40]}({len(word)})" for word in words)])
        )
        return words[0], str(ended.status), text, faults, ended.out[-3000:] + ended.err[-3000:]
    from tests.fuzz import calls

    name, arguments, victim = calls.drawn(seed, case, only)
    ended, faults = calls.tried(name, arguments, victim, place)
    status = json.loads(ended.out.splitlines()[-1])["outcome"] if ended.status == 0 else "failed"
    return name, status, ascii(calls.told(name, arguments)), faults, ended.out[-3000:] + ended.err[-3000:]


_CERTIFICATE: list[str] = []


def _imported() -> None:
    """What the children need, so that none of them has to load it."""
    import click
    import matplotlib as mpl
    import sklearn.datasets  # noqa: F401
    from rich import progress  # noqa: F401

    import dpbounds
    import dpbounds.algorithms.verification.suite
    from dpbounds.cli import _VERBS, _commands
    from dpbounds.theorems.registry import library
    from tests.fuzz import pools

    mpl.use("agg")
    library()
    dpbounds.algorithms.verification.suite.planned()
    for verb in _VERBS:
        _commands.get_command(click.Context(_commands), verb)
    for name in dpbounds.__all__:
        getattr(dpbounds, name)
    _CERTIFICATE.append(pools.a_certificate())


if __name__ == "__main__":
    sys.exit(main())
