"""Oracles: the queries of an algorithm on the data. They write the ledger, then add the noise.

- ``GradientOracle``: the mean gradient of all records
- ``BatchGradientOracle``: of a random batch (with or without replacement, Poisson, cut or not, one random record)
- ``GradientDifferenceOracle``: how the mean gradient changed between two points, with noise per distance
- ``VisitGradientOracle``: of one batch after the other (random allocation, balls in bins, shuffled, cyclic)
- ``CorrelatedGradientOracle``: the same under noise that a matrix correlates from step to step
- ``PathGradientOracle``: the mean gradient along a path, at a price per length
- ``HessianOracle``: the mean Hessian, with symmetric noise; ``HessianProductOracle``: the Hessian times a direction
- ``QuantileClippedOracle``: the mean gradient, clipped at a norm that the run adapts, and how many were below it
- ``choose``: one of finitely many candidates, by their scores
"""

from dpbounds.algorithms.oracles.batches import BatchGradientOracle
from dpbounds.algorithms.oracles.choices import PaidTogether, Scored, WhichChoice, choice, choose
from dpbounds.algorithms.oracles.constants import at_least, rational
from dpbounds.algorithms.oracles.correlated import CorrelatedGradientOracle
from dpbounds.algorithms.oracles.differences import GradientDifferenceOracle
from dpbounds.algorithms.oracles.gradients import (
    BATCH_WIDTH,
    GradientAnswer,
    GradientOracle,
    Gradients,
    batches,
    in_batches,
)
from dpbounds.algorithms.oracles.hessians import HessianOracle, HessianProductOracle, as_vectors
from dpbounds.algorithms.oracles.paths import PathGradientOracle
from dpbounds.algorithms.oracles.quantiles import QuantileClippedOracle
from dpbounds.algorithms.oracles.visits import VisitGradientOracle
from dpbounds.algorithms.sampling import Allocated, Bins, Cyclic, Poisson, Sampling, Scheme, Shuffle, Truncated

__all__ = [
    "GradientOracle",
    "BatchGradientOracle",
    "CorrelatedGradientOracle",
    "VisitGradientOracle",
    "Allocated",
    "Bins",
    "Cyclic",
    "Shuffle",
    "Truncated",
    "Scheme",
    "GradientDifferenceOracle",
    "PathGradientOracle",
    "HessianOracle",
    "HessianProductOracle",
    "QuantileClippedOracle",
    "as_vectors",
    "Scored",
    "PaidTogether",
    "WhichChoice",
    "choice",
    "choose",
    "GradientAnswer",
    "Gradients",
    "Poisson",
    "Sampling",
    "BATCH_WIDTH",
    "batches",
    "in_batches",
    "at_least",
    "rational",
]
