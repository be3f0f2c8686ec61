"""`dpbounds audit`: a lower bound against the certificate and the claim; the table of broken copies."""

import re
from dataclasses import replace

import pytest

from dpbounds.algorithms.verification import catalogue
from dpbounds.algorithms.verification.attacks import experiments, mutations

VERB = ("audit",)


@pytest.mark.seconds
def test_for_people_and_programs(data, said):
    arguments = ["dp-pgd", "--runs", "3000", "--epsilon", "4", "--confidence", "0.9", "--seed", "3"]
    out = said(*arguments)
    assert re.match(r"dp-pgd: 30\d\d runs on neighbouring datasets \(replace-one\)\n  at least    epsilon ", out)
    assert "0.9 confidence" in out
    assert "<-" not in out
    found = data(*arguments)
    assert 1 < found["lower"]["epsilon"] <= found["certified"] <= 4
    assert f"epsilon {found['lower']['epsilon']:.4g} at delta = 1e-05" in out
    assert found["claim"] == {"epsilon": 4, "delta": 1e-5, "relation": "replace-one"}
    assert (found["sound"], found["claim_refuted"]) == (True, False)
    assert found["lower"]["confidence"] == 0.9
    assert 0 < found["unassuming"] < found["lower"]["epsilon"]
    assert found["reach"] == pytest.approx(4, rel=0.1)
    assert found["ended"] == "runs"


def test_another_relation_and_delta(data):
    found = data("dp-pgd", "--runs", "100", "--seconds", "0", "--relation", "add-or-remove-one", "--delta", "1e-3")
    assert found["claim"] == {"epsilon": 1, "delta": 1e-3, "relation": "add-or-remove-one"}
    assert found["lower"]["delta"] == 1e-3


@pytest.mark.seconds
def test_one_run(data, said):
    arguments = ["dp-pgd", "--one-run", "--epsilon", "8"]
    out = said(*arguments)
    assert out.startswith("dp-pgd: one run on canaries (replace-one)\n")
    assert "guesses of 100 of 400 canaries (one run with many canaries)" in out
    found = data(*arguments)
    assert 1 < found["lower"]["epsilon"] <= found["certified"] <= 8
    removed = data(*arguments, "--relation", "add-or-remove-one")
    assert found["lower"]["epsilon"] < removed["lower"]["epsilon"] <= removed["certified"] <= 8
    assert (found["runs"], found["reach"]) == (1, None)


@pytest.mark.seconds
def test_a_bound_above_the_certificate_fails(data, said, monkeypatch):
    audited = experiments.audit_example

    def flattered(*arguments, **named):
        return replace(audited(*arguments, **named), certified=0.25)

    monkeypatch.setattr(experiments, "audit_example", flattered)
    out = said("dp-pgd", "--runs", "2000", "--epsilon", "4", status=1)
    assert "certified   0.25  <- exceeded" in out

    def unproven(*arguments, **named):
        finding = audited(*arguments, **named)
        return replace(
            finding, certified=float("inf"), claim=replace(finding.claim, epsilon=finding.claim.epsilon / 16)
        )

    monkeypatch.setattr(experiments, "audit_example", unproven)
    out = said("dp-pgd", "--runs", "2000", "--epsilon", "4")
    assert "no finite bound is proven" in out
    assert "claimed     0.25  <- refuted" in out
    assert data("dp-pgd", "--runs", "2000", "--epsilon", "4")["certified"] == "inf"


@pytest.mark.seconds
def test_the_table_of_broken_copies(data, said, monkeypatch):
    few = mutations.mutations()[:2]  # one sound, one broken
    monkeypatch.setattr(mutations, "mutations", lambda: few)
    lines = said("--mutations", "--runs", "4000").splitlines()
    assert lines[0].split()[:2] == ["copy", "claim"]
    assert "  not caught  nothing: sound" in lines[1]
    assert "  caught      half of the noise" in lines[2]
    assert lines[-1] == "1 of 2 caught; right"
    found = data("--mutations", "--runs", "4000")
    assert [one["caught"] for one in found["copies"]] == [False, True]
    assert found["all_as_expected"] is True
    assert [one["lower"]["confidence"] for one in found["copies"]] == pytest.approx([0.975] * 2)
    assert "All lower bounds together hold with 0.95 confidence" in lines[-2]


@pytest.mark.seconds
def test_all_of_them_and_a_page(data, said, monkeypatch, tmp_path):
    few = tuple(one for one in catalogue.all_examples() if one.name in ("dp-pgd", "dp-gd-zhang-as-quoted"))
    monkeypatch.setattr(catalogue, "all_examples", lambda: few)
    lines = said("all", "--runs", "300", "--output", str(tmp_path / "runs")).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["algorithm", *(one.name for one in few)]
    assert all("agrees" in line for line in lines[1:3])
    assert lines[4] == "All lower bounds together hold with 0.95 confidence; each has its share of the error."
    page = (tmp_path / "runs" / "audits-algorithms.md").read_text()
    assert "`dpbounds audit all --runs 300 --enough 0.9 --confidence 0.95 --seed 0 --relation replace-one`" in page
    assert page.count("| agrees |") == 2
    assert "All lower bounds together hold with 0.95 confidence" in page
    document = data("all", "--runs", "300")
    assert (len(document["findings"]), document["confidence"]) == (2, 0.95)
    assert [one["lower"]["confidence"] for one in document["findings"]] == pytest.approx([0.975] * 2)
    few_copies = mutations.mutations()[:2]
    monkeypatch.setattr(mutations, "mutations", lambda: few_copies)
    said("--mutations", "--runs", "4000", "--output", str(tmp_path / "runs"))
    assert "| caught | half of the noise" in (tmp_path / "runs" / "audits-broken-copies.md").read_text()


@pytest.mark.seconds
def test_several_processes_find_the_same(said, monkeypatch):
    few = tuple(one for one in catalogue.all_examples() if one.name in ("dp-pgd", "dp-gd-zhang-as-quoted"))
    monkeypatch.setattr(catalogue, "all_examples", lambda: few)
    assert said("all", "--runs", "300", "--jobs", "2") == said("all", "--runs", "300")


def test_a_copy_that_escapes_fails(said, monkeypatch):
    escaped = replace(mutations.mutations()[1], claim=50.0)
    monkeypatch.setattr(mutations, "mutations", lambda: (escaped,))
    assert said("--mutations", "--runs", "100", status=1).endswith("not as expected: noise halved\n")
