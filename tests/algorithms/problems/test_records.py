"""What constants rest on holds for every record of every problem that can be built; no record is printed."""

import dataclasses
import re
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.algorithms.frank_wolfe.bounded_entries import bounded_entries
from dpbounds.algorithms.problems.records import within_norm
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float
from tests.algorithms.problems.test_every_problem import FEATURES, LABELS, OF_RECORDS, PROBLEMS, TARGETS

EVERY = PROBLEMS | {"bounded entries": lambda: bounded_entries(problems.cauchy(FEATURES, TARGETS), "1/2")}
PUBLIC = ("start",)  # arrays that are no records


def arrays_of(problem):
    names = [each.name for each in dataclasses.fields(problem) if isinstance(getattr(problem, each.name), np.ndarray)]
    assert len(names) >= 1
    return [name for name in names if name not in PUBLIC]


def longest(problem, name):
    """The public bound on one record's entry in that array."""
    bound = {"signed_features": "feature_bound", "features": "feature_bound", "targets": "target_bound"}.get(name)
    return Fraction(1) if name == "weights" else getattr(problem, bound or "shift_bound")


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_no_problem_holds_a_record_beyond_its_bounds(make):
    problem = make()
    for name in arrays_of(problem):
        records = getattr(problem, name)
        assert not records.flags.writeable
        just_above = np.nextafter(to_float(longest(problem, name), "down"), np.inf)
        for row, entry in ((0, just_above), (-1, -just_above), (3, np.nan), (5, -np.inf), (7, 1e200)):
            changed = records.astype(float)
            changed[row] = 0.0
            changed[(row, 0) if changed.ndim == 2 else row] = entry
            with pytest.raises(InvalidValue, match=name):
                dataclasses.replace(problem, **{name: changed})
        for shape in (records[..., None], records[:0], records[0]):
            with pytest.raises(InvalidValue):
                dataclasses.replace(problem, **{name: shape})


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_a_problem_that_is_built_keeps_records_that_nobody_can_change(make):
    problem = make()
    for name in arrays_of(problem):
        mine = getattr(problem, name).copy()
        again = dataclasses.replace(problem, **{name: mine})
        before = getattr(again, name).copy()
        if mine.flags.writeable:
            mine[:] = 0
        assert np.array_equal(getattr(again, name), before)
        assert not getattr(again, name).flags.writeable


def test_targets_of_phase_retrieval_are_not_negative():
    problem = PROBLEMS["phase retrieval"]()
    with pytest.raises(InvalidValue, match=r"targets\[2\] must be from 0 to 1"):
        dataclasses.replace(problem, targets=np.where(np.arange(len(TARGETS)) == 2, -0.1, problem.targets))


def test_a_row_is_accepted_exactly_up_to_its_bound():
    rng = np.random.default_rng(0)
    refused = accepted = 0
    for bound in (Fraction(1), Fraction(1, 3), Fraction(10) ** 60):
        rows = rng.standard_normal((200, 3))
        rows *= float(bound) / np.linalg.norm(rows, axis=1, keepdims=True)  # beside the bound, on either side
        for row in (*rows, np.array([float(bound), 0.0, 0.0])):
            fits = sum(Fraction(float(x)) ** 2 for x in row) <= bound**2
            if fits:
                assert np.array_equal(within_norm(row[None], bound, "rows"), row[None])
            else:
                with pytest.raises(InvalidValue, match=r"rows\[0\] must be a record of l2 norm at most"):
                    within_norm(row[None], bound, "rows")
            accepted, refused = accepted + fits, refused + (not fits)
    assert accepted > 50
    assert refused > 50


def test_a_record_is_named_and_not_shown():
    rows = np.zeros((40_000, 2))
    rows[33_333, 1] = 123.456
    with pytest.raises(InvalidValue) as error:
        within_norm(rows, Fraction(1), "features")
    assert "features[33333]" in str(error.value)
    assert "123" not in str(error.value)


def test_one_row_shown_many_times_costs_one_row():
    """A hundred million records that are all 0: what the second-order study builds."""
    many = np.broadcast_to(np.zeros((1, 2)), (10**8, 2))
    start = np.zeros(2)
    built = problems.Landscape(
        profile=problems.DOUBLE_WELL, shifts=many, start=start, shift_bound=Fraction(1, 10), radius=Fraction(1)
    )
    assert built.records == 10**8
    with pytest.raises(InvalidValue, match="shifts"):
        dataclasses.replace(built, shifts=np.broadcast_to(np.full((1, 2), 0.01), (10**8, 2)))


@pytest.mark.parametrize("name", OF_RECORDS)
def test_what_is_printed_of_a_problem_does_not_depend_on_its_records(name):
    """How many records were clipped is a fact about records, too."""
    others = [
        (FEATURES, LABELS, TARGETS),
        (np.zeros_like(FEATURES), -LABELS, np.zeros_like(TARGETS)),
        (100 * FEATURES, LABELS, 100 * TARGETS),
    ]
    made = [OF_RECORDS[name](*each) for each in others]
    assert len({re.sub("0x[0-9a-f]+", "", f"{one!r} {one} {one.notes}") for one in made}) == 1


def test_what_is_printed_of_a_data_set_does_not_depend_on_its_records(tmp_path):
    path, printed = tmp_path / "data.csv", set()
    for rows in ("1,2,0\n3,4,1", "0.1,0.2,1\n0.2,0.1,0"):
        path.write_text(f"a,b,label\n{rows}\n")
        data = problems.read_csv(path)
        printed.add((repr(data), str(data)))
    assert len(printed) == 1
