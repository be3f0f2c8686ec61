"""One run of every algorithm of the catalogue: digests of what it put out, and its proven bounds.

Digests are of floating-point numbers: they compare runs on one machine.
"""

from __future__ import annotations

import hashlib

import numpy as np

from dpbounds.errors import DpboundsError
from tests.golden import adapters
from tests.golden.recording import Answer

_REPETITIONS = 3
_BOUNDS = ("bound", "tail", "population_bound")
_ARGUMENTS = ((), ("noisy",), ("exact",), ("population",), ("1/10",))


def questions():
    """One row per part of a run, so that a change of words is not a change of numbers."""
    for name in adapters.example_names():
        made = {}
        yield f"{name}: parameters", lambda name=name, made=made: _parameters(*_made(name, made))
        yield f"{name}: bounds", lambda name=name, made=made: _bounds(*_made(name, made))
        yield f"{name}: run", lambda name=name, made=made: _run(*_made(name, made))


def _made(name, made):
    """The algorithm and its problem, calibrated once."""
    if name not in made:
        made[name] = adapters.calibrated_example(name, 1, "1e-5")
    return made[name]


def _parameters(algorithm, problem):
    return Answer(digest(repr(algorithm.planned)), text=[repr(algorithm), repr(algorithm.planned)])


def _bounds(algorithm, problem):
    """Every bound that the algorithm has; a refusal is part of the outcome, its message is text."""
    ends, refused = {}, {}
    for name in _BOUNDS:
        asked = getattr(algorithm, name, None)
        for arguments in _ARGUMENTS if asked else ():
            key = f"{name}{arguments}"
            try:
                found = asked(problem, *arguments)
            except (DpboundsError, TypeError, ValueError) as error:  # not every algorithm takes every argument
                refused[key] = type(error).__name__, str(error)
            else:
                if found is None:
                    refused[key] = "none", ""
                else:
                    ends[key] = found.exact_lower, found.exact_upper
    return Answer({key: kind for key, (kind, _) in refused.items()}, ends, refused)


def _run(algorithm, problem):
    run = algorithm.run(problem, seed=0, repetitions=_REPETITIONS)
    value = {
        "output": digest(run.output, run.output_step, *(np.asarray(one) for _, one in sorted(run.outputs.items()))),
        "measured": digest(*(part for name, one in sorted(run.measured.items()) for part in (name, np.asarray(one)))),
        "trace": digest(*(part for name in sorted(run.trace) for part in (name, np.asarray(run.trace[name].mean)))),
        "ledger": digest(run.ledger.to_json()),
    }
    spent = {"spent": (run.spent.exact_lower, run.spent.exact_upper)} if hasattr(run.spent, "exact_upper") else {}
    words = [run.algorithm, run.metric, run.steps, sorted(run.parameters.items()), run.noise_drawn, str(run.spent)]
    return Answer(value, spent, words)


def digest(*parts):
    """Of arrays by their type, shape and bytes, of everything else by its ``repr``."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype} {part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        else:
            found.update(repr(part).encode())
    return found.hexdigest()[:16]
