"""The sentences that a certificate of each version holds."""

from __future__ import annotations

# written (the lowest that has the kinds of its releases); read: version 1 has no digest, 3 has Gaussian releases only
FORMAT, VERSION, VERSIONS = "dpbounds privacy certificate", 6, (1, 2, 3, 4, 5, 6)


# what has to be true of a training run for the claim to be about it; a certificate holds these sentences and no others
ASSUMPTIONS = (
    "Each release is a sum of per-record terms of l2 norm at most C (or an answer of the stated sensitivity) plus "
    "Gaussian noise; averages divide by a public constant, never by the realised batch size.",
    "Where a sample rate is given, each record enters each sample independently with exactly that probability, decided "
    "by a secure source of randomness and kept secret.",
    "Noise, sample rates, bounds and the number of releases are fixed in advance or depend on public data only; what "
    "is asked may depend on earlier answers.",
    "The noise is drawn as described: ideal Gaussian, independent between releases; a seed, where there is one, is "
    "secret and never used again. Floating-point and pseudo-random effects of a sampler are outside.",
    "Nothing else that depends on the data is published: preprocessing, hyperparameters, stopping rules and metrics "
    "are outside; so is the number of records, which counts as public.",
)
_UNTIL_VERSION_2 = tuple(
    text.replace("; a seed, where there is one, is secret and never used again", "") for text in ASSUMPTIONS
)
_SINCE_VERSION_4 = (
    "Of a run said to be a last iterate nothing is published but that iterate and the checkpoints named. It is plain "
    "noisy gradient descent (no momentum, adaptive steps, averages or early stopping; a projection to a public convex "
    "set is allowed) with the same public step size in every step, and with the weight decay stated (where that is 0: "
    "with any, times the step size at most 2), over batches cut by public positions, the same in each epoch. The sum "
    "over a batch is divided by a public number, at least that of the records in any batch; gradients are scaled down "
    "to the bound, never up; and every record's loss is as smooth as stated.",
    "Of a matrix mechanism the rows of C x, x being the sums of the steps, are released with independent noise in each "
    "row, and a step's sum depends on earlier rows only. Every record takes part in the stated steps only (with a "
    "sample rate: in each step of its group by a draw of its own), chosen by what is stated as groups, and the "
    "steps of the others do not depend on it.",
)
_STEP_SIZES = (
    "the same public step size in every step",
    "public step sizes, as stated (one number: always the same)",
)
_SINCE_VERSION_5 = (
    "Each release is a sum of per-record terms within the bound C (l2 norm; l1 norm for Laplace noise; whole numbers "
    "for noise on whole numbers), or an answer of the stated sensitivity, plus the noise stated; averages divide by a "
    "public constant, never by the realised batch size. Randomised response publishes one such answer per record.",
    "Records are drawn exactly as stated, by a secure source of randomness, independently of the data and of what was "
    "published, and the draws are kept secret. Where a sample rate is given, each record enters each sample "
    "independently with that probability. Of random allocation and balls in bins every record draws its own steps or "
    "bin, independently, so that batches have random sizes, and nobody is displaced; a batch of a fixed size is a "
    "uniform subset, or so many independent draws with replacement, drawn afresh; a truncated sample keeps a uniform "
    "choice of at most the stated number; batches are "
    "shuffled by a uniform permutation, drawn afresh in each epoch. In a mixture of Gaussians each record's bound is "
    "drawn afresh in every release, by one public law.",
    "A dataset_size is public, the number of records or, under add-or-remove-one, of the larger neighbour's; a lower "
    "bound on it for batches of a fixed size, for truncated samples under add-or-remove-one an upper bound.",
    "Noise, sample rates, sizes, bounds and the number of releases are fixed in advance or depend on public data only; "
    "what is asked may depend on earlier answers.",
    "The noise is drawn as described: ideal, independent between releases; a seed, where there is one, is secret and "
    "never used again. Floating-point and pseudo-random effects of a sampler are outside.",
    ASSUMPTIONS[-1],
)
_POSITIONS = "over batches cut by public positions, the same in each epoch"
_WITH_ORDERS = tuple(
    text.replace(
        _POSITIONS,
        f"{_POSITIONS} (order shuffled: by a uniform permutation of them, secret and drawn afresh in each epoch; order "
        "secret: by one such permutation, kept)",
    ).replace(*_STEP_SIZES)
    for text in _SINCE_VERSION_4
)


def assumptions_of(version: int) -> tuple[str, ...]:
    """Return the sentences that a certificate of this version holds."""
    first = _UNTIL_VERSION_2 if version < 3 else ASSUMPTIONS if version < 5 else _SINCE_VERSION_5
    return first if version < 4 else first + (_SINCE_VERSION_4 if version < 5 else _WITH_ORDERS)
