"""The claim that one value keeps a budget, and another one does not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.noises.table import NOISES
from dpbounds.privacy.publishing.checker.reading import field, positive, rational
from dpbounds.privacy.publishing.checker.releases import is_attained, is_drawn, read_release
from dpbounds.privacy.publishing.checker.verdicts import Malformed


def flat(release: object) -> dict[str, Any]:
    """Return a release with the fields of its noise beside its own."""
    read = read_release(release)
    noise = read.pop("mechanism", {"kind": None})
    return {**read, **noise, "noise": noise["kind"], "kind": read["kind"]}


def substituted(before: list[Any], after: list[Any], names: tuple[str, ...], value: Fraction, other: Fraction) -> bool:
    """Return whether the second mechanism is the first with ``other`` in place of ``value`` in these fields."""
    found = False
    for one, two in zip(map(flat, before), map(flat, after), strict=False):
        if set(one) != set(two) or one["kind"] != two["kind"]:
            return False
        for name in one:
            replaced = name in names and one[name] == value and two[name] == other
            found = found or replaced
            if not replaced and one[name] != two[name]:
                return False
    return found and len(before) == len(after)


def check_calibration(calibration: dict[str, Any], accounts: list[Any], claims: list[dict[str, Any]]) -> list[str]:
    """Return the errors of the claim "value keeps the budget, fails_at does not", given the accounts of both."""
    solve = field(calibration, "solve", str)
    scales = tuple(name for noise in NOISES.values() for name in noise.scales)
    fields = {"noise": scales, "steps": ("count", "epochs")}
    fields |= {"sample-rate": ("sample_rate",), "batches": ("steps", "bins", "batches")}
    budget, delta = (rational(calibration.get(name), 0) for name in ("target_epsilon", "target_delta"))
    value, fails_at = positive(calibration, "value"), positive(calibration, "fails_at")
    if solve not in fields or value is None or len(claims) != (1 if fails_at is None else 2):
        raise Malformed("a calibration needs solve, value, fails_at, and an account of each of the two values")
    wrong = []
    if any(claim["given"] != "delta" or claim["target"] != delta for claim in claims):
        wrong.append("an account is not about the target delta")
    if claims[0]["upper"] > budget:
        wrong.append("the value spends more than the target epsilon")
    second = claims[-1]
    read = [read_release(release) for account in accounts for release in account["mechanism"]]
    shows = all(is_attained(release) and not is_drawn(release) for release in read) and "group_size" not in claims[0]
    if fails_at is None and shows and not (solve == "sample-rate" and value == 1):
        wrong.append("there is no value that fails, and the value is not the largest sample rate")
    alike = all(second.get(name) == claims[0].get(name) for name in ("relation", "group_size"))
    if fails_at is not None and (second["lower"] <= budget or not alike):
        wrong.append("the value said to fail is not shown to spend more than the target epsilon")
    if not substituted(accounts[0]["mechanism"], accounts[-1]["mechanism"], fields[solve], value, fails_at or value):
        wrong.append("the two mechanisms do not differ by the value and the one that fails alone")
    return wrong
