import math
from fractions import Fraction

import pytest
from scipy import stats

import dpbounds as dp
from dpbounds.algorithms.ledger import Ledger, Release
from dpbounds.cli import main
from dpbounds.cli.answers import curves
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.privacy.accountants import certified as accountants

RUN = ["--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "1000"]
SINGLE = ["--noise-multiplier", "5", "--steps", "1"]


def gaussian_delta(epsilon, noise):
    """Balle & Wang 2018, Theorem 8, in floating point."""
    mu = 1 / noise
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def test_epsilon_is_the_library_s(answer):
    found, errors = answer("epsilon", *RUN, "--delta", "1e-6", "--relation", "replace-one")
    training = dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 1000
    enclosure = dp.epsilon(training, "1e-6", "replace-one")
    assert found["epsilon"] == {"lower": enclosure.lower, "upper": enclosure.upper}
    assert found["digits"] == enclosure.digits
    assert (found["delta"], found["relation"], found["method"]) == (1e-6, "replace-one", "certified")
    assert found["certified"] is True
    assert errors == ""


def test_delta_is_known_in_closed_form(answer):
    found, _ = answer("delta", *SINGLE, "--epsilon", "0.7")
    assert found["delta"]["lower"] <= found["delta"]["upper"]
    assert found["delta"]["upper"] == pytest.approx(gaussian_delta(0.7, 5), rel=1e-9)
    assert found["epsilon"] == 0.7


def test_epsilon_and_delta_are_inverse_to_each_other(answer):
    spent, _ = answer("epsilon", *SINGLE, "--delta", "1e-5", "--digits", "17")
    back, _ = answer("delta", *SINGLE, "--epsilon", spent["epsilon"]["upper"])
    assert back["delta"]["upper"] <= 1e-5 * (1 + 1e-12)
    assert back["delta"]["upper"] == pytest.approx(1e-5, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "mechanism"),
    [
        ("--sample-rate 0.1 --steps 10", dp.PoissonSampled(dp.Gaussian("1.1"), "0.1") ** 10),
        ("--sample-rate 1/3 --steps 1e1", dp.PoissonSampled(dp.Gaussian("1.1"), Fraction(1, 3)) ** 10),
        ("--sample-rate 0.1 --epochs 3", dp.PoissonSampled(dp.Gaussian("1.1"), "0.1") ** 30),
        ("--sample-rate 0.3 --epochs 1", dp.PoissonSampled(dp.Gaussian("1.1"), "0.3") ** 4),
        ("--sample-rate 0.25 --epochs 0.6", dp.PoissonSampled(dp.Gaussian("1.1"), "0.25") ** 3),
        (
            "--sampling poisson --batch-size 1 --dataset-size 3 --steps 7",
            dp.PoissonSampled(dp.Gaussian("1.1"), Fraction(1, 3)) ** 7,
        ),
        (
            "--sampling poisson --batch-size 7 --dataset-size 60000 --epochs 2",
            dp.PoissonSampled(dp.Gaussian("1.1"), Fraction(7, 60000)) ** 17143,
        ),
        ("--steps 12", dp.Gaussian("1.1") ** 12),
        ("--epochs 12", dp.Gaussian("1.1") ** 12),
        ("--sampling full-batch --epochs 2.5", dp.Gaussian("1.1") ** 3),
        ("", dp.Gaussian("1.1") ** 1),
    ],
)
def test_options_describe_the_mechanism_exactly(options, mechanism, questions, answer):
    answer("epsilon", "--noise-multiplier", "1.1", "--delta", "0.1", *options.split())
    assert questions[0][0] == mechanism
    assert questions[0][1]["delta"] == Fraction(1, 10)
    assert questions[0][1]["relation"] == "add-or-remove-one"


def test_a_single_release_is_not_assumed_in_silence(questions, answer):
    found, errors = answer("epsilon", "--noise-multiplier", "5", "--delta", "1e-5")
    assert found["steps"] == 1
    assert "a single release" in errors


def test_tolerance_is_handed_on(questions, answer):
    answer("epsilon", *SINGLE, "--delta", "1e-5", "--tolerance", "1/1000")
    answer("epsilon", *SINGLE, "--delta", "1e-5")
    assert questions[0][1]["tolerance"] == 0.001
    assert questions[1][1]["tolerance"] == accountants.DEFAULT_TOLERANCE


def test_fewer_steps_are_printed_beside_all(answer, said, capsys):
    run = ("--noise-multiplier", "20", "--steps", "100", "--relation", "replace-one")
    found, _ = answer("epsilon", *run, "--delta", "1e-6", "--after", "100,1, 10")
    assert [row["steps"] for row in found["after"]] == [1, 10, 100]
    for row in found["after"]:
        alone, _ = answer("epsilon", *run[:2], "--steps", str(row["steps"]), *run[4:], "--delta", "1e-6")
        assert row["epsilon"] == alone["epsilon"]
    assert found["after"][-1]["epsilon"] == found["epsilon"]
    of_delta, _ = answer("delta", *run, "--epsilon", "1", "--after", "10", "--digits", "12")
    assert of_delta["after"][0]["delta"]["upper"] < of_delta["delta"]["upper"]
    text = said("epsilon", *run, "--delta", "1e-6", "--after", "1,10", "--digits", "4")
    assert text.splitlines()[-3:] == ["steps  epsilon (proven, rounded up)", "1      0.3969", "10     1.368"]
    for wrong, told in (("101", "at most the number of steps, 100"), ("1,x", "--after"), ("0", "positive whole")):
        assert main(["epsilon", *run, "--delta", "1e-6", "--after", wrong]) == 2
        assert told in capsys.readouterr().err
    toeplitz = ("--toeplitz", "square-root", "--bands", "4", "--steps", "8", "--participation", "single")
    assert main(["epsilon", *toeplitz, "--noise-multiplier", "4", "--delta", "1e-6", "--after", "4"]) == 2
    assert (
        "--after must be left out where steps differ, or are not released one by one, not 4" in capsys.readouterr().err
    )
    assert main(["epsilon", *run, "--delta", "1e-6", "--after", "4", "--method", "rdp"]) == 2


@pytest.mark.seconds
def test_a_small_tolerance_is_honoured_or_refused(capsys, answer):
    found, errors = answer("epsilon", *SINGLE, "--delta", "1e-5", "--tolerance", "1e-40", "--digits", "45")
    assert found["digits"] >= 40
    assert "relative width" not in errors
    sampled = ("epsilon", "--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "20", "--delta", "1e-5")
    assert main([*sampled, "--tolerance", "1e-40"]) == 1
    assert "the relative width reached is" in capsys.readouterr().err


@pytest.mark.parametrize(("digits", "kind"), [("15", float), ("16", str), ("30", str)])
def test_many_digits_are_text(digits, kind, answer):
    found, errors = answer("epsilon", *SINGLE, "--delta", "1e-5", "--digits", digits)
    assert isinstance(found["epsilon"]["lower"], kind)
    assert isinstance(found["epsilon"]["upper"], kind)
    assert exact(found["epsilon"]["lower"]) < exact(found["epsilon"]["upper"])
    assert ("fewer than" in errors) == (found["digits"] < int(digits))


def test_values_below_the_reach_of_doubles_are_text(answer):
    found, _ = answer("delta", *SINGLE, "--epsilon", "20")
    assert isinstance(found["delta"]["upper"], str)
    assert 0 < Fraction(found["delta"]["lower"]) <= Fraction(found["delta"]["upper"]) < Fraction(1, 10**300)


def test_zero_is_zero(capsys, answer):
    found, _ = answer("epsilon", *SINGLE, "--delta", "0.5")
    assert found["epsilon"] == {"lower": 0.0, "upper": 0.0}
    assert main(["epsilon", *SINGLE, "--delta", "0.5"]) == 0
    assert capsys.readouterr().out.startswith("epsilon    0  (proven, exact)\n")


def test_people_see_the_upper_end_and_the_relation(said):
    lines = said("epsilon", *SINGLE, "--delta", "1e-5", "--digits", "4").splitlines()
    assert lines[0].startswith("epsilon    0.7256  (proven, rounded up")  # 0.72552...
    assert "relation   add-or-remove-one" in lines
    assert any("a single release on the full batch" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "warned"),
    [
        (["epsilon", "--delta", "1e-2", "--dataset-size", "100"], True),
        (["epsilon", "--delta", "1e-2", "--dataset-size", "99"], False),
        (["epsilon", "--delta", "1e-2"], False),
        (["delta", "--epsilon", "0.1", "--dataset-size", "100"], True),
        (["delta", "--epsilon", "1", "--dataset-size", "100"], False),
    ],
)
def test_a_delta_that_would_allow_publishing_a_record_draws_a_warning(arguments, warned, answer):
    _, errors = answer(*arguments, *SINGLE)
    assert ("warning: delta" in errors) == warned


def test_a_ledger_of_different_releases(answer, ledger):
    run = Ledger(
        (
            Release(Fraction(2), Fraction(1), Fraction(1, 100), 300),
            Release(Fraction(3), Fraction(2), Fraction(1, 50), 200),
            Release(Fraction(20), Fraction(1), None, 3),
        )
    )
    path = ledger(run.to_json())
    found, _ = answer("epsilon", "--ledger", path, "--delta", "1e-6")
    gaussian, sampled = dp.Gaussian, dp.PoissonSampled
    by_hand = (sampled(gaussian(2), "0.01") ** 300) @ (sampled(gaussian("1.5"), "0.02") ** 200) @ (gaussian(20) ** 3)
    enclosure = dp.epsilon(by_hand, "1e-6")
    assert found["epsilon"] == {"lower": enclosure.lower, "upper": enclosure.upper}
    assert found["ledger"] == path


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("{", "JSON"),
        ('{"format": "other"}', "format"),
        ('{"format": "dpbounds/ledger", "version": 1, "releases": []}', "empty"),
    ],
)
def test_a_file_that_is_no_ledger_is_bad_input(text, fragment, capsys, ledger):
    path = ledger(text)
    assert main(["epsilon", "--ledger", path, "--delta", "1e-6"]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert f"--ledger must be a ledger that dpbounds wrote, not {path}" in captured.err
    assert fragment in captured.err


def test_the_curve_is_certified_and_never_increases(tmp_path, answer, rows):
    path = tmp_path / "curve.csv"
    _, errors = answer("delta", *SINGLE, "--epsilon", "0.5", "--curve", str(path))
    assert str(path) in errors
    columns = rows(path)
    assert list(columns[0]) == ["epsilon", "delta_lower", "delta_upper"]
    epsilons = [exact(row["epsilon"]) for row in columns]
    assert epsilons == [Fraction(k, 20) for k in range(21)]  # twice as far as asked, in steps that are short decimals
    uppers = [exact(row["delta_upper"]) for row in columns]
    assert uppers == sorted(uppers, reverse=True)
    for row, epsilon in zip(columns, epsilons, strict=True):
        truth = dp.delta(dp.Gaussian(5), epsilon)
        assert exact(row["delta_lower"]) <= truth.exact_lower
        assert truth.exact_upper <= exact(row["delta_upper"])
        assert float(row["delta_upper"]) == pytest.approx(gaussian_delta(float(epsilon), 5), rel=1e-7, abs=1e-14)


def test_the_curve_takes_what_its_neighbours_prove(tmp_path, monkeypatch, answer, rows):
    path = tmp_path / "curve.csv"

    def uneven(epsilon):
        wide = Fraction(3, 10) if (epsilon * 20).numerator % 2 else Fraction(1, 100)
        centre = (2 - epsilon) / 4
        return Enclosure(centre - wide, centre + wide)

    monkeypatch.setattr(accountants, "delta_curve", lambda m, epsilons, r, *, tolerance: [*map(uneven, epsilons)])
    answer("delta", *SINGLE, "--epsilon", "0.5", "--curve", str(path))
    columns = [{name: exact(value) for name, value in row.items()} for row in rows(path)]
    for ends, order in (("delta_upper", min), ("delta_lower", max)):
        proven = [uneven(row["epsilon"]) for row in columns]
        for index, row in enumerate(columns):
            ends_so_far = (
                [point.exact_upper for point in proven[: index + 1]]
                if order is min
                else [point.exact_lower for point in proven[index:]]
            )
            assert float(row[ends]) == pytest.approx(float(order(ends_so_far)), rel=1e-15)
        assert [row[ends] for row in columns] == sorted((row[ends] for row in columns), reverse=True)


@pytest.mark.parametrize("centre", ["0", "0.123", "7", "1234.5", "1e-9"])
def test_the_grid_starts_at_zero_and_reaches_twice_as_far(centre):
    grid = list(curves.grid(exact(centre)))
    assert grid[0] == 0
    assert len(grid) == 21
    if centre != "0":
        assert 2 * exact(centre) <= grid[-1] <= exact("2.3") * exact(centre)


@pytest.mark.seconds
def test_statement_and_certificate(tmp_path, answer, said):
    path = tmp_path / "certificate.json"
    found, errors = answer("epsilon", *RUN, "--delta", "1e-6", "--statement", "--certificate", str(path))
    assert "add-or-remove-one" in found["statement"]
    assert "delta = 1e-06" in found["statement"]
    assert str(path) in errors
    assert "the certificate holds" in said("check", str(path))
    report, _ = answer("check", str(path))
    assert report["holds"] is True
    assert report["lines"]


def test_no_file_is_written_where_another_cannot_be(tmp_path, capsys):
    curve, certificate = tmp_path / "c.json", tmp_path / "new\nline.json"
    files = ["--trade-off", str(curve), "--certificate"]
    assert main(["epsilon", *SINGLE, "--delta", "1e-5", *files, "/proc/self/mem"]) == 2
    assert "--certificate must be a file that can be written" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(["epsilon", *SINGLE, "--delta", "1e-5", *files, str(certificate)]) == 0
    assert {curve, certificate} == set(tmp_path.iterdir())
    assert r"new\nline.json" in capsys.readouterr().err


def test_a_certificate_that_claims_too_much_does_not_hold(tmp_path, capsys, answer):
    path = tmp_path / "certificate.json"
    answer("epsilon", *SINGLE, "--delta", "1e-5", "--certificate", str(path))
    text = path.read_text()
    path.write_text(text.replace('"1/100000"', '"1/1000000"'))
    assert path.read_text() != text
    assert main(["check", str(path)]) == 1
    assert main(["check", str(path), "--json"]) == 1
    path.write_text("{")
    capsys.readouterr()
    assert main(["check", str(path)]) == 2  # this is no certificate
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"dpbounds: FILE must be a JSON file that means one thing, not {path}")
    assert captured.err.count("\n") == 1


def test_one_order_of_neighbours(answer, said):
    sampled = ("--noise-multiplier", "1", "--sample-rate", "0.1", "--steps", "10")
    mechanism = dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 10
    for verb, given, ask in (("epsilon", ("--delta", "1e-3"), dp.epsilon), ("delta", ("--epsilon", "1"), dp.delta)):
        for order in ("remove", "add"):
            found, _ = answer(verb, *sampled, *given, "--neighbour-order", order)
            spent = ask(mechanism, given[1], order=order)
            assert found[verb] == {"lower": spent.lower, "upper": spent.upper}
            assert (found["neighbour_order"], found["tight"]) == (order, True)
    text = said("epsilon", *sampled, "--delta", "1e-3", "--neighbour-order", "add", "--explain")
    assert "add only, which is not privacy" in text
    assert "\n  remove " not in text


def test_one_order_of_neighbours_is_not_published(refused):
    asked = ("epsilon", "--noise-multiplier", "1", "--steps", "1", "--delta", "1e-3", "--neighbour-order", "add")
    files = {
        "--certificate": "a.json",
        "--curve": "a.csv",
        "--trade-off": "a.csv",
        "--plot": "a.png",
        "--report": "a.html",
    }
    for option, file in {**files, "--kernel-certificate": "a.json"}.items():
        refused(*asked, option, file, told=[option, "--neighbour-order"])
    refused(*asked, "--statement", told=["--statement", "--neighbour-order"])
    refused(*asked, "--group-size", "2", told=["--neighbour-order", "--group-size"])
    refused(*asked, "--method", "rdp", told=["--neighbour-order", "--method certified"])
    refused(
        *asked, "--relation", "replace-one", told=["--neighbour-order must be replace under --relation replace-one"]
    )
