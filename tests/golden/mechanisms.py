"""The vocabulary of the questions: how mechanisms are made. Names here stay when names of the package move."""

from __future__ import annotations

import dpbounds as dp
from dpbounds.privacy.mechanisms.schemes.encoders import LowerTriangular

RELATIONS = ("add-or-remove-one", "replace-one", "zero-out-one")
_REPLACE, _ADD_OR_REMOVE = RELATIONS[1], RELATIONS[0]

# --- noises and guarantees ---


def gaussian(multiplier):
    return dp.Gaussian(multiplier)


def gaussian_absolute(stddev, sensitivity):
    return dp.Gaussian(noise_stddev=stddev, sensitivity=sensitivity)


def laplace(multiplier, dimension=None):
    return dp.Laplace(multiplier, dimension=dimension)


def laplace_absolute(scale, sensitivity):
    return dp.Laplace(noise_scale=scale, sensitivity=sensitivity)


def discrete_gaussian(stddev, bound=1, dimension=None):
    return dp.DiscreteGaussian(stddev, bound, dimension=dimension)


def discrete_laplace(scale, bound=1):
    return dp.DiscreteLaplace(scale, bound)


def ball(radius, dimension):
    return dp.UniformBall(radius, dimension)


def mixture(stddev, norms):
    return dp.MixtureOfGaussians(stddev, norms)


def response(epsilon, options=2):
    return dp.RandomizedResponse(epsilon, options)


def exponential(epsilon, monotone=False, relation=_REPLACE):
    return dp.ExponentialMechanism(epsilon, relation=relation, monotone=monotone)


def permute_and_flip(epsilon, monotone=False, relation=_REPLACE):
    return dp.PermuteAndFlip(epsilon, relation=relation, monotone=monotone)


def above_threshold(epsilon, monotone=False, relation=_REPLACE):
    return dp.AboveThreshold(epsilon, relation=relation, monotone=monotone)


def pure(epsilon, relation=_ADD_OR_REMOVE):
    return dp.PureDP(epsilon, relation=relation)


def approximate(epsilon, delta, relation=_ADD_OR_REMOVE):
    return dp.ApproximateDP(epsilon, delta, relation=relation)


def zcdp(rho, relation=_REPLACE):
    return dp.ZCDP(rho, relation=relation)


def renyi(points, relation=_REPLACE):
    return dp.RenyiDP(points, relation=relation)


# --- schemes ---


def poisson(mechanism, rate):
    return dp.PoissonSampled(mechanism, rate)


def without_replacement(mechanism, batch, records):
    return dp.SampledWithoutReplacement(mechanism, batch, records)


def with_replacement(mechanism, batch, records):
    return dp.SampledWithReplacement(mechanism, batch, records)


def truncated(mechanism, rate, most, records):
    return dp.TruncatedPoisson(mechanism, rate, most, records)


def shuffled(mechanism, batches, rest=0):
    return dp.Shuffled(mechanism, batches, rest)


def allocated(mechanism, steps, participations=1):
    return dp.RandomlyAllocated(mechanism, steps, participations)


def bins(mechanism, number, epochs, redraw=False):
    return dp.BallsInBins(mechanism, number, epochs, redraw=redraw)


def last_iterate(mechanism, batches, epochs, smoothness_step, order="fixed", checkpoints=(), weight_decay_step=0):
    return dp.LastIterate(
        mechanism,
        batches=batches,
        epochs=epochs,
        smoothness_step=smoothness_step,
        order=order,
        checkpoints=checkpoints,
        weight_decay_step=weight_decay_step,
    )


def correlated(multiplier, matrix, participation="single", **more):
    return dp.MatrixMechanism(multiplier, matrix, participation, **more)


def toeplitz(coefficients, steps, bands=None):
    return dp.Toeplitz(coefficients, steps, bands)


def tree(steps):
    return dp.BinaryTree(steps)


def triangular(*rows):
    return LowerTriangular(rows)


def blocks(*mechanisms, partition="record"):
    return dp.InParallel(mechanisms, partition)


def runs(gamma, eta=1):
    return dp.RandomRuns(gamma, eta)


_VOCABULARY = {
    name: made
    for name, made in list(globals().items())
    if callable(made) and getattr(made, "__module__", "") == __name__
}


def made(expression):
    """The mechanism that an expression in this vocabulary describes."""
    return eval(expression, {"__builtins__": {}}, _VOCABULARY)  # noqa: S307  (expressions of this folder's own files)
