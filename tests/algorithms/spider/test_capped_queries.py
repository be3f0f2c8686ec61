from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import in_batches
from dpbounds.algorithms.oracles.rows import Walk, of_rows
from dpbounds.algorithms.problems.landscapes import WAVY, landscape
from dpbounds.algorithms.spider.capped_queries import CappedQueries, written_for_all, written_for_one
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import Gaussian


def test_found_one_query_more_than_the_cap():
    ledger = OpenLedger()
    queries = CappedQueries(Gaussian(3), 2, 2, ledger)
    both, one = np.array([True, True]), np.array([True, False])
    for rows in (both, one):
        queries.grant(rows)
        queries.gaussian(noise_stddev=Fraction(3), per_record_bound=Fraction(1))
    with pytest.raises(BudgetExceeded, match="all of its 2 queries"):
        queries.grant(one)
    queries.grant(np.array([False, True]))
    queries.release(Gaussian(3))
    with pytest.raises(BudgetExceeded, match="not granted"):
        queries.release(Gaussian(3))
    assert queries.counts.tolist() == [2, 2]
    queries.write()
    assert [(each.described, each.count) for each in ledger.close().releases] == [(Gaussian(3), 2)]


def test_every_noise_level_that_occurred_is_written_at_the_cap():
    ledger = OpenLedger()
    queries = CappedQueries(Gaussian(3), 5, 1, ledger)
    for stddev in (3, 2, 3):
        queries.grant(np.array([True]))
        queries.gaussian(noise_stddev=Fraction(stddev), per_record_bound=Fraction(1))
    queries.write()
    assert [(each.described, each.count) for each in ledger.close().releases] == [(Gaussian(3), 5), (Gaussian(2), 5)]


def test_what_was_not_asked_is_written_as_planned():
    ledger = OpenLedger()
    CappedQueries(Gaussian(7), 4, 2, ledger).write()
    assert ledger.close().mechanism() == Gaussian(7) ** 4


def kinds(ledger):
    """Two kinds of queries, with caps of 5 and 4, of which one was asked with less noise than planned."""
    first, second = CappedQueries(Gaussian(3), 5, 1, ledger), CappedQueries(Gaussian(7), 4, 1, ledger)
    first.grant(np.array([True]))
    first.gaussian(noise_stddev=Fraction(2), per_record_bound=Fraction(1))
    return first, second


def test_queries_about_all_records_are_written_at_their_caps_and_the_ledger_says_so():
    ledger = OpenLedger()
    assert ledger.chosen == ""
    written_for_all(*kinds(ledger))
    assert ledger.close().mechanism() == Gaussian(2) ** 5 @ Gaussian(7) ** 4
    assert "how many, is chosen as the run goes: at most 9; the run is accounted for as if it had" in ledger.chosen


def test_queries_of_which_a_record_takes_part_in_one_are_written_as_the_one_with_the_least_noise():
    ledger = OpenLedger()
    written_for_one(*kinds(ledger))
    assert ledger.close().mechanism() == Gaussian(2) ** 1
    assert "At most 9 releases are made, each about records of its own" in ledger.chosen


def test_noise_is_counted_by_the_ledger():
    ledger = OpenLedger()
    queries = CappedQueries(Gaussian(3), 1, 1, ledger)
    queries.added(0.5 * 10_000, 10_000)  # squares half as large as they should be
    with pytest.raises(BudgetExceeded, match="less noise"):
        ledger.close()
    ledger = OpenLedger()
    CappedQueries(Gaussian(3), 1, 1, ledger).waited(0.5 * 10_000, 10_000)
    with pytest.raises(BudgetExceeded, match="less noise"):
        ledger.close()


def test_a_walk_shows_rows_of_this_point_and_of_the_one_before(monkeypatch):
    problem = landscape(WAVY, 10, [0.5, 0.5], 3)
    walk, rng = Walk(problem), np.random.default_rng(0)
    first, second = rng.uniform(-1, 1, (2, 5, 2))
    rows = np.array([True, False, True, False, True])
    walk.move(first)
    values, slopes = opened(walk.move(second))
    assert np.array_equal(slopes, in_batches(problem, second)[1])
    walk.show(rows)
    expected = problem.gradient(first)[rows]
    passes = []
    real = type(problem).objective_and_gradient
    monkeypatch.setattr(type(problem), "objective_and_gradient", lambda self, X: passes.append(1) or real(self, X))
    assert np.array_equal(walk.known(second[rows])[1], slopes[rows])
    assert np.array_equal(walk.known(second[rows])[0], values[rows])
    assert np.array_equal(walk.known(first[rows])[1], expected)
    assert not passes  # nothing was computed twice
    elsewhere = first[rows] + 0.1
    assert np.allclose(walk.known(elsewhere)[1], problem.gradient(elsewhere))
    assert len(passes) >= 1


def test_streams_of_some_repetitions():
    streams = tuple(np.random.default_rng(seed) for seed in range(3))
    assert of_rows(streams, np.array([True, False, True])) == (streams[0], streams[2])
