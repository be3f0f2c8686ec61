"""Releases of every kind: how they are read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from dpbounds.privacy.publishing.checker.assumptions import VERSION
from dpbounds.privacy.publishing.checker.fields import has_fields, read_numbers
from dpbounds.privacy.publishing.checker.limits import RUNS
from dpbounds.privacy.publishing.checker.noises import read_noise
from dpbounds.privacy.publishing.checker.reading import field, quoted
from dpbounds.privacy.publishing.checker.schemes.gaussian import gaussian
from dpbounds.privacy.publishing.checker.schemes.last_iterates import is_scheduled, last_iterate
from dpbounds.privacy.publishing.checker.schemes.matrices import _participation, matrix, read_matrix
from dpbounds.privacy.publishing.checker.verdicts import Malformed


def read_release(release: object, version: int = VERSION) -> dict[str, Any]:
    """A release with its numbers read: fields of its kind, and no others."""
    kind = field(release, "kind", str)
    if kind not in (KINDS[:1] if version < 4 else KINDS[:3] if version < 5 else KINDS):
        raise Malformed(f"a release of kind {quoted(kind)}, which version {version} does not have")
    found = read_numbers(release, has_fields(release, kind))
    if "mechanism" in found:
        found["mechanism"] = read_noise(found["mechanism"], kind)
        _drawing(found)
    if kind == "last-iterate":
        found["checkpoints"] = after = field(release, "checkpoints", list)
        if any(type(each) is not int for each in after) or any(
            second <= first for first, second in pairwise((0, *after, found["epochs"]))
        ):
            raise Malformed("the checkpoints are not epochs in increasing order, each before the last")
        if found["order"] not in ("fixed", "shuffled", "secret")[: 1 if version < 5 else 3]:
            raise Malformed(f"a last iterate in the order {quoted(found['order'])}, which version {version} has not")
        if found["smoothness_step"] is None or found["weight_decay_step"] > 1:
            raise Malformed("a last iterate needs a smoothness_step, and a weight_decay_step of at most 1")
        if is_scheduled(found):
            if version < 5 or found["weight_decay_step"]:
                raise Malformed("step sizes that change go with version 5 and no weight decay")
            if len(found["smoothness_step"]) not in (found["epochs"], found["epochs"] * found["batches"]):
                raise Malformed("step sizes that change are one per epoch, or one per step")
            if len(set(found["smoothness_step"])) == 1:
                raise Malformed("step sizes that are all the same are one number")
    elif kind == "matrix":
        found["matrix"] = read_matrix(found["matrix"])
        _participation(found)
        if version < 5 and found["participation"] == "balls-in-bins":
            raise Malformed(f"participation balls-in-bins, which version {version} does not have")
    return found


def _drawing(found: dict[str, Any]) -> None:
    """Refuse what does not go together."""
    kind = found["kind"]
    if "sample_rate" in found and (found["sample_rate"] is None or found["sample_rate"] > 1):
        raise Malformed(f"{kind} needs a sample_rate of at most 1")
    if kind == "with-replacement" and found["dataset_size"] < 2:
        raise Malformed("draws with replacement from fewer than two records")
    if kind == "without-replacement" and found["batch_size"] > found["dataset_size"]:
        raise Malformed("a batch is larger than the data set")
    if kind == "random-allocation" and found["participations"] > found["steps"]:
        raise Malformed("more participations than steps")
    if kind == "shuffled" and found["rest"] * (found["batches"] + 1) >= 1:
        raise Malformed("the rest of an epoch is no smaller than a batch")
    if kind == "balls-in-bins" and (type(found["redraw"]) is not bool or found["epochs"] is None):
        raise Malformed("balls in bins need epochs, and redraw is true or false")
    if kind == "balls-in-bins" and found["epochs"] > RUNS:
        raise Malformed(f"more than {RUNS} epochs")


KINDS = (
    *("gaussian", "last-iterate", "matrix"),  # since version 4, the first before
    *("full-batch", "poisson", "without-replacement", "truncated-poisson"),
    *("shuffled", "random-allocation", "balls-in-bins", "with-replacement"),
)
PRODUCTS = {"gaussian": gaussian, "last-iterate": last_iterate, "matrix": matrix}


def is_drawn(release: dict[str, Any]) -> bool:
    """Whether it takes the profiles of version 5."""
    if release["kind"] == "last-iterate":
        return release["order"] != "fixed" or is_scheduled(release)
    return release["kind"] not in PRODUCTS or release.get("participation") == "balls-in-bins"


def is_attained(release: dict[str, Any]) -> bool:
    """Whether some run attains the release's pair, which shows lower ends then; the other pairs only dominate."""
    kind = release["kind"]
    if kind == "matrix":  # sums of equal terms: all overlaps of columns count in full
        given, how = release["matrix"], (release["participation"], release["sample_rate"])
        values = given.get("coefficients") or [value for row in given.get("rows", ()) for value in row]
        return how == ("fixed-order", None) and all(value >= 0 for value in values)
    noise = release.get("mechanism", {"kind": None})
    if noise["kind"] == "discrete-gaussian" and noise["dimension"] != 1 and noise["bound"] >= 2:
        return False
    return release["batches"] == 1 if kind == "last-iterate" else kind not in ("shuffled", "truncated-poisson")
