"""What an option says is what is computed, and the answer names it: in text and in JSON."""

from fractions import Fraction

import pytest

import dpbounds as dp

RELATIONS = ("add-or-remove-one", "replace-one", "zero-out-one")
NOISE = ("--noise-multiplier", "5", "--steps", "1")
TARGET = ("--target-epsilon", "2", "--target-delta", "1e-5")


def relation_shown(text):
    """The relation that a text for people names in its row."""
    (line,) = (line for line in text.splitlines() if line.startswith("relation "))
    return line.split()[1]


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_relation_of_an_account(relation, said, data):
    words = ("epsilon", *NOISE, "--delta", "1e-5", "--relation", relation)
    spent = dp.epsilon(dp.Gaussian(5), "1e-5", relation)
    found = data(*words)
    assert found["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
    assert found["relation"] == relation_shown(said(*words)) == relation


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_relation_of_a_budget(relation, said, data, ledger):
    words = ("remaining", "--ledger", ledger(dp.Gaussian(5)), *TARGET, "--relation", relation)
    spent = dp.epsilon(dp.Gaussian(5), "1e-5", relation)
    found = data(*words)
    assert found["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
    assert found["relation"] == relation_shown(said(*words)) == relation


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_relation_of_a_calibration(relation, said, data):
    words = ("calibrate", *TARGET, "--relation", relation)
    found = data(*words)
    assert dp.epsilon(dp.Gaussian(found["noise_multiplier"]), "1e-5", relation).at_most(2) is True
    assert dp.epsilon(dp.Gaussian(found["fails_at"]), "1e-5", relation).at_most(2) is False
    assert found["relation"] == relation_shown(said(*words)) == relation


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_relation_of_a_run(relation, data, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = data("run", "dp-gd", "n=50", "d=2", "steps=2", "--epsilon", "1", "--delta", "1e-5", "--relation", relation)
    assert found["relation"] == relation
    assert relation in found["statement"]


def test_the_size_of_a_group(data):
    """A group of two records under Gaussian noise is one record of twice the sensitivity."""
    single, double = data("calibrate", *TARGET), data("calibrate", *TARGET, "--group-size", "2")
    assert double["noise_multiplier"] == pytest.approx(2 * single["noise_multiplier"], rel=1e-6)
    assert ("group_size" in single, double["group_size"]) == (False, 2)


def test_the_tolerance_and_the_time_limit(data, questions):
    data("epsilon", *NOISE, "--delta", "1e-5", "--tolerance", "1e-3", "--time-limit", "9")
    assert [(one["tolerance"], one["time_limit"]) for _, one in questions] == [(1e-3, Fraction(9))]


def test_a_certificate_of_other_releases(data, ledger, tmp_path):
    file = str(tmp_path / "c.json")
    data("epsilon", *NOISE, "--delta", "1e-5", "--certificate", file)
    for noise, status in ((5, 0), (6, 1)):
        found = data("check", file, "--ledger", ledger(dp.Gaussian(noise)), status=status)
        assert found["holds"] is found["ledger"]["matches"] is (status == 0)
