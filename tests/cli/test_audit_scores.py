"""`dpbounds audit --scores`: bounds from a file of scores, compared with claims from options and files."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.answers import plots
from dpbounds.privacy.publishing.certificates import write_certificate

VERB = ("audit",)
DELTA = "1e-5"


@pytest.fixture(scope="module")
def known():
    """Noisy sums: Gaussian noise of standard deviation 1/2 on every coin."""
    draw = np.random.default_rng(0)
    coins = draw.random(400) < 0.5
    return np.round(coins + draw.normal(size=400) / 2, 4), coins


@pytest.fixture
def scores(known, tmp_path):
    """One file of both kinds, as a word of a command."""
    path = tmp_path / "scores.csv"
    lines = (f"{number},{value},{int(coin)}\n" for number, (value, coin) in enumerate(zip(*known, strict=True)))
    path.write_text("run,Score,in\n" + "".join(lines), "utf-8")
    return str(path)


@pytest.fixture
def written(tmp_path):
    """Write a file, and return its name."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return str(path)

    return write


@pytest.mark.parametrize("design", ["one-run", "many-runs"])
def test_for_people_and_programs(design, known, scores, data, said):
    words = ("--scores", scores, f"--{design}", "--delta", "1e-4", "--confidence", "0.9")
    found = dp.audit_scores(*known, design=design, delta="1e-4", confidence="0.9")
    answer = data(*words)
    assert answer["lower"]["epsilon"] <= found.epsilon
    assert answer["lower"] == {"epsilon": pytest.approx(float(found.epsilon)), "found_by": found.found_by}
    assert answer["gaussian"]["mu"] == pytest.approx(float(found.mu))
    assert answer["gaussian"]["epsilon"] == pytest.approx(float(found.gaussian_epsilon))
    assert (answer["included"], answer["excluded"]) == (known[1].sum(), (~known[1]).sum())
    assert (answer["delta"], answer["confidence"], answer["design"]) == (1e-4, 0.9, design)
    assert answer["relation"] == "add-or-remove-one"  # of an audit of algorithms it is replace-one
    assert answer["claim"] is answer["claim_refuted"] is answer["gaussian_claim_refuted"] is None
    out = said(*words)
    assert f"at delta = 0.0001, 0.9 confidence ({found.found_by})" in out
    assert "verdict" not in out
    shown = Fraction(out.split("at least     epsilon ")[1].split()[0])
    assert shown <= found.epsilon < shown * (1 + Fraction(1, 10**4))


def test_two_files_are_one(known, scores, written, data):
    values, coins = known
    inside = written("in.csv", "score\n" + "".join(f"{value}\n" for value in values[coins]))
    outside = written("out.csv", "score\n" + "".join(f"{value}\n" for value in values[~coins]))
    both = data("--scores", inside, "--scores-out", outside, "--many-runs")
    assert both == data("--scores", scores, "--many-runs")
    exchanged = data("--scores", outside, "--scores-out", inside, "--many-runs")
    assert exchanged["lower"]["epsilon"] == 0


def test_a_numpy_file_is_read_as_a_csv_file_is(known, scores, data, tmp_path):
    values, coins = known
    both, inside, outside = (str(tmp_path / name) for name in ("both.npy", "in.npy", "out.npy"))
    np.save(both, np.column_stack([values, coins]))
    np.save(inside, values[coins])
    np.save(outside, values[~coins, np.newaxis].astype(np.float64))
    expected = data("--scores", scores, "--one-run")
    assert data("--scores", both, "--one-run") == expected
    assert data("--scores", inside, "--scores-out", outside, "--one-run")["lower"] == expected["lower"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (np.zeros(4), "columns score and in, not .*its shape is"),
        (np.zeros((4, 3)), "its shape is"),
        (np.array([[1.0, 2.0]]), "holds 1 or 0"),
        (np.array([[np.nan, 1.0]]), "finite scores"),
        (np.array([["1", "0"]]), "its entries are not numbers"),
        (b"score,in\n1,1\n", "a NumPy file of numbers"),
    ],
)
def test_a_numpy_file_that_has_no_scores_is_refused(content, told, refused, tmp_path):
    path = tmp_path / "scores.npy"
    path.write_bytes(content) if isinstance(content, bytes) else np.save(path, content)
    assert re.search(told, refused("--scores", str(path), "--one-run"))


def test_choices_are_passed_on(known, scores, data):
    words = ("--scores", scores)
    guessed = data(*words, "--one-run", "--guesses", "40", "--relation", "zero-out-one")
    assert guessed["lower"]["found_by"].endswith(" of 40 guesses right")
    assert guessed["relation"] == "zero-out-one"
    assert guessed["delta"] == 1e-5
    found = dp.audit_scores(*known, design="many-runs", delta=DELTA, threshold=0.75)
    assert data(*words, "--many-runs", "--threshold", "3/4")["lower"]["found_by"] == found.found_by


# --- Claims


def test_a_claim_by_options(scores, data, said):
    words = ("--scores", scores, "--many-runs", "--delta", DELTA)
    kept = data(*words, "--epsilon", "20")
    assert kept["claim"] == {"epsilon": 20, "delta": 1e-5, "relation": "add-or-remove-one", "source": "--epsilon"}
    assert (kept["claim_refuted"], kept["gaussian_claim_refuted"]) == (False, False)
    out = said(*words, "--epsilon", "20")
    assert f"compatible: the audit shows epsilon >= {kept['lower']['epsilon']:.5f}"[:-1] in out
    assert out.endswith("the claim is 20\n")
    refuted = said(*words, "--epsilon", "1", status=1)
    assert "refuted at confidence 95 %: the audit shows epsilon >= " in refuted
    between = said(*words, "--epsilon", "5")
    assert "refuted at confidence 95 % if the run is Gaussian private, else compatible" in between


def test_a_claim_by_ledger_or_certificate(scores, data, said, ledger, tmp_path):
    words = ("--scores", scores, "--many-runs")
    true, wrong = dp.Gaussian("1/2"), dp.Gaussian(4)
    for mechanism, refuted in ((true, False), (wrong, True)):
        account = dp.account(mechanism, delta=DELTA)
        path = tmp_path / "certificate.json"
        write_certificate(path, account)
        for file in (str(path), ledger(mechanism)):
            said(*words, "--claim", file, status=int(refuted))
    answer = data(*words, "--claim", ledger(true))
    assert answer["claim"]["source"].startswith("ledger ")
    assert answer["claim"]["epsilon"] == pytest.approx(dp.epsilon(true, DELTA).upper)
    assert answer["claim_refuted"] is answer["gaussian_claim_refuted"] is False


def test_a_certificate_brings_its_delta_and_relation(scores, data, refused, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    write_certificate(path, dp.account(dp.Gaussian("1/2"), delta="1e-7"))
    words = ("--scores", scores, "--many-runs", "--claim", str(path))
    assert data(*words)["delta"] == 1e-7
    assert "is not the δ of the certificate, 1e-07" in refused(*words, "--delta", "1e-5")
    assert "that of the certificate, add-or-remove-one" in refused(*words, "--relation", "replace-one")
    assert "--epsilon does not fit --claim" in refused(*words, "--epsilon", "1")
    document = json.loads(path.read_text("utf-8"))
    document["accounts"][0]["claim"] |= {"lower": "1", "upper": "1"}
    path.write_text(json.dumps(document), "utf-8")
    assert main([*VERB, *words]) == 1
    assert "does not hold: `dpbounds check` says why" in capsys.readouterr().err


# --- Files that are written


def test_a_report(scores, said, tmp_path):
    path = tmp_path / "report.html"
    said("--scores", scores, "--one-run", "--epsilon", "0.5", "--report", str(path), status=1)
    page = path.read_text("utf-8")
    for text in ("refutes the claim of ε = 0.5", "a fair coin of its own", "Who signs?", "guesses right"):
        assert text in page
    said("--scores", scores, "--many-runs", "--report", str(path))
    page = path.read_text("utf-8")
    assert "The audit shows ε of at least" in page
    assert "the runs are independent" in page


@pytest.mark.seconds
def test_a_picture(known, scores, said, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.svg"
    said("--scores", scores, "--many-runs", "--epsilon", "20", "--plot", str(path))
    assert "false negative rate" in path.read_text("utf-8")
    values, coins = known
    found = dp.audit_scores(values, coins, design="many-runs", delta=DELTA)
    panel = plots.scores_panel(values, coins, found, Fraction(20))
    drawn = {line.get_label(): line for line in plots.scores(panel).axes[0].lines}
    measured = dict(zip(*drawn["measured"].get_data(), strict=True))
    thresholds = np.unique(values)
    for rate, missed in list(measured.items())[::20]:  # by a count of its own
        at = thresholds[np.isclose([(values[~coins] > t).mean() for t in thresholds], rate)]
        assert any(np.isclose((values[coins] <= t).mean(), missed) for t in at)
    (claimed,) = (line for label, line in drawn.items() if "claim" in label)
    assert claimed.get_ydata()[0] == pytest.approx(1 - 1e-5)
    assert claimed.get_ydata()[-1] == 0
    assert len(plots.scores_panel(values, coins, found, Fraction(10**400)).curves) == len(panel.curves) - 1


# --- What is refused


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "whose first line names the columns score and in"),
        ("score,out\n1,0\n", "whose first line names the columns score and in"),
        ("score,in,in\n1,0,0\n", "whose first line names the columns score and in"),
        ("score,in\n1,0\n2\n", "line 3 has 1 entries"),
        ("score,in\n1,0\n,1\n", "line 3"),
        ("score,in\nnan,0\n2,1\n", "line 2"),
        ("score,in\n1e999,0\n2,1\n", "line 2"),
        ("score,in\n1,0\n2,maybe\n", "line 3"),
        ("score,in\n1,1\n2,1\n", "none that was out"),
        ("score,in\n1,1\n", "from 2 to"),
        ('score,in\n"1,1\n', "whose first line names"),
    ],
    ids=repr,
)
def test_files_that_are_no_scores(text, told, refused, written):
    assert told in refused("--scores", written("scores.csv", text), "--many-runs")


def test_options_that_do_not_fit(scores, refused, written):
    words = ("--scores", scores)
    assert "--one-run (one run with many canaries" in refused(*words)
    assert "needs one of --one-run" in refused(*words, "--one-run", "--many-runs")
    for option in (("--runs", "50000"), ("--seed", "0"), ("--jobs", "1"), ("--seconds", "1"), ("--enough", "0.9")):
        assert f"{option[0]} does not fit --scores" in refused(*words, "--one-run", *option)
    assert "--mutations does not fit --scores" in refused(*words, "--one-run", "--mutations")
    assert "ALGORITHM does not fit --scores" in refused("dp-pgd", *words, "--one-run")
    assert "--output does not fit --scores" in refused(*words, "--one-run", "--output", "o")
    for option in (("--many-runs",), ("--threshold", "0"), ("--guesses", "3"), ("--claim", "c"), ("--scores-out", "c")):
        assert f"{option[0]} needs --scores" in refused("dp-pgd", "--runs", "20", *option)
    assert "None with many runs" in refused(*words, "--many-runs", "--guesses", "3")
    for text in ('{"a": 1}', "[]"):
        claim = written("claim.json", text)
        assert "a certificate or a ledger" in refused(*words, "--many-runs", "--claim", claim)


def test_pure_privacy_is_audited_by_scores_only(known, scores, data, refused):
    found = data("--scores", scores, "--many-runs", "--delta", "0")
    assert (found["delta"], found["gaussian"]["epsilon"]) == (0, None)
    pure = dp.audit_scores(*known, design="many-runs", delta=0)
    assert found["lower"]["epsilon"] == pytest.approx(float(pure.epsilon))
    assert "only audits of scores take 0" in refused("dp-pgd", "--delta", "0")


def test_zero_is_a_threshold(scores, data):
    found = data("--scores", scores, "--many-runs", "--threshold", "0")
    assert found["lower"]["found_by"].startswith("error rates of at most")
    assert data("--scores", scores, "--many-runs", "--threshold", "1e400")["lower"]["epsilon"] == 0
