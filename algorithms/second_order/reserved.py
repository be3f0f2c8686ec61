"""A ledger whose releases are written down before the run: how many are really made depends on what they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from dpbounds.algorithms import secure_noise
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger, Release
from dpbounds.algorithms.oracles import GradientOracle, HessianOracle
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import ZCDP

Asked = TypeVar("Asked", GradientOracle, HessianOracle)


class ReservedLedger(OpenLedger):
    """Holds every release that may be made, from the start; making one takes it off what is left.

    An algorithm that stops as soon as its noisy answers allow it to, or asks for a Hessian only where a noisy gradient
    is small, makes a number of releases that depends on the data and differs between repetitions. What it costs is
    what its longest run would cost: imagine that all releases are made in the end, those that were not needed at the
    point where the run stopped. The real output is a function of these, so their guarantee is its guarantee; a ledger
    of what one repetition happened to ask would claim less, without proof.
    """

    def __init__(self) -> None:
        super().__init__()
        self._left: Counter[Release | DescribedRelease] = Counter()

    def reserve(self, oracle: GradientOracle | HessianOracle, count: int) -> None:
        """Write down so many answers of an oracle."""
        entry = _entry(oracle, count)
        super()._write(entry)
        self._left[replace(entry, count=1)] += count

    def _write(self, entry: Release | DescribedRelease) -> None:
        single = replace(entry, count=1)
        if self._left[single] < entry.count:
            raise BudgetExceeded(
                f"{entry} was to be made, of which {self._left[single]} are left: nothing was released; "
                "the noise differs from what was reserved, or there are more releases than planned"
            )
        self._left[single] -= entry.count


def reserved(oracle: Asked, count: int) -> Asked:
    """The oracle, with so many answers reserved in its ledger."""
    assert isinstance(oracle.ledger, ReservedLedger)
    oracle.ledger.reserve(oracle, count)
    return oracle


def _entry(oracle: GradientOracle | HessianOracle, count: int) -> Release | DescribedRelease:
    stddev, bound = oracle.noise_stddev, oracle.per_record_bound
    if oracle.noise == "gaussian":
        return Release(Fraction(stddev), bound, count=count)
    assert oracle.relation is not None
    p = oracle.problem.dimension
    numbers = p * (p + 1) // 2 if isinstance(oracle, HessianOracle) else p
    spent = secure_noise.rho(stddev, bound, numbers, oracle.relation)
    return DescribedRelease(ZCDP(spent, relation=oracle.relation), count)
