"""The frame: what a walk gets from it, and that nothing else hands out answers about the records."""

import ast
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import pytest

from dpbounds import algorithms
from dpbounds.algorithms import noise
from dpbounds.algorithms.fields import named, positive, share
from dpbounds.algorithms.iterates import products, squared_norms
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.method import Method, OpenRun
from dpbounds.algorithms.unreleased import closed, computed
from dpbounds.errors import InvalidValue
from tests.algorithms.shared import wavy

ROOMS = ("descents", "frank_wolfe", "spider", "second_order", "selection", "warm_starts")


def opened(repetitions=3, seed=0):
    return OpenRun(wavy(50), noise.streams(seed, repetitions), OpenLedger())


@pytest.mark.parametrize("first", [0, 1, 5])
def test_the_returned_index_is_uniform_and_its_iterate_is_kept(first):
    run = opened(4000)
    returned = run.uniform_iterate(4, first)
    for step in run.steps(4, first):
        returned.visit(step, run.repeated(np.array([step, -step])))
    assert (returned.point == np.stack([returned.index, -returned.index], axis=1)).all()
    counts = np.bincount(returned.index - first, minlength=4)
    assert counts.shape == (4,)
    assert ((counts - 1000) ** 2 / 1000).sum() < 30  # chi-square, 3 degrees of freedom: 1e-6


def test_measurements_may_be_forgotten():
    run = opened(2)
    run.measure(early=np.ones(2), late=np.zeros(2))
    run.forget("early")
    run.measure(late=np.ones(2))
    assert {name: series.per_step.tolist() for name, series in run.trace().items()} == {"late": [0, 1]}
    run.forget()
    assert not run.trace()


@pytest.mark.parametrize(("repetitions", "dimension", "steps"), [(1, 1, 3), (1, 50, 130), (3, 7, 64), (9, 2000, 5)])
def test_what_is_measured_of_many_steps_is_what_is_measured_of_each(repetitions, dimension, steps):
    def numbers(value, rows, others):
        return {"value": value, "squares": squared_norms(rows), "products": products(rows - others, others) / 3}

    rng, run, other = np.random.default_rng(0), opened(repetitions), opened(repetitions)
    measure = run.measured_by(numbers)
    for step in range(steps):
        value, rows, others = rng.standard_normal(repetitions), *rng.standard_normal((2, repetitions, dimension))
        kept = closed(rows.copy())
        measure(closed(value), kept, others)
        other.measure(**computed(numbers, value, rows, others))
        others[:] = np.nan  # as a walk may go on with its own arrays
        if step == steps // 3:
            run.trace()  # settles what was gathered so far, and changes nothing
    found, expected = run.trace(), other.trace()
    assert list(found) == list(expected)
    for name, series in found.items():
        assert (series.per_step == expected[name].per_step).all()
        assert (series.per_repetition == expected[name].per_repetition).all()


def test_measurements_of_several_walks_stand_in_their_order():
    run = opened(1)
    for step in range(4):
        measure = run.measured_by(lambda values: {"value": values})
        measure(np.array([float(step)]))
    assert run.trace().value.per_step.tolist() == [0, 1, 2, 3]
    measure(np.array([4.0]))
    run.forget()
    assert not run.trace()


def test_every_oracle_of_a_run_writes_its_ledger():
    run = opened()
    x = run.repeated(run.problem.initial_point)
    run.gradients(Fraction(2))(x)
    run.differences(Fraction(3))(x, 0.9 * x)
    run.hessians(Fraction(4))(x)
    run.path_gradients(Fraction(5), Fraction(1))(x)
    run.choose(np.zeros((3, 2)), Fraction(1), Fraction(1))
    assert [release.count for release in run.ledger.close().releases] == [1, 1, 1, 1, 1]


def test_oracles_are_made_by_the_frame_alone():
    """So that whoever watches, replays or seals answers has one place to do it."""
    makers = {"GradientOracle", "BatchGradientOracle", "GradientDifferenceOracle", "HessianOracle", "choose"}
    makers |= {"PathGradientOracle"}
    found = set()
    for room in ROOMS:
        for path in (Path(algorithms.__file__).parent / room).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", None) in makers:
                    found.add(path.stem)
    assert not found


def test_whatever_walks_is_a_method_that_says_what_it_measures():
    public = [getattr(algorithms, name) for name in algorithms.__all__]
    kinds = [kind for kind in public if hasattr(kind, "planned")]
    assert len(kinds) == 38
    for kind in kinds:
        assert attrs.has(kind)
        if kind.__name__ in {"PopulationWarmStart", "RandomProjection"}:  # composed of whole runs of others
            continue
        assert issubclass(kind, Method)
        assert "::\n" in kind.__doc__ or kind.__bases__[0].__name__ == "QuotedDescent"  # the pseudo-code


def test_converters_know_the_name_of_their_field():
    @attrs.frozen(field_transformer=named)
    class Two:
        length: Fraction = attrs.field(converter=positive)
        part: Fraction = attrs.field(default="1/2", converter=share)

    assert Two("1/3") == Two(Fraction(1, 3), Fraction(1, 2))
    for arguments, message in (((0,), "^length "), ((1, 1), "^part "), (("x",), "^length ")):
        with pytest.raises(InvalidValue, match=message):
            Two(*arguments)
