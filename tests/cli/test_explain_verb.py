"""`dpbounds explain`: the lines of a proof for people, programs and the eye."""

import numpy as np
import pytest

from dpbounds.algorithms import ProjectedGradientDescent
from dpbounds.cli.answers.demo_training import prepared
from dpbounds.expressions.enclosure import Enclosure

VERB = ("explain",)


def test_for_people_and_programs(data, said):
    arguments = ["dp-pgd", "--mapping", "exact", "--repetitions", "8", "--seed", "2"]
    found, out = data(*arguments), said(*arguments)
    lines = found["lines"]
    assert out.startswith("dp-pgd: mean square of the exact mapping, 8 repetitions of 20 steps; not private\n")
    for line in lines:
        assert f"{line['right']:>10.4g} {line['factor']:>8.3g}  {line['due_to']:<17} {line['claim']}" in out
    assert found["measured"] == lines[0]["left"]
    assert found["bound"]["upper"] == lines[-1]["right"]
    assert np.prod([line["factor"] for line in lines]) == pytest.approx(found["bound"]["upper"] / found["measured"])
    assert {line["verdict"] for line in lines} <= {"holds", "compatible"}  # with so few repetitions
    assert lines[-1]["verdict"] == "holds"
    assert "does not hold" not in out
    assert list(found["factors"].values()) == sorted(found["factors"].values(), reverse=True)
    assert f"{found['curvature']['measured']:.4g} at most where the run was" in out


def test_a_line_that_does_not_hold_is_pointed_at(said, monkeypatch):
    monkeypatch.setattr(ProjectedGradientDescent, "bound", lambda *_: Enclosure.exactly("1/1000"))
    out = said("dp-pgd", "--repetitions", "4", status=1)
    assert "the bound, as the algorithm evaluates it  <- does not hold" in out


def test_a_picture(said, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "lost.svg"
    out = said("dp-fw-l2", "--repetitions", "4", "--output", str(file))
    assert out.endswith(f"\nwrote {file}\n")
    assert b"</svg>" in file.read_bytes()


def test_one_s_own_records(data, records):
    """The same numbers as a run of the library on the same records."""
    own = ["--data", str(records / "records.csv"), "--ranges", str(records / "ranges.csv"), "--label", "ill"]
    found = data("dp-pgd", *own, "--epsilon", "4", "--repetitions", "8", "--seed", "2")
    problem = prepared(records / "records.csv", "ill", None, records / "ranges.csv", None)[1]
    algorithm = ProjectedGradientDescent.calibrated(problem, 4, "1e-5")
    run = algorithm.run(problem, seed=2, repetitions=8)
    assert found["steps"] == algorithm.steps
    assert found["measured"] == pytest.approx(run.samples.mean())
    assert found["bound"]["upper"] == algorithm.bound(problem).upper
