"""Both checkers against one corpus: every field of a certificate added, doubled, left out, retyped; hostile files.

A certificate that was changed is malformed or does not hold, unless its claim is still true. Both programs give the
same verdict (0 holds, 1 does not, 2 malformed), whatever the file.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpbounds import documents, limits
from dpbounds.algorithms.ledger_format import write_releases
from dpbounds.cli import main
from dpbounds.errors import CertificateError
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.mechanisms.descriptions import digest
from dpbounds.privacy.publishing import standalone_checker as checker
from dpbounds.privacy.publishing.certificates import certificate, check_certificate, write_certificate
from dpbounds.privacy.publishing.statements import statement
from tests.privacy.publishing.certified import plain

STEP = PoissonSampled(Gaussian(1), "0.01")
FULL = Gaussian("4.5") ** 3 @ Gaussian(noise_stddev="3/2", sensitivity="1/7")
FULL_DOCUMENT: dict[str, Any] = plain(account(FULL, delta="1e-6"))


@pytest.fixture(scope="module")
def made() -> dict[str, dict[str, Any]]:
    subjects: dict[str, Any] = {
        "full batch": account(FULL, delta="1e-6"),
        "one sampled": account(STEP, delta="1e-6", relation="replace-one"),
        "calibration": calibrate(lambda z: Gaussian(z) ** 100, "1.5", "1e-6"),
    }
    return {name: plain(subject) for name, subject in subjects.items()}


def standalone(text: str) -> int:
    try:
        return checker.check(checker.parsed(text))[0]
    except checker.Malformed:
        return checker.MALFORMED


def ours(text: str) -> int:
    try:
        document = documents.parsed(text, "certificate")
        if not isinstance(document, dict):
            return checker.MALFORMED  # as `dpbounds check` says
        return checker.CONFIRMED if check_certificate(document).holds else checker.WRONG
    except (documents.InvalidValue, CertificateError):
        return checker.MALFORMED


def verdict(text: str) -> int:
    found = standalone(text), ours(text)
    assert found[0] == found[1], (found, text[:2000])
    return found[0]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in children:
        yield from places(inner, (*path, name))


def changed(document: dict[str, Any], path: tuple[Any, ...], **fields: Any) -> dict[str, Any]:
    copied: Any = copy.deepcopy(document)
    place = copied
    for step in path:
        place = place[step]
    place.update(fields)
    return copied  # type: ignore[no-any-return]


HINTS = {"parameters", "error_budget"}


@pytest.mark.parametrize("name", ["full batch", pytest.param("one sampled", marks=pytest.mark.seconds), "calibration"])
def test_a_field_more_less_or_twice_is_malformed(made: dict[str, dict[str, Any]], name: str) -> None:
    document = made[name]
    assert verdict(json.dumps(document)) == checker.CONFIRMED
    for path, found in places(document):
        if HINTS & set(path):
            continue
        assert verdict(json.dumps(changed(document, path, shuffled=True))) == checker.MALFORMED, path
        for field, value in found.items():
            mark = "occurs twice"
            for first in (value, "0", None):
                whole = json.dumps(changed(document, path, **{mark: first}))
                assert verdict(whole.replace(json.dumps(mark), json.dumps(field))) == checker.MALFORMED, (path, field)
            less = copy.deepcopy(document)
            place: Any = less
            for step in path:
                place = place[step]
            del place[field]
            assert verdict(json.dumps(less)) == checker.MALFORMED, (path, field)


TEXTS = ["", "x", "\x1b[2J", "\ud800", "1/0"]
OTHER_TYPES = [None, True, False, 0, 1, -1, 2.0, 0.5, 10**400, *TEXTS, [], [[]], ["x"], {}, {"x": 1}]


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.seconds_cases("calibration")
@pytest.mark.parametrize("name", ["full batch", pytest.param("one sampled", marks=pytest.mark.seconds), "calibration"])
def test_a_field_of_another_type_is_malformed(made: dict[str, dict[str, Any]], name: str) -> None:
    document = made[name]
    for path, found in places(document):
        for field, value in found.items():
            for other in OTHER_TYPES:
                if type(other) is type(value) is not bool and field in ("count", "precision", "method"):
                    continue  # another whole number or label
                if (other is None and value is None) or (field in HINTS and isinstance(other, dict)):
                    continue
                status = verdict(json.dumps(changed(document, path, **{field: other})))
                if field == "digest" and other != value:
                    assert status in (checker.MALFORMED, checker.WRONG)
                elif field == "route" and other in ("", "x"):
                    assert status in (checker.CONFIRMED, checker.WRONG)  # a hint that leads nowhere
                elif (field, other) in (("fails_at", None), ("proofs", [])) or field in ("calibration", "sample_rate"):
                    assert status != checker.CONFIRMED
                else:
                    assert status == checker.MALFORMED, (path, field, other)


@pytest.mark.parametrize("name", ["full batch", pytest.param("one sampled", marks=pytest.mark.seconds), "calibration"])
def test_other_words_or_numbers_do_not_hold(made: dict[str, dict[str, Any]], name: str) -> None:
    document = made[name]
    first = ("accounts", 0)
    release = (*first, "mechanism", 0)
    count = document["accounts"][0]["mechanism"][0]["count"]
    reworded = [*checker.ASSUMPTIONS[:-1], "Batches may be shuffled, clipping is optional."]
    for path, fields, wanted in (
        ((), {"assumptions": reworded}, checker.MALFORMED),
        ((), {"assumptions": [*checker.ASSUMPTIONS, "The moon is made of cheese."]}, checker.MALFORMED),
        ((), {"assumptions": list(checker.ASSUMPTIONS[::-1])}, checker.MALFORMED),
        *(((), {"version": version}, checker.MALFORMED) for version in (1, 2, 4)),  # 1 has no digest, 2 no seed
        ((), {"accounts": []}, checker.MALFORMED),
        (("versions",), {"dpbounds": "99\x1b[2J"}, checker.MALFORMED),
        (first, {"role": "attack"}, checker.MALFORMED),
        (first, {"digest": digest(Gaussian(3))}, checker.WRONG),
        (first, {"proofs": []}, checker.WRONG),
        (release, {"count": count + 1}, checker.WRONG),
        *((release, {"count": wrong}, checker.MALFORMED) for wrong in (0, True, 10**31)),
        *((release, {"noise_multiplier": wrong}, checker.MALFORMED) for wrong in ("-5", "0", None)),
        (release, {"noise_stddev": "1"}, checker.MALFORMED),
        (release, {"sample_rate": "2"}, checker.MALFORMED),
        (first, {"mechanism": []}, checker.MALFORMED),
        *(((*first, "claim"), {"target": wrong}, checker.MALFORMED) for wrong in ("3/2", "0", "1/0")),
        ((*first, "claim"), {"upper": "0"}, checker.MALFORMED),
        (release, {"kind": "laplace"}, checker.MALFORMED),
        (release, {"noise_multiplier": "1*2**-99999"}, checker.MALFORMED),
        ((*first, "claim"), {"relation": "similar"}, checker.MALFORMED),
        ((*first, "claim"), {"lower": "0", "upper": "1/1000"}, checker.WRONG),
        ((*first, "proofs", 0), {"order": "sideways"}, checker.MALFORMED),
    ):
        assert verdict(json.dumps(changed(document, path, **fields))) == wanted, (path, fields)
    twice = changed(document, first, proofs=document["accounts"][0]["proofs"] * 2)
    assert verdict(json.dumps(twice)) == checker.MALFORMED


@pytest.mark.parametrize("version", [1, 2])
def test_earlier_versions_are_still_read(version: int) -> None:
    old = copy.deepcopy(FULL_DOCUMENT)
    old["version"] = version
    if version == 1:
        del old["accounts"][0]["digest"]
    assert verdict(json.dumps(old)) == checker.MALFORMED  # they said nothing of seeds
    old["assumptions"][3] = (
        "The noise is drawn as described: ideal Gaussian, independent between releases. Floating-point and "
        "pseudo-random effects of a sampler are outside."
    )
    assert verdict(json.dumps(old)) == checker.CONFIRMED
    del old["assumptions"]
    assert verdict(json.dumps(old)) == checker.MALFORMED


def hostile() -> Iterator[tuple[str, str]]:
    whole = json.dumps(FULL_DOCUMENT)
    claim, release = ("accounts", 0, "claim"), ("accounts", 0, "mechanism", 0)
    for text in ("7*5**999999", "1*2**-999999", "1*2**99999*5**99999", "9" * 2001, "1/" + "9" * 1_000_000, "-" * 10**6):
        for field in ("upper", "lower", "target"):
            yield f"{field} {text[:14]}", json.dumps(changed(FULL_DOCUMENT, claim, **{field: text}))
        for field in ("noise_multiplier", "noise_stddev", "sample_rate"):
            yield f"{field} {text[:14]}", json.dumps(changed(FULL_DOCUMENT, release, **{field: text}))
    yield "count", json.dumps(changed(FULL_DOCUMENT, release, count=10**400))
    yield "digits", whole.replace('"count": 3', '"count": ' + "9" * 5000)
    yield "long float", whole.replace('"count": 3', '"count": 3.' + "9" * 5000)
    yield "float", whole.replace('"count": 3', '"count": 1e400')
    yield "nan", whole.replace('"count": 3', '"count": NaN')
    yield "brackets", "[" * 100_000
    yield "objects", '{"accounts":' * 100_000
    yield "brackets in a hint", whole.replace('"parameters": {}', '"parameters": {"x": ' + "[" * 999 + "]" * 999 + "}")
    yield "quotation marks", '"\\' * 200_000
    yield "releases", json.dumps(changed(FULL_DOCUMENT, ("accounts", 0), mechanism=[{}] * 100_000))
    yield "same releases", json.dumps(changed(FULL_DOCUMENT, ("accounts", 0), mechanism=[release] * 50_000))
    yield "proofs", json.dumps(changed(FULL_DOCUMENT, ("accounts", 0), proofs=[{}] * 100_000))
    yield "accounts", json.dumps({**FULL_DOCUMENT, "accounts": [FULL_DOCUMENT["accounts"][0]] * 10_000})
    yield "no object", "[]"
    yield "nothing", ""


HOSTILE = dict(hostile())


@pytest.mark.seconds_cases("accounts", "same releases")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_certificates_are_malformed_and_cost_nothing(name: str) -> None:
    assert verdict(HOSTILE[name]) == checker.MALFORMED  # some of them took minutes


@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        ({"noise_multiplier": "1*2**-9000"}, {}),
        ({"noise_multiplier": "1*2**9000"}, {}),
        ({"sample_rate": "1*2**-2000"}, {}),
        ({"sample_rate": "1/100", "noise_multiplier": "1*2**-2000"}, {}),
        ({"sample_rate": "1/100", "noise_multiplier": "1*2**2000"}, {}),
        ({"sample_rate": "1*2**-3000", "count": 10**30}, {}),
        ({"sample_rate": "1/100", "count": 3}, {"target": "1*2**-9000"}),
        ({}, {"target": "1*2**-12000", "upper": "1*2**12000"}),
    ],
    ids=str,
)
def test_extreme_numbers_are_no_crash(mechanism: dict[str, Any], claim: dict[str, Any]) -> None:
    document = changed(FULL_DOCUMENT, ("accounts", 0, "mechanism", 0), **mechanism)
    document["accounts"][0]["mechanism"] = document["accounts"][0]["mechanism"][:1]
    document = changed(document, ("accounts", 0, "claim"), **claim)
    if "sample_rate" in mechanism:
        proofs = document["accounts"][0]["proofs"]
        document["accounts"][0]["proofs"] = [{**proofs[0], "order": order} for order in ("remove", "add")]
    document["accounts"][0]["digest"] = checker.digest(document["accounts"][0]["mechanism"])
    status, lines = checker.check(document)
    assert status in (checker.CONFIRMED, checker.WRONG, checker.NOT_COVERED), lines
    if status == checker.NOT_COVERED:
        assert lines[0].startswith("NEITHER CONFIRMED NOR REFUTED")


def test_the_limits_of_both_readers_are_the_same() -> None:
    ours_are = (limits.JSON_BYTES, limits.NESTING, limits.JSON_DIGITS, limits.RELEASES, limits.COUNT)
    assert ours_are == (checker.BYTES, checker.NESTING, checker.JSON_DIGITS, checker.RELEASES, checker.COUNT)


@pytest.mark.seconds
def test_hints_cannot_make_the_checker_work_for_hours() -> None:
    """Its precision follows from the claim, whatever the hint says: 20 000 bits took more than three minutes."""
    document = plain(account(STEP**100, delta="1e-6"))
    for hint, value in (("precision", 19_999), ("precision", 10**8), ("frequencies", 99_999), ("spacing", 1e-9)):
        place = ("accounts", 0, "proofs", 0, "parameters")
        status, lines = checker.check(changed(document, place, **{hint: value}))
        assert status in (checker.CONFIRMED, checker.WRONG)
        assert not any(line.startswith("REFUTED") for line in lines)  # the claim is true


@pytest.mark.seconds
def test_a_tiny_delta_is_left_to_the_other_checker() -> None:
    """Below 1e-120 the stand-alone checker took too few nodes and said that true claims do not hold."""
    document = plain(account(STEP**100, delta="1e-150"))
    assert checker.check(document)[0] == checker.NOT_COVERED
    assert check_certificate(document).holds


# --- what is told -----------------------------------------------------------------------------------------------------


def test_the_verdict_comes_first_then_what_it_is_about(made: dict[str, dict[str, Any]]) -> None:
    document = made["full batch"]
    status, lines = checker.check(document)
    assert status == checker.CONFIRMED
    for text in (lines, str(check_certificate(document)).splitlines()):
        assert text[0].lower() == "the certificate holds"
        together = "\n".join(text)
        order = [
            together.index("claim: epsilon in ["),
            together.index(
                "relation: add-or-remove-one: two datasets are neighbours when one is the other plus one record"
            ),
            together.index(
                "3 x Gaussian noise, standard deviation 4.5 per unit of the per-record bound, on the full data"
            ),
            together.index(document["accounts"][0]["digest"]),
            *(together.index(sentence) for sentence in checker.ASSUMPTIONS),
            together.index("delta("),
        ]
        assert order == sorted(order)
        assert "not decided" not in together
    false = changed(document, ("accounts", 0, "claim"), lower="0", upper="1/1000")
    assert checker.check(false)[1][0] == "THE CERTIFICATE DOES NOT HOLD"
    assert str(check_certificate(false)).splitlines()[0] == "the certificate does NOT hold"


@pytest.mark.seconds
def test_where_one_order_is_enough_the_other_is_not_called_undecided() -> None:
    document = plain(account(STEP**500, delta="1e-6"))
    status, lines = checker.check(document)
    assert status == checker.CONFIRMED
    (words,) = (line for line in lines if "mechanism: " in line)
    assert words.endswith("standard deviation 1 per unit of the per-record bound, on Poisson samples at rate 0.01")
    assert any("not needed of this order" in line for line in lines)
    assert not any("not decided" in line or "neither" in line for line in lines)


def test_help_and_misuse_of_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for option in ("--help", "-h"):
        assert checker.main([option]) == 0
        assert "Usage:" in capsys.readouterr().out
    for arguments in ([], ["a", "b"], ["--json"], [str(tmp_path)], [str(tmp_path / "none")], ["a\0b"]):
        assert checker.main(arguments) == checker.MALFORMED
        assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "mechanism", [FULL, pytest.param(STEP**500 @ Gaussian(9), marks=pytest.mark.seconds)], ids=repr
)
def test_one_digest_ties_statement_ledger_and_certificate(mechanism: Mechanism, tmp_path: Path, capsys: Any) -> None:
    spent = account(mechanism, delta="1e-6")
    mark = digest(mechanism)
    document: Any = certificate(spent)
    assert document["accounts"][0]["digest"] == checker.digest(document["accounts"][0]["mechanism"]) == mark
    assert mark in statement(spent)
    assert json.loads(write_releases(mechanism))["digest"] == mark
    paper, ledger, other = tmp_path / "certificate.json", tmp_path / "ledger.json", tmp_path / "other.json"
    write_certificate(paper, spent)
    ledger.write_text(write_releases(mechanism))
    other.write_text(write_releases(mechanism @ Gaussian(100)))
    assert main(["check", str(paper), "--ledger", str(ledger), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is True
    assert told["ledger"] == {"file": str(ledger), "digest": mark, "matches": True}
    assert told["claims"][0]["digest"] == mark
    assert told["claims"][0]["relation"] == "add-or-remove-one"
    assert told["assumptions"] == list(checker.ASSUMPTIONS)
    assert main(["check", str(paper), "--ledger", str(other)]) == 1
    assert capsys.readouterr().out.startswith("the certificate is about other releases than the ledger")
