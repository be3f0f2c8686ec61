"""Calls of everything in ``dpbounds.__all__``, and what is wrong with how one ended."""

from __future__ import annotations

import inspect
import json
import numbers
import random
import traceback
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.fuzz import pools
from tests.fuzz.children import SECONDS, SECONDS_OF, Ended, run

_LONGEST = 800
_LEFT_OUT = (
    "Mechanism",
    "Theorem",
    "Relation",
    "Account",
    "Calibration",
    "AttackerCalibration",
    "Conversion",
    "Probable",
    "Remaining",
    "ScoreAudit",
)  # nobody makes these
_KEYWORDS = {  # of functions that take any
    "plan": {"n": 10**6, "d": 100, "epsilon": 1, "delta": "1e-6", "lipschitz": 1, "smoothness": 1, "initial_gap": 1},
}


def names() -> list[str]:
    """What is called: classes and functions, without the abstract ones."""
    import dpbounds

    found = []
    for name in dpbounds.__all__:
        target = getattr(dpbounds, name)
        is_error = isinstance(target, type) and issubclass(target, Exception)  # all but one take any text
        if callable(target) and name not in _LEFT_OUT and (not is_error or name == "InvalidValue"):
            found.append(name)
    return found


def parameters_of(name: str) -> list[inspect.Parameter]:
    """The parameters of a function or of a class."""
    import dpbounds

    target = getattr(dpbounds, name)
    found = inspect.signature(target).parameters.values()
    return [one for one in found if one.kind is not inspect.Parameter.VAR_POSITIONAL]


def drawn(seed: int, case: int, only: tuple[str, ...] = ()) -> tuple[str, dict[str, Any], str]:
    """The name, the arguments, and which of them may be wrong; always the same for the same seed and number."""
    draw = random.Random(f"{seed} {case}")
    known = list(only) or names()
    name = known[case % len(known)]
    parameters = parameters_of(name)
    plain = [one for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]
    right, given = pools.right_values(), {}
    if len(plain) < len(parameters):
        given.update(_KEYWORDS.get(name, {}))  # (they have a ** parameter)
    optional = draw.random() if case >= len(known) else 1.0  # and only what is needed: two may not go together
    for one in plain:
        if one.default is inspect.Parameter.empty or (optional < 0.3 and one.name in right):
            fitting = right.get(f"{name}.{one.name}", right.get(one.name, ["1", 2, 0.5]))
            given[one.name] = draw.choice(fitting) if case >= len(known) else fitting[0]  # they go together
    if name in ("account", "group_account", "all_methods", "by_method") and "delta" not in given:
        given["delta"] = "1e-5"
    if name in ("CertifiedAccountant", "register_with_opacus", "get_noise_multiplier"):  # optional by name only
        needed = "steps" if name == "get_noise_multiplier" else "sampling"
        given[needed] = right[needed][0]
    if name in ("Gaussian", "Laplace", "AboveThreshold") and not given.keys() & {"noise_multiplier", "epsilon"}:
        given["noise_multiplier" if name != "AboveThreshold" else "epsilon"] = "2"
    victim = ""
    if parameters and case >= len(known) and draw.random() < 0.8:  # the first call of each is right
        varied = [one for one in plain if name != "InvalidValue" or one.name == "value"]  # the others are texts of ours
        chosen = draw.choice([*varied, *_KEYWORDS.get(name, ())])
        victim = chosen if isinstance(chosen, str) else chosen.name
        given[victim] = draw.choice(pools.values())
    return name, given, victim


def tried(name: str, given: dict[str, Any], victim: str, place: Path) -> tuple[Ended, list[str]]:
    """Make one call in a child; return how it ended, and what is wrong with that."""
    place.mkdir(exist_ok=True)
    ended = run(lambda: _called(name, given, victim), place, SECONDS_OF.get(name, SECONDS))
    if ended.stopped or ended.status != 0:
        return ended, [ended.stopped or f"status {ended.status}: {ended.err[-300:]}"]
    return ended, json.loads(ended.out.splitlines()[-1])["faults"]


def _called(name: str, given: dict[str, Any], victim: str) -> int:
    outcome, faults = _outcome(name, given, victim)
    print("\n" + json.dumps({"outcome": outcome, "faults": faults}))
    return 0


def _outcome(name: str, given: dict[str, Any], victim: str) -> tuple[str, list[str]]:
    import dpbounds

    warnings.simplefilter("error")
    try:
        result = getattr(dpbounds, name)(**given)
    except dpbounds.DpboundsError as error:
        text = str(error)
        wrong = [] if 0 < len(text) <= _LONGEST and "\n" not in text else [f"an error of {len(text)} characters"]
        return "refused", wrong
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, TypeError) and len(frames) == 2:  # the signature's own: raised at the call
            return "refused", []
        where = frames[-1]
        return "failed", [f"{type(error).__name__}: {str(error)[:200]} ({Path(where.filename).name}:{where.lineno})"]
    return "returned", _of_result(name, result, given, victim)


def _of_result(name: str, result: Any, given: dict[str, Any], victim: str) -> list[str]:
    import dpbounds

    found = []
    described = (repr, str, hash) if type(result).__name__ in dpbounds.__all__ else (repr, str)
    for describe in described:
        try:
            describe(result)
        except Exception as error:
            found.append(f"{describe.__name__} of the result: {type(error).__name__}: {str(error)[:200]}")
    wanted = {one.name: str(one.annotation) for one in parameters_of(name)}.get(victim, "")
    value = given.get(victim)
    is_number = isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool)
    if (
        wanted.startswith("ExactLike")
        and "Sequence" not in wanted
        and not is_number
        and not isinstance(value, str | type(None))
    ):
        found.append(f"took {type(value).__name__} for a number")
    return found


def told(name: str, given: dict[str, Any]) -> str:
    """The call as text."""
    from dpbounds.errors import shown

    return f"{name}({', '.join(f'{key}={shown(value)}' for key, value in given.items())})"
