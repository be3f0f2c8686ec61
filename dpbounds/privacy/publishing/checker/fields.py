"""Objects with the fields of their kind, and no others."""

from __future__ import annotations

from typing import Any

from dpbounds.privacy.publishing.checker.limits import COUNT, RUNS
from dpbounds.privacy.publishing.checker.reading import field, nonnegative, positive, quoted, rational
from dpbounds.privacy.publishing.checker.verdicts import Malformed

FIELDS = {
    "certificate": ("format", "version", "calibration", "accounts", "assumptions", "versions"),
    "calibration": ("solve", "value", "fails_at", "target_epsilon", "target_delta"),
    "account": ("role", "claim", "mechanism", "proofs"),
    "claim": ("relation", "given", "target", "lower", "upper"),
    "gaussian": ("kind", "noise_multiplier", "noise_stddev", "sensitivity", "sample_rate", "count"),
    "last-iterate": (
        *("kind", "noise_multiplier", "noise_stddev", "sensitivity", "batches", "epochs", "smoothness_step"),
        *("weight_decay_step", "order", "checkpoints", "count"),
    ),
    "matrix": (
        *("kind", "noise_multiplier", "matrix", "participation", "separation", "at_most", "sample_rate", "groups"),
        "count",
    ),
    "toeplitz": ("kind", "coefficients", "steps"),
    "lower-triangular": ("kind", "rows"),
    "binary-tree": ("kind", "steps"),
    # since version 5: how records are drawn, around one of the noises below it
    "full-batch": ("kind", "mechanism", "count"),
    "poisson": ("kind", "mechanism", "sample_rate", "count"),
    "without-replacement": ("kind", "mechanism", "batch_size", "dataset_size", "count"),
    "with-replacement": ("kind", "mechanism", "batch_size", "dataset_size", "count"),
    "truncated-poisson": ("kind", "mechanism", "sample_rate", "max_batch_size", "dataset_size", "count"),
    "shuffled": ("kind", "mechanism", "batches", "rest", "count"),
    "random-allocation": ("kind", "mechanism", "steps", "participations", "count"),
    "balls-in-bins": ("kind", "mechanism", "bins", "epochs", "redraw", "count"),
    "noise gaussian": ("kind", "noise_multiplier", "noise_stddev", "sensitivity"),
    "noise laplace": ("kind", "noise_multiplier", "noise_scale", "sensitivity", "dimension"),
    "noise discrete-laplace": ("kind", "noise_scale", "bound"),
    "noise discrete-gaussian": ("kind", "noise_stddev", "bound", "dimension"),
    "noise mixture-of-gaussians": ("kind", "noise_stddev", "norms"),
    "noise randomized-response": ("kind", "epsilon", "options"),
    "proof": ("order", "route", "method", "precision", "parameters", "error_budget"),
    "versions": ("dpbounds", "python-flint", "FLINT", "Python"),
}


def has_fields(record: object, kind: str, *more: str) -> dict[str, Any]:
    """An object with the fields of its kind, and no others."""
    names = {*FIELDS[kind], *more}
    if not isinstance(record, dict):
        raise Malformed(f"{quoted(record)} is no {kind}, which is an object")
    if set(record) != names:
        wrong = ", ".join([*sorted(names - set(record)), *sorted(map(quoted, set(record) - names))][:5])
        raise Malformed(
            f"a {kind} has the fields {', '.join(sorted(names))} and no others; missing or unknown: {wrong}"
        )
    return record


def read_numbers(record: object, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with exact and whole numbers read."""
    found = dict(fields)
    for name in found:
        if name == "smoothness_step" and isinstance(found[name], list):
            found[name] = [rational(each) for each in found[name]]
            if not found[name] or min(found[name]) <= 0:
                raise Malformed("a step size that is not positive")
        elif name in EXACT or (name == "epochs" and found["kind"] == "balls-in-bins"):
            from_zero = name in ("weight_decay_step", "rest")
            found[name] = nonnegative(record, name) if from_zero else positive(record, name)
        elif name in WHOLE and not (name == "bound" and found["kind"] == "discrete-gaussian"):
            optional = name in ("separation", "at_most", "dimension")
            found[name] = field(record, name, (int, type(None)) if optional else int)
            if found[name] is not None and not 1 <= found[name] <= WHOLE[name]:
                raise Malformed(f"{name} is {quoted(found[name])}, and not from 1 to {WHOLE[name]}")
    return found


EXACT = (
    *("noise_multiplier", "noise_stddev", "noise_scale", "sensitivity", "sample_rate", "smoothness_step"),
    *("weight_decay_step", "rest", "epsilon"),
)
_MANY, _RUN = ("count", "separation", "at_most", "batch_size", "dataset_size", "max_batch_size"), ("batches", "epochs")
WHOLE = {
    **dict.fromkeys((*_MANY, "dimension", "options"), COUNT),
    **dict.fromkeys((*_RUN, "steps", "participations", "bins"), RUNS),
    "bound": 10**6,
}
