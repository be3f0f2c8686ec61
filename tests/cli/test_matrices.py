"""Correlated noise on the command line: matrices by file and by coefficients, participations, one-line refusals."""

import pytest

import dpbounds as dp
from dpbounds.expressions.exact import exact

NOISE = ["--noise-multiplier", "3", "--delta", "1e-5"]
ADDED = ["--relation", "add-or-remove-one"]
ZERO = ["--relation", "zero-out-one"]
FIXED = ["--participation", "fixed-order", "--separation", "6"]
BANDED = ["--toeplitz", "1,1/2,3/8", "--bands", "2", "--steps", "24"]
CYCLIC = ["--participation", "cyclic-poisson", "--separation", "6", "--sample-rate", "0.1"]
HALF = dp.Toeplitz([1, "1/2"], 24)


def mechanism(matrix, participation, **given):
    return dp.MatrixMechanism(3, matrix, participation, **given)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([*BANDED, *FIXED], mechanism(HALF, "fixed-order", separation=6)),
        ([*BANDED[:4], "--epochs", "3.9", *FIXED], mechanism(HALF, "fixed-order", separation=6)),
        ([*BANDED, "--participation", "single"], mechanism(HALF, "single")),
        (
            [*BANDED, "--participation", "minimum-separation", "--separation", "5", "--at-most", "2"],
            mechanism(HALF, "minimum-separation", separation=5, at_most=2),
        ),
        (
            [*BANDED, *CYCLIC, "--groups", "content"],
            mechanism(HALF, "cyclic-poisson", separation=6, sample_rate="0.1", groups="content"),
        ),
        (
            ["--toeplitz", "square-root", "--bands", "5", "--steps", "24", *FIXED],
            mechanism(dp.Toeplitz("square-root", 24, 5), "fixed-order", separation=6),
        ),
        (["--tree", "--steps", "24", *FIXED], mechanism(dp.BinaryTree(24), "fixed-order", separation=6)),
    ],
)
def test_options_describe_the_mechanism(options, expected, answer):
    found, _ = answer("epsilon", *options, *NOISE, *ZERO)
    spent = dp.epsilon(expected, "1e-5", "zero-out-one")
    assert found["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
    assert (found["participation"], found["groups"]) == (expected.participation, expected.groups)
    assert (found["sampling"], found["steps"], found["separation"]) == ("correlated", 24, expected.separation)


def test_a_matrix_in_a_file(tmp_path, answer, refused, said):
    path = tmp_path / "matrix.csv"
    path.write_text("1, 0, 0\n-0.5, 1, 0\n\n1/4, -0.5, 1\n")
    found, _ = answer("epsilon", "--matrix", str(path), *FIXED[:3], "1", *NOISE, *ZERO)
    spent = dp.epsilon(
        mechanism([[1], ["-0.5", 1], ["1/4", "-0.5", 1]], "fixed-order", separation=1), "1e-5", "zero-out-one"
    )
    assert found["epsilon"]["upper"] == spent.upper
    assert "a matrix of 3 bands" in said("epsilon", "--matrix", str(path), *FIXED[:3], "1", *NOISE, *ZERO)
    for text, told in (
        ("1,2\n3,4\n", "lower triangular"),
        ("1\nx,1\n", "a number"),
        ("1\n1,0\n", "diagonal"),
        ("", "rows"),
    ):
        path.write_text(text)
        line = refused("epsilon", "--matrix", str(path), *FIXED, *NOISE, *ZERO)
        assert "--matrix" in line
        assert told in line


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([*BANDED, *FIXED, *ADDED], ["--relation replace-one", "--relation zero-out-one"]),
        ([*BANDED, *ZERO], ["--participation", "fixed-order", "cyclic-poisson"]),
        ([*BANDED, *ZERO, "--participation", "shuffled"], ["--participation", "fixed-order"]),
        ([*BANDED, *ZERO, *FIXED[:2]], ["--separation is missing"]),
        ([*BANDED[:4], *ZERO, *FIXED], ["--steps", "--epochs"]),
        ([*BANDED, "--epochs", "3", *ZERO, *FIXED], ["--epochs", "not both"]),
        ([*BANDED[:4], "--epochs", "3", *ZERO, "--participation", "single"], ["--separation"]),
        ([*BANDED, "--tree", *FIXED, *ZERO], ["--tree", "--toeplitz"]),
        (["--tree", "--steps", "9", "--bands", "2", *FIXED, *ZERO], ["--bands 2", "--tree"]),
        (["--tree", "--steps", "9", *CYCLIC, *ZERO], ["a tree", "overlap"]),
        ([*BANDED, *FIXED, *ZERO, "--sampling", "poisson"], ["--sampling poisson", "--participation"]),
        ([*BANDED, *FIXED, *ZERO, "--sample-rate", "0.1"], ["--sample-rate 0.1"]),
        ([*BANDED, *FIXED, *ZERO, "--groups", "size"], ["--groups", "content"]),
        (["--steps", "3", *FIXED], ["--participation fixed-order", "--toeplitz"]),
        (["--toeplitz", "0,1", "--steps", "3", *FIXED, *ZERO], ["not 0"]),
        (
            [*BANDED, *CYCLIC[:3], "2", *CYCLIC[4:], "--groups", "content", "--relation", "replace-one"],
            ["separation of 3"],
        ),
    ],
)
def test_what_does_not_fit_is_one_line(options, told, refused):
    refused("epsilon", *options, *NOISE, told=told)


def test_a_ledger_goes_without_a_matrix(ledger, refused):
    path = ledger(dp.Gaussian(3))
    for options in (["--tree"], ["--participation", "single"]):
        assert "--ledger" in refused("epsilon", "--ledger", path, "--delta", "1e-5", *options)


@pytest.mark.seconds
def test_noise_is_calibrated(data, refused, said):
    budget = ["--target-epsilon", "1", "--target-delta", "1e-5"]
    found = data("calibrate", *BANDED, *CYCLIC, *budget, "--groups", "independent")
    expected = dp.calibrate(
        mechanism(HALF, "cyclic-poisson", separation=6, sample_rate="0.1", groups="independent").with_noise, 1, "1e-5"
    )
    assert found["noise_multiplier"] == pytest.approx(float(expected.value), rel=1e-12)
    assert exact(found["fails_at"]) < exact(found["noise_multiplier"])
    assert (found["participation"], found["bands"], found["steps"]) == ("cyclic-poisson", 2, 24)
    assert "one of 6 groups" in said("calibrate", *BANDED, *FIXED, *budget, *ZERO)
    assert "--solve" in refused(
        "calibrate", *BANDED[:4], *FIXED, "--noise-multiplier", "3", *budget, "--solve", "steps"
    )


def test_explanations_name_the_proof(said):
    text = said("epsilon", *BANDED, *FIXED, *NOISE, *ZERO, "--explain")
    assert "each row has independent, ideal noise" in " ".join(text.split())


def test_the_best_matrix_is_looked_for_and_what_it_costs_is_proven(data, refused, said):
    wanted = ["--matrix", "optimal", "--steps", "24", *FIXED, "--target-epsilon", "1", "--target-delta", "1e-5", *ZERO]
    found = data("calibrate", *wanted, "--error", "largest")
    best = dp.optimal_toeplitz(24, 6, separation=6, error="largest")
    assert found["coefficients"] == [float(c) for c in best.coefficients]
    assert found["error_of_sums"] == pytest.approx(
        found["noise_multiplier"] * dp.prefix_error(best, "largest").upper, rel=1e-12
    )
    again = ["--toeplitz", ",".join(map(str, found["coefficients"])), *wanted[2:], "--error", "largest"]
    assert data("calibrate", *again)["noise_multiplier"] == pytest.approx(found["noise_multiplier"], rel=1e-9)
    single = ["--matrix", "optimal", "--steps", "9", "--participation", "single", *wanted[8:]]
    assert "coefficients      1, 0." in said("calibrate", *single)
    assert "--bands" in refused("calibrate", *wanted, "--bands", "7")
    assert "error" in refused("calibrate", *wanted, "--error", "median")
    assert "coefficients" not in said("calibrate", "--tree", *wanted[2:])


@pytest.mark.seconds
def test_secret_bins(answer, refused):
    options = ["--toeplitz", "1,1/2", "--steps", "24", "--participation", "balls-in-bins", "--separation", "6"]
    found, _ = answer("epsilon", *options, *NOISE, "--tolerance", "1e-3")
    spent = dp.epsilon(mechanism(HALF, "balls-in-bins", separation=6), "1e-5", tolerance=1e-3)
    assert found["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
    assert (found["groups"], found["tight"]) == ("independent", False)
    assert "independent" in refused("epsilon", *options, *NOISE, "--groups", "content")
