"""Statements fit to publish, certificates that can be re-checked, and what tampering with them comes to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb

import dpbounds
from dpbounds.errors import CertificateError
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.budgets.calibration import Calibration, calibrate
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
from dpbounds.privacy.publishing import standalone_checker
from dpbounds.privacy.publishing.certificates import (
    CheckReport,
    certificate,
    check_certificate,
    exact_text,
    write_certificate,
)
from dpbounds.privacy.publishing.certificates.claims import Claim
from dpbounds.privacy.publishing.certificates.other_routes import at_the_ends
from dpbounds.privacy.publishing.standalone_checker import rational
from dpbounds.privacy.publishing.statements import statement
from dpbounds.privacy.relations import Relation
from tests.privacy.products import products_of
from tests.privacy.publishing.certified import plain

TRAINING = PoissonSampled(Gaussian(1), "0.01") ** 2_000


@pytest.fixture(scope="module")
def spent() -> Account:
    return account(TRAINING, delta="1e-6")


@pytest.fixture(scope="module")
def full_batch() -> Account:
    return account(Gaussian("4.5") ** 10, delta="1e-6", relation="replace-one")


@pytest.fixture(scope="module")
def calibrated() -> Calibration:
    return calibrate(lambda z: Gaussian(z) ** 100, "1.5", "1e-6")


# --- the statement -------------------------------------------------------------------------------------------------


def test_a_statement_says_everything_it_must(spent: Account) -> None:
    text = statement(spent, noise_drawn="discrete Gaussian noise of a secure sampler", outside=("the learning rate",))
    assert "\n" not in text
    for phrase in (
        "add-or-remove-one",
        "neighbours",
        "delta = 1e-06",
        "2000 steps",
        "Poisson sampl",
        "0.01",
        "noise multiplier 1 ",
        "Protected:",
        "Not protected:",
        "the learning rate",
        "The noise drawn was: discrete Gaussian noise of a secure sampler",
        "method: contour",
        f"dpbounds {dpbounds.__version__}",
        "python-flint",
    ):
        assert phrase in text, phrase


def test_other_relation_other_words(full_batch: Account) -> None:
    text = statement(full_batch)
    assert "replace-one" in text
    assert "replaced by another" in text
    assert "assumes no sampling" in text
    assert "ideal Gaussian" in text


def printed(text: str, name: str) -> Fraction:
    found = re.search(rf"{name} = ([0-9.e-]+?)[,.] ", text)
    assert found is not None, text
    return Fraction(found[1])


def test_the_epsilon_printed_is_never_below_the_proven_end(
    spent: Account, full_batch: Account, calibrated: Calibration
) -> None:
    for subject, proven in (
        (spent, spent.enclosure),
        (full_batch, full_batch.enclosure),
        (calibrated, calibrated.epsilon),
    ):
        shown = printed(statement(subject), "epsilon")
        assert proven.exact_upper <= shown <= proven.exact_upper * (1 + Fraction(1, 10**5))


def test_a_hair_above_a_round_number_is_rounded_up(full_batch: Account) -> None:
    upper = Fraction(1, 2) + Fraction(1, 10**30)
    subject = Account(
        full_batch.mechanism, full_batch.relation, "delta", Fraction(1, 3), Enclosure(Fraction(1, 2), upper), ()
    )
    text = statement(subject)
    assert "epsilon = 0.500001," in text
    assert printed(text, "delta") >= Fraction(1, 3)


def test_delta_is_the_value_where_epsilon_was_given() -> None:
    subject = account(Gaussian(5), epsilon=1)
    text = statement(subject)
    assert "epsilon = 1," in text
    assert printed(text, "delta") >= subject.enclosure.exact_upper


def test_nothing_can_be_stated_without_a_finite_end(full_batch: Account) -> None:
    endless = Account(
        full_batch.mechanism, full_batch.relation, "delta", Fraction(1, 3), Enclosure(Fraction(1), float("inf")), ()
    )
    for use in (statement, certificate):
        with pytest.raises(CertificateError, match="infinity"):
            use(endless)


# --- writing -------------------------------------------------------------------------------------------------------


def test_numbers_are_exact_and_compact() -> None:
    document = plain(account(PoissonSampled(Gaussian("0.7"), "0.1"), delta="1e-400"))
    release = document["accounts"][0]["mechanism"][0]
    assert (release["noise_multiplier"], release["sample_rate"]) == ("7/10", "1/10")
    assert document["accounts"][0]["claim"]["target"] == "1*2**-400*5**-400"
    double = plain(account(Gaussian(0.1), delta="1e-5"))["accounts"][0]["mechanism"][0]["noise_multiplier"]
    assert Fraction(double) == Fraction(0.1)


@pytest.mark.parametrize(
    "value",
    [
        Fraction(0),
        Fraction(5),
        Fraction(1, 3),
        Fraction(10**50, 3),
        Fraction(3, 7 * 10**400),
        Fraction(2**2000 + 1, 5**90),
    ],
)
def test_exact_text_round_trips(value: Fraction) -> None:
    assert rational(exact_text(value)) == value


def test_the_same_subject_gives_the_same_file(tmp_path: Path, spent: Account, calibrated: Calibration) -> None:
    for subject in (spent, calibrated):
        first, second = tmp_path / "first.json", tmp_path / "second.json"
        write_certificate(first, subject)
        write_certificate(second, subject)
        assert first.read_bytes() == second.read_bytes()
        assert json.loads(first.read_text(encoding="utf-8")) == plain(subject)


def test_the_document_holds_what_the_format_promises(spent: Account) -> None:
    document = plain(spent)
    assert (document["format"], document["version"]) == ("dpbounds privacy certificate", 3)
    assert set(document) == {"format", "version", "calibration", "accounts", "assumptions", "versions"}
    (entry,) = document["accounts"]
    assert rational(entry["claim"]["upper"]) == spent.enclosure.exact_upper
    assert [proof["order"] for proof in entry["proofs"]] == ["remove", "add"]
    assert [proof["route"] for proof in entry["proofs"]] == ["contour", "dominated"]
    assert set(entry["proofs"][0]["error_budget"]) >= {"frequency tail", "aliases", "cut-off"}
    assert {"dpbounds", "python-flint", "FLINT", "Python"} == set(document["versions"])
    assert "secure source" in " ".join(document["assumptions"])
    readme = Path(standalone_checker.__file__).with_name("certificate_format.md").read_text(encoding="utf-8")
    for name in {*document, *entry, *entry["claim"], *entry["mechanism"][0], *entry["proofs"][0]}:
        assert f"`{name}`" in readme, name


@pytest.mark.parametrize("ways", [1, 2, 7, 50])
def test_a_number_that_was_proven_in_many_ways_has_a_certificate(spent: Account, ways: int) -> None:
    method = " and ".join(f"a way of some length, no {way}" for way in range(ways))
    proofs = tuple(
        (name, replace(proof, enclosure=replace(proof.enclosure, method=method))) for name, proof in spent.proofs
    )
    told = certificate(replace(spent, proofs=proofs))
    standalone_checker.well_formed(json.loads(json.dumps(told)))
    label = told["accounts"][0]["proofs"][0]["method"]
    assert label.startswith("a way of some length, no 0")
    assert label.endswith("and more" if ways > 2 else f"no {ways - 1}")


def test_a_value_that_does_not_stand_in_the_mechanism_is_not_certified() -> None:
    doubled = calibrate(lambda z: Gaussian(2 * z) ** 100, "1.5", "1e-6")
    with pytest.raises(CertificateError, match="differ by the value"):
        certificate(doubled)


# --- checking ------------------------------------------------------------------------------------------------------


@pytest.mark.seconds
def test_a_final_distance_on_a_sample_under_replace_one_is_not_written() -> None:
    """The checker refuses it, too: its pairs are for vectors that are bounded one by one."""
    near = PoissonSampled(Gaussian(noise_stddev=4, sensitivity=2), "0.1")
    with pytest.raises(CertificateError, match="give noise_multiplier"):
        certificate(account(near, delta="1e-5", relation="replace-one"))
    assert check_certificate(plain(account(near, delta="1e-5"))).holds


@pytest.mark.seconds
def test_round_trip_of_accounts(tmp_path: Path, spent: Account, full_batch: Account) -> None:
    for subject in (spent, full_batch):
        path = tmp_path / "certificate.json"
        write_certificate(path, subject)
        report = check_certificate(path)
        assert isinstance(report, CheckReport)
        assert report.holds, str(report)
        assert any("relative width" in line for line in report.lines)
        again = json.loads(path.read_text(encoding="utf-8"))
        shuffled = json.dumps(again, sort_keys=True, separators=(",", ":"))
        assert check_certificate(json.loads(shuffled)).holds


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_contour_certificate_is_held_against_the_lattice_and_evaluated_exactly(spent: Account) -> None:
    report = check_certificate(plain(spent))
    assert any("lattice route" in line for line in report.lines)
    assert any("exact evaluation: confirmed" in line for line in report.lines)


@pytest.mark.seconds
def test_a_lattice_certificate_is_held_against_the_contour() -> None:
    subject = account(PoissonSampled(Gaussian(1), "0.01") ** 100, delta="1e-5", route="lattice")
    report = check_certificate(plain(subject))
    assert report.holds, str(report)
    assert any("contour route" in line and "within the claim" in line for line in report.lines)
    document = plain(subject)
    claim = document["accounts"][0]["claim"]
    claim["upper"] = exact_text(rational(claim["lower"]) * Fraction(100_001, 100_000))
    assert not check_certificate(document).holds


@pytest.mark.parametrize("solve", ["noise", "steps", pytest.param("sample-rate", marks=pytest.mark.seconds)])
def test_round_trip_of_calibrations(solve: Any) -> None:
    factory: dict[str, Callable[[Fraction], Any]] = {
        "noise": lambda z: Gaussian(z) ** 100,
        "steps": lambda count: Gaussian(20) ** int(count),
        "sample-rate": lambda rate: PoissonSampled(Gaussian(1), rate),
    }
    document = plain(calibrate(factory[solve], "1.5", "1e-6", solve=solve))
    assert document["calibration"]["solve"] == solve
    report = check_certificate(document)
    assert report.holds, str(report)


def moved(text: str, factor: Fraction) -> str:
    return exact_text(rational(text) * factor)


UP, DOWN = 1 + Fraction(1, 10**9), 1 - Fraction(1, 10**9)
TAMPERINGS: dict[str, Callable[[dict[str, Any]], None]] = {
    "epsilon, too small": lambda entry: entry["claim"].update(lower="0", upper=moved(entry["claim"]["upper"], DOWN)),
    "epsilon, too large": lambda entry: entry["claim"].update(
        lower=moved(entry["claim"]["upper"], UP), upper=moved(entry["claim"]["upper"], 1 + Fraction(1, 10**8))
    ),
    "delta, smaller": lambda entry: entry["claim"].update(target=moved(entry["claim"]["target"], DOWN)),
    "delta, larger": lambda entry: entry["claim"].update(target=moved(entry["claim"]["target"], UP)),
    "noise, less": lambda entry: entry["mechanism"][0].update(
        noise_multiplier=moved(entry["mechanism"][0]["noise_multiplier"], DOWN)
    ),
    "noise, more": lambda entry: entry["mechanism"][0].update(
        noise_multiplier=moved(entry["mechanism"][0]["noise_multiplier"], UP)
    ),
    "count": lambda entry: entry["mechanism"][0].update(count=entry["mechanism"][0]["count"] + 1),
    "another release": lambda entry: entry["mechanism"].append({**entry["mechanism"][0], "count": 1}),
    "relation": lambda entry: entry["claim"].update(
        relation="add-or-remove-one" if entry["claim"]["relation"] == "replace-one" else "replace-one"
    ),
    "role of the target": lambda entry: entry["claim"].update(given="epsilon"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_with_a_full_batch_certificate_is_caught(full_batch: Account, name: str) -> None:
    document = plain(full_batch)
    assert check_certificate(document).holds
    TAMPERINGS[name](document["accounts"][0])
    report = check_certificate(document)
    assert not report.holds, str(report)
    assert any("REFUTED" in line or "CONTRADICTED" in line for line in report.lines)


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["epsilon, too small", "noise, less", "count", "relation", "sample rate"])
def test_tampering_with_a_contour_certificate_is_caught(spent: Account, name: str) -> None:
    document = plain(spent)
    entry = document["accounts"][0]
    if name == "sample rate":
        entry["mechanism"][0]["sample_rate"] = moved(entry["mechanism"][0]["sample_rate"], UP)
    else:
        TAMPERINGS[name](entry)
    if name == "sample rate" or name.startswith("noise"):  # an attacker who also keeps the hints in step
        part = entry["proofs"][0]["parameters"]["parts"][0]
        part["sample_rate"] = entry["mechanism"][0]["sample_rate"]
        part["variance"] = exact_text(rational(entry["mechanism"][0]["noise_multiplier"]) ** 2)
    report = check_certificate(document)
    assert not report.holds, str(report)


@pytest.mark.parametrize("field", ["value", "fails_at", "target_epsilon", "target_delta"])
def test_tampering_with_a_calibration_is_caught(calibrated: Calibration, field: str) -> None:
    document = plain(calibrated)
    assert check_certificate(document).holds
    document["calibration"][field] = moved(document["calibration"][field], 1 - Fraction(1, 10**6))
    assert not check_certificate(document).holds


def test_a_weaker_claim_still_holds(full_batch: Account) -> None:
    document = plain(full_batch)
    document["accounts"][0]["claim"].update(lower="0", upper="10")
    assert check_certificate(document).holds
    assert full_batch.relation is Relation.REPLACE_ONE


@pytest.mark.parametrize("given", ["delta", "epsilon"])
def test_a_claim_is_confirmed_at_its_ends_and_not_beside_them(given: str) -> None:
    """δ(ε) decides: at the upper end it keeps δ, at the lower end it does not; an end on the wrong side is seen."""
    mechanism, relation = Gaussian(3), Relation.REPLACE_ONE
    target = Fraction(1, 10**5) if given == "delta" else Fraction(1)
    ends = account(mechanism, relation=relation, **{given: target}).enclosure  # type: ignore[arg-type]
    below, above = Fraction(ends.exact_lower) * Fraction(999, 1000), Fraction(ends.exact_upper) * Fraction(1001, 1000)
    products = products_of(mechanism, relation)

    def confirmed(lower: Fraction, upper: Fraction) -> bool:
        return at_the_ends(Claim(mechanism, relation, given, target, lower, upper, {}, {}), products)[0]

    assert confirmed(below, above)
    assert confirmed(Fraction(0), above)
    assert not confirmed(above, above)
    assert not confirmed(below, below)


def test_a_calibration_is_judged_by_the_upper_end_of_what_it_spends() -> None:
    document: dict[str, Any] = certificate(calibrate(Gaussian, 1, "1e-5"))
    claims = [standalone_checker.read_claim(each) for each in document["accounts"]]
    assert standalone_checker.check_calibration(document["calibration"], document["accounts"], claims) == []
    claims[0]["upper"] = Fraction(1) + Fraction(1, 10**12)
    assert claims[0]["lower"] <= 1
    found = standalone_checker.check_calibration(document["calibration"], document["accounts"], claims)
    assert found == ["the value spends more than the target epsilon"]


def test_an_enclosure_around_the_target_decides_nothing() -> None:
    target = Fraction(1, 10**5)

    def answer(lower: str, upper: str) -> tuple[bool | None, bool | None]:
        point = (Fraction(1), target)
        return standalone_checker.decide(lambda _: (arb(lower), arb(upper)), point, point)

    assert answer("1e-6", "1e-4") == (None, None)
    assert answer("1e-7", "1e-6") == (True, False)
    assert answer("1e-4", "1e-3") == (False, True)
