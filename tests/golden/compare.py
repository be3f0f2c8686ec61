"""What became of each answer: the outcome in one column, the text in the other."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
End = Fraction | float

VERDICTS = ("contradiction", "changed", "wider", "missing", "narrower", "new", "equal")  # the worst first
FAILURES = frozenset(VERDICTS[:4])
_SHOWN = 20  # of each verdict, and of the changed texts


@dataclass(frozen=True)
class Difference:
    """One question, its verdict, whether its text changed, and what to print."""

    kind: str
    key: str
    verdict: str
    text_changed: bool
    told: str


def end(text: str) -> End:
    """An end of an interval, from p/q, inf or -inf."""
    return float(text) if text in ("inf", "-inf") else Fraction(text)


def interval_verdict(old: Sequence[str], new: Sequence[str]) -> str:
    """Where the new interval lies, compared exactly."""
    (low, high), (new_low, new_high) = map(end, old), map(end, new)
    if new_low > high or new_high < low:
        return "contradiction"
    if new_low < low or new_high > high:
        return "wider"
    return "equal" if (new_low, new_high) == (low, high) else "narrower"


def verdict(old: Row | None, new: Row | None) -> str:
    """What became of an answer's outcome."""
    if old is None or new is None:
        return "new" if old is None else "missing"
    if old["status"] != new["status"]:
        proven = {"answered": "narrower", "NotCertified": "wider"}
        return proven[new["status"]] if {old["status"], new["status"]} == set(proven) else "changed"
    ends, new_ends = old.get("ends", {}), new.get("ends", {})
    if ends.keys() != new_ends.keys():
        return "changed"
    found = [interval_verdict(ends[name], new_ends[name]) for name in ends]
    found.append("equal" if _same(old.get("value"), new.get("value")) else "changed")
    return min(found, key=VERDICTS.index)


def _same(old: object, new: object) -> bool:
    """Whether both are the same JSON: True is not 1, and 1.0 is not 1."""
    return json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def differences(kind: str, old: Mapping[str, Row], new: Mapping[str, Row]) -> list[Difference]:
    """One per question, in the order of the old record; new questions come last."""
    found = []
    for key in [*old, *(key for key in new if key not in old)]:
        one, other = old.get(key), new.get(key)
        judged = verdict(one, other)
        text_changed = one is not None and other is not None and one.get("text") != other.get("text")
        found.append(Difference(kind, key, judged, text_changed, _told(one, other, judged)))
    return found


def rows(path: Path) -> dict[str, Row]:
    """The rows of a record: of each line, a key and an answer."""
    return dict(json.loads(line) for line in path.read_text("utf-8").splitlines())


def read(directory: Path) -> dict[str, dict[str, Row]]:
    """The rows of every kind in a directory."""
    return {path.stem: rows(path) for path in sorted(directory.glob("*.jsonl"))}


def compared(old: Path, new: Path) -> list[Difference]:
    """All differences of two directories; a kind that only one of them has is missing or new as a whole."""
    olds, news = read(old), read(new)
    return [
        one
        for kind in dict.fromkeys([*olds, *news])
        for one in differences(kind, olds.get(kind, {}), news.get(kind, {}))
    ]


def fails(found: Sequence[Difference]) -> bool:
    """Whether something is worse than before."""
    return any(one.verdict in FAILURES for one in found)


def summary(found: Sequence[Difference]) -> str:
    """Counts by kind, then the first of every verdict and of the changed texts."""
    kinds = dict.fromkeys(one.kind for one in found)
    counts = Counter((one.kind, one.verdict) for one in found)
    texts = Counter(one.kind for one in found if one.text_changed)
    lines = [f"{'':14}" + "".join(f"{name:>14}" for name in VERDICTS) + f"{'text changed':>14}"]
    for kind in kinds:
        cells = [counts[kind, name] for name in VERDICTS]
        lines.append(f"{kind:14}" + "".join(f"{cell or '.':>14}" for cell in cells) + f"{texts[kind] or '.':>14}")
    for name in VERDICTS:
        if name != "equal":
            lines += _listed(name, [one for one in found if one.verdict == name])
    return "\n".join([*lines, *_listed("text changed", [one for one in found if one.text_changed])])


def _listed(title: str, found: Sequence[Difference]) -> list[str]:
    if not found:
        return []
    more = [f"  ... and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return ["", f"{title}: {len(found)}", *(f"  {one.kind}: {one.key}{one.told}" for one in found[:_SHOWN]), *more]


def _told(old: Row | None, new: Row | None, judged: str) -> str:
    if old is None or new is None:
        return ""
    if old["status"] != new["status"]:
        return f"\n      {old['status']} -> {new['status']}: {_brief(old.get('text'))} -> {_brief(new.get('text'))}"
    lines = []
    for name in sorted(old.get("ends", {}).keys() | new.get("ends", {}).keys()):
        ends = [row.get("ends", {}).get(name) for row in (old, new)]
        if ends[0] != ends[1]:
            lines.append(f"{name}: {_interval(ends[0])} -> {_interval(ends[1])}{_moved(*ends)}")
    for name in ("value", "text"):
        if old.get(name) != new.get(name) and not (name == "text" and judged == "equal" and lines):
            lines.append(f"{name}: {_around_the_change(old.get(name), new.get(name))}")
    return "".join(f"\n      {line}" for line in lines)


def _interval(ends: Sequence[str] | None) -> str:
    return "none" if ends is None else "[{:.17g}, {:.17g}]".format(*(float(end(one)) for one in ends))


def _moved(old: Sequence[str] | None, new: Sequence[str] | None) -> str:
    """How far the ends lie outside the old interval, relative to the old upper end."""
    if old is None or new is None:
        return ""
    (low, high), (new_low, new_high) = map(end, old), map(end, new)
    out = [apart for apart in (low - new_low, new_high - high) if apart > 0]
    if not out or math.inf in map(abs, out) or not high:
        return ""
    return f", {float(max(out) / abs(high)):.1e} of the upper end outside"


def _brief(value: object) -> str:
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told if len(told) <= 160 else told[:157] + "..."


def _around_the_change(old: object, new: object) -> str:
    """Both texts from shortly before the first place where they differ."""
    one, other = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in (old, new))
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, same - 30)
    return f"{'...' if start else ''}{_brief(one[start:])} -> {_brief(other[start:])}"
