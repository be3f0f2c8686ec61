"""`--explain` in words and as data, every mechanism in words, the curves."""

import json
from fractions import Fraction

import pytest
from scipy import stats

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.printing.output import plain
from dpbounds.cli.printing.wording import described
from dpbounds.expressions.exact import exact
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.core import product_in_words

RUN = ["--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "1000"]
BOTH = ("add-or-remove-one", "replace-one")


def explained(capsys, *arguments):
    assert main([*arguments, "--explain"]) == 0
    return " ".join(capsys.readouterr().out.partition("how it was proven")[2].split())


def test_people_are_told_pair_source_route_assumptions_and_what_would_help(capsys):
    text = explained(capsys, "epsilon", *RUN, "--delta", "1e-6")
    for part in (
        "remove neighbours are at most as distinguishable as 1000 x (1-q) N(0, z²) + q N(1, z²) against N(0, z²)",
        "because: pairs.md, section 5, add or remove one (Zhu, Dong & Wang 2022); composed: pairs.md, section 2",
        "by a contour integral in ball arithmetic, 192 bits: [2.12451517",
        "mostly from: frequency tail",
        "add neighbours are at most as distinguishable",
        "a Chernoff bound shows that they spend less",
        "assumed each record adds a vector",
        "each record enters each sample independently",
        "tight yes",
        "better nothing here would give a smaller number",
        "so that no attack distinguishes with and without one record with an advantage",
    ):
        assert part in text, part


@pytest.mark.seconds
def test_people_are_told_what_is_loose(capsys):
    fixed = ["--sampling", "without-replacement", "--batch-size", "100", "--dataset-size", "10000", "--steps", "100"]
    text = explained(capsys, "epsilon", *RUN[:2], *fixed, "--delta", "1e-6", "--relation", "replace-one")
    for part in (
        "Balle, Barthe & Gaboardi 2018, advanced joint convexity",
        "attack (replace) two datasets are known that spend",
        "each batch is drawn afresh and uniformly, in secret",
        "tight no",
        "better Poisson samples (--sampling poisson) instead of batches of a fixed size, in the training too: their",
        "--tolerance 1e-06 aims at a narrower interval",
    ):
        assert part in text, part
    assert text.count("attack (replace)") == 1  # the best of several
    text = explained(capsys, "epsilon", *RUN[:2], *fixed, "--delta", "1e-6")
    assert "a record then moves a batch's sum by one bound, not two" in text
    assert "a public lower bound on the larger of two neighbours" in text


def test_programs_get_the_proofs(said):
    found = json.loads(said("epsilon", *RUN, "--delta", "1e-6", "--explain", "--json"))
    assert [(entry["order"], entry["role"]) for entry in found["explain"]] == [
        ("remove", "dominates"),
        ("add", "dominates"),
    ]
    entry = found["explain"][0]
    assert entry["route"] == found["route"]
    assert entry["parameters"]
    assert all(share >= 0 for share in entry["error_budget"].values())
    advantage = dp.membership_advantage(dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 1000)
    assert found["total_variation"] == {"lower": advantage.lower, "upper": advantage.upper}


def test_programs_get_the_attacks(capsys, ledger, said):
    path = ledger(dp.ExponentialMechanism("0.1", relation="replace-one") ** 2)
    run = ["epsilon", "--ledger", path, "--delta", "1e-6", "--relation", "replace-one", "--explain"]
    found = json.loads(said(*run, "--json"))
    assert {entry["role"] for entry in found["explain"]} == {"dominates", "attack"}
    assert main(run) == 0
    assert "under the relation stated" in " ".join(capsys.readouterr().out.split())


MECHANISMS = {
    dp.Gaussian(noise_stddev=2, sensitivity="0.5"): "Gaussian noise of stddev 2 at sensitivity 0.5",
    dp.Laplace(3): "Laplace noise multiplier 3",
    dp.Laplace(noise_scale=3, sensitivity=1): "Laplace noise of scale 3 at sensitivity 1",
    dp.UniformBall(3, 7): "noise uniform on a ball in 7 dimensions, radius 3 per unit of the per-record bound",
    dp.UniformBall(3, 7, sensitivity=2): "noise uniform on a ball in 7 dimensions, radius 3 at sensitivity 2",
    dp.DiscreteLaplace(3, 2): "discrete Laplace noise of scale 3, whole numbers, per-record l1 bound 2",
    dp.DiscreteGaussian(3): "discrete Gaussian noise of parameter 3, whole numbers, per-record l2 bound 1",
    dp.DiscreteGaussian(3, dimension=1): "per-record l2 bound 1 in 1 dimension",
    dp.MixtureOfGaussians(
        3, {0: "0.5", 2: "0.5"}
    ): "Gaussian noise of stddev 3, norms drawn from 0 (probability 0.5), 2 (probability 0.5)",
    dp.PermuteAndFlip("0.1", relation=BOTH[1]): "permute-and-flip, epsilon 0.1 (replace-one)",
    dp.RandomizedResponse("0.1", 3): "randomised response of 3 options, epsilon 0.1",
    dp.ExponentialMechanism("0.1", relation=BOTH[0], monotone=True): "epsilon 0.1 (add-or-remove-one, monotone)",
    dp.ExponentialMechanism("0.1", relation=BOTH[1]): "exponential mechanism, epsilon 0.1 (replace-one)",
    dp.AboveThreshold("0.1", relation=BOTH[1]): "above-threshold test, epsilon 0.1 (replace-one)",
    dp.PureDP("0.1", relation=BOTH[0]): "a black box with epsilon 0.1 (add-or-remove-one)",
    dp.ApproximateDP("0.1", "1e-6", relation=BOTH[0]): "a black box with epsilon 0.1, delta 1e-06",
    dp.ZCDP("0.1", relation=BOTH[0]): "a black box with rho-zCDP, rho 0.1",
    dp.RenyiDP({2: 1, 3: 2}, relation=BOTH[1]): "a black box with Rényi bounds at 2 orders",
    dp.InParallel((dp.Gaussian(1),)): "InParallel(",
}


@pytest.mark.parametrize(("mechanism", "words"), list(MECHANISMS.items()), ids=list(MECHANISMS.values()))
def test_every_mechanism_has_words(mechanism, words):
    assert words in described(mechanism)
    assert described(mechanism).startswith("a single release on the full batch, ")
    sampled = dp.SampledWithoutReplacement(mechanism, 1, 9) ** 4
    assert described(sampled).startswith("4 releases on one record of 9 drawn without replacement, ")
    assert words in described(sampled)
    assert "5 records of 9 drawn with replacement" in described(dp.SampledWithReplacement(mechanism, 5, 9))


@pytest.mark.parametrize("relation", BOTH)
def test_every_pair_has_words_and_a_source(relation):
    seen = set()
    for inner in (*MECHANISMS, dp.Gaussian(1), dp.Gaussian(1) ** 2 @ dp.Laplace(1), dp.Laplace(2, dimension=1)):
        for mechanism in (
            inner,
            dp.PoissonSampled(inner, "0.1"),
            dp.SampledWithoutReplacement(inner, 3, 20),
            dp.SampledWithReplacement(inner, 3, 20),
        ):
            try:
                classes = neighbour_classes(mechanism, dp.Relation(relation))
            except dp.UnsupportedMechanism:
                continue
            for each in classes.every():
                for product in (each.product, *each.attacks):
                    seen |= {type(pair) for pair, _ in product}
                    assert "finitely many" not in product_in_words(product, plain)
                    assert all(pair.proof for pair, _ in product)
                    assert "(" not in "".join(pair.proof for pair, _ in product)[:1]
    assert len(seen) >= 10


def test_words_for_what_only_proofs_use():
    assert pairs.Discrete((), Fraction(1)).in_words(plain) == "finitely many losses"
    assert pairs.Discrete((), Fraction(1)).proof == "sampling.md"


def test_the_trade_off_is_below_the_exact_one(tmp_path, capsys, rows):
    path = tmp_path / "trade-off.csv"
    assert (
        main(["epsilon", "--noise-multiplier", "2", "--steps", "1", "--delta", "1e-5", "--trade-off", str(path)]) == 0
    )
    assert str(path) in capsys.readouterr().err
    columns = rows(path)
    assert list(columns[0]) == ["type_one_error", "type_two_error_lower_bound"]
    errors = [exact(row["type_one_error"]) for row in columns]
    bounds = [exact(row["type_two_error_lower_bound"]) for row in columns]
    assert errors[0] == 0
    assert errors[-1] == 1
    assert errors == sorted(errors)
    assert bounds == sorted(bounds, reverse=True)
    for a, bound in zip(errors, bounds, strict=True):
        exactly = stats.norm.cdf(stats.norm.isf(float(a)) - 0.5)
        assert float(bound) <= exactly + 1e-14
        assert float(bound) == pytest.approx(exactly, rel=0.02, abs=1e-3)


def test_both_curves_come_from_the_same_points(tmp_path, monkeypatch, capsys):
    from dpbounds.privacy.accountants import certified as accountants

    asked = []
    real = accountants.delta_curve

    def delta_curve(mechanism, epsilons, relation, *, tolerance):
        asked.append(tuple(epsilons))
        return real(mechanism, asked[-1], relation, tolerance=tolerance)

    monkeypatch.setattr(accountants, "delta_curve", delta_curve)
    files = ["--curve", str(tmp_path / "a.csv"), "--trade-off", str(tmp_path / "b.csv")]
    assert main(["delta", "--noise-multiplier", "5", "--steps", "1", "--epsilon", "1", *files]) == 0
    assert [len(epsilons) for epsilons in asked] == [21]
    assert capsys.readouterr().err.count("wrote ") == 2
