"""The checker that ships beside certificates: alone, right, and not to be fooled."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import pytest
from flint import arb, ctx

from dpbounds.privacy.accountants import routing
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.mechanisms import (
    Composed,
    Gaussian,
    Mechanism,
    PoissonSampled,
)
from dpbounds.privacy.publishing import standalone_checker as checker
from dpbounds.privacy.publishing.certificates import exact_text
from dpbounds.privacy.relations import Relation
from tests.privacy.publishing.certified import plain

ADD_OR_REMOVE, REPLACE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
BILLIONTH = Fraction(1, 10**9)


def sampled(rate: str, noise: str) -> PoissonSampled:
    return PoissonSampled(Gaussian(noise), rate)


MIXED = Gaussian("8") ** 3 @ sampled("0.01", "1") ** 500 @ sampled("0.05", "2") ** 50
CASES = {
    "full batch": (Gaussian(5) ** 7, "1e-5"),
    "full batch, final distance": (Gaussian(noise_stddev="1.5", sensitivity="0.25"), "1e-9"),
    "one sampled release": (sampled("0.01", "1"), "1e-6"),
    "plain contour": (sampled("0.01", "1") ** 10_000, "1e-6"),
    "turned contour": (sampled("0.5", "3") ** 5, "1e-6"),
    "peeled contour": (sampled("0.3", "1") ** 2, "1e-5"),
    "several kinds": (MIXED, "1e-6"),
}


QUESTIONS = [
    (name, relation)
    for name in CASES
    for relation in (ADD_OR_REMOVE, REPLACE)
    if (name, relation) not in {("peeled contour", REPLACE), ("several kinds", ADD_OR_REMOVE)}  # dear, nothing new
]


@pytest.fixture(scope="module")
def accounts() -> dict[tuple[str, Relation], Account]:
    return {
        (name, relation): account(CASES[name][0], delta=CASES[name][1], relation=relation)
        for name, relation in QUESTIONS
    }


@pytest.mark.one_in(4)
def test_the_cases_take_the_ways_they_are_named_after(accounts: dict[tuple[str, Relation], Account]) -> None:
    def first(name: str, relation: Relation = ADD_OR_REMOVE) -> tuple[str, Any]:
        proof = accounts[name, relation].proofs[0][1]
        return proof.route, proof.parameters

    assert first("full batch")[0] == first("one sampled release")[0] == "closed form"
    plain_part, turned, peeled = (
        first(name)[1]["parts"][0] for name in ("plain contour", "turned contour", "peeled contour")
    )
    assert plain_part["turn"] is None
    assert turned["turn"] is not None
    assert turned["bulk"] is None
    assert peeled["bulk"] is not None
    assert len(first("several kinds", REPLACE)[1]["parts"]) == 2
    assert first("several kinds", REPLACE)[1]["squared_shift"] != "0"


@pytest.mark.seconds_cases("*contour*", "several*")
@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "relation"), QUESTIONS)
def test_confirms_true_claims_and_refutes_them_moved_by_a_billionth(
    accounts: dict[tuple[str, Relation], Account], name: str, relation: Relation
) -> None:
    document = plain(accounts[name, relation])
    status, lines = checker.check(document)
    assert status == checker.CONFIRMED, lines
    claim = document["accounts"][0]["claim"]
    lower, upper = checker.rational(claim["lower"]), checker.rational(claim["upper"])
    claim["lower"], claim["upper"] = "0", exact_text(lower * (1 - BILLIONTH))  # too small an upper end
    status, lines = checker.check(document)
    assert status == checker.WRONG
    assert lines[0] == "THE CERTIFICATE DOES NOT HOLD"
    assert lines[1].startswith("REFUTED"), lines
    claim["lower"], claim["upper"] = exact_text(upper * (1 + BILLIONTH)), exact_text(upper * 2)  # too large a lower end
    assert checker.check(document)[0] == checker.WRONG


@pytest.mark.seconds
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("mechanism", [sampled("0.02", "1"), sampled("0.01", "1") ** 300], ids=["one", "many"])
def test_confirms_a_claim_about_delta(mechanism: Mechanism, relation: Relation) -> None:
    document = plain(account(mechanism, epsilon="0.6", relation=relation))
    status, lines = checker.check(document)
    assert status == checker.CONFIRMED, lines
    claim = document["accounts"][0]["claim"]
    claim["upper"] = exact_text(checker.rational(claim["lower"]) * (1 - BILLIONTH))
    claim["lower"] = "0"
    assert checker.check(document)[0] == checker.WRONG


@pytest.mark.seconds
def test_confirms_zero_where_no_noise_is_needed() -> None:
    document = plain(account(sampled("0.01", "2") ** 500, delta="0.5"))
    assert document["accounts"][0]["claim"]["upper"] == "0"
    assert checker.check(document)[0] == checker.CONFIRMED


@pytest.mark.seconds
def test_calibrations_and_what_is_wrong_with_them() -> None:
    document = plain(calibrate(lambda z: PoissonSampled(Gaussian(z), "0.01") ** 500, 1, "1e-5"))
    assert checker.check(document)[0] == checker.CONFIRMED
    accounts: list[Any] = document["accounts"]
    claims = [checker.read_claim(entry) for entry in accounts]
    assert checker.check_calibration(document["calibration"], accounts, claims) == []
    for name, text in (("value", "1"), ("fails_at", "1/2"), ("target_epsilon", "9/10"), ("target_delta", "1/1000")):
        wrong = {**document["calibration"], name: text}
        assert checker.check_calibration(wrong, accounts, claims), name
    assert checker.check_calibration(document["calibration"], accounts[::-1], claims[::-1])
    document["calibration"]["target_epsilon"] = "9/10"
    status, lines = checker.check(document)
    assert status == checker.WRONG
    assert any(line.startswith("REFUTED") for line in lines)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tilt", 0.5),
        pytest.param("spacing", 3.0, marks=pytest.mark.minutes),
        ("spacing", -1.0),
        ("frequencies", 1),
        ("aliases", [1.0, 0.0]),
        ("precision", 1),
    ],
)
def test_bad_hints_never_make_it_confirm_what_is_false(
    accounts: dict[tuple[str, Relation], Account], name: str, value: object
) -> None:
    document = plain(accounts["plain contour", REPLACE])
    document["accounts"][0]["proofs"][0]["parameters"][name] = value
    claim = document["accounts"][0]["claim"]
    status, lines = checker.check(document)
    assert status in (checker.CONFIRMED, checker.WRONG)
    assert not any(line.startswith("REFUTED") for line in lines)  # the claim is true
    claim["upper"] = exact_text(checker.rational(claim["lower"]) * Fraction(999, 1000))
    claim["lower"] = "0"
    assert checker.check(document)[0] == checker.WRONG


@pytest.mark.minutes
def test_bad_hints_about_the_parts(accounts: dict[tuple[str, Relation], Account]) -> None:
    for name, value in (("edge", 1.0), ("softness", -1.0), ("softness", 9.0), ("turn", 50.0), ("turn", 0.2)):
        document = plain(accounts["turned contour", REPLACE])
        document["accounts"][0]["proofs"][0]["parameters"]["parts"][0][name] = value
        _, lines = checker.check(document)
        assert not any(line.startswith("REFUTED") for line in lines), (name, value)  # the claim is true
        claim = document["accounts"][0]["claim"]
        claim["upper"], claim["lower"] = exact_text(checker.rational(claim["lower"]) * Fraction(999, 1000)), "0"
        assert checker.check(document)[0] == checker.WRONG, (name, value)


@pytest.mark.seconds
def test_moments_agree_with_plain_quadrature() -> None:
    """M(s) of each order against flint's own rigorous integration, with and without χ and ψ."""
    with ctx.workprec(128):
        for order in ("remove", "add", "replace"):
            law = checker.Law(order, Fraction(1, 20), Fraction(4), 1, (-11.0, 12.0))
            law.cut, law.bulk = (arb(8), arb(1)), (arb(3), arb("0.4"))
            for of in ("all", "bulk"):
                values = checker.moments(law, arb(6), arb("0.7"), 9, 100, of)
                for k in (0, 4, 9):
                    s = flint.acb(6, arb("0.7") * k)

                    def integrand(t: flint.acb, _: bool, s: flint.acb = s, law: Any = law, of: str = of) -> flint.acb:
                        bias, loss = law.exponents(t)
                        value = (-t * t / 2 + bias + s * loss).exp() / (2 * arb.pi()).sqrt()
                        for distance, softness in law.soft_edges(t, t, of):
                            value = value * (distance / softness).erfc() / 2
                        return flint.acb(value)

                    exact = flint.acb.integral(integrand, -11, 12)
                    assert values[k].overlaps(exact)
                    assert abs(values[k] - exact) < arb(2) ** -80


@pytest.mark.seconds
def test_bounds_beyond_the_last_frequency_hold() -> None:
    """The rectangles and the turned line against |M| itself."""
    with ctx.workprec(128):
        for order in ("remove", "add", "replace"):
            law = checker.Law(order, Fraction(1, 5), Fraction(1), 1, (-12.0, 13.0))
            tilt, spacing = arb(3), arb("0.5")
            values = [abs(value) for value in checker.moments(law, tilt, spacing, 30, 100)]
            mass, bases = values[0], checker.rectangles(law, tilt)
            line = checker.turned_line(law, tilt, arb("0.9"))
            held = sum((height * base for height, base in bases), arb(0))
            assert arb("0.9") * mass < held
            assert held < mass
            for k in range(1, 31):
                w = spacing * k
                flat = mass - sum((h * base * (1 - checker.sinc_bound(w * base / 2)) for h, base in bases), arb(0))
                turned = sum((size * (-w * angle).exp() for size, angle in line), arb(0))
                assert values[k] <= flat
                assert values[k] <= turned


def test_what_it_does_not_cover_is_said(accounts: dict[tuple[str, Relation], Account]) -> None:
    document = plain(accounts["plain contour", REPLACE])
    document["accounts"][0]["claim"]["target"] = "1*2**-400*5**-400"
    status, lines = checker.check(document)
    assert status == checker.NOT_COVERED
    assert lines[0].startswith("NEITHER CONFIRMED NOR REFUTED"), lines


@pytest.mark.seconds
@pytest.mark.parametrize("relation", list(Relation))
def test_of_a_lattice_certificate_the_upper_end_is_confirmed(relation: Relation) -> None:
    mechanism = sampled("0.02", "1") ** 40
    document = plain(account(mechanism, delta="1e-5", relation=relation, route="lattice"))
    status, lines = checker.check(document)
    assert status == checker.NOT_COVERED
    assert lines[1].startswith("the upper bound is confirmed"), lines
    exact = account(mechanism, delta="1e-5", relation=relation, route="contour").enclosure
    claim = document["accounts"][0]["claim"]
    claim["lower"], claim["upper"] = "0", exact_text(Fraction(exact.exact_upper) * (1 + Fraction(1, 2000)))
    assert checker.check(document)[0] == checker.CONFIRMED  # true, and nothing is left uncovered
    claim["upper"] = exact_text(Fraction(exact.exact_lower) * (1 - BILLIONTH))
    assert checker.check(document)[0] == checker.WRONG


def test_connected_dots_lie_above_the_curve_and_are_a_law() -> None:
    with ctx.workprec(400):
        for order in ("remove", "add", "replace"):
            curve = checker.closed_form(order, Fraction(0), Counter({(Fraction(1, 10), Fraction(1)): 1}))
            spacing = Fraction(1, 20)
            profile = checker.sampled_profile(order, Fraction(1, 10), Fraction(1))
            atoms, start, lost = checker.step_atoms(profile, spacing, arb(2) ** -60, 120)
            masses = [arb(mass) * arb(2) ** -120 for mass in atoms.coeffs()]
            total = sum(masses, arb(lost) * arb(2) ** -120)
            assert abs(total - 1) < arb(2) ** -100
            for epsilon in (Fraction(-3, 70), Fraction(1, 70), Fraction(11, 70), Fraction(1)):
                above = arb(lost) * arb(2) ** -120
                for j, mass in enumerate(masses, start):
                    if j * spacing > epsilon:
                        above -= mass * checker.number(epsilon - j * spacing).expm1()
                value = curve(epsilon)[0]
                assert value <= above + arb(2) ** -100
                assert above < value * 2 + arb(2) ** -100


# --- what it costs: counted, and refused where it is too much -------------------------------------------------------

LEVELS = Composed(tuple((sampled("0.01", f"{100 + level}/100"), 100) for level in range(100)))
TYPICAL = {
    "full batch": (Gaussian(5) ** 7, checker.CONFIRMED),
    "sampled": (sampled("0.01", "1") ** 10_000, checker.CONFIRMED),
    "small": (sampled("0.5", "3") ** 5, checker.CONFIRMED),
    "levels in groups": (LEVELS, checker.NOT_COVERED),
    "rare jumps": (sampled("0.001", "0.3") ** 10, checker.CONFIRMED),
    "rarer jumps": (sampled("0.00001", "0.2") ** 1000, checker.CONFIRMED),
    "levels": (LEVELS, checker.CONFIRMED),
}


@pytest.mark.seconds_cases("sampled", "small", "levels in groups", "rare*", "levels")
@pytest.mark.parametrize("name", TYPICAL)
@pytest.mark.minutes_cases("levels", "rarer jumps")
def test_typical_certificates_are_cheap_or_refused_with_a_reason(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, expected = TYPICAL[name]
    if name == "levels in groups":  # as the accountant does where all levels would take it too long
        for limit in ("_MANY", "_FEWEST_GROUPS", "_EXACT_WORK", "_GROUPED_WORK"):
            monkeypatch.setattr(routing, limit, 4)
    status, lines = checker.check(plain(account(mechanism, delta="1e-6", relation=REPLACE)))
    assert status == expected, lines
    assert checker.effort.done < checker.MOST_WORK / (4 if name in ("rare jumps", "rarer jumps", "levels") else 30)
    assert status == checker.CONFIRMED or lines[0].endswith(checker.TOO_MUCH)


def costly() -> dict[str, tuple[Any, str]]:
    """Certificates that would take hours or gigabytes, and what is said."""
    lattice = plain(account(sampled("0.5", "1") ** 3, delta="1e-5"))
    lattice["accounts"][0]["mechanism"][0]["count"] = 10**6
    contour = plain(account(sampled("0.5", "3") ** 5, delta="1e-6"))
    full = plain(account(Gaussian(5) ** 7, delta="1e-5"))
    release = full["accounts"][0]["mechanism"][0]
    full["accounts"][0]["mechanism"] = [{**release, "noise_multiplier": f"{10**1900 + k}/7"} for k in range(20)]
    for proof in lattice["accounts"][0]["proofs"]:
        proof.update(route="lattice", parameters={"lattice step": 1e-3})
    for proof in contour["accounts"][0]["proofs"]:
        proof["parameters"] = {**contour["accounts"][0]["proofs"][0]["parameters"], "frequencies": 99_999}
    for document in (lattice, full):
        entry = document["accounts"][0]
        entry["digest"] = checker.digest(entry["mechanism"])
    return {"lattice": (lattice, checker.TOO_MUCH), "contour": (contour, checker.TOO_MUCH), "sum": (full, "bits")}


@pytest.mark.seconds
def test_what_would_take_hours_or_gigabytes_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MOST_WORK", 20_000)
    for document, reason in costly().values():
        status, lines = checker.check(document)
        assert status == checker.NOT_COVERED
        assert lines[0].startswith(checker.VERDICTS[checker.NOT_COVERED])
        assert lines[0].endswith(reason)


def test_whatever_keeps_many_numbers_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    law = checker.Law("remove", Fraction(1, 20), Fraction(4), 1, (-11.0, 12.0))
    profile = checker.sampled_profile("remove", Fraction(1, 10), Fraction(1))

    def atoms() -> checker.Atoms:
        return checker.step_atoms(profile, Fraction(1, 20), arb(2) ** -30, 60)

    step = atoms()
    monkeypatch.setattr(checker.effort, "done", 0.0)
    monkeypatch.setattr(checker, "MOST_BALLS", 10)
    for act in (atoms, lambda: checker.product(step, step, 0, 60), lambda: checker.moments(law, arb(6), arb(1), 9, 60)):
        with pytest.raises(checker.NotCovered, match="work of hours or gigabytes"):
            act()


# --- as a script of its own ------------------------------------------------------------------------------------------


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the file without site packages but flint, and report what it imported."""
    code = (
        "import sys, runpy; sys.path.insert(0, sys.argv[1]); sys.argv = sys.argv[2:]\n"
        "try:\n    runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "finally:\n"
        "    print(sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)), file=sys.stderr)\n"
    )
    home = str(Path(flint.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, home, str(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.seconds
def test_runs_alone_with_flint_and_nothing_else(tmp_path: Path, accounts: dict[tuple[str, Relation], Account]) -> None:
    script = tmp_path / "elsewhere.py"
    shutil.copy(checker.__file__, script)
    good, bad, broken = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "broken.json"
    document = plain(accounts["plain contour", REPLACE])
    good.write_text(json.dumps(document), encoding="utf-8")
    document["accounts"][0]["mechanism"][0]["count"] = 10_001
    bad.write_text(json.dumps(document), encoding="utf-8")
    broken.write_text("{", encoding="utf-8")
    for file, status in ((good, 0), (bad, 1), (broken, 2), (tmp_path / "missing.json", 2)):
        done = run(script, str(file))
        assert done.returncode == status, done.stderr + done.stdout
        imported = done.stderr.splitlines()[-1]
        assert "'flint'" in imported
        assert not any(name in imported for name in ("dpbounds", "numpy", "scipy", "mpmath", "sympy"))
    assert run(script).returncode == 2


@pytest.mark.parametrize(
    "name", ["full batch", "one sampled release", pytest.param("plain contour", marks=pytest.mark.seconds)]
)
def test_a_verdict_does_not_depend_on_the_precision_that_a_caller_has_set(name: str) -> None:
    mechanism, delta = CASES[name]
    document = plain(account(mechanism, delta=delta))
    said = checker.check(document)
    assert said[0] == checker.CONFIRMED
    for bits in (2, 3000):
        checker.gauss_legendre.cache_clear()
        with ctx.workprec(bits):
            assert checker.check(document) == said
            assert ctx.prec == bits
