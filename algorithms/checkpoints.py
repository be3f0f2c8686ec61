"""Checkpoints of runs: a file with the releases so far, and never the randomness of later ones.

A checkpoint holds points, state of the optimiser and the ledger: functions of noisy answers, as private as the ledger
says. It holds no key: an attempt that goes on draws from the operating system, whether a seed was given or not. So no
noise is added to two different answers, also where both files were put back to an earlier state and the run goes on
from there again: what an attempt draws does not depend on any file. (A given seed determines the noise of the first
attempt alone. A second run with the same seed repeats that noise, with or without checkpoints.)

Points have to follow from noisy answers. The saved state has a digest. A file whose points were changed, by hand or by
a fault of the disk, is refused, and so are points that are not finite.

Continuing *twice* must be refused: two continuations release more than either ledger records. A log beside the file has
one line for each attempt and each checkpoint. It shows whether the run was continued from there, or is running
elsewhere: then ``BudgetExceeded`` is raised. The log cannot show that *both* files were copied; then two continuations
are two releases after a common beginning, with different noise, which the user has to compose. An attempt that was
killed has returned nothing; its entries after the last checkpoint are not in the ledger.

If records stay in bins that were drawn once, the rest of a run needs this assignment. It is not a function of answers,
and must be kept secret like the records. It is stored in a third file, whose name ends with ``.secret``, which only its
owner may read, and which is deleted when the run is complete.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpbounds import documents
from dpbounds.algorithms.ledger import Ledger
from dpbounds.algorithms.noise import from_the_system
from dpbounds.errors import BudgetExceeded, InvalidValue

_FORMAT, _VERSION = "dpbounds/checkpoint", 1
_MOST = 2**40


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A run between two steps.

    Attributes:
        step: The number of steps.
        arrays: By name: all values that the next step needs, of any numeric type.
        ledger: The releases of one repetition.
        noise_counted: See ``OpenLedger.noise_counted``.
    """

    step: int
    arrays: Mapping[str, np.ndarray[Any, Any]]
    ledger: Ledger
    noise_counted: Sequence[tuple[float, float, float, int]]


@dataclass(slots=True, eq=False)
class Checkpoint:
    """A run's place on the disk, for one attempt.

    Args:
        path: The path of the file; the log is beside it, with ``.log`` at the end of its name.
        settings: The settings that must be the same in all attempts, in words: everything from which privacy is
            computed.

    Attributes:
        attempt: The number of earlier attempts; known after ``begin``.
    """

    path: Path
    settings: Mapping[str, str]
    attempt: int = 0
    _run: str = ""
    _token: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def log(self) -> Path:
        """The log file beside it."""
        return self.path.with_name(self.path.name + ".log")

    def begin(self) -> Saved | None:
        """Claim the run for this attempt, and return the saved state; None if nothing was saved.

        Raises:
            InvalidValue: The file is not a checkpoint, is damaged, or belongs to a run with other settings.
            BudgetExceeded: The run has gone on from there, or one of the two files is missing.
        """
        lines = self._lines()
        if not self.path.exists():
            if any("saved" in line for line in lines):
                raise BudgetExceeded(f"{self.path} is missing, and {self.log} says that the run went on: begin another")
            self._run = str(lines[0]["run"]) if lines else secrets.token_hex(8)
            saved = None
        else:
            self._run, saved = self._load()
            if not lines or lines[0].get("run") != self._run:
                why = (
                    f"{self.log}, which records whether the run continued from {self.path}, is missing or another run's"
                )
                raise BudgetExceeded(why)
            last = max((int(line["step"]) for line in lines if "saved" in line), default=0)
            if saved.step < last:
                raise BudgetExceeded(
                    f"this run has gone on from step {saved.step} to step {last}, and what it released there is not in "
                    f"the ledger of {self.path}: resume the last checkpoint"
                )
        self.attempt = sum("claimed" in line for line in lines)
        if not lines:
            self._note(run=self._run)
        self._note(claimed=self._token)
        return saved

    def save(self, saved: Saved) -> None:
        """Write a checkpoint in the place of the one before; whole or not at all.

        Raises:
            BudgetExceeded: Another attempt has gone on from the same checkpoint: nothing of this one may be published.
            InvalidValue: A point is not finite: the run has diverged.
            OSError: It cannot be written.
        """
        self.demand_alone()
        demand_finite(saved.arrays, self.path)
        documents.write(self.path, self._packed(saved))
        self._note(saved=self._token, step=saved.step)

    def demand_alone(self) -> None:
        """Raise ``BudgetExceeded`` where another attempt has claimed the run since this one did."""
        claims = [line["claimed"] for line in self._lines() if "claimed" in line]
        if not claims or claims[-1] != self._token:
            raise BudgetExceeded(
                f"another attempt goes on from the same checkpoint ({self.log}): together they release more than "
                "either ledger says; do not publish anything of this one"
            )

    @property
    def secret(self) -> Path:
        """The file of bins that are kept."""
        return self.path.with_name(self.path.name + ".secret")

    def hide(self, dealt: np.ndarray[Any, Any]) -> None:
        """Write which record is in which bin, before the first checkpoint of a run is saved; raises as ``save``."""
        self.demand_alone()
        packed = io.BytesIO()
        np.savez(packed, token=np.array(self._token), dealt=dealt)
        self.secret.unlink(missing_ok=True)
        self.secret.touch(mode=0o600)
        documents.write(self.secret, packed.getvalue())

    def hidden(self, shape: tuple[int, int], bins: int) -> np.ndarray[Any, Any]:
        """Read the assignment to bins, for a number of repetitions and records.

        Raises:
            InvalidValue: The file is missing, damaged or another run's: the run cannot go on.
        """
        advice = "the fixed bins of the records are unknown: begin another run"
        if not self.secret.exists():
            raise InvalidValue("checkpoint", self.secret, "a file that is there", advice)
        try:
            with np.load(io.BytesIO(documents.read_bytes(self.secret, "bins", _MOST)), allow_pickle=False) as found:
                token, dealt = str(found["token"]), np.asarray(found["dealt"])
        except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
            raise InvalidValue("checkpoint", self.secret, "a whole file that a run saved", str(error)) from error
        fits = dealt.shape == shape and dealt.dtype == np.int64 and ((dealt >= 0) & (dealt < bins)).all()
        first = next((line["saved"] for line in self._lines() if "saved" in line), None)  # who hid them
        if token != first or not fits:
            raise InvalidValue("checkpoint", self.secret, "the bins of this run", advice)
        return dealt

    # --- files --------------------------------------------------------------------------------------------------------

    def _lines(self) -> list[dict[str, Any]]:
        if not self.log.exists():
            return []
        text = documents.read_text(self.log, "log")
        lines = [documents.parsed(line, "log") for line in text.splitlines() if line]
        if not all(isinstance(line, dict) for line in lines):
            raise InvalidValue("log", self.log, "lines that a checkpoint wrote")
        return lines

    def _note(self, **line: object) -> None:
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
            log.flush()
            os.fsync(log.fileno())

    def _packed(self, saved: Saved) -> bytes:
        about = {
            "format": _FORMAT,
            "version": _VERSION,
            "run": self._run,
            "step": saved.step,
            "settings": dict(self.settings),
            "arrays": {name: [str(each.dtype), list(each.shape)] for name, each in saved.arrays.items()},
            "ledger": saved.ledger.to_json(),
            "noise_counted": [list(each) for each in saved.noise_counted],
            "digest": _digest(saved.step, saved.arrays),
        }
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            file.writestr("about.json", json.dumps(about, indent=1))
            for name, each in saved.arrays.items():
                file.writestr(f"{name}.bytes", np.ascontiguousarray(each).tobytes())
        return packed.getvalue()

    def _load(self) -> tuple[str, Saved]:
        content = documents.read_bytes(self.path, "checkpoint", _MOST)
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as file:
                about = documents.parsed(file.read("about.json").decode("utf-8"), "about.json")
                arrays = {
                    name: np.frombuffer(file.read(f"{name}.bytes"), dtype=np.dtype(kind)).reshape(shape)
                    for name, (kind, shape) in about["arrays"].items()
                }
            documents.demand_version(about["version"], "checkpoint version", (_VERSION,))
            settings, run, step = about["settings"], str(about["run"]), int(about["step"])
            ledger = Ledger.from_json(about["ledger"])
            counted = [(float(a), float(b), float(c), int(d)) for a, b, c, d in about["noise_counted"]]
            digest = about.get("digest")  # version 0.2.0 wrote none
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError, UnicodeDecodeError) as error:
            raise InvalidValue("checkpoint", self.path, "a whole file that a run saved", str(error)) from error
        if digest is not None and digest != _digest(step, arrays):
            advice = "points have to follow from noisy answers: begin another run"
            raise InvalidValue("checkpoint", self.path, "a file whose points are those that a run saved", advice)
        demand_finite(arrays, self.path)
        for name in {*settings, *self.settings}:
            found, asked = settings.get(name), self.settings.get(name)
            if found != asked:
                advice = "privacy is computed from it: resume with the original value, or start another run"
                raise InvalidValue(f"{name} of the checkpoint", found, f"{asked}, as this run has", advice)
        return run, Saved(step, arrays, ledger, counted)


def demand_finite(arrays: Mapping[str, np.ndarray[Any, Any]], path: Path) -> None:
    """Raise ``InvalidValue`` if a point is not finite, or another value is not a number."""
    for name, each in arrays.items():
        if each.dtype.kind not in "fc":
            continue
        allowed = ~np.isnan(each) if name.startswith("state") else np.isfinite(each)  # an optimiser may hold "none yet"
        if not allowed.all():
            advice = "the run has diverged (shorten the step), or the file was changed: begin another run"
            raise InvalidValue(f"{name} of the checkpoint {path}", "not finite", "finite numbers", advice)


def _digest(step: int, arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    found = hashlib.sha256(str(step).encode())
    for name, each in sorted(arrays.items()):
        found.update(f"\n{name} {each.dtype} {each.shape}\n".encode())
        found.update(np.ascontiguousarray(each).tobytes())
    return found.hexdigest()


def reseeded(generators: Sequence[np.random.Generator], attempt: int) -> None:
    """Reseed the streams of a resumed run from the operating system, in place.

    Not of the seed that is given, or of anything in the files: these can be put back to an earlier state together, and
    two attempts would draw the same.
    """
    if not attempt:
        return
    children = np.random.SeedSequence(from_the_system()).spawn(len(generators))
    for generator, child in zip(generators, children, strict=True):
        generator.bit_generator.state = np.random.PCG64(child).state
