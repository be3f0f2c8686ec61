"""A ledger whose releases are written down before the run: how many are really made depends on what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from algorithms import secure_noise
from algorithms.ledger import DescribedRelease, OpenLedger, Release
from algorithms.oracles import GradientOracle, Gradients, HessianOracle
from algorithms.planning import WhichNoise
from algorithms.problems.domain import hessian_rank
from algorithms.problems.finite_sum import FiniteSum
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import ZCDP
from dpbounds.privacy.relations import Relation


class ReservedLedger(OpenLedger):
    """Holds every release that may be made, from the start; making one takes it off what is left.

    An algorithm that stops as soon as its noisy answers allow it to, or asks for a Hessian only where a noisy gradient
    is small, makes a number of releases that depends on the data and differs between repetitions. What it costs is
    what its longest run would cost: imagine that all releases are made in the end, those that were not needed at the
    point where the run stopped. The real output is a function of these, so their guarantee is its guarantee; a ledger
    of what one repetition happened to ask would claim less, without proof.

    Args:
        generators: One stream per repetition.
        noise: "gaussian" or "secure".
        relation: For "secure", the relation its entries are written for.
    """

    def __init__(self, generators: Sequence[np.random.Generator], noise: WhichNoise, relation: Relation) -> None:
        super().__init__()
        self._generators, self._noise, self._relation = generators, noise, relation
        self._left: Counter[Release | DescribedRelease] = Counter()

    def gradients(
        self, problem: FiniteSum, noise_multiplier: Fraction, count: int, memory: Gradients | None = None
    ) -> GradientOracle:
        """An oracle of gradients with ``count`` answers reserved."""
        oracle = GradientOracle(
            problem, noise_multiplier, self._generators, self, self._noise, self._relation, gradients=memory
        )
        self._reserve(oracle, count)
        return oracle

    def hessians(self, problem: FiniteSum, noise_multiplier: Fraction, count: int) -> HessianOracle:
        """An oracle of Hessians with ``count`` answers reserved."""
        oracle = HessianOracle(
            problem, noise_multiplier, self._generators, self, hessian_rank(problem), self._noise, self._relation
        )
        self._reserve(oracle, count)
        return oracle

    def _reserve(self, oracle: GradientOracle | HessianOracle, count: int) -> None:
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


def _entry(oracle: GradientOracle | HessianOracle, count: int) -> Release | DescribedRelease:
    stddev, bound = oracle.noise_stddev, oracle.per_record_bound
    if oracle.noise == "gaussian":
        return Release(Fraction(stddev), bound, count=count)
    assert oracle.relation is not None
    p = oracle.problem.dimension
    numbers = p * (p + 1) // 2 if isinstance(oracle, HessianOracle) else p
    spent = secure_noise.rho(stddev, bound, numbers, oracle.relation)
    return DescribedRelease(ZCDP(spent, relation=oracle.relation), count)
