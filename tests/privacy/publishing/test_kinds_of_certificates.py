"""Which mechanisms have a certificate, and that the stand-alone checker re-derives what each of them spends."""

from __future__ import annotations

import copy
import hashlib
import itertools
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpbounds.cli import main
from dpbounds.errors import CertificateError
from dpbounds.privacy import mechanisms
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import (
    Gaussian,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    PoissonSampled,
    descriptions,
)
from dpbounds.privacy.mechanisms.parameters import parameters_of
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Toeplitz
from dpbounds.privacy.publishing import standalone_checker as checker
from dpbounds.privacy.publishing.certificates import certificate, check_certificate, write_certificate
from dpbounds.privacy.publishing.statements import statement
from dpbounds.privacy.relations import Relation, as_relation
from tests.privacy.publishing.certified import (
    CASES,
    FALLING,
    REPLACE,
    SIGNED,
    VERSION_4,
    VERSION_5,
    VERSION_6,
    ZERO,
    matrix,
    plain,
    spent,
    unproven,
    walk,
    written,
)
from tests.privacy.publishing.test_standalone_checker import run as run_alone
from tests.privacy.test_every_class import LEAVES

# --- Every kind of mechanism ------------------------------------------------------------------------------------------

AROUND: dict[type[Mechanism], Callable[[Gaussian], Mechanism]] = {
    mechanisms.SampledWithoutReplacement: lambda inner: mechanisms.SampledWithoutReplacement(inner, 1, 4),
    mechanisms.SampledWithReplacement: lambda inner: mechanisms.SampledWithReplacement(inner, 2, 4),
    mechanisms.TruncatedPoisson: lambda inner: mechanisms.TruncatedPoisson(inner, "0.5", 2, 4),
    mechanisms.PoissonByUser: lambda inner: mechanisms.PoissonByUser(inner, "0.5"),
    mechanisms.Shuffled: lambda inner: mechanisms.Shuffled(inner, 4),
    mechanisms.RandomlyAllocated: lambda inner: mechanisms.RandomlyAllocated(inner, 3),
    mechanisms.BallsInBins: lambda inner: mechanisms.BallsInBins(inner, 2, 2, redraw=False),
    mechanisms.InParallel: lambda inner: mechanisms.InParallel((inner, Gaussian(3))),
    PoissonSampled: lambda inner: PoissonSampled(inner, "0.5"),
    mechanisms.Composed: lambda inner: inner**3,
}
CERTIFIED = {
    *(Gaussian, PoissonSampled, mechanisms.Composed, MatrixMechanism, LastIterate, mechanisms.Laplace),
    *(mechanisms.DiscreteLaplace, mechanisms.DiscreteGaussian, mechanisms.Skellam, mechanisms.MixtureOfGaussians),
    *(mechanisms.RandomizedResponse, mechanisms.SampledWithoutReplacement, mechanisms.TruncatedPoisson),
    *(mechanisms.Shuffled, mechanisms.RandomlyAllocated, mechanisms.BallsInBins, mechanisms.SampledWithReplacement),
}
TRIED = {  # under another relation than replace-one: quicker, or the only one
    mechanisms.RandomlyAllocated: ZERO,
    mechanisms.BallsInBins: ZERO,
}


def every_kind() -> list[type[Mechanism]]:
    found = [getattr(mechanisms, name) for name in mechanisms.__all__]
    return [each for each in found if isinstance(each, type) and issubclass(each, Mechanism) and each is not Mechanism]


@pytest.mark.seconds_cases("BallsInBins", "RandomlyAllocated")
@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.__name__)
def test_every_kind_of_mechanism_has_a_certificate_or_is_refused_with_a_reason(kind: type[Mechanism]) -> None:
    assert kind in {**AROUND, **LEAVES}, "a mechanism needs an example in LEAVES of tests/privacy/test_every_class.py"
    example = AROUND[kind](Gaussian(4)) if kind in AROUND else LEAVES[kind](Fraction(4), REPLACE)
    relation = TRIED.get(kind, REPLACE)
    neighbour_classes(example, relation)  # it has a pair
    if kind in CERTIFIED:
        certificate(account(example, delta="1/20", relation=relation))
        return
    with pytest.raises(CertificateError, match="the stand-alone checker does not re-derive") as refused:
        certificate(unproven(example, relation))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value).split(": ")) >= 3  # what, why, and what to do


NOISES = {
    "Gaussian": Gaussian(4),
    "Gaussian, final distance": Gaussian(noise_stddev=4, sensitivity=1),
    "Laplace": mechanisms.Laplace(4),
    "Laplace, final distance": mechanisms.Laplace(noise_scale=4, sensitivity=1),
    "discrete Laplace": mechanisms.DiscreteLaplace(4),
    "discrete Gaussian": mechanisms.DiscreteGaussian(4, dimension=1),
    "mixture": mechanisms.MixtureOfGaussians(4, {0: "1/2", 1: "1/2"}),
    "randomised response": mechanisms.RandomizedResponse(1),
}
DRAWN = [each for each in AROUND if each.name in checker.SCHEMES and each is not PoissonSampled]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scheme", DRAWN, ids=lambda each: each.name)
def test_a_scheme_holds_the_noises_of_which_it_has_a_profile(scheme: type[Mechanism], noise: str) -> None:
    """Whoever writes certificates asks ``holds``; ``spent`` is what refuses when they are read."""
    inner, around = NOISES[noise], AROUND[scheme](Gaussian(4))
    names = [name for name, each in parameters_of(inner).items() if each.instead_of is None]
    numbers = dict.fromkeys(names) | descriptions.written(inner)
    drawn = descriptions.written(around)
    read = checker.read_release(
        {"kind": scheme.name, "mechanism": {"kind": inner.name, **numbers}, **drawn, "count": 1}
    )
    for relation in Relation:
        held = checker.SCHEMES[scheme.name].holds(read["mechanism"], relation)
        for order in checker.RECORD[relation]:
            aim = checker.Aim(Fraction(1, 10**6), 1, {}, {})
            try:
                checker.SCHEMES[scheme.name].spent(read, order, relation, aim)
            except checker.NotCovered:
                assert not held, (order, relation)
            else:
                assert held, (order, relation)


# --- Round trips ------------------------------------------------------------------------------------------------------


MINUTES = {
    *("shuffled", "shuffled, zeroed", "allocated and sampled", "truncated, added", "fixed size, added"),
    *("allocations, replaced", "matrix in bins, replaced", "vectors, fixed size", "sampled, in phases"),
    *("allocation, replaced", "bins kept, replaced", "draws, replaced", "draws, zeroed"),
    *("discrete Gaussian", "tree in bins"),
}
SECONDS = {*VERSION_5, *VERSION_6, "composed", *(name for name in VERSION_4 if "sampled" in name)}


def marked(names: Iterable[str], minutes: Collection[str] = MINUTES) -> list[Any]:
    """Names with the layer of what is derived of them."""

    def layer(name: str) -> Any:
        return pytest.mark.minutes if name in minutes else pytest.mark.seconds if name in SECONDS else ()

    return [pytest.param(name, marks=layer(name)) for name in names]


@pytest.mark.parametrize("name", marked(CASES))
def test_round_trips(name: str, tmp_path: Path) -> None:
    subject = spent(name)
    write_certificate(tmp_path / "it.json", subject)
    document = checker.read(str(tmp_path / "it.json"))
    version = 4 if name in VERSION_4 else 6 if name in VERSION_6 else 5
    assert document["version"] == version
    claim = document["accounts"][0]["claim"]
    claimed, proven = checker.rational(claim["upper"]), subject.enclosure.exact_upper
    assert proven <= claimed <= proven * Fraction("1.01" if "s, replaced" in name else "1.002"), float(claimed / proven)
    status, lines = checker.check(document)
    assert status == checker.CONFIRMED, lines
    report = check_certificate(tmp_path / "it.json")
    assert report.holds, report
    assert report.assumptions == checker.assumptions_of(version)
    if version > 4:  # whose claims lie a little above: false is what lies below what an attack attains
        assert "confirmed" in report.lines[-1]
        claim.update(upper=str(subject.enclosure.exact_lower * Fraction(9, 10)), lower="0")
        assert checker.check(document)[0] == checker.WRONG
        return
    for field, tampered in itertools.product(("upper", "target"), (Fraction(99, 100), Fraction(1, 2))):
        wrong = copy.deepcopy(document)
        wrong["accounts"][0]["claim"].update({"lower": "0", field: str(checker.rational(claim[field]) * tampered)})
        assert checker.check(wrong)[0] == checker.WRONG
        assert field == "target" or not check_certificate(wrong).holds


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["last iterate", "separated", "tree", "sampled", "allocation, zeroed"])
def test_a_bare_interpreter_checks_them(name: str, tmp_path: Path) -> None:
    script = tmp_path / "elsewhere.py"
    shutil.copy(checker.__file__, script)
    write_certificate(tmp_path / "it.json", spent(name))
    done = run_alone(script, str(tmp_path / "it.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not any(each in done.stderr.splitlines()[-1] for each in ("dpbounds", "numpy", "mpmath"))
    words = "1 x gaussian noise, noise multiplier 2, on random allocation (steps 9, participations 1)"
    assert name != "allocation, zeroed" or words in done.stdout


def test_certificates_of_gaussians_are_as_before() -> None:
    document = plain(account(Gaussian(5), delta="1e-5"))
    assert document["version"] == 3
    assert document["assumptions"] == list(checker.ASSUMPTIONS)


@pytest.mark.parametrize(
    ("subject", "versions"),
    [
        (lambda: spent("last iterate"), (3,)),
        (lambda: spent("tree"), (3,)),
        (lambda: spent("discrete Laplace"), (3, 4)),
        (lambda: spent("Skellam, three ones"), (3, 4, 5)),
        (lambda: spent("discrete Gaussian, squared"), (3, 4, 5)),
        (lambda: account(walk("secret"), delta="1e-4", relation=ZERO), (4,)),
    ],
    ids=["last iterate", "tree", "discrete Laplace", "Skellam", "discrete Gaussian, squared", "secret order"],
)
def test_an_earlier_version_has_no_such_kinds(subject: Callable[[], Account], versions: tuple[int, ...]) -> None:
    document = plain(subject())
    for version in versions:
        document["version"], document["assumptions"] = version, ["of another version"]
        assert checker.check(document)[0] == checker.MALFORMED
        document["assumptions"] = list(checker.assumptions_of(version))
        status, lines = checker.check(document)
        assert status == checker.MALFORMED
        if version == 3 or document["accounts"][0]["mechanism"][0]["kind"] != "last-iterate":
            assert f"which version {version} does not have" in lines[0]
        with pytest.raises(CertificateError):
            check_certificate(document)


def test_the_digest_is_of_the_text_that_the_format_describes() -> None:
    texts = {
        "last iterate": '{"batches":10,"checkpoints":[],"count":1,"epochs":5,"mechanism":"last-iterate",'
        '"noise_multiplier":"4","order":"fixed","smoothness_step":"1/10","weight_decay_step":"0"}',
        "tree": '{"count":1,"groups":"content","matrix":{"kind":"binary-tree","steps":21},"mechanism":"matrix",'
        '"noise_multiplier":"4","participation":"fixed-order","separation":4}',
    }
    for name, text in texts.items():
        assert plain(spent(name))["accounts"][0]["digest"] == hashlib.sha256(f"[{text}]".encode()).hexdigest()


def test_a_statement_says_what_must_not_be_published_and_who_takes_part() -> None:
    hidden = statement(spent("last iterate"))
    assert "the last iterate of 5 epochs of 10 batches in a fixed order" in hidden
    assert "nothing else is published" in hidden
    tree = statement(spent("tree"))
    assert "21 steps with correlated noise by a binary tree, a record in every step of one of 4 groups" in tree
    assert "nothing else is published" not in tree
    assert "no sampling" not in statement(spent("sampled"))


# --- Tampering: the digest made anew, so that what is derived decides -------------------------------------------------

DEARER: dict[str, tuple[dict[str, Any], ...]] = {  # each spends more
    "last iterate": (
        *({"noise_multiplier": "39/10"}, {"batches": 9}, {"batches": 1}, {"epochs": 6}, {"smoothness_step": "1/9"}),
        *({"checkpoints": [4]}, {"count": 2}),
    ),
    "contracting": ({"weight_decay_step": "0"}, {"weight_decay_step": "2/5"}),
    "full batch": ({"epochs": 10},),
    "full batch, contracting": ({"weight_decay_step": "0"}, {"epochs": 10}, {"checkpoints": [4, 5]}),
    "final distance": ({"sensitivity": "51/100"}, {"noise_stddev": "29/10"}),
    "fixed order": ({"separation": 2}, {"noise_multiplier": "39/10"}),
    "separated": ({"at_most": 5}, {"at_most": None}, {"separation": 2}),
    "tree": ({"separation": 3}, {"matrix": {"kind": "binary-tree", "steps": 42}}),
    "tree, separated": ({"at_most": 5}, {"matrix": {"kind": "binary-tree", "steps": 32}}),
    "tree, single": (
        {"participation": "fixed-order", "separation": 4},
        {"matrix": {"kind": "binary-tree", "steps": 32}},
    ),
    "single": ({"matrix": {"kind": "lower-triangular", "rows": [["3"]]}},),
    "fixed order, rising": ({"matrix": {"kind": "toeplitz", "coefficients": ["1", "2", "-1"], "steps": 9}},),
    "sampled": ({"sample_rate": "1/9"}, {"sample_rate": "1"}, {"separation": 4}, {"noise_multiplier": "39/10"}),
    # fields of the noise under "mechanism"
    "allocation, zeroed": ({"steps": 8}, {"participations": 2}, {"count": 2}),
    "discrete Laplace": ({"mechanism": {"bound": 3}}, {"mechanism": {"noise_scale": "5/2"}}, {"count": 4}),
    "discrete Gaussian": ({"mechanism": {"bound": "3"}}, {"mechanism": {"noise_stddev": "5/2"}}),
    "Laplace": ({"mechanism": {"noise_multiplier": "19/10"}}, {"kind": "full-batch", "count": 5}),
    "mixture": ({"mechanism": {"noise_stddev": "14/5"}}, {"mechanism": {"norms": [["1", "4/5"], ["2", "1/5"]]}}),
    "responses": ({"mechanism": {"epsilon": "11/10"}}, {"count": 5}),
    "last, secret": ({"batches": 5}, {"smoothness_step": "1/5"}, {"order": "fixed"}),
    "last, scheduled": ({"batches": 5}, {"smoothness_step": ["1/10", "1/5", "1/1000"]}, {"checkpoints": [1, 2]}),
    "last, shuffled, scheduled": ({"batches": 5}, {"smoothness_step": ["1/10", "1/5", "1/1000"]}, {"order": "fixed"}),
    "allocation, replaced": ({"steps": 2}, {"participations": 2}, {"count": 2}),
    "rows in bins": ({"noise_multiplier": "2"}, {"separation": 2}, {"participation": "fixed-order"}),
    "draws": ({"batch_size": 6}, {"dataset_size": 90}, {"mechanism": {"noise_multiplier": "14/5"}}, {"count": 6}),
    "discrete Gaussian, squared": ({"mechanism": {"noise_variance": "19/3"}}, {"count": 4}),
    "Skellam": ({"mechanism": {"variance": "17/2"}}, {"mechanism": {"bound": "3"}}, {"count": 4}),
    "Skellam, vectors": ({"mechanism": {"variance": "17/2"}}, {"mechanism": {"dimension": None}}, {"count": 4}),
    "Skellam, sampled": ({"sample_rate": "1/4"}, {"mechanism": {"variance": "7/2"}}),
    "vectors": ({"mechanism": {"noise_stddev": "14/5"}}, {"mechanism": {"dimension": 3}}, {"count": 4}),
}


@pytest.mark.parametrize("name", marked(DEARER, ("mixture", "allocation, replaced", "draws")))
def test_dearer_releases_are_refused_whatever_the_digest(name: str) -> None:
    document = plain(spent(name))
    for fields in DEARER[name]:
        wrong = copy.deepcopy(document)
        entry = wrong["accounts"][0]
        release = entry["mechanism"][0]
        noise = {"mechanism": {**release["mechanism"], **fields.get("mechanism", {})}} if "mechanism" in release else {}
        release.update({**fields, **noise})
        allowed = (checker.WRONG,) if name in VERSION_4 else (checker.WRONG, checker.MALFORMED)
        assert checker.check(wrong)[0] in allowed, fields  # by the digest
        entry["digest"] = checker.digest(entry["mechanism"])
        status, lines = checker.check(wrong)
        assert (status, lines[0]) == (checker.WRONG, checker.VERDICTS[checker.WRONG]), fields
        assert name not in VERSION_4 or not check_certificate(wrong).holds


def test_another_relation_is_refused() -> None:
    document = plain(spent("zeroed"))
    for relation, status in (("replace-one", checker.WRONG), ("add-or-remove-one", checker.MALFORMED)):
        document["accounts"][0]["claim"]["relation"] = relation
        assert checker.check(document)[0] == status
    document = plain(spent("tree"))
    document["accounts"][0]["mechanism"][0]["groups"] = "position"
    assert checker.check(document)[0] == checker.MALFORMED
    with pytest.raises(CertificateError):
        check_certificate(document)


MALFORMED: dict[str, tuple[dict[str, Any], ...]] = {
    "last iterate": (
        *({"kind": "gaussian"}, {"kind": "matrix"}, {"order": "shuffled"}, {"order": None}, {"batches": 0}),
        *({"batches": True}, {"batches": "10"}, {"epochs": None}, {"smoothness_step": None}, {"smoothness_step": "0"}),
        *(
            {"weight_decay_step": "-1"},
            {"weight_decay_step": "3/2"},
            {"weight_decay_step": None},
            {"checkpoints": None},
        ),
        *({"checkpoints": [5]}, {"checkpoints": [3, 3]}, {"checkpoints": [0]}, {"checkpoints": ["1"]}, {"extra": 1}),
        *({"noise_multiplier": None}, {"sensitivity": "1"}, {"count": 0}),
    ),
    "separated": (
        *({"kind": "last-iterate"}, {"participation": "all"}, {"participation": "single"}, {"participation": None}),
        *({"separation": None}, {"separation": 0}, {"at_most": 0}, {"at_most": True}, {"sample_rate": "1/2"}),
        *({"groups": "none"}, {"noise_multiplier": None}, {"matrix": None}, {"matrix": {"kind": "binary-tree"}}),
        {"matrix": {"kind": "binary-tree", "steps": 10**6}},
        {"matrix": {"kind": "toeplitz", "coefficients": [], "steps": 3}},
        {"matrix": {"kind": "toeplitz", "coefficients": ["0", "1"], "steps": 3}},
        {"matrix": {"kind": "toeplitz", "coefficients": ["1", "1", "1"], "steps": 2}},
        {"matrix": {"kind": "toeplitz", "coefficients": ["1", f"1/{10**1001}"], "steps": 2}},
        {"matrix": {"kind": "lower-triangular", "rows": []}},
        {"matrix": {"kind": "lower-triangular", "rows": [["1", "1"], ["1", "1"]]}},
        {"matrix": {"kind": "lower-triangular", "rows": [["1"], ["1", "0"]]}},
        {"matrix": {"kind": "lower-triangular", "rows": [["1"], [1, "1"]]}},
    ),
    "sampled, in phases": (
        *({"separation": 1}, {"sample_rate": None}, {"sample_rate": "3/2"}, {"at_most": 2}),
        {"matrix": {"kind": "binary-tree", "steps": 4}},
    ),
    "sampled, by content": ({"separation": 2},),
    "allocation": ({"steps": 0}, {"participations": 13}, {"mechanism": None}, {"mechanism": {"kind": "laplace"}}),
    "bins kept": ({"redraw": None}, {"redraw": 0}, {"epochs": "0"}, {"epochs": 2}, {"bins": True}),
    "fixed size": ({"batch_size": 51}, {"dataset_size": None}, {"sample_rate": "1"}),
    "truncated": ({"sample_rate": "2"}, {"sample_rate": None}, {"max_batch_size": 0}),
    "shuffled": ({"rest": "1/301"}, {"rest": "-1"}, {"batches": None}),
    "last, secret": ({"order": "other"}, {"order": None}),
    "last, scheduled": (
        *({"smoothness_step": steps} for steps in ([], ["0", "1", "2"], ["1", "2"], ["1", "1", "1"], ["1", None, "2"])),
        {"weight_decay_step": "1/2"},
    ),
    "draws": ({"dataset_size": 1}, {"sample_rate": "1"}),
    "matrix in bins": ({"sample_rate": "1/2"}, {"groups": "position"}, {"separation": None}),
    "mixture": (
        *(
            {"mechanism": {"kind": "mixture-of-gaussians", "noise_stddev": "1", "norms": norms}}
            for norms in (
                [],
                [["1", "1/2"]],
                [["0", "1"]],
                [["2", "1/2"], ["1", "1/2"]],
                [["1"]],
                "x",
            )
        ),
    ),
    "responses": (
        {"mechanism": {"kind": "randomized-response", "epsilon": "0", "options": 2}},
        {"mechanism": {"kind": "randomized-response", "epsilon": "1", "options": 1}},
    ),
    "discrete Gaussian": ({"mechanism": {"kind": "gaussian", "noise_multiplier": "1"}},),
    "discrete Gaussian, squared": tuple(
        {"mechanism": {"kind": "discrete-gaussian", "bound": "1", "dimension": 1, **wrong}}
        for wrong in ({"noise_variance": None}, {"noise_variance": "0"}, {"noise_variance": "2", "noise_stddev": "1"})
    ),
    "Skellam": tuple(
        {"mechanism": {"kind": "skellam", "variance": "9", "bound": "1", "dimension": 1, **wrong}}
        for wrong in ({"variance": None}, {"variance": "0"}, {"bound": "1/2"}, {"bound": None}, {"dimension": 0})
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_release_is_malformed_for_both_checkers(name: str) -> None:
    releases = written(*CASES[name])
    document = plain(unproven(*CASES[name])) if name in VERSION_4 else None
    checker.read_release(releases[0])
    for fields in MALFORMED[name]:
        if document is None:
            with pytest.raises(checker.Malformed):
                checker.read_release({**releases[0], **fields})
            continue
        wrong = copy.deepcopy(document)
        wrong["accounts"][0]["mechanism"][0].update(fields)
        assert checker.check(wrong)[0] == checker.MALFORMED, fields
        with pytest.raises(CertificateError):
            check_certificate(wrong)


# --- What is derived, against plain enumeration -----------------------------------------------------------------------


@pytest.mark.parametrize("rise", ["1/10", "0", "-2/5", "3"])
def test_windows_against_plain_sums(rise: str) -> None:
    c = 1 + Fraction(rise)
    for steps in (1, 2, 7, 30):
        plain_window = 1 / sum((c ** (-2 * k) for k in range(steps)), Fraction(0))
        assert 0 <= checker.window(c - 1, steps) - plain_window <= Fraction(1, 2**299)
        ahead = sum((c**k for k in range(steps)), Fraction(0)) ** 2 / sum(
            (c ** (2 * k) for k in range(steps)), Fraction(0)
        )
        assert 0 <= checker.in_every_step(c - 1, steps) - (ahead if c < 1 else steps) <= Fraction(1, 2**299)


def entries(which: Any) -> list[list[Fraction]]:
    """The rows of an encoder, in full."""
    if isinstance(which, BinaryTree):
        blocks = ((level, node) for level in range(which.steps.bit_length()) for node in range(which.steps >> level))
        return [[Fraction(step >> level == node) for step in range(which.steps)] for level, node in blocks]
    if isinstance(which, Toeplitz):
        c = [*which.coefficients, *[Fraction(0)] * which.steps]
        return [[c[i - j] if i >= j else Fraction(0) for j in range(which.steps)] for i in range(which.steps)]
    return [[Fraction(value) for value in row] + [Fraction(0)] * (len(which) - len(row)) for row in which]


def allowed(mechanism: MatrixMechanism, steps: int) -> list[tuple[int, ...]]:
    """The sets of steps that a record may take part in, or those that hold them."""
    apart = mechanism.separation
    if mechanism.participation == "single":
        return [(step,) for step in range(steps)]
    assert apart is not None
    if mechanism.participation != "minimum-separation":
        return [tuple(range(start, steps, apart)) for start in range(min(apart, steps))]
    return [
        chosen
        for size in range(1, 1 + (mechanism.at_most or steps))
        for chosen in itertools.combinations(range(steps), size)
        if all(second - first >= apart for first, second in itertools.pairwise(chosen))
    ]


SMALL = (
    *(Toeplitz([1, "1/2", "3/8"], steps=8), Toeplitz([1, "-1/2", "3/8"], steps=8), Toeplitz([1, 2], steps=7)),
    Toeplitz([1, "1/2", "-3/4"], steps=8),
    *(SIGNED, BinaryTree(9), BinaryTree(8)),
)


@pytest.mark.parametrize("which", SMALL, ids=str)
def test_sensitivities_against_every_allowed_set(which: Any) -> None:
    rows = entries(which)
    gram = [
        [abs(sum((row[i] * row[j] for row in rows), Fraction(0))) for j in range(len(rows[0]))]
        for i in range(len(rows[0]))
    ]
    decided = 0
    for participation, separation, most in itertools.product(
        ("single", "fixed-order", "minimum-separation"), (1, 2, 3, 5, 20), (None, 2, 3)
    ):
        if (participation == "single" and separation > 1) or (participation != "minimum-separation" and most):
            continue
        mechanism = MatrixMechanism(
            1, which, participation, separation=None if participation == "single" else separation, at_most=most
        )
        exact = max(sum((gram[i][j] for i in a for j in a), Fraction(0)) for a in allowed(mechanism, len(gram)))
        release = plain(unproven(mechanism, ZERO))["accounts"][0]["mechanism"]
        try:
            ((_, found, sampled),) = checker.products_of(release, "zero-out-one")
        except checker.NotCovered:
            assert participation == "minimum-separation"
            continue
        decided += 1
        loose = isinstance(which, BinaryTree) and participation == "minimum-separation"
        assert (exact <= found) if loose else (exact == found), (participation, separation, most)
        assert not sampled
    assert decided >= 10


@pytest.mark.parametrize("which", [SIGNED, Toeplitz([1, "-1/2"], steps=7)], ids=["rows", "Toeplitz"])
@pytest.mark.parametrize("separation", [2, 3, 4])
def test_samples_dominate_every_group(which: Any, separation: int) -> None:
    rows = entries(which)
    norms = [sum((row[j] ** 2 for row in rows), Fraction(0)) for j in range(len(rows))]
    mechanism = MatrixMechanism(1, which, "cyclic-poisson", separation=separation, sample_rate="1/3")
    release = plain(unproven(mechanism, ZERO))["accounts"][0]["mechanism"]
    (_, shift, sampled), _ = checker.products_of(release, "zero-out-one")
    assert shift == 0
    assert {rate for rate, _ in sampled} == {Fraction(1, 3)}
    found = sorted((1 / variance for (_, variance), count in sampled.items() for _ in range(count)), reverse=True)
    groups = [sorted(norms[start::separation], reverse=True) for start in range(separation)]
    assert all(len(each) <= len(found) and all(map(Fraction.__le__, each, found)) for each in groups)
    assert Counter(found) == Counter(max(column) for column in itertools.zip_longest(*groups, fillvalue=Fraction(0)))


@pytest.mark.parametrize("name", VERSION_4)
def test_both_derivations_of_the_pairs_agree(name: str) -> None:
    document = plain(unproven(*VERSION_4[name]))
    report = check_certificate({**document, "accounts": [{**document["accounts"][0], "proofs": []}]})
    assert not report.holds
    assert "CONTRADICTED: the orders proven, []," in report.lines[-1]  # the next thing looked at


# --- Work -------------------------------------------------------------------------------------------------------------


def test_large_matrices_are_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MOST_WORK", 100)
    for name in ("fixed order", "fixed order, signs", "separated, no overlap", "tree"):
        status, lines = checker.check(plain(spent(name)))
        assert status == checker.CONFIRMED or lines[0].endswith(checker.TOO_MUCH)
    long = plain(spent("tree"))
    long["accounts"][0]["mechanism"][0]["matrix"]["steps"] = checker.STEPS
    long["accounts"][0]["digest"] = checker.digest(long["accounts"][0]["mechanism"])
    status, lines = checker.check(long)
    assert status == checker.NOT_COVERED
    assert lines[0].endswith(checker.TOO_MUCH)


def test_what_only_the_other_checker_derives_is_said() -> None:
    mechanism = matrix([[1], [-1, 1], [1, 1, 1]], "minimum-separation", separation=1)
    document = plain(account(mechanism, delta="1e-6", relation=REPLACE))
    status, lines = checker.check(document)
    assert status == checker.NOT_COVERED
    assert "a minimum separation with overlapping columns" in lines[0]
    assert check_certificate(document).holds


def test_a_certificate_that_nobody_could_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = spent("single")
    monkeypatch.setattr(checker, "BYTES", 1000)
    with pytest.raises(CertificateError, match="at most 1000 bytes"):
        write_certificate(tmp_path / "it.json", subject)
    assert not (tmp_path / "it.json").exists()


# --- Calibrations, and the command line -------------------------------------------------------------------------------


def test_calibrations() -> None:
    found = calibrate(
        lambda z: MatrixMechanism(z, FALLING, "fixed-order", separation=4),
        1,
        "1e-6",
        relation=as_relation("replace-one"),
    )
    document = plain(found)
    assert checker.check(document)[0] == checker.CONFIRMED
    assert check_certificate(document).holds
    document["accounts"][1]["mechanism"][0]["separation"] = 3
    document["accounts"][1]["digest"] = checker.digest(document["accounts"][1]["mechanism"])
    status, lines = checker.check(document)
    assert status == checker.WRONG
    assert "REFUTED: the two mechanisms do not differ by the value and the one that fails alone" in lines


RUNS = {
    "last iterate": "--release last-iterate --noise-multiplier 4 --batches 10 --epochs 5 --smoothness-step 0.1",
    "matrix": "--noise-multiplier 4 --toeplitz 1,1/2 --steps 20 --participation fixed-order --separation 4",
    "random allocation": "--noise-multiplier 2 --sampling random-allocation --batches 20 --epochs 2",
}


@pytest.mark.seconds_cases("random allocation")
@pytest.mark.parametrize("name", RUNS)
def test_the_command_line_writes_and_checks_them(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, drawn = str(tmp_path / "it.json"), name == "random allocation"
    relation, delta = ("add-or-remove-one", "1e-4") if drawn else ("replace-one", "1e-6")
    line = ["epsilon", *RUNS[name].split(), "--delta", delta, "--relation", relation, "--certificate", file]
    assert main(line) == 0
    assert main(["check", file]) == 0
    said = capsys.readouterr().out.lower()
    assert "the certificate holds" in said
    assert ("random allocation (steps 20, participations 1)" if drawn else name) in said


@pytest.mark.seconds_cases("last iterate")
@pytest.mark.parametrize("name", ["last iterate", "matrix"])
def test_the_command_line_calibrates_them(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "it.json")
    run = RUNS[name].replace("--noise-multiplier 4", "").split()
    target = ["--target-epsilon", "2", "--target-delta", "1e-6", "--relation", "replace-one"]
    assert main(["calibrate", *target, *run, "--certificate", file]) == 0
    assert main(["check", file]) == 0
    assert "the certificate holds" in capsys.readouterr().out


def test_the_command_line_refuses_before_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    line = "epsilon --noise-multiplier 4 --noise laplace --sampling with-replacement --batch-size 5 --dataset-size 100"
    asked = [*line.split(), "--steps", "9", "--delta", "1e-6", "--relation", "replace-one", "--certificate", "it.json"]
    assert main(asked) == 2
    assert "given by noise_multiplier, has a certificate, or leave the option out" in capsys.readouterr().err
