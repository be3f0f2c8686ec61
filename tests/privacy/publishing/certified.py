"""Mechanisms whose certificates are checked, by the version of the format that they need, and their documents."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import dpbounds as dp
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.mechanisms import (
    Gaussian,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    PoissonSampled,
    parts_of,
)
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Toeplitz
from dpbounds.privacy.publishing.certificates import certificate, release_of
from dpbounds.privacy.relations import Relation

ADD, REPLACE, ZERO = Relation
G = Gaussian


def last_iterate(**others: Any) -> LastIterate:
    return LastIterate(Gaussian(4), **{"batches": 10, "epochs": 5, "smoothness_step": "0.1", **others})


SIGNED = [[1], ["-1/2", 2], [0, "1/3", 1], [0, 0, "-1/4", "3/2"], [0, 0, 0, "1/5", 1], [0, 0, 0, 0, "1/7", 1]]
FALLING = Toeplitz([1, "1/2", "3/8", "5/16"], steps=20)
RISING = Toeplitz([1, 2, "-1/2"], steps=9)


def matrix(which: Any, participation: Any, **others: Any) -> MatrixMechanism:
    return MatrixMechanism(4, which, participation, **others)


VERSION_4: dict[str, tuple[Mechanism, Relation]] = {
    "last iterate": (last_iterate(), REPLACE),
    "zeroed": (last_iterate(), ZERO),
    "checkpoints": (last_iterate(checkpoints=(2, 3)), REPLACE),
    "contracting": (last_iterate(weight_decay_step="1/2"), REPLACE),
    "full batch": (last_iterate(batches=1, epochs=9), REPLACE),
    "full batch, contracting": (last_iterate(batches=1, epochs=9, checkpoints=(4,), weight_decay_step="1/2"), REPLACE),
    "final distance": (
        LastIterate(Gaussian(noise_stddev=3, sensitivity="1/2"), batches=3, epochs=2, smoothness_step=1),
        REPLACE,
    ),
    "single": (matrix(SIGNED, "single"), REPLACE),
    "fixed order": (matrix(FALLING, "fixed-order", separation=3), ZERO),
    "fixed order, no overlap": (matrix(FALLING, "fixed-order", separation=5), REPLACE),
    "fixed order, signs": (matrix(SIGNED, "fixed-order", separation=1, groups="content"), ADD),
    "fixed order, rising": (matrix(RISING, "fixed-order", separation=2), REPLACE),
    "separated": (matrix(FALLING, "minimum-separation", separation=3, at_most=4), REPLACE),
    "separated, no overlap": (matrix(SIGNED, "minimum-separation", separation=2, at_most=2), REPLACE),
    "tree": (matrix(BinaryTree(21), "fixed-order", separation=4, groups="content"), ADD),
    "tree, separated": (matrix(BinaryTree(21), "minimum-separation", separation=4, at_most=4), REPLACE),
    "tree, single": (matrix(BinaryTree(21), "single"), REPLACE),
    "all of a sample": (matrix(FALLING, "cyclic-poisson", separation=2, sample_rate=1), REPLACE),
    "sampled": (matrix(FALLING, "cyclic-poisson", separation=5, sample_rate="1/10"), REPLACE),
    "sampled, in phases": (matrix(SIGNED, "cyclic-poisson", separation=2, sample_rate="1/4"), ZERO),
    "sampled, by content": (
        matrix(SIGNED, "cyclic-poisson", separation=3, sample_rate="1/4", groups="content"),
        REPLACE,
    ),
    "composed": (last_iterate() @ matrix(BinaryTree(4), "single") ** 2 @ PoissonSampled(Gaussian(2), "0.1"), REPLACE),
}


def walk(order: Any, **others: Any) -> dp.LastIterate:
    return dp.LastIterate(G(2), **{"batches": 6, "epochs": 3, "smoothness_step": "0.1", "order": order, **others})


def in_bins(matrix: Any, bins: int) -> dp.MatrixMechanism:
    return dp.MatrixMechanism(3, matrix, "balls-in-bins", separation=bins)


VERSION_5: dict[str, tuple[Mechanism, Relation]] = {
    "allocation": (dp.RandomlyAllocated(G(1), 12) ** 3, ADD),
    "allocation, zeroed": (dp.RandomlyAllocated(G(2), 9), ZERO),
    "allocation of two": (dp.RandomlyAllocated(G(2), 7, 2), ADD),
    "bins kept": (dp.BallsInBins(G(4), 10, "2.5", redraw=False), ADD),
    "bins drawn anew": (dp.BallsInBins(G(2), 10, "1.5", redraw=True), ZERO),
    "fixed size": (dp.SampledWithoutReplacement(G(2), 5, 50) ** 20, REPLACE),
    "fixed size, added": (dp.SampledWithoutReplacement(G(2), 5, 50) ** 20, ADD),
    "fixed size, zeroed": (dp.SampledWithoutReplacement(G(2), 5, 50) ** 20, ZERO),
    "truncated": (dp.TruncatedPoisson(G(2), "0.1", 10, 60) ** 20, REPLACE),
    "truncated, added": (dp.TruncatedPoisson(G(2), "0.1", 10, 60) ** 20, ADD),
    "truncated, zeroed": (dp.TruncatedPoisson(G(2), "0.1", 10, 60) ** 20, ZERO),
    "shuffled": (dp.Shuffled(G(8), 300, rest="1/1000") ** 2, REPLACE),
    "shuffled, no clones": (dp.Shuffled(G(2), 4) ** 2, ZERO),
    "shuffled, zeroed": (dp.Shuffled(G(4), 300) ** 2, ZERO),
    "last, shuffled": (walk("shuffled"), REPLACE),
    "last, secret": (walk("secret", checkpoints=(1,)), ZERO),
    "discrete Gaussian": (dp.DiscreteGaussian(3, 2, dimension=1) ** 3, REPLACE),
    "discrete Laplace": (dp.DiscreteLaplace(3, 2) ** 3, ADD),
    "discrete Laplace, sampled": (dp.PoissonSampled(dp.DiscreteLaplace(2), "0.2") ** 3, ZERO),
    "Laplace": (dp.Laplace(2) ** 4, ADD),
    "Laplace, distance": (dp.Laplace(noise_scale=3, sensitivity="1/2") ** 4, REPLACE),
    "Laplace, sampled": (dp.PoissonSampled(dp.Laplace(2), "0.2") ** 5, ADD),
    "mixture": (dp.MixtureOfGaussians(3, {0: "0.5", 1: "0.3", 2: "0.2"}) ** 5, ADD),
    "mixture, replaced": (dp.MixtureOfGaussians(3, {"0.5": "0.6", 1: "0.4"}) ** 5, REPLACE),
    "responses": (dp.RandomizedResponse(1, options=3) ** 4, REPLACE),
    "allocation, replaced": (dp.RandomlyAllocated(G(2), 3), REPLACE),
    "bins kept, replaced": (dp.BallsInBins(G(4), 10, "2.5", redraw=False), REPLACE),
    "allocations, replaced": (dp.RandomlyAllocated(G(1), 12) ** 3, REPLACE),
    "matrix in bins": (in_bins(Toeplitz([1, "1/2", "-1/4"], 24), 6), ADD),
    "matrix in bins, replaced": (in_bins(Toeplitz([1, "1/2"], 24), 6), REPLACE),
    "tree in bins": (in_bins(BinaryTree(21), 4), ZERO),
    "rows in bins": (in_bins([[1], ["-1/2", 1], [0, "1/3", 1], ["1/4", "-1/2", "1/2", "1/3"]], 3), ZERO),
    "last, scheduled": (walk("fixed", smoothness_step=["0.1", "0.2", "0.05"], checkpoints=(1,)), REPLACE),
    "last, scheduled in secret": (walk("secret", smoothness_step=["0.1", "0.2", "0.05"]), ZERO),
    "last, shuffled, scheduled": (walk("shuffled", smoothness_step=["0.1", "0.2", "0.05"], checkpoints=(1,)), REPLACE),
    "draws": (dp.SampledWithReplacement(G(3), 5, 100) ** 5, ADD),
    "draws, replaced": (dp.SampledWithReplacement(G(3), 5, 100) ** 5, REPLACE),
    "draws, zeroed": (dp.SampledWithReplacement(G(3), 5, 100) ** 5, ZERO),
    "vectors": (dp.DiscreteGaussian(3, "1.9", dimension=2) ** 3, ADD),
    "vectors that move far": (dp.DiscreteGaussian(3, 2) ** 3, ADD),
    "vectors on samples": (dp.PoissonSampled(dp.DiscreteGaussian(9, 4), "0.1") ** 3, ADD),
    "vectors, replaced": (dp.DiscreteGaussian(30, 2, dimension=5) ** 10 @ G(4), REPLACE),
    "vectors, fixed size": (dp.SampledWithoutReplacement(dp.DiscreteGaussian(6, 2), 5, 50) ** 3, REPLACE),
    "Laplace, sampled, replaced": (dp.PoissonSampled(dp.Laplace(2), "0.2") ** 5, REPLACE),
    "Laplace on a line, sampled": (dp.PoissonSampled(dp.Laplace(2, dimension=1), "0.2") ** 5, REPLACE),
    "Laplace, distance, sampled": (dp.PoissonSampled(dp.Laplace(noise_scale=3, sensitivity=1), "0.2"), REPLACE),
    "whole numbers, sampled": (dp.PoissonSampled(dp.DiscreteLaplace(2), "0.2") ** 3, REPLACE),
    "responses, sampled": (dp.PoissonSampled(dp.RandomizedResponse(1, options=3), "0.2") ** 4, REPLACE),
    "Laplace, fixed size": (dp.SampledWithoutReplacement(dp.Laplace(2), 5, 50) ** 5, ADD),
    "whole numbers, fixed size": (dp.SampledWithoutReplacement(dp.DiscreteLaplace(2), 5, 50) ** 3, REPLACE),
    "Laplace, truncated": (dp.TruncatedPoisson(dp.Laplace(2), "0.1", 10, 60) ** 5, REPLACE),
    "allocated and sampled": (dp.RandomlyAllocated(G(2), 9) @ G(5) @ dp.PoissonSampled(G(3), "0.1") ** 4, ADD),
}
VERSION_6: dict[str, tuple[Mechanism, Relation]] = {
    "Skellam": (dp.Skellam(9, 2, dimension=1) ** 3, REPLACE),
    "Skellam, vectors": (dp.Skellam(9, "1.9", dimension=2) ** 3, ADD),
    "Skellam, three ones": (dp.Skellam(9, "1.9"), ZERO),
    "Skellam, sampled": (dp.PoissonSampled(dp.Skellam(4), "0.2"), ADD),
    "Skellam, sampled, replaced": (dp.PoissonSampled(dp.Skellam(4, dimension=1), "0.2"), REPLACE),
    "discrete Gaussian, squared": (dp.DiscreteGaussian(noise_variance="20/3", dimension=1) ** 3, ADD),
    "discrete Gaussian, unlike": (
        dp.DiscreteGaussian(noise_variance="20/3", dimension=1) ** 3 @ dp.DiscreteGaussian(5) ** 2,
        ADD,
    ),
    "Skellam, fixed size": (dp.SampledWithoutReplacement(dp.Skellam(9, dimension=1), 5, 50) ** 2, ADD),
}
CASES = VERSION_4 | VERSION_5 | VERSION_6


def spent(name: str) -> Account:
    mechanism, relation = CASES[name]
    return account(mechanism, delta="1e-6" if name in VERSION_4 else "1e-4", relation=relation)


def unproven(mechanism: Mechanism, relation: Relation) -> Account:
    """An account with the numbers of another mechanism: its certificate is written without the work."""
    any_value = account(Gaussian(4), delta="1/20").enclosure
    return Account(mechanism, relation, "delta", Fraction(1, 20), any_value, ())


def plain(subject: Any) -> dict[str, Any]:
    """The certificate as it comes back from a file."""
    return json.loads(json.dumps(certificate(subject)))  # type: ignore[no-any-return]


def written(mechanism: Mechanism, relation: Relation) -> list[Any]:
    """The releases of a certificate alone."""
    return [json.loads(json.dumps(release_of(*part, relation))) for part in parts_of(mechanism)]
