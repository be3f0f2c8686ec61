"""The file of a ledger: releases of any kind as JSON, exact numbers as text.

Version 2 covers every mechanism and sampling scheme of dpbounds; version 1, which held Gaussian noise on the full batch
or on Poisson samples, is still read. Each release is one object: which ``mechanism``, with its numbers; which
``sampling``, with its own (but for a matrix mechanism and for a last iterate, which say themselves who takes part); and
the ``count`` of such releases in a row. What is read here are all releases; a field ``descent`` beside them says how a
run moved whose last iterate alone may be accounted for (``ledger.PlainDescent``).

>>> from dpbounds.privacy.mechanisms import Laplace, SampledWithoutReplacement
>>> releases = SampledWithoutReplacement(Laplace("1.5", dimension=1), 10, 500) ** 7
>>> read_releases(write_releases(releases)) == releases
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpbounds import documents, limits
from dpbounds.documents import quoted
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.mechanisms import (
    Composed,
    Gaussian,
    LastIterate,
    Mechanism,
    SampledWithoutReplacement,
    SampledWithReplacement,
    TruncatedPoisson,
    parts_of,
)
from dpbounds.privacy.mechanisms.descriptions import FULL_BATCH, MECHANISMS, SAMPLINGS, JsonObject, described, digest
from dpbounds.privacy.mechanisms.parameters import Parameter, parameters_of, read_number

FORMAT, VERSION = "dpbounds/ledger", 2
ADAPTIVE_FORMAT = "dpbounds/adaptive-ledger"  # its own name, so that no reader can overlook what it says
_VERSIONS = (1, VERSION)

CONDITION = "conditional on the seed being secret and never used again"
ADAPTIVE = (
    "the releases in this ledger were chosen as the run went, so that composing the list proves nothing: the run "
    "spends the guarantee of the filter that admitted the releases"
)

_PER_RECORD_BOUND = "per_record_bound"  # with noise_stddev, in place of a Gaussian's noise_multiplier


def write_releases(mechanism: Mechanism) -> str:
    """Write the releases of a mechanism as the text of a ledger file.

    Raises:
        UnsupportedMechanism: A part is not a single release: a composition inside a sample, or parallel blocks.
    """
    return to_text([described(part, count) for part, count in parts_of(mechanism)], adaptive=False)


def read_releases(text: str) -> Mechanism:
    """Read a ledger file as one mechanism, whose parts are the releases in their order; errors as ``read``."""
    return read(text)[0]


def read(text: str) -> tuple[Mechanism, bool]:
    """Read releases, and whether the noise came from a given seed, so that everything is subject to ``CONDITION``.

    Raises:
        InvalidValue: Not JSON, another format or version, no release, a missing or unknown field, a value out of range.
        UnsupportedMechanism: The releases were chosen as the run went.
    """
    entries, adaptive, seeded, _ = from_text(text)
    if adaptive:
        raise UnsupportedMechanism(ADAPTIVE)
    if not entries:
        raise InvalidValue("ledger", "empty", "at least one release")
    releases = tuple(map(read_entry, entries))
    demand_one_size(mechanism for mechanism, _ in releases)
    return Composed(releases), seeded


def demand_one_size(releases: Iterable[Mechanism]) -> None:
    """Raise ``InvalidValue`` if batches of a fixed size are drawn from different numbers of records.

    The releases of a ledger are on one dataset, and n is public: two numbers for it cannot both be right, and the
    larger one makes each draw look rarer than it was. Of Poisson samples that are cut, n may be an upper bound instead:
    one for all, and no less than what batches are drawn from.
    """
    sizes, cut = set[int](), set[int]()
    for mechanism in releases:
        if isinstance(mechanism, SampledWithoutReplacement | SampledWithReplacement):
            sizes.add(mechanism.dataset_size)
        elif isinstance(mechanism, TruncatedPoisson):
            cut.add(mechanism.dataset_size)
    if len(cut) > 1 or (cut and min(cut) < max(sizes, default=0)):
        found = " and ".join(map(str, sorted(cut | sizes)))
        allowed = "for Poisson samples that are cut one number, at least that for batches of a fixed size"
        raise InvalidValue("dataset_size", found, allowed, "where it is an upper bound, write the largest everywhere")
    if len(sizes) > 1:
        raise InvalidValue(
            "dataset_size",
            " and ".join(map(str, sorted(sizes))),
            "one number of records for all batches of a ledger",
            "if it is a lower bound, write the smallest one everywhere; for another dataset, write another ledger",
        )


# --- the document --------------------------------------------------------------------------------------------------


def to_text(
    entries: Sequence[JsonObject], *, adaptive: bool, seeded: bool = False, descent: JsonObject | None = None
) -> str:
    """Return the document around the entries, as JSON text, with the digest of its releases."""
    head: dict[str, object] = {"format": ADAPTIVE_FORMAT if adaptive else FORMAT, "version": VERSION}
    head |= {"condition": CONDITION} if seeded else {}
    head |= {} if descent is None else {"descent": descent}
    releases = list(entries)
    return json.dumps({**head, "digest": _digest(releases), "releases": releases}, indent=2)


def from_text(text: str) -> tuple[tuple[JsonObject, ...], bool, bool, dict[str, Any] | None]:
    """Return the entries of a document, whether they were chosen adaptively, and whether under ``CONDITION``.

    Last the fields of its ``ledger.PlainDescent``, which only speaks of the last iterate, or None.

    Raises:
        InvalidValue: Not JSON, a field that occurs twice, another format or version, no list of releases, a missing or
            unknown field, a value out of range, or a digest that is not that of the releases.
    """
    document = documents.parsed(text, "ledger")
    found = document.get("format") if isinstance(document, dict) else document
    if not isinstance(found, str) or found not in (FORMAT, ADAPTIVE_FORMAT):
        raise InvalidValue("ledger format", quoted(found), f"{FORMAT} or {ADAPTIVE_FORMAT}")
    documents.demand_object(document, "ledger", ("format", "version", "releases"), _OPTIONAL)
    documents.demand_version(document["version"], "ledger version", _VERSIONS)
    if document.get("condition", CONDITION) != CONDITION:
        raise InvalidValue("ledger condition", quoted(document["condition"]), repr(CONDITION), "or none")
    releases = document["releases"]
    if not isinstance(releases, list):
        raise InvalidValue("ledger releases", quoted(releases), "a list")
    if len(releases) > limits.RELEASES:
        advice = "equal releases in a row are one release with a count"
        raise InvalidValue("ledger releases", len(releases), f"at most {limits.RELEASES}", advice)
    for entry in releases:
        if not isinstance(entry, dict):
            raise InvalidValue("ledger release", quoted(entry), "an object")
    if "digest" in document and document["digest"] != _digest(releases):
        advice = "they were changed after they had been written; a list that you wrote yourself needs no digest"
        raise InvalidValue("ledger digest", quoted(document["digest"]), "that of the releases in the ledger", advice)
    descent = _read_descent(document["descent"]) if "descent" in document else None
    return tuple(releases), document["format"] == ADAPTIVE_FORMAT, "condition" in document, descent


_OPTIONAL = ("digest", "condition", "descent")


def _read_descent(value: object) -> dict[str, Any]:
    fields = documents.demand_object(value, "ledger descent", ("smoothness_step", "weight_decay_step", "order"))
    if fields["order"] not in ("fixed", "secret"):
        raise InvalidValue("order", quoted(fields["order"]), "fixed or secret")
    return {name: each if name == "order" else read_number(each, name) for name, each in fields.items()}


def _digest(entries: Sequence[JsonObject]) -> str:
    """Return the digest of the releases that entries describe, in any notation; errors as ``read_entry``."""
    return digest(map(read_entry, entries))


# --- one release ---------------------------------------------------------------------------------------------------


def read_entry(entry: JsonObject) -> tuple[Mechanism, int]:
    """Return one release of an entry as a mechanism, and their number; ``InvalidValue`` if a field is wrong."""
    name, sampling = entry.get("mechanism"), entry.get("sampling")
    kind = MECHANISMS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InvalidValue("mechanism", quoted(name), "one of " + ", ".join(MECHANISMS))
    if kind.whole:
        return _read_whole(kind, entry), positive_integer(entry["count"], "count")
    if sampling not in (FULL_BATCH, *SAMPLINGS):
        raise InvalidValue("sampling", quoted(sampling), "one of " + ", ".join((FULL_BATCH, *SAMPLINGS)))
    scheme = SAMPLINGS.get(str(sampling))
    of_noise, of_sampling = parameters_of(kind), {} if scheme is None else parameters_of(scheme)
    of_noise = {**of_noise, **({_PER_RECORD_BOUND: of_noise["noise_stddev"]} if kind is Gaussian else {})}
    _demand_fields(entry, of_noise, "sampling", *of_sampling)
    mechanism: Mechanism = kind(**_per_record(_given(entry, of_noise)))
    if scheme is not None:
        make: Callable[..., Mechanism] = scheme
        mechanism = make(mechanism, **_given(entry, of_sampling))
    return mechanism, positive_integer(entry["count"], "count")


def _read_whole(kind: type[Mechanism], entry: JsonObject) -> Mechanism:
    """Return a mechanism that says itself which records its steps are about."""
    of_noise = parameters_of(Gaussian) if kind is LastIterate else {}
    _demand_fields(entry, {**parameters_of(kind), **of_noise})
    noise = [Gaussian(**_given(entry, of_noise))] if of_noise else []
    return kind(*noise, **_given(entry, parameters_of(kind)))


def _demand_fields(entry: JsonObject, parameters: Mapping[str, Parameter], *others: str) -> None:
    needed = {name for name, each in parameters.items() if not each.optional}
    documents.demand_object(
        entry, "ledger release", {"mechanism", "count", *needed, *others}, frozenset(parameters) - needed
    )


def _given(entry: JsonObject, parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the values of those parameters that the entry has."""
    return {name: each.kind.read(entry[name], name) for name, each in parameters.items() if name in entry}


def _per_record(given: dict[str, object]) -> dict[str, object]:
    """Return the noise per unit of the per-record bound, where the bound is given."""
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
