"""Ledger files hold releases of every kind, exactly, and refuse what they cannot hold."""

import hashlib
import json
from fractions import Fraction

import pytest

from dpbounds.algorithms.ledger import Ledger, OpenLedger, Release
from dpbounds.algorithms.ledger_format import read_releases, to_text, write_releases
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy import mechanisms as m
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.mechanisms.descriptions import MECHANISMS, SAMPLINGS, described, digest
from dpbounds.privacy.publishing.certificates import certificate
from tests.privacy.mechanisms.examples import NOISES, SCHEMES, WHOLE, around

BOTH = ("add-or-remove-one", "replace-one")


@pytest.mark.parametrize("scheme", [None, *SCHEMES], ids=repr)
def test_every_mechanism_comes_back_with_every_sampling(scheme):
    for inner in NOISES:
        releases = (inner if scheme is None else around(scheme, inner)) ** 7 @ m.Gaussian(5)
        text = write_releases(releases)
        assert read_releases(text) == releases == Ledger.from_json(text).mechanism()
        assert Ledger.from_json(Ledger.from_json(text).to_json()) == Ledger.from_json(text)
        assert json.loads(text)["version"] == 2


@pytest.mark.parametrize("whole", WHOLE, ids=repr)
def test_what_says_itself_who_takes_part_comes_back(whole):
    releases = whole**2 @ m.Gaussian(5)
    text = write_releases(releases)
    assert read_releases(text) == releases == Ledger.from_json(text).mechanism()
    entry = json.loads(text)["releases"][0]
    assert "sampling" not in entry
    with pytest.raises(InvalidValue, match="unknown: sampling"):
        read_releases(to_text([{**entry, "sampling": "full-batch"}], adaptive=False))
    with pytest.raises(UnsupportedMechanism, match="single releases"):
        write_releases(m.PoissonSampled(whole, "1/7"))


@pytest.mark.parametrize("whole", [*WHOLE[:3], *WHOLE[4:8]], ids=repr)  # those that certificates describe
def test_the_digest_is_that_of_a_certificate(whole):
    found = account(whole, delta="1e-5", relation="replace-one")
    assert certificate(found)["accounts"][0]["digest"] == digest(whole)


def test_every_mechanism_that_there_is_can_be_written_or_is_no_single_release():
    """So that the file knows every kind and every scheme; a new class has to be entered, or to be named here."""
    kinds, waiting = set(), [m.Mechanism]
    while waiting:
        below = waiting.pop().__subclasses__()
        kinds |= set(below)
        waiting += below
    public = {kind for kind in kinds if getattr(m, kind.__name__, None) is kind}
    known = {*MECHANISMS.values(), *SAMPLINGS.values()}
    assert public - known == {m.Composed, m.InParallel}
    assert known == {type(each) for each in (*NOISES, *SCHEMES, *WHOLE)}


def test_what_algorithms_write_is_read_as_the_same_mechanism():
    ledger = Ledger(
        (Release(Fraction(3), Fraction(1, 4), count=9), Release(Fraction(1, 3), Fraction(1, 7), Fraction(1, 9)))
    )
    for text in (ledger.to_json(), ledger.to_json().replace('"version": 2', '"version": 1')):
        assert Ledger.from_json(text) == ledger
        assert read_releases(text) == ledger.mechanism()
    assert Ledger.from_json(Ledger().to_json()) == Ledger()
    with pytest.raises(InvalidValue, match="empty"):
        read_releases(Ledger().to_json())
    adaptive = Ledger(ledger.releases, adaptive=True)
    assert Ledger.from_json(adaptive.to_json()) == adaptive != ledger
    assert json.loads(adaptive.to_json())["format"] == "dpbounds/adaptive-ledger"  # old readers refuse it
    with pytest.raises(UnsupportedMechanism, match="chosen as the run went"):
        read_releases(adaptive.to_json())


def test_a_per_record_bound_goes_with_any_sampling():
    entry = {
        "mechanism": "gaussian",
        "noise_stddev": "3",
        "per_record_bound": "2",
        "sampling": "without-replacement",
        "batch_size": 5,
        "dataset_size": 50,
        "count": 2,
    }
    assert read_releases(to_text([entry], adaptive=False)) == m.SampledWithoutReplacement(m.Gaussian("1.5"), 5, 50) ** 2


@pytest.mark.parametrize(
    "scheme",
    [*SCHEMES, m.TruncatedPoisson(m.Gaussian(1), "1/10", 5, 50)],  # the last at a rate at which no generator draws
    ids=repr,
)
def test_a_ledger_reads_a_per_record_bound_with_any_sampling_as_the_same_mechanism(scheme):
    of_gaussian = around(scheme, m.Gaussian("1.5"))
    entry = {**described(of_gaussian, 2), "noise_stddev": "3", "per_record_bound": "2"}
    del entry["noise_multiplier"]
    text = to_text([entry], adaptive=False)
    ledger = Ledger.from_json(text)
    assert ledger.mechanism() == read_releases(text) == of_gaussian**2
    assert Ledger.from_json(ledger.to_json()) == ledger


@pytest.mark.parametrize(
    "mechanism",
    [m.InParallel((m.Gaussian(1),)), m.PoissonSampled(m.Gaussian(1) ** 2, "0.1")],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_what_is_no_single_release_is_refused(mechanism):
    with pytest.raises(UnsupportedMechanism, match="single releases"):
        write_releases(mechanism)


MATRIX = {
    "mechanism": "matrix",
    "noise_multiplier": "2",
    "matrix": {"kind": "binary-tree", "steps": 3},
    "participation": "single",
    "groups": "position",
}
LAPLACE = {"mechanism": "laplace", "noise_multiplier": "2"}
BOUNDED = {"mechanism": "gaussian", "noise_stddev": "1", "per_record_bound": "1"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            LAPLACE | {"mechanism": "cauchy"},
            "mechanism must be one of .*, gaussian, gaussian-dp, laplace, .*, not cauchy",
        ),
        (LAPLACE | {"sampling": "sorted"}, "sampling must be .*, not sorted"),
        (LAPLACE | {"sampling": "shuffled", "batches": 3}, "missing or unknown: rest"),
        (LAPLACE | {"sampling": "shuffled", "batches": 3, "rest": "1/4"}, "rest must be .*, not 1/4"),
        (MATRIX | {"matrix": {"kind": "toeplitz", "coefficients": [1]}}, "matrix must be .*missing or unknown: steps"),
        (MATRIX | {"matrix": {"kind": "binary-tree", "steps": 3, "rows": []}}, "missing or unknown: rows"),
        (MATRIX | {"matrix": {"kind": "toeplitz", "coefficients": [0, 1], "steps": 3}}, "coefficients"),
        (MATRIX | {"matrix": {"kind": "circle"}}, "matrix must be .*, not circle"),
        (MATRIX | {"separation": 3}, "separation must be left out"),
        (MATRIX | {"participation": "any"}, "participation"),
        (LAPLACE | {"sampling": "poisson"}, "missing or unknown: sample_rate"),
        (LAPLACE | {"sampling": "without-replacement", "batch_size": 3}, "missing or unknown: dataset_size"),
        (
            LAPLACE | {"sampling": "without-replacement", "batch_size": 3, "dataset_size": 2},
            "batch_size .*, not 3",
        ),
        (LAPLACE | {"noise_multiplier": "-2"}, "noise_multiplier must be .*, not -2"),
        (LAPLACE | {"noise_multiplier": "many"}, "noise_multiplier"),
        (LAPLACE | {"dimension": "1.5"}, "dimension must be .*, not 1.5"),
        (LAPLACE | {"noise_scale": 1}, "Laplace noise"),
        (LAPLACE | {"count": 0}, "count must be .*, not 0"),
        (LAPLACE | {"count": 1.5}, "count must be .*, not 1.5"),
        (LAPLACE | {"relation": "replace-one"}, "missing or unknown: relation"),
        (LAPLACE | {"per_record_bound": 1}, "per_record_bound"),
        (BOUNDED | {"noise_stddev": "0"}, "noise_stddev must be .*, not 0"),
        (BOUNDED | {"per_record_bound": "-1"}, "per_record_bound"),
        (BOUNDED | {"per_record_bound": 0}, "per_record_bound must be .*, not 0"),
        (BOUNDED | {"sampling": "poisson", "sample_rate": "2"}, "sample_rate must be .*, not 2"),
        (BOUNDED | {"sample_rate": "1/2"}, "sample_rate"),
        (BOUNDED | {"noise_multiplier": 1}, "per_record_bound must be .*, not 1"),
        ({"mechanism": "gaussian", "noise_multiplier": 1, "per_record_bound": 1}, "per_record_bound must be .*, not 1"),
        ({"mechanism": "gaussian"}, "Gaussian noise"),
        ({"mechanism": "pure", "epsilon": 1, "relation": "neighbour"}, "relation"),
        ({"mechanism": "exponential", "epsilon": 1, "relation": BOTH[0], "monotone": "yes"}, "monotone .*not yes"),
        ({"mechanism": "renyi", "points": [[1, 1]], "relation": BOTH[0]}, "orders"),
    ],
)
def test_malformed_entries_are_refused(entry, message):
    sampling = {} if entry["mechanism"] == "matrix" else {"sampling": "full-batch"}
    with pytest.raises(InvalidValue, match=message):
        read_releases(to_text([{"count": 1, **sampling, **entry}], adaptive=False))


# --- the file: every change of it is refused, or changes nothing ------------------------------------------------------

EVERY_KIND = m.Composed(
    tuple((each, 3) for inner in NOISES for each in (inner, around(SCHEMES[0], inner), around(SCHEMES[2], inner)))
)
CHANGED = {"kinds": NOISES, "samplings": SCHEMES, "wholes": WHOLE}
MAY_BE = {bool: ("monotone", "redraw"), list: ("coefficients", "checkpoints", "smoothness_step")}
OTHER_TYPES = [None, True, False, "", "\x1b[2J", "replace one", [], [2], [[]], {}, {"a": 1}]


def test_all_releases_come_back_in_their_order():
    assert read_releases(write_releases(EVERY_KIND)) == EVERY_KIND


def places(value, path=()):
    """Every object of a document, with the way to it."""
    if isinstance(value, dict):
        yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in children:
        yield from places(inner, (*path, name))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def with_twice(document, path, field, first):
    """The document as text in which an object has a field twice: first with one value, then with its own."""
    mark = "occurs twice"
    text = json.dumps(replaced(document, path, {mark: first, **dict(places(document))[path]}))
    return text.replace(json.dumps(mark), json.dumps(field))


@pytest.mark.parametrize("group", CHANGED)
def test_no_change_of_a_ledger_file_is_overlooked(group):
    """Each field of each object: added, doubled, of another type; without the digest, which would tell."""
    for releases in CHANGED[group]:
        demand_every_change_refused(releases)


def demand_every_change_refused(releases):
    document = json.loads(write_releases(releases**3))
    del document["digest"]
    assert read_releases(json.dumps(document)) == releases**3
    for path, found in places(document):
        with pytest.raises(InvalidValue, match="unknown"):
            read_releases(json.dumps(replaced(document, path, {**found, "adaptive": True})))
        for field, value in found.items():
            for first in (value, 1, "dpbounds/adaptive-ledger", []):
                with pytest.raises(InvalidValue, match="twice"):
                    read_releases(with_twice(document, path, field, first))
            for other in OTHER_TYPES:
                if field not in MAY_BE.get(type(other), ()):
                    with pytest.raises(InvalidValue):
                        read_releases(json.dumps(replaced(document, (*path, field), other)))


@pytest.mark.parametrize(("count", "same"), [(3, True), ("3", True), (3.0, True), ("6/2", True), (4, False)])
def test_numbers_may_be_spelled_in_several_ways(count, same):
    releases = m.Gaussian(2) ** 3
    document = json.loads(write_releases(releases))
    document["releases"][0]["count"] = count
    if same:
        assert read_releases(json.dumps(document)) == releases
    else:
        with pytest.raises(InvalidValue, match="digest"):
            read_releases(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "JSON"),
        ("[]", "ledger format must be .*, not a list"),
        ('{"format": "other"}', "ledger format must be .*, not other"),
        ('{"format": "dpbounds/ledger", "version": 3, "releases": []}', "version must be .*, not 3"),
        ('{"format": "dpbounds/ledger", "version": 1}', "missing or unknown: releases"),
        ('{"format": "dpbounds/ledger", "version": 1, "releases": [3]}', "ledger release must be .*, not 3"),
        ('{"format": "dpbounds/ledger", "version": true, "releases": []}', "version must be .*, not true"),
        ('{"format": "dpbounds/ledger", "version": 2.0, "releases": []}', "version must be .*, not 2.0"),
        ('{"format": "dpbounds/ledger", "version": 2, "releases": [], "adaptive": true}', "adaptive"),
        ('{"format": "dpbounds/adaptive-ledger", "format": "dpbounds/ledger", "version": 2, "releases": []}', "twice"),
        ("[" * 100_000, "nested"),
        ('{"releases":' * 5_000, "nested"),
        ('{"version": 1' + "0" * 5_000 + "}", "5001 characters"),
        ('{"version": NaN}', "finite"),
        ('{"version": 1e400}', "finite"),
        ('{"format": "dpbounds/ledger", "version": 2, "releases": [' + "{}," * 10_000 + "{}]}", "at most 10000"),
        ('{"format": "\\u001b[2J"}', r"'\\x1b\[2J'"),
    ],
    ids=lambda text: text[:30],
)
def test_files_that_mean_two_things_or_too_much_are_refused(text, message):
    with pytest.raises(InvalidValue, match=message) as told:
        read_releases(text)
    assert len(str(told.value)) < 400
    assert str(told.value).isprintable()


def test_the_digest_is_that_of_the_releases_in_any_spelling():
    training = m.PoissonSampled(m.Gaussian(2), "0.01") ** 500
    document = json.loads(write_releases(training))
    # what another program would compute: the description in the documentation, and SHA-256
    text = '[{"count":500,"mechanism":"gaussian","noise_multiplier":"2","sample_rate":"1/100","sampling":"poisson"}]'
    assert document["digest"] == hashlib.sha256(text.encode()).hexdigest() == digest(training)
    ledger = Ledger(
        (Release(Fraction(6), Fraction(3), Fraction(1, 100), 499), Release(Fraction(2), Fraction(1), Fraction(1, 100)))
    )
    assert json.loads(ledger.to_json())["digest"] == document["digest"]  # another way to write the same releases
    assert json.loads(Ledger().to_json())["digest"] == hashlib.sha256(b"[]").hexdigest()
    del document["digest"]
    assert read_releases(json.dumps(document)) == training  # a list written by hand needs none
    for wrong in ("", "0" * 64, None, digest(m.Gaussian(2))):
        with pytest.raises(InvalidValue, match="digest"):
            read_releases(json.dumps({**document, "digest": wrong}))


def test_no_two_releases_have_one_digest():
    every = [each for group in CHANGED.values() for each in group]
    assert len({digest(each) for each in every}) == len(every)
    for each in every:
        assert digest(each) == digest(each**1) != digest(each**2) == digest(each @ each)


@pytest.mark.parametrize("scheme", [m.SampledWithoutReplacement, m.SampledWithReplacement])
def test_batches_of_one_ledger_are_drawn_from_one_data_set(scheme: type[m.Mechanism]) -> None:
    """The same records cannot be 100 in one release and 10 000 in another."""
    one, other = scheme(m.Gaussian(1), 2, 100), m.SampledWithoutReplacement(m.Laplace(1), 3, 10_000)
    text = write_releases(one @ other)
    for read in (read_releases, Ledger.from_json):
        with pytest.raises(InvalidValue, match=r"dataset_size must be .*one number of records.*, not 100 and 10000"):
            read(text)
    ledger = OpenLedger()
    ledger.release(one @ other)
    with pytest.raises(InvalidValue, match="one number of records"):
        ledger.close()
    inside = m.SampledWithoutReplacement(m.Gaussian(1), 2, 100) @ m.PoissonSampled(m.Gaussian(1), "0.1") @ one
    assert read_releases(write_releases(inside)) == inside
