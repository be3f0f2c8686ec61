"""At least one of every mechanism: what files, texts and tests of all of them go through."""

import dpbounds.privacy.mechanisms as m
from dpbounds.privacy.mechanisms.parameters import parameters_of
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Toeplitz

BOTH = ("add-or-remove-one", "replace-one")
NOISES = [
    m.Gaussian("1/3"),
    m.Gaussian(noise_stddev="2e-3", sensitivity="1/7"),
    m.Laplace("1.5"),
    m.Laplace(noise_scale=3, sensitivity="0.1", dimension=1),
    m.UniformBall("2.5", 100),
    m.UniformBall(3, 1, sensitivity="1/3"),
    m.DiscreteLaplace("2.5", 3),
    m.DiscreteGaussian("1/3"),
    m.DiscreteGaussian("4.5", "1.5", dimension=7),
    m.DiscreteGaussian(noise_variance="20/3", bound="1.5", dimension=7),
    m.TruncatedDiscreteLaplace("2.5", reach=9, bound=3),
    m.TruncatedDiscreteGaussian("1/3", reach=4),
    m.Skellam("2.5"),
    m.Skellam("1/3", "1.5", dimension=7),
    m.NoiseInShares("gaussian", "1/3", 10),
    m.NoiseInShares("skellam", "1/3", 10, "1.5", dimension=7, colluding=3),
    m.NoiseInShares("discrete-gaussian", "4/3", 10, colluding=9, client_rate="1/7"),
    m.MixtureOfGaussians("1/3", {0: "0.25", "1/7": "0.5", 2: "0.25"}),
    m.RandomizedResponse("0.1", 5),
    m.PermuteAndFlip("0.2", relation="add-or-remove-one", monotone=True),
    m.ExponentialMechanism("0.2", relation="add-or-remove-one", monotone=True),
    m.ExponentialMechanism("0.2", relation="replace-one"),
    m.AboveThreshold("0.3", relation="add-or-remove-one", monotone=True),
    m.AboveThreshold(threshold_noise=3, query_noise="4/7", relation="replace-one"),
    m.AboveThreshold(1, relation="replace-one", crossings=3),
    *(m.PureDP("1/9", relation=relation) for relation in BOTH),
    *(m.ApproximateDP(0, "1e-9", relation=relation) for relation in BOTH),
    *(m.ZCDP("1e-3", relation=relation) for relation in BOTH),
    m.ZCDP("1e-3", relation="replace-one", xi="1/7"),
    *(m.RenyiDP({2: "0.1", "5/2": "0.2"}, relation=relation) for relation in BOTH),
    *(m.GaussianDP("1/7", relation=relation) for relation in BOTH),
    *(m.ProfileDP({"1/7": "0.1", 1: "1e-3"}, relation=relation) for relation in BOTH),
]
INNER = NOISES[0]
SCHEMES = [
    m.PoissonSampled(INNER, "1/7"),
    m.PoissonByUser(INNER, "1/7"),
    m.SampledWithoutReplacement(INNER, 10, 1000),
    m.SampledWithReplacement(INNER, 10, 1000),
    m.BallsInBins(INNER, 4, "5/2", redraw=False),
    m.BallsInBins(INNER, 4, 3, redraw=True),
    m.TruncatedPoisson(INNER, "1/7", 20, 100),
    m.Shuffled(INNER, 4),
    m.Shuffled(INNER, 4, "1/9"),
    m.RandomlyAllocated(INNER, 7, 3),
]
COLUMN = Toeplitz([1, "1/2", "-1/8"], steps=12)
WHOLE = [
    m.MatrixMechanism("1/3", COLUMN, "fixed-order", separation=4),
    m.MatrixMechanism(2, COLUMN, "minimum-separation", separation=4, at_most=2, groups="content"),
    m.MatrixMechanism(2, COLUMN, "cyclic-poisson", separation=4, sample_rate="1/7", groups="independent"),
    m.MatrixMechanism(2, Toeplitz([1], steps=9), "balls-in-bins", separation=3),
    m.MatrixMechanism(4, BinaryTree(21), "single"),
    m.MatrixMechanism(2, [[1], ["1/2", "1/3"], [0, 0, "2/7"]], "single"),
    m.LastIterate(m.Gaussian(4), batches=10, epochs=5, smoothness_step="1/10", checkpoints=[2, 3]),
    m.LastIterate(m.Gaussian(noise_stddev=3, sensitivity=2), batches=1, epochs=5, smoothness_step="1/10"),
    m.LastIterate(m.Gaussian(4), batches=3, epochs=2, smoothness_step=["1/10", "1/20"], order="shuffled"),
    m.LastIterate(m.Gaussian(4), batches=3, smoothness_step="1/10", order="secret", weight_decay_step="1/5"),
]


def around(scheme, inner):
    """The same scheme with another mechanism inside."""
    return type(scheme)(inner, **{name: getattr(scheme, name) for name in parameters_of(scheme)})
