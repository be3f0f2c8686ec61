"""Storage of finished cells: a directory of joblib's ``Memory``, with one folder for each version of the code.

A result is there completely or not at all, whenever the process is killed; a sweep that is started again runs only what
is missing. Results of other code stay in their own folders, which may be deleted. joblib does not force its files to
the disk: after a power cut, the last results may be missing or damaged. Damaged results are computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import dpbounds
from dpbounds import algorithms
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result
from dpbounds.errors import InvalidValue

_PACKAGES = (algorithms, dpbounds)  # packages with the code that computes
_FOLDER = re.compile("code-[0-9a-f]{32}")


@cache
def fingerprint() -> str:
    """Return a digest of the source text of ``algorithms`` and ``dpbounds`` and of the versions of numpy and scipy.

    Any change of a file changes it, one of a comment too: it costs a run, and no judgement of what matters. Computed
    once per process, which goes on running what it has loaded.
    """
    digest = hashlib.sha256(f"numpy {np.__version__}, scipy {scipy.__version__}".encode())
    roots = [Path(str(package.__file__)).parent for package in _PACKAGES]
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            if any(path.is_relative_to(other) and other.is_relative_to(root) for other in roots if other != root):
                continue  # a package inside this one is visited separately, be it a folder or a link
            name, text = path.relative_to(root.parent).as_posix(), path.read_bytes()
            digest.update(f"\n{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


class Store:
    """Results of cells, in memory and, if a directory is given, in that directory.

    Attributes:
        directory: It is made if it does not exist. None: results are kept in memory only.
        results: Results of the cells that were asked for, by the key of the cell.
        other_versions: Whether the directory also holds results of other versions of the code. They are not used.
        damaged: How many results in the directory could not be read. They are computed again.
    """

    def __init__(self, directory: Path | None = None) -> None:
        """Open a directory.

        Raises:
            InvalidValue: It is a file, cannot be written, or holds something other than results. It is left as it is.
        """
        self.directory, self.results = directory, dict[str, Result]()
        self.other_versions, self.damaged = False, 0
        self._kept: Any = None
        if directory is None:
            return
        from joblib import Memory

        own = f"code-{fingerprint()[:32]}"
        try:
            directory.mkdir(exist_ok=True)
            names = {path.name for path in directory.iterdir()}
        except (OSError, ValueError) as error:  # (a path with a NUL is a ValueError)
            raise self._unfit(str(error)) from None
        versions = {name for name in names if _FOLDER.fullmatch(name)}
        if names and not versions:
            raise self._unfit(f"this one holds {min(names)}, and was left as it is")
        # compressed, because that adds a check sum
        memory = Memory(directory / own, compress=True, verbose=0)
        self._kept = memory.cache(_keeper(), ignore=["result"])
        self._mend()
        self.other_versions = bool(versions - {own})

    def _mend(self) -> None:
        """Write the file with the source of the keeper again if it is damaged: joblib would delete all results."""
        path = Path(self._kept.store_backend.location, self._kept.func_id, "func_code.py")
        try:
            if not path.exists() or inspect.getsource(self._kept.func).encode() in path.read_bytes():
                return
            path.unlink(missing_ok=True)
        except OSError as error:
            raise self._unfit(str(error)) from None
        with contextlib.suppress(LookupError):  # at the first call joblib writes the file, and finds no result
            self._kept.call_and_shelve("")

    def _unfit(self, why: str) -> InvalidValue:
        return InvalidValue(
            "store", self.directory, "a directory of finished runs, or a new one, that can be written", why
        )

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells without a final result, each once, in the order given: also those without a proof."""
        once = {cell.key: cell for cell in cells}
        return [cell for key, cell in once.items() if (found := self._found(key)) is None or found.unproven is not None]

    def _found(self, key: str) -> Result | None:
        """Return the result of the cell with this key, from memory or from the directory."""
        if key not in self.results and self._kept is not None:
            try:
                kept = self._kept.call_and_shelve(key)
            except LookupError:
                return None
            try:
                self.results[key] = kept.get()
            except Exception:  # whatever damaged bytes make of reading
                self.damaged += 1
                kept.clear()
        return self.results.get(key)

    def keep(self, result: Result) -> None:
        """Keep a result. One of which nothing could be proven is kept in memory only.

        Raises:
            InvalidValue: It could not be written.
        """
        self.results[result.cell.key] = result
        if self._kept is None or result.unproven is not None:
            return
        from joblib.memory import CacheWarning

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", CacheWarning)  # joblib warns, and goes on, where it cannot write
                self._kept(result.cell.key, result)
        except CacheWarning as error:
            raise self._unfit(f"{error} What was finished before is kept") from None


def _keeper() -> Callable[[str, Result | None], Result]:
    """Return the function whose results joblib keeps: it returns a result that is given, and computes none.

    So the process that started the sweep writes all results, wherever the cells ran. It is a new function for each
    directory, because joblib writes what belongs to a function once per process.
    """

    def kept(key: str, result: Result | None = None) -> Result:
        if result is None:
            raise LookupError(key)
        return result

    return kept
