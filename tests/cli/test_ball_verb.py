"""`dpbounds ball`: the closed form, its inverse, the printed bound beside them."""

import re
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.expressions.exact import exact

RUN = ["ball", "--sensitivity", "2", "--dimension", "10", "--dataset-size", "1000", "--steps", "300"]

VERB = RUN


def test_delta_for_a_radius(answer):
    found, errors = answer("--radius", "25")
    run = dp.BallDescent(2, 10, 1000, 300)
    for field, enclosure in (
        ("delta", run.delta(25)),
        ("total_variation", run.total_variation(25)),
        ("printed_delta", run.printed_delta(25)),
    ):
        assert found[field] == {"lower": enclosure.lower, "upper": enclosure.upper}
    assert found["printed_ratio"]["lower"] <= found["printed_ratio"]["upper"]
    assert found["printed_ratio"]["upper"] == pytest.approx(found["printed_delta"]["upper"] / found["delta"]["upper"])
    assert found["printed_ratio"]["lower"] > 1
    assert (found["radius"], found["relation"], found["tight"]) == (25.0, "replace-one", True)
    assert "fails_at" not in found
    assert "warning: delta = " in errors  # 300 of 1000 records at 0.1 each


def test_the_radius_for_a_delta(answer):
    found, errors = answer("--target-delta", "1/2000")
    run = dp.BallDescent(2, 10, 1000, 300)
    assert run.delta(found["radius"]).at_most(Fraction(1, 2000)) is True
    assert run.delta(found["fails_at"]).at_most(Fraction(1, 2000)) is False
    assert found["radius"] == pytest.approx(found["fails_at"], rel=1e-15)
    assert found["delta"]["upper"] <= 1 / 2000
    assert errors == ""


def test_what_is_printed_keeps_its_promise(capsys):
    assert main([*RUN, "--target-delta", "1e-4"]) == 0
    lines = dict(re.split(r"  +", line, maxsplit=1) for line in capsys.readouterr().out.splitlines())
    run = dp.BallDescent(2, 10, 1000, 300)
    assert run.delta(exact(lines["radius"].split()[0])).at_most("1e-4") is True
    assert run.delta(exact(lines["fails at"].split()[0])).at_most("1e-4") is False
    assert "at most 2 apart" in lines["mechanism"]
    assert "at every epsilon" in lines["delta"]


def test_a_delta_that_needs_no_noise(answer, said):
    found, errors = answer("--target-delta", "0.9")
    assert (found["radius"], found["fails_at"]) == (0.0, None)
    assert "at or above 1/1000" in errors
    assert found["total_variation"] == {"lower": 1.0, "upper": 1.0}
    assert "gradients of random records, published as they are, keep the budget" in said("--target-delta", "0.9")


def test_balls_that_do_not_meet(answer, said):
    found, _ = answer("--radius", "0.25")
    assert found["delta"]["upper"] == pytest.approx(1 - 0.999**300)
    assert found["radius"] == 0.25
    assert "of radius 0.25" in said("--radius", "0.25")
