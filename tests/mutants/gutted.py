"""Lists the tests that pass while every function of the package raises: no change of these can make them fail.

    python -m tests.mutants.gutted tests/papers/cited -m "not minutes"

takes arguments of pytest. Functions are replaced after collection: what was made at import is still there. A test that
is listed may therefore depend on a record, such as a statement's formula. One that does not belongs to ``proofs/``.
"""

from __future__ import annotations

import functools
import gc
import importlib
import pkgutil
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType

import pytest

import dpbounds

ROOT = Path(__file__).parents[2]
FOLDERS = tuple(f"{ROOT / name}/" for name in ("dpbounds", "algorithms"))


@functools.cache
def _raising(free: tuple[str, ...]) -> CodeType:
    """The code of a function that raises; code is only replaced by code of as many free variables."""
    names, found = ", ".join(free), {}
    text = f"def outer({names}):\n def inner(*args, **kwargs):\n  raise SystemError({names})\n return inner"
    exec(text, found)  # noqa: S102
    return found["outer"](*free).__code__


def gut() -> int:
    """Makes every function of the package raise, and says how many there are."""
    for module in pkgutil.walk_packages(dpbounds.__path__, "dpbounds."):
        optional = module.name.startswith("dpbounds.opacus")
        if not module.name.endswith("__main__") and (find_spec("opacus") or not optional):
            importlib.import_module(module.name)
    gc.unfreeze()
    everything = gc.get_objects()
    for one in everything:
        if type(one) is functools._lru_cache_wrapper and (one.__module__ or "").startswith("dpbounds"):
            one.cache_clear()
    functions = [one for one in everything if type(one) is FunctionType]
    ours = [one for one in functions if one.__code__.co_filename.startswith(FOLDERS)]
    for one in ours:
        one.__code__ = _raising(one.__code__.co_freevars)
    return len(ours)


class Gutting:
    """A plugin of pytest that guts the package once tests are collected, and counts what passes."""

    def __init__(self) -> None:
        self.passed: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        print(f"{gut()} functions raise")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed[report.nodeid.partition("[")[0]] += 1


if __name__ == "__main__":
    plugin = Gutting()
    quiet = ["-q", "--tb=no", "-rN", "--benchmark-disable", "-pno:cacheprovider", "-oaddopts=--import-mode=importlib"]
    pytest.main([*sys.argv[1:], *quiet], plugins=[plugin])
    print(*(f"{count:4} {name}" for name, count in sorted(plugin.passed.items())), sep="\n")
