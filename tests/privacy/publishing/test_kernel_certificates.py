"""Kernel certificates: their integers against sums over all paths, altered and hostile files, missing tools.

The checker itself is proven in Coq. ``proofs/kernel/build.py`` runs it on three real runs, the test at the end on one.
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import mpmath
import pytest
from flint import fmpz_poly

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.errors import CertificateError
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    PoissonSampled,
    RandomizedResponse,
    RandomlyAllocated,
)
from dpbounds.privacy.publishing.kernel import checking, program
from dpbounds.privacy.publishing.kernel.checking import check_kernel_certificate, contradictions
from dpbounds.privacy.publishing.kernel.composing import Kind, composed
from dpbounds.privacy.publishing.kernel.files import KernelCertificate, KernelClaim, read
from dpbounds.privacy.publishing.kernel.masses import exponential_below, kinds_of, lattices_for, parts_of
from dpbounds.privacy.publishing.kernel.writing import kernel_certificate, write_kernel_certificate
from dpbounds.privacy.relations import as_relation
from dpbounds.privacy.routes.allocation.discrete_pairs import Grid, dominating

RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "Gaussian": (Gaussian(2) ** 4, {"epsilon": "2"}),
    "Poisson samples": (PoissonSampled(Gaussian(1), "0.1") ** 20, {"delta": "1e-4"}),
    "replaced in Poisson samples": (
        PoissonSampled(Gaussian(1), "0.1") ** 5,
        {"epsilon": "1", "relation": "replace-one"},
    ),
    "two kinds of steps": (
        Gaussian(3) ** 2 @ RandomizedResponse("1/2") ** 3,
        {"epsilon": "1", "relation": "replace-one"},
    ),
    "discrete Gaussians": (DiscreteGaussian(noise_stddev=3, bound=1) ** 4, {"delta": "1e-3"}),
    "allocated steps": (RandomlyAllocated(Gaussian(1), 10) ** 2, {"epsilon": "1"}),
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.seconds if name == "allocated steps" else ()) for name in RUNS],
)
def made(request: pytest.FixtureRequest) -> tuple[Any, KernelCertificate]:
    mechanism, question = RUNS[request.param]
    found = account(mechanism, **question)
    return found, kernel_certificate(found)


def value(number: tuple[int, int]) -> Fraction:
    return Fraction(number[0], 1 << number[1])


def summed(claim: KernelClaim) -> mpmath.mpf:
    """δ of a claim's masses: powers of polynomials by FLINT, never rounded, and a sum at 60 digits."""
    composed_masses, ratio, infinite, steps = fmpz_poly([1]), Fraction(1), Fraction(0), 0
    for kind in claim.kinds:
        composed_masses *= fmpz_poly(list(kind.masses)) ** kind.count
        ratio, steps = ratio * value(kind.ratio) ** kind.count, steps + kind.count
        infinite += Fraction(kind.count * kind.infinite, 1 << claim.bits)
    masses = [int(mass) for mass in composed_masses.coeffs()]
    with mpmath.workdps(60):
        first = mpmath.mpf(value(claim.threshold).numerator) / value(claim.threshold).denominator
        first *= mpmath.mpf(ratio.numerator) / ratio.denominator
        factor = mpmath.mpf(value(claim.factor).numerator) / value(claim.factor).denominator
        terms = (mass * max(0, 1 - first * factor**level) for level, mass in enumerate(masses) if mass)
        return mpmath.fsum(terms) / mpmath.mpf(2) ** (claim.bits * steps) + mpmath.mpf(infinite.numerator) / (
            infinite.denominator
        )


def over_all_paths(bits: int, factor: tuple[int, int], threshold: tuple[int, int], kinds: tuple[Kind, ...]) -> Fraction:
    """δ: every path of levels by itself."""
    unit, z = Fraction(1, 1 << bits), value(factor)
    each = [
        [(mass * unit, value(kind.ratio) * z**level) for level, mass in enumerate(kind.masses)]
        for kind in kinds
        for _ in range(kind.count)
    ]
    delta = sum(kind.count * kind.infinite for kind in kinds) * unit
    for path in itertools.product(*each):
        ratio = math.prod((ratio for _, ratio in path), start=value(threshold))
        delta += math.prod((mass for mass, _ in path), start=Fraction(1)) * max(Fraction(0), 1 - ratio)
    return delta


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_a_sum_over_all_paths(seed: int) -> None:
    """Masses of 4 bits lose much by rounding; what is lost counts in full. With 60 bits nearly nothing is lost."""
    drawn = Random(seed)
    kinds = tuple(
        Kind(count, (drawn.randint(1, 8), 1), drawn.randint(0, 2), tuple(drawn.choice((0, 1, 2, 9)) for _ in range(3)))
        for count in (2, 3)
    )
    factor, threshold = (drawn.randint(1, 15), 4), (drawn.randint(1, 64), 3)
    delta = over_all_paths(4, factor, threshold, kinds)
    found = composed(4, factor, kinds)
    assert delta <= Fraction(found.bound(threshold), 1 << found.unit)
    finer = tuple(
        replace(kind, infinite=kind.infinite << 56, masses=tuple(mass << 56 for mass in kind.masses)) for kind in kinds
    )
    exact = composed(60, (factor[0] << 60, 64), finer)
    assert delta <= Fraction(exact.bound(threshold), 1 << exact.unit) <= delta + Fraction(1, 10**12)


def test_masses_are_those_of_a_distribution_rounded_up(made: tuple[Any, KernelCertificate]) -> None:
    _, certificate = made
    for claim in certificate.claims:
        for kind in claim.kinds:
            total = sum(kind.masses) + kind.infinite
            assert 1 << claim.bits <= total <= (1 << claim.bits) + len(kind.masses) + 1


@pytest.mark.seconds
def test_masses_of_allocated_steps_are_raised_by_their_factor() -> None:
    neighbours = neighbour_classes(RUNS["allocated steps"][0], as_relation("add-or-remove-one"))
    ((pair, _),) = next(iter(neighbours.every())).product
    grid = Grid(Fraction(1, 100), 1e-12)
    (part,) = parts_of(((pair, 2),), grid)
    assert part.count == 2
    assert part.factor == dominating(pair, grid).factor > 1
    on = lattices_for((part,), Fraction(1), 1.0)
    (kind,) = kinds_of((part,), on, 60)
    (twice,) = kinds_of((replace(part, factor=2 * part.factor),), on, 60)
    for once, doubled in zip((*kind.masses, kind.infinite), (*twice.masses, twice.infinite), strict=True):
        assert 2 * once - 2 <= doubled <= 2 * once


def test_the_claim_is_what_the_masses_prove(made: tuple[Any, KernelCertificate]) -> None:
    found, certificate = made
    for claim in certificate.claims:
        with mpmath.workdps(60):
            given = mpmath.mpf(claim.delta[0]) / mpmath.mpf(2) ** claim.delta[1]
            assert summed(claim) <= given
    about = certificate.about
    epsilon, delta = Fraction(about["epsilon"]), Fraction(about["delta"])
    if found.given == "epsilon":
        assert epsilon == found.target
        assert found.enclosure.exact_lower <= delta <= Fraction(101, 100) * found.enclosure.exact_upper
    else:
        assert delta == found.target
        assert found.enclosure.exact_lower <= epsilon <= Fraction(101, 100) * found.enclosure.exact_upper


def test_a_file_is_read_as_it_was_written(made: tuple[Any, KernelCertificate]) -> None:
    _, certificate = made
    again = read(certificate.text())
    assert again.claims == certificate.claims
    assert again.about == certificate.about
    assert contradictions(again) == []


def changed(certificate: KernelCertificate, number: int = 0, **fields: Any) -> KernelCertificate:
    claims = list(certificate.claims)
    claims[number] = replace(claims[number], **fields)
    return replace(certificate, claims=tuple(claims))


def with_kind(certificate: KernelCertificate, **fields: Any) -> KernelCertificate:
    first, *others = certificate.claims[0].kinds
    return changed(certificate, kinds=(replace(first, **fields), *others))


def test_integers_that_do_not_stand_for_the_run_are_found(made: tuple[Any, KernelCertificate]) -> None:
    _, certificate = made
    claim = certificate.claims[0]
    kind = claim.kinds[0]
    largest = max(range(len(kind.masses)), key=kind.masses.__getitem__)
    lower = tuple(mass - (level == largest) for level, mass in enumerate(kind.masses))
    altered = {
        "the threshold exceeds e^epsilon": changed(certificate, threshold=(claim.threshold[0] + 2, claim.threshold[1])),
        "the factor exceeds e^-spacing": changed(certificate, factor=(claim.factor[0] + 2, claim.factor[1])),
        "the delta of the claim exceeds that of the certificate": changed(
            certificate, delta=(claim.delta[0] * 2, claim.delta[1])
        ),
        f"the mass of level {largest} is too small": with_kind(certificate, masses=lower),
        "the ratio exceeds that at level 0": with_kind(certificate, ratio=(kind.ratio[0] + 2, kind.ratio[1])),
        "the claims must be about the classes": replace(certificate, claims=certificate.claims[::-1][:-1]),
        "kinds of steps, not": changed(certificate, kinds=(*claim.kinds, kind)),
    }
    if kind.infinite:
        altered["the mass at infinite loss is too small"] = with_kind(certificate, infinite=kind.infinite - 1)
    if kind.count > 1:
        altered[f"there are {kind.count} such steps"] = with_kind(certificate, count=kind.count - 1)
    for fault, other in altered.items():
        assert any(fault in each for each in contradictions(other)), fault


def test_larger_masses_and_more_steps_are_no_contradiction(made: tuple[Any, KernelCertificate]) -> None:
    """They prove less, and are left to the checker."""
    _, certificate = made
    kind = certificate.claims[0].kinds[0]
    more = tuple(mass + 1 for mass in kind.masses)
    other = with_kind(certificate, masses=(*more, 5), infinite=kind.infinite + 1, count=kind.count + 1)
    assert contradictions(other) == []


def test_words_that_claim_more_are_found(made: tuple[Any, KernelCertificate]) -> None:
    _, certificate = made

    def told(**words: Any) -> list[str]:
        return contradictions(replace(certificate, about={**certificate.about, **words}))

    epsilon, delta = (Fraction(certificate.about[name]) for name in ("epsilon", "delta"))
    assert any("threshold" in each for each in told(epsilon=str(epsilon * Fraction(99, 100))))
    assert any("delta" in each for each in told(delta=str(delta * Fraction(99, 100))))
    assert told(epsilon=str(epsilon * 2)) == told(delta=str(delta * 2)) == []
    releases = [{**each, "count": each["count"] + 1} for each in certificate.about["releases"]]
    found = told(releases=releases)
    assert "the digest is not that of the releases" in found
    assert any(
        "such steps" in each or "mass of level" in each for each in found
    )  # Gaussian steps are one, with less noise


@cache
def two_steps() -> KernelCertificate:
    return kernel_certificate(account(PoissonSampled(Gaussian(2), "1/2") ** 2, epsilon=1, relation="replace-one"))


@cache
def allocated() -> KernelCertificate:
    return kernel_certificate(account(RUNS["allocated steps"][0], epsilon=1))


def refused(certificate: KernelCertificate) -> list[str]:
    """Why a certificate is contradicted or malformed; empty if it is neither."""
    try:
        return contradictions(certificate)
    except CertificateError as error:
        return [str(error)]


HOSTILE: list[tuple[str, Any]] = [
    ("relation", "none"),
    ("relation", 3),
    ("releases", []),
    ("releases", [{"kind": "unknown"}]),
    ("epsilon", -1),
    ("epsilon", "1/0"),
    ("delta", "-1/3"),
    ("classes", {}),
    ("classes", [3]),
    ("classes", [{}]),
]


@pytest.mark.parametrize(("name", "word"), HOSTILE, ids=str)
def test_hostile_words_are_malformed_or_contradicted(name: str, word: Any) -> None:
    certificate = two_steps()
    about = json.loads(json.dumps(certificate.about))
    about[name] = word
    assert refused(replace(certificate, about=about))


LATTICE: list[tuple[str, Any]] = [
    ("spacing", "0"),
    ("spacing", "-1"),
    ("spacing", f"1/{10**30}"),
    ("spacing", str(10**30)),
    ("precision", 1),
    ("precision", 10**9),
    ("precision", "256"),
    ("offsets", []),
    ("offsets", ["1/0"]),
    ("offsets", [str(10**9)]),
    ("offsets", [str(-(10**9))]),
    ("marks", []),
    ("marks", [[]]),
    ("marks", [[3]]),
    ("marks", [[5, 3]]),
    ("marks", [[0, 0]]),
    ("marks", [[0, 2**50]]),
    ("marks", [[0, 2**39]]),
    ("marks", [[0, 1.5]]),
    ("marks", [[0, True]]),
    ("grid", 3),
]


@pytest.mark.parametrize(("name", "word"), LATTICE, ids=str)
def test_hostile_lattices_are_malformed_or_contradicted(name: str, word: Any) -> None:
    certificate = two_steps()
    about = json.loads(json.dumps(certificate.about))
    about["classes"][0][name] = word
    assert refused(replace(certificate, about=about))


GRID: list[tuple[str, Any]] = [
    ("spacing", "0"),
    ("spacing", f"1/{10**12}"),
    ("spacing", str(10**12)),
    ("negligible", str(10**400)),
    ("negligible", "2"),
    ("negligible", "-1"),
    ("least", str(10**400)),
    ("fineness", []),
    ("fineness", [1, 2]),
    ("fineness", [0, 0, 0]),
    ("fineness", [10**9] * 3),
    ("by_threshold", 7),
]


@pytest.mark.seconds
@pytest.mark.parametrize(("name", "word"), GRID, ids=str)
def test_hostile_grids_are_malformed_or_contradicted(name: str, word: Any) -> None:
    certificate = allocated()
    about = json.loads(json.dumps(certificate.about))
    for each in about["classes"]:
        each["grid"][name] = word
    assert refused(replace(certificate, about=about))


@pytest.mark.seconds
def test_allocated_steps_need_a_grid() -> None:
    certificate = allocated()
    about = json.loads(json.dumps(certificate.about))
    for each in about["classes"]:
        each["grid"] = None
    assert any("need a grid" in each for each in refused(replace(certificate, about=about)))


TEXTS = {
    "another first line": lambda text: text.replace("certificate 1", "certificate 2", 1),
    "no JSON": lambda text: text.replace('{"relation"', '"relation"', 1),
    "a list": lambda text: text.replace("{", "[{", 1).replace("\nclaims", "]\nclaims", 1),
    "no claims": lambda text: text.replace("claims 1", "claims 0", 1),
    "a claim too many": lambda text: text.replace("claims 1", "claims 2", 1),
    "a minus": lambda text: text.replace("delta ", "delta -", 1).replace('"delta -', '"delta ', 1),
    "no steps": lambda text: text.replace("\nkind 2", "\nkind 0", 1),
    "too many bits": lambda text: text.replace("\nbits ", "\nbits 999", 1),
    "other digits": lambda text: text.replace("\nkind 2", "\nkind ٢", 1),
    "words missing": lambda text: text[: len(text) // 2],
    "words after the end": lambda text: text + "end\n",
    "nothing": lambda _: "",
}


@pytest.mark.parametrize("change", TEXTS)
def test_texts_that_are_no_kernel_certificates(change: str) -> None:
    text = two_steps().text()
    other = TEXTS[change](text)
    assert other != text
    with pytest.raises(CertificateError, match="not a kernel certificate"):
        read(other)


def test_exponentials_are_bounded_from_below() -> None:
    with mpmath.workdps(80):
        for exponent in (Fraction(-50), Fraction(-1, 3), Fraction(0), Fraction(2), Fraction(400)):
            exact = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
            number, scale = exponential_below(exponent)
            found = mpmath.mpf(number) / mpmath.mpf(2) ** scale
            assert exact * (1 - mpmath.mpf(2) ** -100) <= found <= exact


@pytest.mark.seconds
def test_what_has_no_kernel_certificate() -> None:
    with pytest.raises(CertificateError, match="delta = 0"):
        kernel_certificate(account(RandomizedResponse(1), delta=0, relation="replace-one"))
    shuffled = account(dp.Shuffled(Gaussian(2), 100), epsilon=1, relation="replace-one")
    with pytest.raises(CertificateError, match="shuffled"):
        kernel_certificate(shuffled)


def test_without_tools_it_says_how_to_get_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.txt"
    write_kernel_certificate(file, account(Gaussian(2) ** 2, epsilon=1))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(program.MissingTools, match=r"apt-get install .* coq"):
        check_kernel_certificate(file)
    assert main(["check", "--kernel", str(file)]) == 2
    assert "coqc" in capsys.readouterr().err


def test_on_the_command_line(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program is replaced: what the command says of a verdict, with exit status 0 or 1."""
    file = tmp_path / "run.txt"
    words = ("--noise-multiplier", "2", "--steps", "2", "--epsilon", "1")
    assert main(["delta", *words, "--kernel-certificate", str(file)]) == 0
    assert str(file) in capsys.readouterr().err
    for accepted in (True, False):
        verdict = program.Verdict(accepted, ("accepted add" if accepted else "refused add",))
        monkeypatch.setattr(checking, "demand_tools", lambda: None)
        monkeypatch.setattr(checking, "run_checker", lambda _, found=verdict: found)
        assert main(["check", "--kernel", str(file)]) == (0 if accepted else 1)
        said = capsys.readouterr().out
        assert ("holds" in said) == accepted
        assert ("does NOT hold" in said) != accepted
        assert "Kernel_certificate" in said
    assert main(["check", str(file)]) != 0
    assert main(["check", "--kernel", str(tmp_path / "none.txt")]) != 0


@pytest.mark.minutes
def test_the_extracted_checker(tmp_path: Any) -> None:
    if shutil.which("coqc") is None:
        pytest.skip("Coq is not installed")
    file = tmp_path / "run.txt"
    write_kernel_certificate(file, account(RUNS["Poisson samples"][0], delta="1e-4"))
    assert check_kernel_certificate(file).holds
    certificate = read(file.read_text(encoding="ascii"))
    claim = certificate.claims[0]
    less = changed(certificate, delta=(claim.delta[0] * 99 // 100, claim.delta[1]))
    file.write_text(less.text(), encoding="ascii")
    report = check_kernel_certificate(file)
    assert not report.holds
    assert any(line.startswith("refused") for line in report.lines)
