"""What people really run: our proven ends beside the answers of every accountant that has one, in one run.

    pytest benchmarks/test_peers.py -m minutes -n 0 -s

prints CPU seconds and their ratio. Asserted: no peer's upper bound is below ours, and no peer's lower bound above
ours. Peers whose answer is for another relation or distance are asked for ours. PLD_accounting is optional; JAX-privacy
(2.0) accounts with dp_accounting's classes, as written here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import dp_accounting as dpa
import pytest
from dp_accounting import pld, rdp
from scipy.stats import binom

import dpbounds as dp

pytestmark = pytest.mark.minutes
DELTA = 1e-5
REPLACE = dpa.NeighboringRelation.REPLACE_ONE
SPECIAL = dpa.NeighboringRelation.REPLACE_SPECIAL
WIDTH = 1e-4  # of ours by default: ends that are tight on both sides meet within it
T = TypeVar("T")


def _timed(call: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def _beside(
    title: str,
    ours: Callable[[], dp.Enclosure],
    peer: str,
    theirs: Callable[[], float | tuple[float, float]],
) -> dp.Enclosure:
    seconds, found = _timed(ours)
    their_seconds, answer = _timed(theirs)
    low, high = answer if isinstance(answer, tuple) else (0.0, answer)
    said = f"[{low:.5g}, {high:.5g}]" if low else f"{high:.5g}"
    print(
        f"\n{title}: dpbounds [{found.lower:.6g}, {found.upper:.6g}] in {seconds:.1f} s, {peer} {said} in "
        f"{their_seconds:.1f} s, ratio {seconds / max(their_seconds, 1e-3):.2g}"
    )
    assert found.upper <= high * (1 + WIDTH)
    assert found.lower >= low * (1 - WIDTH)
    return found


def _pld(event: dpa.DpEvent, relation: dpa.NeighboringRelation = dpa.NeighboringRelation.ADD_OR_REMOVE_ONE) -> float:
    return float(pld.PLDAccountant(relation).compose(event).get_epsilon(DELTA))


def _rdp(event: dpa.DpEvent, relation: dpa.NeighboringRelation = dpa.NeighboringRelation.ADD_OR_REMOVE_ONE) -> float:
    return float(rdp.RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(DELTA))


@pytest.mark.parametrize(("z", "epochs", "gap"), [(1, 1, 0.01), (1, 10, 0.1), (2, 10, 0.1)])
def test_random_allocation(z: int, epochs: int, gap: float) -> None:
    """To 0.01 after ten epochs it has not ended within 450 s."""
    theirs = pytest.importorskip("PLD_accounting")

    def asked() -> tuple[float, float]:
        high, low = theirs.gaussian_allocation_epsilon_range(
            delta=DELTA, sigma=z, num_steps=100, num_selected=1, num_epochs=epochs, epsilon_accuracy=gap
        )
        return low, high

    found = _beside(
        f"one of 100 steps, {epochs} epochs, z={z}",
        lambda: dp.epsilon(dp.RandomlyAllocated(dp.Gaussian(z), 100) ** epochs, DELTA),
        "PLD_accounting",
        asked,
    )
    assert found.upper / found.lower < 1.001


@pytest.mark.parametrize("most", [150, 120, 100])
@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one"])
def test_truncated_poisson_batches(most: int, relation: str) -> None:
    """Where records come and go our answer is for every size up to 10 000, theirs for that one."""
    event = dpa.dp_event.TruncatedSubsampledGaussianDpEvent(10_000, 0.01, most, 1.0)
    _beside(
        f"batches of at most {most} of 10 000, q=0.01, z=1, 1000 steps, {relation}",
        lambda: dp.epsilon(dp.TruncatedPoisson(dp.Gaussian(1), "0.01", most, 10_000) ** 1000, DELTA, relation),
        "dp_accounting (and JAX-privacy)",
        lambda: _pld(
            dpa.SelfComposedDpEvent(event, 1000),
            SPECIAL if relation == "zero-out-one" else dpa.NeighboringRelation.ADD_OR_REMOVE_ONE,
        ),
    )


@pytest.mark.parametrize(("records", "q", "steps"), [(2, 0.01, 1000), (4, 0.01, 1000), (8, 0.001, 3000)])
def test_users_with_several_records(records: int, q: float, steps: int) -> None:
    """How many of a user's records a batch has is binomial, and the user's vector that many times the bound."""
    sizes = list(range(records + 1))
    event = dpa.dp_event.MixtureOfGaussiansDpEvent(2.0, sizes, [float(binom.pmf(x, records, q)) for x in sizes])
    _beside(
        f"users of {records} records, q={q}, z=2, {steps} steps",
        lambda: dp.group_account(dp.PoissonSampled(dp.Gaussian(2), str(q)) ** steps, records, delta=DELTA),
        "dp_accounting (and JAX-privacy)",
        lambda: _pld(dpa.SelfComposedDpEvent(event, steps)),
    )


def test_the_best_of_a_random_number_of_runs() -> None:
    _beside(
        "the best of a geometric number (mean 100) of Gaussian(20)",
        lambda: dp.tuned_enclosure(dp.Gaussian(20), dp.RandomRuns("0.01"), DELTA),
        "dp_accounting (Rényi)",
        lambda: _rdp(dpa.dp_event.RepeatAndSelectDpEvent(dpa.GaussianDpEvent(20), 100, 1)),
    )


@pytest.mark.parametrize(("z", "batch", "steps"), [(1, 100, 1000), (2, 100, 1000), (4, 1000, 100)])
def test_batches_of_one_size(z: int, batch: int, steps: int) -> None:
    """Its Rényi accountant counts a record as moved by the bound, not by twice that: it is asked at z/2."""
    event = dpa.SampledWithoutReplacementDpEvent(10_000, batch, dpa.GaussianDpEvent(z / 2))
    _beside(
        f"batches of {batch} of 10 000, z={z}, {steps} steps, replace-one",
        lambda: dp.epsilon(dp.SampledWithoutReplacement(dp.Gaussian(z), batch, 10_000) ** steps, DELTA, "replace-one"),
        "dp_accounting (Rényi)",
        lambda: _rdp(dpa.SelfComposedDpEvent(event, steps), REPLACE),
    )


def test_trees() -> None:
    """One epoch of 512 steps, z per node: each record's sums change in ten nodes."""
    _beside(
        "a binary tree over 512 steps, z=10, zero-out-one",
        lambda: dp.epsilon(dp.MatrixMechanism(10, dp.BinaryTree(512), "single"), DELTA, "zero-out-one"),
        "dp_accounting (Rényi)",
        lambda: _rdp(dpa.SingleEpochTreeAggregationDpEvent(10.0, 512), SPECIAL),
    )


def test_banded_matrices_on_cyclic_poisson_samples() -> None:
    matrix = dp.Toeplitz(["1"], steps=2000)
    _beside(
        "one band, 20 groups, q=0.2, z=1, 2000 steps",
        lambda: dp.epsilon(
            dp.MatrixMechanism(1, matrix, "cyclic-poisson", separation=20, sample_rate="0.2", groups="independent"),
            DELTA,
            "add-or-remove-one",
        ),
        "dp_accounting (and JAX-privacy)",
        lambda: _pld(dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.2, dpa.GaussianDpEvent(1.0)), 100)),
    )


def test_noise_that_is_whole() -> None:
    """Laplace noise on the whole numbers, 30 times."""
    _beside(
        "30 times discrete Laplace noise of scale 5",
        lambda: dp.epsilon(dp.DiscreteLaplace(5) ** 30, DELTA),
        "dp_accounting",
        lambda: _pld(dpa.SelfComposedDpEvent(dpa.dp_event.DiscreteLaplaceDpEvent(0.2, 1), 30)),
    )
