"""The file of a ledger: releases of any kind as JSON, exact numbers as text.

Version 2 knows every mechanism and sampling scheme of dpbounds; version 1, which held Gaussian noise on the full batch
or on Poisson samples, is still read. Each release is one object: which ``mechanism``, with its numbers; which
``sampling``, with its own; and the ``count`` of such releases in a row.

>>> from dpbounds.privacy.mechanisms import Laplace, SampledWithoutReplacement
>>> releases = SampledWithoutReplacement(Laplace("1.5", dimension=1), 10, 500) ** 7
>>> read_releases(write_releases(releases)) == releases
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms import (
    ZCDP,
    AboveThreshold,
    ApproximateDP,
    Composed,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    Mechanism,
    PoissonSampled,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    SampledWithoutReplacement,
    SampledWithReplacement,
    UniformBall,
    parts_of,
)
from dpbounds.privacy.relations import Relation

FORMAT, VERSION = "dpbounds/ledger", 2
ADAPTIVE_FORMAT = "dpbounds/adaptive-ledger"  # its own name, so that no reader can overlook what it says
FULL_BATCH, POISSON = "full-batch", "poisson"
WITHOUT_REPLACEMENT, WITH_REPLACEMENT = "without-replacement", "with-replacement"
_VERSIONS = (1, VERSION)

Entry = Mapping[str, object]

ADAPTIVE = (
    "the releases in this ledger were chosen as the run went, so that composing the list that happened to run proves "
    "nothing: what the run spends is the guarantee of the filter that admitted them"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one mechanism is written: its name, the class, and the fields, of which some may be missing (None)."""

    name: str
    make: Callable[..., Mechanism]
    fields: tuple[str, ...]
    optional: tuple[str, ...] = ()


_KINDS = (
    _Kind("gaussian", Gaussian, (), ("noise_multiplier", "noise_stddev", "sensitivity")),
    _Kind("laplace", Laplace, (), ("noise_multiplier", "noise_scale", "sensitivity", "dimension")),
    _Kind("uniform-ball", UniformBall, ("radius", "dimension"), ("sensitivity",)),
    _Kind("randomized-response", RandomizedResponse, ("epsilon", "options")),
    _Kind("exponential", ExponentialMechanism, ("epsilon", "relation", "monotone")),
    _Kind("above-threshold", AboveThreshold, ("threshold_noise", "query_noise", "relation", "monotone")),
    _Kind("pure", PureDP, ("epsilon", "relation")),
    _Kind("approximate", ApproximateDP, ("epsilon", "delta", "relation")),
    _Kind("zcdp", ZCDP, ("rho", "relation")),
    _Kind("renyi", RenyiDP, ("points", "relation")),
)
_SAMPLINGS: dict[str, tuple[Callable[..., Mechanism], tuple[str, ...]]] = {
    POISSON: (PoissonSampled, ("sample_rate",)),
    WITHOUT_REPLACEMENT: (SampledWithoutReplacement, ("batch_size", "dataset_size")),
    WITH_REPLACEMENT: (SampledWithReplacement, ("batch_size", "dataset_size")),
}
_PER_RECORD_BOUND = "per_record_bound"  # with noise_stddev, in place of a Gaussian's noise_multiplier


def write_releases(mechanism: Mechanism) -> str:
    """Write the releases of a mechanism as the text of a ledger file.

    Raises:
        UnsupportedMechanism: A part is not a single release: a composition inside a sample, or parallel blocks.
    """
    return to_text([described_entry(part, count) for part, count in parts_of(mechanism)], adaptive=False)


def read_releases(text: str) -> Mechanism:
    """Read a ledger file as one mechanism, whose parts are the releases in their order.

    Raises:
        InvalidValue: Not JSON, another format or version, no release, a missing or unknown field, a value out of range.
        UnsupportedMechanism: The releases were chosen as the run went.
    """
    entries, adaptive = from_text(text)
    if adaptive:
        raise UnsupportedMechanism(ADAPTIVE)
    if not entries:
        raise InvalidValue("ledger", "empty", "at least one release")
    return Composed(tuple(map(read_entry, entries)))


# --- the document --------------------------------------------------------------------------------------------------


def to_text(entries: Sequence[Entry], *, adaptive: bool) -> str:
    """The document around the entries, as JSON text."""
    name = ADAPTIVE_FORMAT if adaptive else FORMAT
    return json.dumps({"format": name, "version": VERSION, "releases": list(entries)}, indent=2)


def from_text(text: str) -> tuple[tuple[Entry, ...], bool]:
    """The entries of a document, each an object with fields, and whether they were chosen as the run went.

    Raises:
        InvalidValue: Not JSON, another format or version, or no list of objects.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidValue("ledger", f"line {error.lineno}", "JSON text", error.msg) from None
    if not isinstance(document, dict) or document.get("format") not in (FORMAT, ADAPTIVE_FORMAT):
        found = document.get("format") if isinstance(document, dict) else type(document).__name__
        raise InvalidValue("ledger format", found, f"{FORMAT} or {ADAPTIVE_FORMAT}")
    if document.get("version") not in _VERSIONS:
        known = " or ".join(map(str, _VERSIONS))
        raise InvalidValue("ledger version", document.get("version"), known, "update dpbounds to read it")
    releases = document.get("releases")
    if not isinstance(releases, list):
        raise InvalidValue("ledger releases", releases, "a list")
    for entry in releases:
        if not isinstance(entry, dict):
            raise InvalidValue("ledger release", entry, "an object")
    return tuple(releases), document["format"] == ADAPTIVE_FORMAT


def demand_fields(entry: Entry, wanted: set[str], optional: frozenset[str] = frozenset()) -> None:
    """Raise ``InvalidValue`` unless an entry has all fields wanted, and none but those and the optional ones."""
    names = set(entry)
    wrong = (wanted - names) | (names - wanted - optional)
    if wrong:
        raise InvalidValue(
            "ledger release",
            f"fields missing or unknown: {', '.join(sorted(wrong))}",
            ", ".join(sorted(wanted | optional)),
        )


# --- one release ---------------------------------------------------------------------------------------------------


def described_entry(mechanism: Mechanism, count: int) -> Entry:
    """A number of equal releases as an entry; ``UnsupportedMechanism`` where it is no single release."""
    for name, (sampling, fields) in _SAMPLINGS.items():
        if type(mechanism) is sampling:
            return {
                **_described(_inside(mechanism)),
                "sampling": name,
                **{field: _written(getattr(mechanism, field)) for field in fields},
                "count": count,
            }
    return {**_described(mechanism), "sampling": FULL_BATCH, "count": count}


def _inside(mechanism: Mechanism) -> Mechanism:
    assert isinstance(mechanism, PoissonSampled | SampledWithoutReplacement | SampledWithReplacement)
    return mechanism.mechanism


def _described(mechanism: Mechanism) -> Entry:
    for kind in _KINDS:
        if type(mechanism) is kind.make:
            numbers = {field: getattr(mechanism, field) for field in (*kind.fields, *kind.optional)}
            return {"mechanism": kind.name} | {
                field: _written(value) for field, value in numbers.items() if value is not None
            }
    raise UnsupportedMechanism(
        f"a ledger holds single releases, and has no way to write {mechanism!r}: list what it consists of"
    )


def _written(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [[str(order), str(epsilon)] for order, epsilon in value]
    return str(value) if isinstance(value, Relation) else value


def read_entry(entry: Entry) -> tuple[Mechanism, int]:
    """One release of an entry as a mechanism, and how many there were; ``InvalidValue`` where a field is wrong."""
    names = [kind.name for kind in _KINDS]
    if entry.get("mechanism") not in names:
        raise InvalidValue("mechanism", entry.get("mechanism"), "one of " + ", ".join(names))
    kind = _KINDS[names.index(str(entry["mechanism"]))]
    sampling = str(entry.get("sampling"))
    if sampling != FULL_BATCH and sampling not in _SAMPLINGS:
        raise InvalidValue("sampling", sampling, "one of " + ", ".join((FULL_BATCH, *_SAMPLINGS)))
    of_sampling = _SAMPLINGS[sampling][1] if sampling in _SAMPLINGS else ()
    optional = frozenset(kind.optional) | ({_PER_RECORD_BOUND} if kind.make is Gaussian else set())
    demand_fields(entry, {"mechanism", "sampling", "count", *kind.fields, *of_sampling}, optional)
    given = {field: _read(field, entry[field]) for field in (*kind.fields, *optional) if field in entry}
    mechanism = kind.make(**_per_record(given))
    if sampling in _SAMPLINGS:
        mechanism = _SAMPLINGS[sampling][0](mechanism, *(_read(field, entry[field]) for field in of_sampling))
    return mechanism, positive_integer(entry["count"], "count")


def _per_record(given: dict[str, object]) -> dict[str, object]:
    """The noise per unit of the per-record bound, where the bound is given."""
    if _PER_RECORD_BOUND not in given:
        return given
    bound, stddev = given.pop(_PER_RECORD_BOUND), given.pop("noise_stddev", None)
    if isinstance(stddev, Fraction) and stddev <= 0:
        raise InvalidValue("noise_stddev", stddev, "greater than 0")
    if given or not isinstance(bound, Fraction) or not isinstance(stddev, Fraction) or bound <= 0 or stddev <= 0:
        raise InvalidValue(
            _PER_RECORD_BOUND, bound, "greater than 0, with noise_stddev greater than 0 and nothing else"
        )
    return {"noise_multiplier": stddev / bound}


def _read(field: str, value: object) -> object:
    if field == "relation":
        return str(value)
    if field == "monotone":
        if not isinstance(value, bool):
            raise InvalidValue(field, value, "true or false")
        return value
    if field in ("options", "dimension", "batch_size", "dataset_size"):
        return positive_integer(value, field)
    if field == "points":
        return _points(value)
    return number(value, field)


def _points(value: object) -> list[tuple[Fraction, Fraction]]:
    if not isinstance(value, list) or not all(isinstance(point, list) and len(point) == 2 for point in value):
        raise InvalidValue("points", value, "a list of [order, epsilon]")
    return [(number(order, "order"), number(epsilon, "epsilon")) for order, epsilon in value]


def number(value: object, name: str) -> Fraction:
    """A number of an entry, exact; else ``InvalidValue``."""
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        raise InvalidValue(name, value, "a number")
    number: ExactLike = value
    return exact(number, name)
