"""Dwork & Roth, Theorem A.1: against the mechanism's exact curve."""

import pytest
from mpmath import exp, mpf, ncdf, workdps

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.twins import evaluated, twin_of

twin = twin_of("cited/dwork-roth-2014/theorem-a.1")

STATEMENT = theorem("cited/dwork-roth-2014/theorem-a.1")
evaluate = evaluated("cited/dwork-roth-2014/theorem-a.1")


def failure(epsilon, noise):
    mean = 1 / noise
    return ncdf(mean / 2 - epsilon / mean) - exp(epsilon) * ncdf(-mean / 2 - epsilon / mean)


def test_it_holds_over_the_whole_range():
    with workdps(30):
        for power in range(1, 60):
            for delta in (mpf(10) ** -power, 1 - mpf(10) ** -power, mpf(power) / 60):
                for epsilon in (mpf("0.001"), mpf("0.1"), mpf("0.5"), mpf(1)):
                    assert failure(epsilon, twin("noise_multiplier", epsilon=epsilon, delta=delta)) <= delta


@pytest.mark.parametrize(
    ("delta", "edge"), [("0.5", 4.465), ("1e-2", 6.772), ("1e-3", 7.463), ("1e-5", 8.420), ("1e-8", 9.374)]
)
def test_it_fails_beyond_where_the_note_says(delta, edge):
    for epsilon, is_kept in ((edge - 0.01, True), (edge + 0.01, False)):
        assert spending(STATEMENT, {"epsilon": epsilon, "delta": delta}).kept is is_kept
        assert evaluate(epsilon=epsilon, delta=delta).applies is False  # the theorem stops at 1
