"""Private classifiers measured again: all rows, the programme, and the time of a large fit.

    python -m pytest benchmarks/test_classifiers.py -n 0 -m minutes -s

measures the first seed of each row; ``python -m benchmarks.classifiers run`` measures what is not stored.
"""

import time

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import classifiers
from dpbounds.algorithms import PrivateLinearClassifier

pytestmark = pytest.mark.minutes
NEEDED = {"opacus": "opacus", "diffprivlib": "diffprivlib"}  # by a method


@pytest.mark.filterwarnings("ignore")  # of the peers'
@pytest.mark.parametrize("name", classifiers.DATA)
@pytest.mark.parametrize("method", classifiers.METHODS)
def test_the_first_seed_is_measured_again(method, name):
    """It gives what it gave, but for two records in a thousand, which round-off may turn over."""
    if method in NEEDED:
        pytest.importorskip(NEEDED[method])
    held_out = len(classifiers.data_of(name).labels) // 4
    for epsilon in classifiers.EPSILONS[: 1 if method == "not private" else 3]:
        again = classifiers.one(method, name, epsilon, 0)
        kept = classifiers.stored(method)[classifiers.key(name, epsilon)][0]
        print(f"\n{method}, {name}, ε = {epsilon:g}: {again:.5f}, stored {kept:.5f}")
        assert abs(again - kept) < max(1.5 / held_out, 0.002)


def test_the_programme_adds_what_is_missing_and_writes_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(classifiers, "STORE", tmp_path)
    monkeypatch.setattr(classifiers, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(classifiers, "DATA", {"diabetes": classifiers.DATA["diabetes"]})
    classifiers.PAGE.write_text(f"before {classifiers.BEGIN} old {classifiers.END} after", encoding="utf-8")
    for seeds in (1, 2):
        done = CliRunner().invoke(classifiers.program, ["run", "--seeds", str(seeds), "--methods", "plain;not private"])
        assert done.exit_code == 0, done.output
        assert [len(kept) for kept in classifiers.stored("plain").values()] == [seeds] * 3
    assert CliRunner().invoke(classifiers.program, ["page"]).exit_code == 0
    text = classifiers.PAGE.read_text(encoding="utf-8")
    assert text.count("| diabetes | 442, 10 |") == 3
    assert text.startswith("before")
    assert text.endswith("after")
    assert "old" not in text


def test_a_fit_of_a_hundred_thousand_records_takes_seconds():
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, (100_000, 50))
    labels = features[:, 0] + 0.3 * features[:, 1] + 0.3 * rng.standard_normal(100_000) > 0
    model = PrivateLinearClassifier(epsilon=1, feature_ranges=(-1, 1), classes=[False, True])
    start = time.process_time()
    model.fit(features, labels)
    seconds = time.process_time() - start
    print(f"\n100 000 records of 50 features, {model.n_iter_} steps: {seconds:.1f} s")
    assert seconds < 10
    assert model.score(features, labels) > 0.85
