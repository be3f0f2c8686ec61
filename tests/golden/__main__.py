"""The command line; ``tests/golden/__init__.py`` says what it is for."""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FAST = ("structural", "pairs", "numeric", "runs", "refusals")
NIGHTLY = ("slow", "calibrations", "groups", "filters", "certificates", "verbs")
_ROOT = Path(__file__).parents[2]


def one(kind, path, only):
    """Ask one kind in this process, or some of its questions; print what each costs."""
    from tests.golden.recording import chosen, record

    questions = importlib.import_module(f"tests.golden.{kind}").questions()
    record(chosen(questions, only), path, sys.stdout)


def record(directory, kinds, root=_ROOT):
    """Ask every kind in a process of its own, with the package and the questions of ``root``."""
    directory.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for kind in kinds:
        path, costs, before = directory / f"{kind}.jsonl", directory / f"{kind}.seconds", os.times()
        command = [sys.executable, "-m", "tests.golden", "one", kind, path.resolve()]
        with costs.open("w", encoding="utf-8") as file:  # CPU seconds are not compared
            subprocess.run(command, cwd=root, env=environment, stdout=file, check=True)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"{kind}: {len(path.read_text('utf-8').splitlines())} rows, {spent:.0f} CPU s", flush=True)


def compare(old, new):
    """Print the summary; whether nothing is worse."""
    from tests.golden.compare import compared, fails, summary

    found = compared(old, new)
    print(summary(found))
    return not fails(found)


def against(commit, kinds):
    """Record a commit with today's questions, and the files at hand; compare both."""
    with tempfile.TemporaryDirectory() as scratch:
        tree, old, new = (Path(scratch, name) for name in ("tree", "old", "new"))
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=_ROOT, check=True)
        try:
            _with_our_questions(tree)
            record(old, kinds, tree)
            record(new, kinds)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=_ROOT, check=True)
        return compare(old, new)


def _with_our_questions(tree):
    """Put this folder into another tree; how the package is called there is that tree's own, where it says so."""
    here, there = Path(__file__).parent, tree / "tests" / "golden"
    own = {
        name: (there / name).read_text("utf-8") for name in ("adapters.py", "mechanisms.py") if (there / name).exists()
    }
    shutil.copytree(here, there, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in own.items():
        (there / name).write_text(text, "utf-8")


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("record", "against"):
        verb = verbs.add_parser(name)
        verb.add_argument("where", metavar="DIRECTORY" if name == "record" else "COMMIT")
        verb.add_argument("--kinds", nargs="+", choices=FAST + NIGHTLY, metavar="KIND", help=", ".join(FAST + NIGHTLY))
        verb.add_argument("--nightly", action="store_true", help=f"also {', '.join(NIGHTLY)}")
    verb = verbs.add_parser("compare")
    verb.add_argument("old", type=Path)
    verb.add_argument("new", type=Path)
    verb = verbs.add_parser("one", help="one kind, in this process")
    verb.add_argument("kind", choices=FAST + NIGHTLY)
    verb.add_argument("path", type=Path)
    verb.add_argument("--only", nargs="+", metavar="KEY", help="these questions, in the usual order")
    given = parser.parse_args()
    if given.verb == "one":
        one(given.kind, given.path, given.only)
        return 0
    if given.verb == "compare":
        return 0 if compare(given.old, given.new) else 1
    kinds = given.kinds or FAST + (NIGHTLY if given.nightly else ())
    if given.verb == "against":
        return 0 if against(given.where, kinds) else 1
    record(Path(given.where), kinds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
