"""How single releases are written down, exactly and in one way only; and the digest that ties papers about them.

A ledger holds these descriptions. The **digest** of releases is the SHA-256 (64 hexadecimal digits) of their
descriptions as one JSON list, in ASCII, without spaces, the fields of each object in the order of their names; equal
releases in a row are one with the sum of their counts. Every exact number is text, p or p/q in lowest terms. Gaussian
noise is given by ``noise_multiplier`` where it is known per unit of the per-record bound, else by ``noise_stddev`` and
``sensitivity``. The digest stands in ledgers, certificates and statements, and whoever has the releases can compute it.

>>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
>>> print(canonical(PoissonSampled(Gaussian(2), "0.01") ** 500))
[{"count":500,"mechanism":"gaussian","noise_multiplier":"2","sample_rate":"1/100","sampling":"poisson"}]
>>> digest(PoissonSampled(Gaussian(2), "0.01") ** 500)[:16]
'175a326ce0e3361b'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy import mechanisms
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.matrices import BinaryTree, LowerTriangular, Toeplitz
from dpbounds.privacy.relations import Relation

FULL_BATCH, POISSON, BINS = "full-batch", "poisson", "balls-in-bins"
WITHOUT_REPLACEMENT, WITH_REPLACEMENT = "without-replacement", "with-replacement"
TRUNCATED, SHUFFLED, ALLOCATED = "truncated-poisson", "shuffled", "random-allocation"

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class MechanismKind:
    """How one mechanism is written: its name, the class, and the fields, of which some may be missing (None).

    What says itself which records its steps are about (``whole``) has no ``sampling``, and is inside of none.
    """

    name: str
    make: Callable[..., Mechanism]
    fields: tuple[str, ...]
    optional: tuple[str, ...] = ()
    whole: bool = False


_NOISE = ("noise_multiplier", "noise_stddev", "sensitivity")


KINDS = (
    MechanismKind("gaussian", mechanisms.Gaussian, (), _NOISE),
    MechanismKind("laplace", mechanisms.Laplace, (), ("noise_multiplier", "noise_scale", "sensitivity", "dimension")),
    MechanismKind("uniform-ball", mechanisms.UniformBall, ("radius", "dimension"), ("sensitivity",)),
    MechanismKind("discrete-laplace", mechanisms.DiscreteLaplace, ("noise_scale", "bound")),
    MechanismKind("discrete-gaussian", mechanisms.DiscreteGaussian, ("noise_stddev", "bound"), ("dimension",)),
    MechanismKind("mixture-of-gaussians", mechanisms.MixtureOfGaussians, ("noise_stddev", "norms")),
    MechanismKind("randomized-response", mechanisms.RandomizedResponse, ("epsilon", "options")),
    MechanismKind("exponential", mechanisms.ExponentialMechanism, ("epsilon", "relation", "monotone")),
    MechanismKind("permute-and-flip", mechanisms.PermuteAndFlip, ("epsilon", "relation", "monotone")),
    MechanismKind(
        "above-threshold", mechanisms.AboveThreshold, ("threshold_noise", "query_noise", "relation", "monotone")
    ),
    MechanismKind("pure", mechanisms.PureDP, ("epsilon", "relation")),
    MechanismKind("approximate", mechanisms.ApproximateDP, ("epsilon", "delta", "relation")),
    MechanismKind("zcdp", mechanisms.ZCDP, ("rho", "relation")),
    MechanismKind("renyi", mechanisms.RenyiDP, ("points", "relation")),
    MechanismKind(
        "matrix",
        mechanisms.MatrixMechanism,
        ("noise_multiplier", "matrix", "participation", "groups"),
        ("separation", "at_most", "sample_rate"),
        whole=True,
    ),
    MechanismKind(
        "last-iterate",
        mechanisms.LastIterate,  # its noise is that of a Gaussian, field by field
        ("batches", "epochs", "smoothness_step", "weight_decay_step", "order", "checkpoints"),
        _NOISE,
        whole=True,
    ),
)
SAMPLINGS: dict[str, tuple[Callable[..., Mechanism], tuple[str, ...]]] = {
    POISSON: (mechanisms.PoissonSampled, ("sample_rate",)),
    WITHOUT_REPLACEMENT: (mechanisms.SampledWithoutReplacement, ("batch_size", "dataset_size")),
    WITH_REPLACEMENT: (mechanisms.SampledWithReplacement, ("batch_size", "dataset_size")),
    TRUNCATED: (mechanisms.TruncatedPoisson, ("sample_rate", "max_batch_size", "dataset_size")),
    SHUFFLED: (mechanisms.Shuffled, ("batches", "rest")),
    ALLOCATED: (mechanisms.RandomlyAllocated, ("steps", "participations")),
    BINS: (mechanisms.BallsInBins, ("bins", "epochs", "redraw")),
}


def described(mechanism: Mechanism, count: int) -> JsonObject:
    """A number of equal releases as an entry of a ledger.

    Raises:
        UnsupportedMechanism: It is no single release: a composition inside a sample, or parallel blocks.
    """
    for name, (sampling, fields) in SAMPLINGS.items():
        if type(mechanism) is sampling:
            return {
                **_described(_inside(mechanism))[1],
                "sampling": name,
                **{field: _written(getattr(mechanism, field)) for field in fields},
                "count": count,
            }
    whole, entry = _described(mechanism, alone=True)
    return {**entry, **({} if whole else {"sampling": FULL_BATCH}), "count": count}


def digest(releases: Mechanism | Iterable[tuple[Mechanism, int]]) -> str:
    """The digest of releases: 64 hexadecimal digits; ``UnsupportedMechanism`` where a part is no single release."""
    return hashlib.sha256(canonical(releases).encode("ascii")).hexdigest()


def canonical(releases: Mechanism | Iterable[tuple[Mechanism, int]]) -> str:
    """The text that the digest is of."""
    joined: list[tuple[Mechanism, int]] = []
    for part, count in mechanisms.parts_of(releases) if isinstance(releases, Mechanism) else releases:
        if joined and joined[-1][0] == part:
            joined[-1] = part, joined[-1][1] + count
        else:
            joined.append((part, count))
    entries = [described(part, count) for part, count in joined]
    return json.dumps(entries, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _inside(mechanism: Mechanism) -> Mechanism:
    assert isinstance(
        mechanism,
        mechanisms.PoissonSampled
        | mechanisms.SampledWithoutReplacement
        | mechanisms.SampledWithReplacement
        | mechanisms.TruncatedPoisson
        | mechanisms.Shuffled
        | mechanisms.RandomlyAllocated
        | mechanisms.BallsInBins,
    )
    return mechanism.mechanism


def _described(mechanism: Mechanism, *, alone: bool = False) -> tuple[bool, JsonObject]:
    """Whether it says itself which records it is about (then only ``alone``), and its fields."""
    for kind in KINDS:
        if type(mechanism) is kind.make and (alone or not kind.whole):
            noise = mechanism.mechanism if isinstance(mechanism, mechanisms.LastIterate) else mechanism
            numbers = {field: getattr(mechanism, field) for field in kind.fields}
            numbers |= {field: getattr(noise, field) for field in kind.optional}
            entry = {"mechanism": kind.name} | {
                field: _written(value) for field, value in numbers.items() if value is not None
            }
            return kind.whole, entry
    raise UnsupportedMechanism(
        f"a ledger holds single releases, and has no way to write {mechanism!r}: list what it consists of"
    )


def _written(value: object) -> object:
    match value:
        case Fraction() | Relation():
            return str(value)
        case tuple():
            return [_written(each) for each in value]
        case Toeplitz(coefficients=coefficients, steps=steps):
            return {"kind": "toeplitz", "coefficients": _written(coefficients), "steps": steps}
        case LowerTriangular(rows=rows, denominator=common):
            return {"kind": "lower-triangular", "rows": [[str(Fraction(x, common)) for x in row] for row in rows]}
        case BinaryTree(steps=steps):
            return {"kind": "binary-tree", "steps": steps}
    return value
