"""``--plot``: what is drawn is what was found."""

import math
from fractions import Fraction
from types import SimpleNamespace

import pytest

import dpbounds as dp
from dpbounds.algorithms.verification.judging.checks import Measured
from dpbounds.cli import main
from dpbounds.cli.answers import plots
from dpbounds.cli.answers.curves import ProvenCurve
from dpbounds.errors import InvalidValue
from dpbounds.rates.tightness import rows

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def _lines(figure):
    return {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
        for axes in figure.axes
        for line in axes.get_lines()
    }


def test_what_calibration_found_lies_on_the_curve_and_on_the_budget():
    found = dp.calibrate(dp.Gaussian, target_epsilon=1, target_delta="1e-6")
    drawn = _lines(plots.calibration(found, dp.Gaussian, "noise_multiplier"))
    at, uppers = drawn["proven to suffice"]
    lowers = drawn["proven to be needed"][1]
    assert drawn["calibrated"] == ([float(found.value)], [1.0])
    middle = at.index(float(found.value))
    assert uppers[middle] == pytest.approx(1, rel=1e-4)
    assert uppers == sorted(uppers, reverse=True)
    for z, low, high in zip(at, lowers, uppers, strict=True):
        assert low <= dp.epsilon(dp.Gaussian(z), "1e-6").upper * (1 + 1e-9)
        assert high >= dp.epsilon(dp.Gaussian(z), "1e-6").lower


@pytest.mark.parametrize(("solve", "value", "whole"), [("steps", 1, True), ("sample-rate", Fraction(3, 4), False)])
def test_values_beside_an_answer_are_of_its_kind(solve, value, whole):
    found = dp.calibrate(dp.Gaussian, target_epsilon=1, target_delta="1e-6")
    changed = dp.Calibration(
        Fraction(value),
        None,
        found.epsilon,
        *(found.target_epsilon, found.target_delta, found.relation),
        solve,
        *(found.mechanism, None),
    )
    around = list(plots._around(changed))
    assert value in around
    assert all(each > 0 and (not whole or each.denominator == 1) and (whole or each <= 1) for each in around)


def test_curves_are_drawn_where_they_are():
    curve = ProvenCurve(*(tuple(map(Fraction, ends)) for ends in ((0, 1), ("0.3", "0.1"), ("0.4", "0.2"))))
    drawn = _lines(plots.spending(curve))
    assert drawn["proven to suffice"] == ([0, 1], [0.4, 0.2])
    assert drawn["proven to be needed"] == ([0, 1], [0.3, 0.1])
    assert drawn["no attack is below"][1][0] == pytest.approx(0.8)  # 1 - δ, at the best of both ε


@pytest.mark.seconds
def test_every_ratio_is_drawn():
    found = rows.rows()
    figure = plots.tightness(found)
    ratios = sorted(finding.ratio.upper for row in found for finding in row.findings)
    assert len(figure.axes[0].get_yticklabels()) == len(ratios)
    assert figure.axes[0].get_xlim()[1] > ratios[-1]


def _outcome(name, kind, promised, measured, verdict):
    planned = SimpleNamespace(theorem="a/b", name=name, kind=kind)
    check = SimpleNamespace(predicted=promised, measured=Measured(*measured), verdict=verdict)
    return SimpleNamespace(planned=planned, check=check)


def test_checks_are_drawn_where_they_were_measured_and_by_their_verdict():
    outcomes = [
        _outcome("bound", "bound", 4.0, (1.0, 0.5, 2.0), "holds"),
        _outcome("broken", "bound", 1.0, (3.0, 2.0, 4.0), "fails"),
        _outcome("unclear", "spent", 2.0, (2.0, 1.0, 3.0), "undecided"),
        _outcome("exponent", "slope", -0.5, (-0.4, -0.6, -0.3), "holds"),
        _outcome("no mean", "bound", 1.0, (math.nan, math.nan, math.nan), "undecided"),
    ]
    ratios, exponents = plots.verification(outcomes).axes
    assert [text.get_text() for text in ratios.get_yticklabels()] == ["broken", "unclear", "bound"]
    assert [text.get_text() for text in exponents.get_yticklabels()] == ["exponent"]
    marks = [(line.get_xdata()[0], line.get_marker()) for line in ratios.lines if line.get_marker() != "None"]
    assert marks == [(3.0, "X"), (1.0, "o"), (0.25, "o")]
    assert next(line.get_markerfacecolor() for line in ratios.lines if line.get_marker() == "o") == "white"
    (mark,) = (line for line in exponents.lines if line.get_marker() == "o")
    assert mark.get_xdata()[0] == pytest.approx(0.1)
    assert "of room: 1." in str(plots.verification(outcomes).get_label())
    with pytest.raises(InvalidValue, match="finite numbers"):
        plots.verification(outcomes[-1:])


@pytest.mark.seconds
@pytest.mark.parametrize("ending", SIGNATURES)
def test_verbs_draw(ending, tmp_path, capsys):
    path = tmp_path / f"picture{ending}"
    for words in (
        ("epsilon", "--noise-multiplier", "5", "--steps", "1", "--delta", "1e-6"),
        ("audit", "dp-pgd", "--runs", "300"),
        ("verify", "tholeti-kalyani-2020/equation-6"),
        ("tightness", "dpbounds/storm"),
        ("regimes", "gradient-norm"),
        ("calibrate", "--target-epsilon", "1", "--target-delta", "1e-6", "--steps", "2"),
    ):
        assert main([*words, "--plot", str(path)]) == 0
        assert path.read_bytes().startswith(SIGNATURES[ending])
        path.unlink()


@pytest.mark.minutes
def test_a_plan_is_drawn_against_the_number_of_records(tmp_path):
    from dpbounds.rates.plan import plan

    known = {"dimension": 10, "epsilon": 1, "delta": Fraction(1, 10**6)}
    known |= {"lipschitz": 1, "smoothness": 1, "initial_gap": 1}
    figure = plots.plan(lambda n: plan("gradient-norm", dataset_size=n, **known), Fraction(100))
    drawn = _lines(figure)
    assert drawn["without any algorithm"][1] == [1.0] * 5
    (name,) = (name for name in drawn if name.startswith("dpbounds, storm "))
    (there,) = (one for one in plan("gradient-norm", dataset_size=100, **known).ranking if one.id == "dpbounds/storm")
    assert name.endswith(f"(meaningful from n = {there.meaningful_from.dataset_size})")
    marks = [line for line in figure.axes[0].lines if line.get_label() == "_"]
    assert there.meaningful_from.dataset_size in [mark.get_xdata()[0] for mark in marks]
    assert {mark.get_ydata()[0] for mark in marks} == {1.0}
    best = drawn[name]
    assert best[0] == [10, 30, 100, 300, 1000]
    assert best[1] == sorted(best[1], reverse=True)


def test_what_cannot_be_drawn_is_refused(refused):
    assert ".png, .svg, .pdf" in refused("tightness", "--plot", "x.csv")
    assert "certified instance" in refused("tightness", "wang-chen-xu-2019/theorem-8/explicit", "--plot", "x.png")
    assert "--plot" in refused("audit", "--mutations", "--plot", "x.png")
    budget = ("--target-epsilon", "1", "--target-delta", "1e-6")
    assert "--plot" in refused("calibrate", *budget, "--group-size", "2", "--plot", "x.png")
