"""`dpbounds fit`: a private model and a private score of a CSV file with declared columns."""

import json
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms.estimator import PrivateLinearClassifier
from dpbounds.algorithms.estimators import held_out as estimated
from dpbounds.algorithms.estimators.held_out import held_out
from dpbounds.algorithms.ledger import Ledger
from dpbounds.algorithms.problems.declared import read_declared

VERB = ("fit",)
BUDGET = ("--epsilon", "20", "--delta", "1e-4")
SHOPS = ("--category", "shop=north,south", "--ranges", "ranges.csv", *BUDGET)


@pytest.fixture(autouse=True)
def shops(tmp_path, monkeypatch):
    """Sales rise with the size of a shop, and are higher in the north; a city is text."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    lines = ["size,shop,city,sales,kind"]
    for size in draw.uniform(0, 10, 600):
        place = draw.choice(["north", "south"])
        sales = 50 + 4 * size + (10 if place == "north" else -10)
        lines.append(f"{size:.3f},{place},Leeds,{sales:.3f},{'large' if size > 5 else 'small'}")
    (tmp_path / "shops.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "ranges.csv").write_text("feature,lower,upper\nsize,0,10\n")
    (tmp_path / "kinds.csv").write_text("feature,value\nshop,north\nshop,south\ncity,Leeds\n")


def score_of(answer, *, label):
    """The score on the held-out records, from the published coefficients and without noise."""
    categories = {name.partition("=")[0]: ("north", "south") for name in answer["features"] if "=" in name}
    left_out = ("city", "sales") if label == "kind" else ("city", "kind")
    records = read_declared("shops.csv", categories, "ranges.csv", label, left_out)
    apart = held_out(len(records.labels), Fraction(1, 4))
    decided = records.features[apart] @ np.array(answer["coefficients"])[0] + answer["intercepts"][0]
    if label == "sales":
        return np.abs(decided - records.numbers()[apart]).mean()
    labels = np.array(records.labels)[apart]
    return (np.where(decided > 0, answer["classes"][1], answer["classes"][0]) == labels).mean()


@pytest.mark.seconds
def test_a_classifier_with_a_score_and_a_statement(data):
    words = ("shops.csv", "--classes", "small,large", "--drop", "city,sales")
    answer = data(*words, *SHOPS)
    assert answer["features"] == ["size", "shop=north", "shop=south"]
    assert (answer["model"], answer["classes"]) == ("classifier", ["large", "small"])
    assert answer["records"] == {"fitted": 450, "held_out": 150}
    assert answer["score"]["value"] == pytest.approx(score_of(answer, label="kind"), abs=0.02)
    assert answer["score"]["value"] > 0.85
    assert answer["statement"].startswith(
        "Model and score together are (20, 0.0001)-differentially private under replace-one"
    )
    assert "Score: the accuracy on held-out records" in answer["statement"]
    model, ledger, statement = answer["files"]
    with open(model) as file:
        assert json.load(file)["coefficients"] == answer["coefficients"]
    with open(ledger) as file:
        spent = dp.epsilon(Ledger.from_json(file.read()).mechanism(), "1e-4", "replace-one")
    assert spent.at_most(20)
    with open(statement) as file:
        assert file.read() == answer["statement"] + "\n"


def test_no_record_is_in_both_parts(data, monkeypatch):
    """The model sees the records that are not held out, and the score those that are; each whole part, once."""
    seen = {}
    fit, mean = PrivateLinearClassifier.fit, estimated.private_mean

    def fitted(self, X, y, **more):
        seen["fitted"] = (X, y)
        return fit(self, X, y, **more)

    def scored(losses, *more):
        seen["losses"] = losses
        return mean(losses, *more)

    monkeypatch.setattr(PrivateLinearClassifier, "fit", fitted)
    monkeypatch.setattr(estimated, "private_mean", scored)
    answer = data("shops.csv", "--classes", "small,large", "--drop", "city,sales", *SHOPS)
    records = read_declared("shops.csv", {"shop": ("north", "south")}, "ranges.csv", "kind", ("city", "sales"))
    apart, labels = held_out(600, Fraction(1, 4)), np.array(records.labels)
    np.testing.assert_array_equal(seen["fitted"][0], records.features[~apart])
    np.testing.assert_array_equal(seen["fitted"][1], labels[~apart])
    decided = records.features[apart] @ np.array(answer["coefficients"])[0] + answer["intercepts"][0]
    wrong = np.where(decided > 0, "small", "large") != labels[apart]
    np.testing.assert_array_equal(seen["losses"], wrong)


@pytest.mark.seconds
def test_a_regressor_for_people(said, data):
    words = (
        "shops.csv",
        "--label",
        "sales",
        "--target-range",
        "0,200",
        "--drop",
        "kind,city",
        "--ranges",
        "ranges.csv",
    )
    categories = ("--categories", "kinds.csv")
    with open("kinds.csv") as file:
        text = file.read().replace("city,Leeds\n", "")
    with open("kinds.csv", "w") as file:
        file.write(text)
    answer = data(*words, *categories, *BUDGET)
    assert (answer["score"]["kind"], answer["target_range"]) == ("mean absolute error", [0, 200])
    assert answer["score"]["value"] == pytest.approx(score_of(answer, label="sales"), abs=0.5)
    assert answer["score"]["value"] < 10
    out = said(*words, *categories, *BUDGET)
    assert "mean absolute error  " in out
    assert "linear regressor, 3 features" in out
    assert "Written: dpbounds-fit/model.json" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--classes", "small,large"), ["--ranges or --estimate-ranges", "values of single records"]),
        (("--ranges", "ranges.csv"), ["--classes or --target-range", "published"]),
        (("--classes", "a,b", "--target-range", "0,1"), ["--classes does not fit --target-range"]),
        (("--classes", "a,b", "--ranges", "x.csv", "--estimate-ranges"), ["--ranges does not fit --estimate-ranges"]),
        (("--classes", "small,large", "--ranges", "ranges.csv"), ["city", "declaration", "published"]),
        (("--classes", "small,large", "--estimate-ranges"), ["declaration of 'shop', 'city'", "--drop", "published"]),
        (("--classes", "small,big", *SHOPS[:4], "--drop", "city,sales"), ["--classes", "small,big"]),
        (("--classes", "small,large", "--estimate-ranges", "--category", "shop"), ["--category", "NAME=A,B"]),
        (("--classes", "small,large", *SHOPS[:4], "--categories", "kinds.csv"), ["'shop'", "declared once"]),
        (("--classes", "small,large", *SHOPS[:4], "--categories", "ranges.csv"), ["--categories", "feature, value"]),
        (("--target-range", "5,1", *SHOPS[:4], "--drop", "city,sales"), ["--target-range", "LOW < HIGH"]),
        (("--target-range", "0,1e400", *SHOPS[:4], "--drop", "city,sales"), ["--target-range", "1e+300"]),
        (("--target-range", "0,1e-400", *SHOPS[:4], "--drop", "city,sales"), ["--target-range", "LOW < HIGH"]),
        (("--classes", "small,large", *SHOPS[2:4], "--drop", "size,shop,city,sales"), ["at least one feature"]),
        (("--target-range", "5", *SHOPS[:4], "--drop", "city,sales"), ["--target-range", "LOW,HIGH"]),
        (("--target-range", "0,9", *SHOPS[:4], "--drop", "city,sales"), ["column 'kind'", "finite numbers"]),
        (("--classes", "small,large", *SHOPS[:4], "--held-out", "1"), ["--held-out", "less than 1"]),
    ],
)
def test_what_would_leak_or_does_not_fit_is_refused(words, told, refused):
    refused("shops.csv", *words, *BUDGET, told=told)


def test_a_budget_that_is_not_confirmed_publishes_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("dpbounds.privacy.accountants.certified.delta", lambda *_: dp.Enclosure.exactly(Fraction(1, 2)))
    assert dp_main("fit", "shops.csv", "--classes", "small,large", "--drop", "city,sales", *SHOPS) == 1
    assert "nothing is published" in capsys.readouterr().err
    assert not (tmp_path / "dpbounds-fit").exists()


def dp_main(*arguments):
    from dpbounds.cli import main

    return main(list(arguments))
