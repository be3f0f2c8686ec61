"""`dpbounds attacker`, and targets of `calibrate` that are about an attacker."""

from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.expressions.time_limit import TimeIsUp

RUN = ["--noise-multiplier", "2", "--steps", "3"]


def test_the_numbers_are_the_library_s(answer):
    found, errors = answer("attacker", *RUN, "--false-positive-rate", "0,0.01,1", "--prior", "0.1", "--baseline", "0.2")
    mechanism = dp.Gaussian(2) ** 3
    for row, rate in zip(found["rates"], ("0", "0.01", "1"), strict=True):
        best = dp.true_positive_rate(mechanism, rate)
        assert Fraction(row["true_positive_rate"]["upper"]) >= best.exact_upper
        assert float(row["true_positive_rate"]["upper"]) <= best.upper
        assert float(row["false_negative_rate"]["lower"]) == (1 - best).lower
    assert found["advantage"]["upper"] == dp.membership_advantage(mechanism).upper
    assert found["bayes_risk"]["lower"] == dp.bayes_risk(mechanism, "0.1").lower
    assert found["reconstruction_risk"] >= float(dp.reconstruction_risk(mechanism, "0.2")) * (1 - 1e-15)
    assert (found["prior"], found["baseline"], found["relation"]) == (0.1, 0.2, "add-or-remove-one")
    assert errors == ""


def test_what_is_printed_is_rounded_to_the_safe_side(said):
    printed = said("attacker", *RUN, "--false-positive-rate", "0.01")
    best = dp.true_positive_rate(dp.Gaussian(2) ** 3, "0.01")
    told = float(printed.split("at most ")[1].split()[0])
    assert best.upper <= told < best.upper * (1 + 1e-5)
    wrong = float(printed.split("at least ")[1].split(",")[0])
    risk = dp.bayes_risk(dp.Gaussian(2) ** 3)
    assert risk.lower * (1 - 1e-5) < wrong <= risk.lower


def test_the_smallest_mu_of_gaussian_privacy(answer, said):
    found, _ = answer("attacker", *RUN, "--least-rate", "1e-4")
    mu = dp.gdp_parameter(dp.Gaussian(2) ** 3, least_rate="1e-4")
    assert found["least_rate"] == 1e-4
    assert Fraction(found["gdp_parameter"]["upper"]) >= mu.exact_upper
    assert found["gdp_parameter"]["upper"] == pytest.approx(3**0.5 / 2)
    told = said("attacker", *RUN, "--least-rate", "1e-4")
    assert "mu at most 0.866026" in told  # rounded up
    assert "error rates of at least 0.0001" in told


def test_noise_for_an_advantage_and_for_a_true_positive_rate(answer):
    found, _ = answer("calibrate", "--target-advantage", "0.1", "--steps", "1")
    least = dp.calibrate_to_total_variation(dp.Gaussian, "0.1")
    assert found["noise_multiplier"] == float(least.value)
    assert (found["target_epsilon"], found["target_delta"]) == (0, 0.1)
    found, _ = answer("calibrate", "--target-tpr", "0.1", "--at-fpr", "0.01", "--steps", "1")
    assert found["noise_multiplier"] == pytest.approx(0.957124361918)
    assert found["true_positive_rate"]["upper"] <= 0.1
    assert found["fails_at"] < found["noise_multiplier"]


@pytest.mark.seconds
def test_noise_for_a_mu(answer):
    found, _ = answer("calibrate", "--target-mu", "1/2", "--steps", "16")
    assert (found["target_mu"], found["least_rate"]) == (0.5, 1e-6)
    assert found["fails_at"] < 8 <= found["noise_multiplier"] < 8 * (1 + 1e-8)
    assert found["gdp_parameter"]["upper"] <= 0.5


@pytest.mark.seconds
def test_noise_for_a_mu_in_words(said):
    told = said("calibrate", "--target-mu", "1/2", "--steps", "16", "--least-rate", "1e-4")
    assert "mu 0.5 for error rates of at least 0.0001" in told


def test_pure_budgets(answer):
    found, _ = answer("epsilon", "--noise", "laplace", "--noise-multiplier", "4", "--steps", "3", "--delta", "0")
    assert found["epsilon"] == {"lower": 0.75, "upper": 0.75}
    assert (found["delta"], found["route"]) == (0, "sum of the largest losses")
    words = ("--noise", "laplace", "--steps", "3", "--target-epsilon", "0.75", "--target-delta", "0")
    assert answer("calibrate", *words)[0]["noise_multiplier"] == 4


def test_a_certificate_needs_a_delta(capsys, tmp_path):
    words = ("--noise", "laplace", "--noise-multiplier", "4", "--steps", "3", "--delta", "0")
    assert main(["epsilon", *words, "--certificate", str(tmp_path / "c.json")]) == 1
    assert "no rule for delta = 0" in capsys.readouterr().err
    assert not (tmp_path / "c.json").exists()


def test_a_time_limit_returns_the_same_where_it_is_not_reached(answer):
    options = ["--false-positive-rate", "0.01", "--baseline", "0.2"]
    whole, _ = answer("attacker", *RUN, *options)
    limited, notes = answer("attacker", *RUN, *options, "--time-limit", "1000000")
    assert (limited, notes) == (whole, "")


@pytest.mark.parametrize("prior", ["1/2", "0.1", "0.99"])
def test_a_time_limit_returns_bounds_that_hold(answer, monkeypatch, prior):
    options = ["--false-positive-rate", "0,0.01,0.3,1", "--prior", prior, "--baseline", "0.2"]
    whole, _ = answer("attacker", *RUN, *options)

    def stopped(*_):
        raise TimeIsUp

    monkeypatch.setattr("dpbounds.privacy.accountants.attackers.true_positive_rate", stopped)
    quick, notes = answer("attacker", *RUN, *options, "--time-limit", "1000000")
    assert "the time limit ended the search" in notes
    assert quick["complete"] is False
    names = ("advantage", "bayes_risk")
    known = [(whole[name], quick[name]) for name in names]
    known += [
        (exact["true_positive_rate"], found["true_positive_rate"])
        for exact, found in zip(whole["rates"], quick["rates"], strict=True)
    ]
    for exact, found in known:
        ends = found["lower"], exact["lower"], exact["upper"], found["upper"]
        assert sorted(ends, key=Fraction) == list(ends)
    assert whole["reconstruction_risk"] <= quick["reconstruction_risk"] < 1
    assert quick["rates"][1]["true_positive_rate"]["upper"] < 2 * whole["rates"][1]["true_positive_rate"]["upper"]
    assert quick["advantage"]["upper"] == whole["advantage"]["upper"]


def test_a_time_limit_within_which_nothing_is_proven_is_an_error(capsys):
    sampled = ["--noise-multiplier", "1", "--sampling", "random-allocation", "--batches", "100", "--epochs", "10"]
    assert main(["attacker", *sampled, "--time-limit", "1e-6"]) != 0
    assert "the time limit passed before any delta below 1 was proven; allow more" in capsys.readouterr().err
    assert main(["attacker", *RUN, "--time-limit", "1", "--least-rate", "0.01"]) != 0
    assert "does not fit --least-rate" in capsys.readouterr().err
