"""`dpbounds remaining`: what a ledger spent, whether it is within the budget, what else fits."""

import json
import re
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.algorithms.ledger import Ledger, Release
from dpbounds.cli import main

GAUSSIANS = (dp.PoissonSampled(dp.Gaussian(2), "0.01") ** 20) @ (dp.Gaussian(30) ** 2)
BUDGET = ["--target-epsilon", "1", "--target-delta", "1e-6"]


@pytest.mark.seconds
def test_both_sides_are_proven(ledger, capsys):
    assert main(["remaining", "--ledger", ledger(GAUSSIANS), *BUDGET, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    assert found["within"] is True
    spent = dp.epsilon(GAUSSIANS, "1e-6")
    assert found["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
    assert dp.epsilon(GAUSSIANS @ dp.Gaussian(found["noise_multiplier"]), "1e-6").at_most(1) is True
    assert dp.epsilon(GAUSSIANS @ dp.Gaussian(found["noise_fails_at"]), "1e-6").at_most(1) is False
    assert dp.epsilon(GAUSSIANS @ dp.Gaussian(30) ** found["more"], "1e-6").at_most(1) is True
    assert dp.epsilon(GAUSSIANS @ dp.Gaussian(30) ** found["more_fails_at"], "1e-6").at_most(1) is False
    assert found["more_fails_at"] == found["more"] + 1
    assert found["last"] == "a single release on the full batch, Gaussian noise multiplier 30"
    assert (found["relation"], found["certified"], found["tight"]) == ("add-or-remove-one", True, True)


def test_people_read_the_same(ledger, said):
    out = said("remaining", "--ledger", ledger(GAUSSIANS), *BUDGET)
    assert "budget             epsilon 1, delta 1e-06: kept (proven)\n" in out
    assert re.search(
        r"more of the last   (\d+) more fit \(proven\), \d+ do not \(proven\): on the full batch, Gaussian", out
    )
    assert "20 releases on Poisson samples at rate 0.01, Gaussian noise multiplier 2; 2 releases" in out


def test_an_exceeded_budget_is_status_1(ledger, capsys, said):
    out = said("remaining", "--ledger", ledger(dp.Gaussian(1)), *BUDGET, status=1)
    assert "NOT kept (proven)" in out
    assert "no noise is proven to fit" in out
    assert "none is proven to fit: on" in out
    assert main(["remaining", "--ledger", ledger(dp.Gaussian(1)), *BUDGET, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["within"] is False
    assert (found["noise_multiplier"], found["noise_fails_at"]) == (None, None)
    assert (found["more"], found["more_fails_at"]) == (0, 0)


@pytest.mark.seconds
def test_what_is_not_decided_is_status_1_and_says_so(ledger, capsys):
    loose = dp.SampledWithoutReplacement(dp.Gaussian(1), 100, 10_000) ** 1000
    budget = ["--target-epsilon", "16", "--target-delta", "1e-6", "--relation", "replace-one"]
    assert main(["remaining", "--ledger", ledger(loose), *budget]) == 1
    captured = capsys.readouterr()
    assert "NOT proven to be kept" in captured.out
    assert "an explicit attack attains 15.48" in captured.out
    assert "can take a few minutes" in captured.err
    assert captured.err.count("\n") == 1


def test_the_ledgers_of_algorithms_are_read(capsys, ledger):
    path = ledger(Ledger((Release(Fraction(30), Fraction(1), count=4),)).to_json())
    run = ["remaining", "--ledger", path, *BUDGET, "--relation", "replace-one", "--dataset-size", "1000000"]
    assert main([*run, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["last"].endswith("Gaussian noise multiplier 30")
    assert "warning: --target-delta = 1e-06 is at or above 1/1000000" in captured.err


def test_an_adaptive_ledger_is_refused(capsys, ledger):
    path = ledger(Ledger((Release(Fraction(30), Fraction(1), count=4),), adaptive=True).to_json())
    assert main(["remaining", "--ledger", path, *BUDGET]) == 2
    assert "chosen as the run went" in capsys.readouterr().err
