"""Dominating pairs: two distributions that are at least as easy to tell apart as any two neighbouring data sets.

A pair (P, Q) *dominates* a mechanism for a class of ordered neighbours (D, D') when
H_α(M(D) ‖ M(D')) <= H_α(P ‖ Q) for every α >= 0, where H_α(P ‖ Q) = ∫ (dP - α dQ)_+. If every step of an adaptive
composition is dominated, given any history, by a pair fixed in advance, then the product of the pairs dominates the
composition (Zhu, Dong & Wang 2022; Dong, Roth & Su 2022; ``pairs.md``, section 2). The class of ordered neighbours must
be one that every step shares: "the record is in the first data set" (remove) or "in the second" (add); the privacy
curve is then the maximum over the classes, taken after the whole composition.

A pair is known by its profile H_α alone, and every convex function of α that decreases from 1 at α = 0 and stays at or
above (1-α)_+ is the profile of one (Blackwell; Dong, Roth & Su 2022). Here are the records; ``losses.py`` says how
their losses are distributed, ``domination/composition.py`` which mechanism is dominated by which. The derivations are
in ``pairs.md`` (composition, Gaussian noise, chains), ``losses.md`` (other noise, black boxes) and ``sampling.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from flint import arb, fmpq

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.relations import Order

_ROUNDING_PRECISION = 160
_MOST_WHOLE_NUMBERS = 5_000  # of which a law is made


class Direction(StrEnum):
    """Which of the two laws of a sampled pair is the mixture."""

    REMOVE = "remove"  # the first: the record's contribution is in it
    ADD = "add"  # the second
    REPLACE = "replace"  # both, with different contributions

    @classmethod
    def of(cls, order: Order) -> Direction:
        """The direction of a pair that stands for such neighbours."""
        match order:
            case Order.REMOVE | Order.ZERO:
                return cls.REMOVE
            case Order.ADD | Order.RESTORE:
                return cls.ADD
            case Order.REPLACE:
                return cls.REPLACE
        assert_never(order)


# --- Pairs without sampling. All but ``TwoPoints`` are symmetric: (P, Q) and (Q, P) have the same profile. ------------


@dataclass(frozen=True, slots=True)
class ShiftedGaussians:
    """P = N(μ, 1), Q = N(0, 1) with μ² = ``squared_shift``: one or many full-batch Gaussian releases.

    The same curve in both orders. Balle & Wang 2018 (single release, any dimension); μ² adds up under adaptive
    composition: Dong, Roth & Su 2022; ``pairs.md``, section 4.
    """

    squared_shift: Fraction


@dataclass(frozen=True, slots=True)
class ShiftedLaplaces:
    """P = Lap(s, 1), Q = Lap(0, 1): one full-batch release with Laplace noise, s = l1 distance / scale.

    Any dimension: an l1 step is a chain of steps along the axes, and for the Laplace law chains of shifts in one
    direction are no worse than one shift (``pairs.md``, section 6). Attained by a step along one axis.
    """

    shift: Fraction


@dataclass(frozen=True, slots=True)
class ShiftedDiscreteLaplaces:
    """P(x) proportional to e^(-a|x-D|), Q(x) to e^(-a|x|) on the whole numbers; a = ``parameter``, D = ``distance``.

    Any dimension, l1 distance D. Derived in ``whole_numbers.md``, section 2. Attained by a step along one axis.
    """

    parameter: Fraction
    distance: int


@dataclass(frozen=True, slots=True)
class ShiftedDiscreteGaussians:
    """P(x) proportional to e^(-(x-D)²/2σ²), Q(x) to e^(-x²/2σ²) on the whole numbers; σ² = ``variance``.

    One coordinate moves, by at most D. Derived in ``whole_numbers.md``, section 3. Attained. ``scalar``: the answer has
    one coordinate, so that k records move it by kD; else nothing is said of several records.
    """

    variance: Fraction
    distance: int
    scalar: bool = True


@dataclass(frozen=True, slots=True)
class UniformBalls:
    """Uniform laws on two d-balls of radius 1 whose centres lie s apart, s² = ``squared_shift``.

    The likelihood ratio is 0, 1 or ∞: with τ the total variation, H_α = τ + (1-τ)(1-α)_+. Attained.
    τ = I_{s²/4}(1/2, (d+1)/2) for s < 2 (regularised incomplete beta), else 1: Tholeti & Kalyani 2020, eq. 6.
    """

    squared_shift: Fraction
    dimension: int


@dataclass(frozen=True, slots=True)
class Responses:
    """Randomised response with k options: losses ε, -ε and (for k > 2) 0. Attained; k = 2 is the worst ε-DP pair."""

    epsilon: Fraction
    options: int = 2


@dataclass(frozen=True, slots=True)
class TwoResponses:
    """Two ε-DP steps in a row, a record out and another one in: losses 2ε, 0 and -2ε.

    The P-mass at 2ε is 1/(1 + e^-ε), at -2ε that times e^-2ε. Less than a response with 2ε; derived in ``pairs.md``.
    Attained.
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class FourPoints:
    """The worst (ε, δ)-DP pair: δ at infinite loss, the rest a randomised response. Kairouz, Oh & Viswanath 2015."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class BoundedRangeProfile:
    """The least upper bound of all two-point pairs with losses t and t - η, 0 <= t <= η (exponential mechanism).

    H at α = e^ε is (1 - e^((ε-η)/2))² / (1 - e^(-η)) for |ε| <= η. Derived in ``losses.md``, section 2; attained at
    each ε by one of the two-point pairs, not by one pair for all ε. It stands for releases whose loss lies in such a
    range, which is more than that it dominates them (``many_choices.md``).
    """

    span: Fraction


@dataclass(frozen=True, slots=True)
class TwoPoints:
    """Losses t and t - η only, 0 < t < η: what one exponential mechanism can attain. ``high`` is t, ``span`` is η.

    ``losses.md``, section 2.
    """

    high: Fraction
    span: Fraction


@dataclass(frozen=True, slots=True)
class RenyiProfile:
    """The profile that D_λ <= ε(λ) allows, at finitely many orders λ or (``rho``) D_λ <= λρ at all λ > 1.

    H_α <= inf_λ e^((λ-1)(ε(λ) - log α)) λ^(-1) (1 - 1/λ)^(λ-1) for α >= 1 (Canonne, Kamath & Steinke 2020), mirrored
    for α < 1. Not attained: composing it is sound, and looser than adding up the Rényi divergences. ``losses.md``.
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction | None = None


# --- Pairs of sampled mechanisms --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SampledGaussians:
    """One Gaussian release on a Poisson sample; lengths in units of the per-record bound, variance z².

    With N(m) = N(m, z²) and q the sample rate:

    - remove: P = (1-q) N(0) + q N(1), Q = N(0); add: the same two, swapped. Zhu, Dong & Wang 2022 (the
      mixture split H_α(ω‖ω₀) = q H_{(α-1+q)/q}(ω₁‖ω₀) is an identity); any dimension. Attained.
    - replace: P = (1-q) N(0) + q N(1), Q = (1-q) N(0) + q N(-1). Derived in ``pairs.md``, section 5 (Gaussian
      comparison: the divergence grows with both variances of the log-likelihoods and falls with their covariance).
      Attained.
    """

    direction: Direction
    sample_rate: Fraction
    variance: Fraction


@dataclass(frozen=True, slots=True)
class MixedGaussians:
    """Σ_i p_i N(c_i, 1) against N(0, 1), the same swapped (add), or against Σ_i p_i N(-c_i, 1) (replace).

    ``parts``: the pairs (c_i², p_i), c_i >= 0 in units of the noise, p_i that sum to 1. Derived in ``mixtures.md``, by
    the Gaussian comparison; for groups of records on samples in ``groups.md``. Attained.
    """

    direction: Direction
    parts: tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Draws:
    """How often the record takes part: Binomial(slots, rate) times, so at most once where there is one slot."""

    rate: Fraction
    slots: int = 1


@dataclass(frozen=True, slots=True)
class Sampled:
    """A mechanism that sees the record k times with probability p_k, k ~ ``draws``; seeing it k times costs ``base`` k.

    With η = 1 - p_0 and h_k the profile of the base enlarged k times (``enlarged``):

    - remove: H_α = Σ_{k>=1} p_k h_k((α-1+η)/η) for α > 1-η, else 1-α. Add: the same pair, swapped. For at most one
      draw this is the mixture ((1-q)Q + qP, Q), an identity: Zhu, Dong & Wang 2022. For more it follows by convexity.
    - replace: Σ_{k>=1} p_k h_k(1 + (α-1)/η) for α >= 1, mirrored for α < 1: Balle, Barthe & Gaboardi 2018 (advanced
      joint convexity), Zhu, Dong & Wang 2022. Attained in a single step, by one of *two* pairs of data sets; composed,
      it is sound under adaptivity, where the two composed separately are not. The base must be symmetric.

    ``sampling.md``, sections 2, 5 and 6.
    """

    direction: Direction
    draws: Draws
    base: Pair


@dataclass(frozen=True, slots=True)
class DrawnGaussians:
    """Gaussian noise, the record drawn k ~ ``draws`` times: Σ_k p_k N(ks, 1) against N(0, 1), s² = ``squared_shift``.

    Remove; add is the same pair, swapped. Derived in ``sampling.md``, section 6, by the Gaussian comparison; for one
    release, and for several adaptive ones on the same batch. Attained.
    """

    direction: Direction
    draws: Draws
    squared_shift: Fraction


@dataclass(frozen=True, slots=True)
class ReplacedGaussians:
    """Gaussian noise, a record that is drawn k ~ ``draws`` times is replaced; s² = ``squared_shift`` for one link.

    With F̄ the tail of N(0, 1): H_α = sup_t Σ_k p_k max_{t-ks<=y<=t} (F̄(y) - α F̄(y+ks)) for α >= 1, mirrored below. How
    often it was drawn is not revealed, as it is by ``Sampled``. Derived in ``sampling.md``, section 6.
    """

    draws: Draws
    squared_shift: Fraction


@dataclass(frozen=True, slots=True)
class ReplacedGroup:
    """The same for a group in a batch of a fixed size, which holds j of it with the j-th of ``chances``.

    They sum to 1. Derived in ``groups.md``.
    """

    chances: tuple[Fraction, ...]
    squared_shift: Fraction

    @property
    def revealed(self) -> TaggedGaussians:
        """How many it holds is known: which spends no less."""
        return TaggedGaussians(tuple((j**2 * self.squared_shift, chance) for j, chance in enumerate(self.chances)))


@dataclass(frozen=True, slots=True)
class Zeroed:
    """A batch of fixed size in which a record is zeroed: the batch that holds it lacks some other record.

    With η = 1 - p_0, h_k the profile of the base (first law: the record contributes) enlarged k times, g_k that of its
    reversal, and κ = (α-1)(1-η)/η:

    - remove (the record contributes in the first data set): for α >= 1 H_α = Σ_{k>=1} p_k inf_{b>0} h_k(α + κ/b) +
      (κ/b) g_k(b); for α < 1 the reversal of Σ_{k>=1} p_k g_k(1 + (α-1)/η). Add: the same pair, swapped.
    - For a Gaussian base and α >= 1 the k-th infimum is the profile of (1-η) N(0) + η N(2ks) against (1-η) N(0) +
      η N(ks), over η.

    For at most one draw it is attained in a single step (Gaussian noise), by one of two pairs of data sets. Derived in
    ``zero_out.md``, sections 4 and 5.
    """

    direction: Direction
    draws: Draws
    base: Pair


@dataclass(frozen=True, slots=True)
class OpposedGaussians:
    """(1-γ) N(0, 1) + γ N(2s, 1) against (1-γ) N(0, 1) + γ N(s, 1), s² = ``squared_shift``, or (add) swapped.

    A batch of fixed size in which a record is zeroed while all others pull the other way. Attained; dominates nothing
    but itself. ``zero_out.md``, section 4.
    """

    direction: Direction
    rate: Fraction
    squared_shift: Fraction


@dataclass(frozen=True, slots=True)
class TaggedGaussians:
    """One of several shifts μ², drawn with known probabilities and revealed: the same tag under both laws.

    ``atoms`` are (μ², probability) pairs with μ² >= 0 in increasing order; the probabilities add up to 1. The profile
    is the average of those of ``ShiftedGaussians``. Dominates where a shift depends on a draw that may be given away
    (joint convexity): ``last_iterate.md``.
    """

    atoms: tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, slots=True)
class SampledLaplaces:
    """Scalar Laplace noise on a Poisson sample under replace-one: (1-q) f(x) + q f(x-s) against (1-q) f(x) + q f(x+s).

    f is the density of Lap(0, 1), s = per-record bound / scale. Derived in ``sampling.md``, section 4 (dimension one
    only). Attained.
    """

    sample_rate: Fraction
    shift: Fraction


@dataclass(frozen=True, slots=True)
class SampledBalls:
    """Uniform noise on a ball, on a Poisson sample, under replace-one; s² = ``squared_shift`` for one record's bound.

    With τ1 = τ(s), τ2 = τ(2s): H_α = q τ1 + (τ2 - τ1)(1 - α(1-q))_+ for α >= 1, mirrored below. Derived in
    ``sampling.md``, section 4. Attained.
    """

    sample_rate: Fraction
    squared_shift: Fraction
    dimension: int


@dataclass(frozen=True, slots=True)
class TwoGuarantees:
    """A mechanism on a Poisson sample under replace-one, known by what presence and what replacement costs.

    With h1 the profile of ``present`` (with the record against without), h2 that of ``replaced``, α'' = 1 + (α-1)/q and
    β = α/α'': H_α <= q ((1-β) h1(α'') + β h2(α'')) for α >= 1 (Balle, Barthe & Gaboardi 2018), mirrored below, and the
    convex envelope of that. Sound, not attained in general. ``sampling.md``, section 4.
    """

    sample_rate: Fraction
    present: Pair
    replaced: Pair


class Other(StrEnum):
    """What stands in the second data set where a record stands in the first."""

    NOTHING = "nothing"  # one record less
    NULL = "null"  # a record that contributes nothing
    OPPOSITE = "opposite"  # the record with the opposite vector


@dataclass(frozen=True, slots=True)
class CrowdedGaussians:
    """Truncated Poisson samples of a crowd of equal unit vectors u and one record that leans against them.

    The n - 1 others have u; the record x has ⟨x, u⟩ = -lean, its other part lies across. Seen are cells of the two
    coordinates, grouped by their loss: what remains is attained. Direction: add is the same, swapped. Dominates nothing
    but itself. ``truncated.md``, section 4.
    """

    direction: Direction
    sample_rate: Fraction
    most: int
    size: int
    variance: Fraction
    lean: Fraction
    other: Other


@dataclass(frozen=True, slots=True)
class Tagged:
    """One of several pairs, drawn with weights that sum to 1, and revealed (``truncated.md``).

    Where the weights are the same for both laws, H_α is the weighted sum of the parts' profiles, and the law of the
    loss that of theirs. Else H_α = Σ w_k h_k(α v_k/w_k), and a part's losses are larger by log(w_k/v_k).

    Attributes:
        parts: w_k, all positive, with the parts.
        others: v_k under the second law, all positive, where they differ from w_k; else empty.
        alike: Where they differ, a pair with one law of the tag that dominates the same releases, if one is known.
    """

    parts: tuple[tuple[Fraction, Pair], ...]
    others: tuple[Fraction, ...] = ()
    alike: Tagged | None = None

    @property
    def weighed(self) -> tuple[tuple[Fraction, Fraction, Pair], ...]:
        """Both weights and the pair of each part."""
        others = self.others or tuple(weight for weight, _ in self.parts)
        return tuple((weight, other, part) for (weight, part), other in zip(self.parts, others, strict=True))


@dataclass(frozen=True, slots=True)
class ShuffledBatches:
    """One epoch over batches of one size, cut from a secret order that is drawn afresh for it.

    With probability ``rest`` the record is in a further, smaller batch, and that is known. ``base`` dominates the batch
    that holds the record, and so the whole epoch: that is the law of this pair's loss. What the secret order gains
    depends on ε and δ, and is no profile: ``routes/shuffling`` proves it. Derived in ``shuffled.md``.

    - replace: the record's content is replaced.
    - remove: it contributes in the first data set alone (zero); add: in the second (restore).

    Attributes:
        centred: Replace only: a record at half the distance from all others exists, or could.
    """

    direction: Direction
    base: ShiftedGaussians
    batches: int
    rest: Fraction = Fraction(0)
    centred: bool = False


@dataclass(frozen=True, slots=True)
class Diluted:
    """A pair met with probability ``rate``, else nothing; whether it was is published: H_α = (1-q) (1-α)_+ + q h(α).

    A mechanism on a sample that may publish how many records it holds, neighbours having equally many: one that is
    private when a record is replaced or zeroed, and only then. ``sampling.md``, section 4. Attained where ``base`` is.
    """

    rate: Fraction
    base: Pair


@dataclass(frozen=True, slots=True)
class Allocated:
    """Of ``bins`` steps the record is in one, drawn uniformly and in secret.

    ``shares`` says how many of the steps have which pair (P: the record is in it; Q: it is not); steps that are in none
    of them are not run. With X_i independent copies of their likelihood ratios and f steps run, the ratio of the whole
    is R = (bins - f + X_1 + ... + X_f) / bins under Q. Remove: (R Q, Q); add: the same two, swapped. Its law has no
    closed form; ``routes/allocation`` encloses it. Derived in ``allocation.md``. Attained where the bases are.

    Replace: Gaussian bases alone. With (N(μ), N(0)) the pair of a step: the mean of N(μ e_i) against that of N(-μ e_i);
    the record moves one step, the record in its place moves one the other way. ``allocation.md``, section 6.
    """

    direction: Direction
    bins: int
    shares: Product


@dataclass(frozen=True, slots=True)
class AllocatedTo:
    """Of ``steps`` steps the record is in ``participations``, a uniformly random set: attained, an attack.

    R = e_k(X_1, ..., X_t) / C(t, k), with e_k the elementary symmetric polynomial. Used from below only: what is proven
    from above is a product of ``Allocated`` (``allocation.md``, section 4).
    """

    direction: Direction
    steps: int
    participations: int
    base: Pair


@dataclass(frozen=True, slots=True)
class Combined:
    """Several independent pairs taken as one: what runs on one sample.

    Its law has no closed form; the accountants replace it by a ``Discrete`` pair that dominates it (``sampling.md``,
    section 7).
    """

    product: Product


@dataclass(frozen=True, slots=True)
class Discrete:
    """Finitely many losses, exact, with exact P-masses; the rest of P at infinite loss, of Q at loss -∞."""

    points: tuple[tuple[Fraction, Fraction], ...]
    infinite: Fraction

    def __hash__(self) -> int:
        """Of few points: there may be thousands, and every look into a cache asks."""
        return hash((len(self.points), self.points[:1], self.points[-1:], self.infinite))


Pair = (
    ShiftedGaussians
    | ShiftedLaplaces
    | ShiftedDiscreteLaplaces
    | ShiftedDiscreteGaussians
    | UniformBalls
    | Responses
    | TwoResponses
    | FourPoints
    | BoundedRangeProfile
    | TwoPoints
    | RenyiProfile
    | SampledGaussians
    | MixedGaussians
    | Sampled
    | DrawnGaussians
    | ReplacedGaussians
    | ReplacedGroup
    | Zeroed
    | OpposedGaussians
    | TaggedGaussians
    | SampledLaplaces
    | SampledBalls
    | TwoGuarantees
    | CrowdedGaussians
    | Tagged
    | ShuffledBatches
    | Diluted
    | Allocated
    | AllocatedTo
    | Combined
    | Discrete
)
Product = tuple[tuple[Pair, int], ...]  # independent pairs with multiplicities


GaussianPair = ShiftedGaussians | SampledGaussians  # those whose loss has an analytic density
GaussianProduct = tuple[tuple[GaussianPair, int], ...]


def holds_shuffling(product: Product) -> bool:
    """Whether any of the pairs is an epoch of shuffled batches."""
    return any(isinstance(pair, ShuffledBatches) for pair, _ in product)


def as_gaussian(product: Product) -> GaussianProduct | None:
    """The same product, where all its pairs are Gaussian; else None."""
    parts = tuple((pair, count) for pair, count in product if isinstance(pair, ShiftedGaussians | SampledGaussians))
    return parts if len(parts) == len(product) else None


def holds_allocation(product: Product) -> bool:
    """Whether any of the pairs stands for steps that are allocated in secret."""
    return any(isinstance(pair, Allocated | AllocatedTo) for pair, _ in product)


# --- Enlarged: the same guarantee along a chain of k neighbours -------------------------------------------------------


def enlarged(pair: Pair, k: int) -> Pair:
    """Return a pair that dominates for any two data sets that are k steps of one relation apart.

    Shifts grow k-fold; a pure ε, a range η and (for zCDP) sqrt(ρ), too; (ε, δ) becomes (kε, δ (e^(kε)-1)/(e^ε-1)),
    rounded up. Dwork & Roth 2014 (group privacy), Bun & Steinke 2016, Proposition 1.9; ``pairs.md``, section 6.

    Raises:
        UnsupportedMechanism: No such pair is proven here.
    """
    if k == 1:
        return pair
    match pair:
        case ShiftedGaussians(squared_shift=squared):
            return ShiftedGaussians(k**2 * squared)
        case ShiftedLaplaces(shift=shift):
            return ShiftedLaplaces(k * shift)
        case ShiftedDiscreteLaplaces(parameter=parameter, distance=distance):
            return discrete_laplaces(parameter, k * distance)
        case ShiftedDiscreteGaussians(variance=variance, distance=distance, scalar=True):
            if are_listed(variance, k * distance):
                return ShiftedDiscreteGaussians(variance, k * distance)
        case UniformBalls(squared_shift=squared, dimension=dimension):
            return UniformBalls(k**2 * squared, dimension)
        case Responses(epsilon=epsilon, options=2):
            return Responses(k * epsilon)
        case TwoResponses(epsilon=epsilon):
            return Responses(2 * k * epsilon)
        case BoundedRangeProfile(span=span):
            return BoundedRangeProfile(k * span)
        case RenyiProfile(points=(), rho=rho) if rho is not None:
            return RenyiProfile((), k**2 * rho)
        case FourPoints(epsilon=epsilon, delta=delta):
            return FourPoints(k * epsilon, min(Fraction(1), _grown(delta, epsilon, k)))
    raise UnsupportedMechanism(
        f"what {k} records cost together is not proven here for {pair}: sample single releases, and compose afterwards"
    )


def discrete_laplaces(parameter: Fraction, distance: int) -> Pair:
    """Discrete Laplace noise, shifted; where that has too many losses to list, the pure pair, which dominates it."""
    if distance > _MOST_WHOLE_NUMBERS:
        return Responses(parameter * distance)
    return ShiftedDiscreteLaplaces(parameter, distance)


def are_listed(variance: Fraction, distance: int) -> bool:
    """Whether the losses of a shifted discrete Gaussian, where they matter, are few enough to be listed."""
    return bool(80**2 * variance <= (_MOST_WHOLE_NUMBERS - distance) ** 2 and distance < _MOST_WHOLE_NUMBERS)


def _grown(delta: Fraction, epsilon: Fraction, k: int) -> Fraction:
    if delta == 0:
        return delta
    with working(_ROUNDING_PRECISION):
        growth = arb(fmpq(epsilon.numerator, epsilon.denominator)).exp()
        factor = sum((growth**i for i in range(k)), arb(0))
        return ball_end(arb(fmpq(delta.numerator, delta.denominator)) * factor, "up")
