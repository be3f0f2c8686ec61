"""The claims that Coq has checked: ``proofs/kernel/statements.v``, theorems, controls and derivations name each other.

``proofs/kernel/build.py`` runs Coq; these tests do not need it.
"""

import re
from fractions import Fraction

import pytest

import dpbounds as dp
from proofs.kernel import build
from tests.documentation.pages import ROOT

DERIVATIONS = ROOT / "dpbounds" / "privacy"
CLAIMS = build.claims()
FILES = build.FILES
MENTION = re.compile(r"Checked by Coq(?: for finitely many outcomes)? \(`docs/kernel\.md`\):([^.∎]*)", re.IGNORECASE)


def section(page, number):
    """The text of a section of a derivation; of the whole page where it has no sections."""
    text = (DERIVATIONS / page).read_text(encoding="utf-8")
    if number is None:
        return text
    found = re.search(rf"^## {number}\. .*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{page} has no section {number}"
    return found[0]


def named(text):
    """The names in a text's lines on what Coq has checked."""
    return [name for match in MENTION.finditer(text) for name in re.findall(r"`([A-Z]\w+)`", match[1])]


def test_all_claims_are_found():
    assert (
        len(CLAIMS)
        == len(re.findall(r"^Definition [A-Z]\w* : Prop :=", build.source(build.STATEMENTS), re.MULTILINE))
        > 30
    )


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_a_claim_and_its_derivation_name_each_other(claim):
    for number in claim.sections:
        assert claim.name in named(section(claim.page, number)), (
            f"{claim.page} must name {claim.name} in section {number}"
        )


def test_derivations_name_claims_only():
    mentions = [name for path in sorted(DERIVATIONS.rglob("*.md")) for name in named(path.read_text(encoding="utf-8"))]
    assert len(mentions) >= len(CLAIMS)
    assert set(mentions) <= set(CLAIMS) | {"FourPoints"}


def test_every_claim_has_one_theorem_of_its_name():
    proven = [pair for name in build.PROOFS for pair in build.theorems(name).items()]
    assert sorted(proven) == sorted((claim.theorem, claim.name) for claim in CLAIMS.values())


def test_build_knows_every_file():
    assert sorted(path.stem for path in build.HERE.glob("*.v")) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_no_file_leaves_a_gap(name):
    assert build.gaps(name) == []


def test_a_gap_would_be_seen():
    for gap in (
        "Admitted.",
        "by admit.",
        "Axiom x : False.",
        "Conjectures x : False.",
        "Parameter x : nat.",
        "Context (x : False).",
        "Primitive int := #int63_type.",
        "Unset Guard Checking.",
        "Unset Universe  Checking.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.",
        "Declare Module M : S.",
    ):
        assert build.GAPS.search(gap)


@pytest.mark.parametrize("name", FILES)
def test_every_file_holds_known_commands_only(name):
    assert build.forbidden(name, build.source(name)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("profiles", "Variable x : False."),
        ("profiles", "Hypothesis x : False."),
        ("profiles", "Section S. Variable n : nat. End S. Hypotheses x y : False."),
        ("profiles", "Lemma x : False. Proof. by []. Defined."),
        ("profiles", "Lemma x : False. exact: y. Qed."),
        ("profiles", "Set Universe Polymorphism."),
        ("profiles", "Require Import other."),
        ("profiles", "From Bignums Require Import BigN."),
        ("statements", 'Notation "x <= y" := True.'),
        ("statements", "(* words *) Local Notation H := (fun=> 0)."),
        ("statements", "Section S. Variable x : False. End S."),
        ("statements", "Lemma x : True. Proof. by []. Qed."),
        ("statements", "Definition x : nat. exact 1."),
        ("statements", "Canonical c := d."),
        ("statements", "Coercion f : a >-> b."),
    ],
)
def test_another_command_is_forbidden(name, text):
    assert build.forbidden(name, text)


def test_commands_that_a_file_needs_are_allowed():
    text = "Section S. Variable n : nat. (* Axiom (* inner *). *) Lemma x : n = n. Proof. by rewrite (a.1). Qed. End S."
    assert build.forbidden("profiles", text) == []
    assert build.sentences("(* a. *) Definition x := y.1. End S.") == ["Definition x := y.1", "End S"]


SUMMARY = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms:
    mathcomp.ssreflect.bigop.BigOp.bigop{}

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints:{}

* Inductives whose positivity is assumed: <none>
"""


def test_the_summary_of_coqchk_is_read():
    assert build.switched_off(SUMMARY.format("", " <none>")) == []
    assert build.switched_off(SUMMARY.format("\n    kernel.profiles.x", " <none>")) == ["kernel.profiles.x"]
    assert "kernel.lattice.f" in build.switched_off(SUMMARY.format("", "\n    kernel.lattice.f"))[0]
    with pytest.raises(build.Refused, match="coqchk must report"):
        build.switched_off("* Axioms: <none>")


def test_statements_contain_no_proof():
    assert (
        re.findall(
            r"\b(Proof|Qed|Lemma|Theorem|Hypothesis)\.?\s",
            re.sub(r"\(\*.*?\*\)", "", build.source("statements"), flags=re.DOTALL),
        )
        == []
    )


def test_every_claim_has_a_control():
    assert {control.claim for control in build.controls()} == set(CLAIMS)


@pytest.mark.parametrize("control", build.controls(), ids=lambda control: control.claim)
def test_a_control_alters_its_claim(control):
    text = CLAIMS[control.claim].text
    assert control.altered(text) != text
    assert control.why


def test_a_refutation_denies_the_altered_claim():
    refuted = [control for control in build.controls() if control.refuted]
    assert len(refuted) >= 15
    for control in refuted:
        text = build.refutation(CLAIMS[control.claim], control)
        assert control.altered(CLAIMS[control.claim].text) in text
        assert f"~ {control.claim}.\nProof.\n{control.refuted}\nQed." in text
        assert build.GAPS.search(control.refuted) is None


def test_a_control_that_alters_nothing_is_refused():
    with pytest.raises(build.Refused, match="once"):
        build.Control("Best_event", "not there", "", "").altered(CLAIMS["Best_event"].text)


def test_altered_claims_come_before_the_first_proof():
    text = build.with_claims("profiles", ["Definition Best_event : Prop := False."])
    assert text.index("Definition Best_event") < text.index("Section PositivePart")
    assert build.lines_of("best_event", text).start > text[: text.index("Definition Best_event")].count("\n")


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("claim", "mechanism"),
    [
        ("Discrete_gaussians", dp.DiscreteGaussian(noise_variance=16, dimension=1)),
        ("Discrete_laplaces", dp.DiscreteLaplace(10)),
    ],
)
def test_what_coq_computes_of_discrete_noise_agrees_with_the_library(claim, mechanism):
    text = CLAIMS[claim].text
    rate = {"Discrete_gaussians": "1 / 32", "Discrete_laplaces": "1 / 10"}[claim]  # 1/2σ², 1/b
    assert f"exponential (- ({rate}%:R)) t" in text
    found = re.findall(r"exponential (\d+)%:R c -> private_answers F (\d) (\d+) c \((\d+)%:R / 10%:R \^\+ (\d)\)", text)
    assert len(found) == 2
    for epsilon, distance, answers, numerator, digits in found:
        relation = {"1": "add-or-remove-one", "2": "replace-one"}[distance]
        delta = dp.delta(mechanism ** int(answers), epsilon=int(epsilon), relation=relation)
        assert (
            delta.exact_upper <= Fraction(int(numerator), 10 ** int(digits)) <= Fraction(101, 100) * delta.exact_upper
        )


def test_the_nightly_checks_run_coq():
    script = (ROOT / ".ci" / "nightly").read_text(encoding="utf-8")
    assert "python proofs/kernel/build.py" in script
    mathcomp = "coq libcoq-bignums libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics"
    assert f"apt_install {mathcomp} \\\n  ocaml-nox ocaml-findlib libzarith-ocaml-dev\n" in script
