"""Mechanisms and dominating pairs in words."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.cli.printing.output import plain
from dpbounds.expressions.exact import Direction as Side, to_decimal
from dpbounds.privacy.mechanisms import Mechanism, parts_of
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.pairs import Direction, Pair, Product


def described(mechanism: Mechanism) -> str:
    """The releases of a mechanism in one line."""
    return "; ".join(f"{releases(part, count)}, {noise_of(part)}" for part, count in parts_of(mechanism))


def releases(part: Mechanism, count: int) -> str:
    """So many releases, and the records that they are about."""
    return part.releases_in_words(count, _exactly)


def drawn(part: Mechanism) -> str:
    """The records that a release is about: the full batch, or a sample."""
    return part.drawn_in_words(_exactly)


def noise_of(part: Mechanism) -> str:
    """What a release adds or does, whatever it runs on."""
    return part.in_words(_exactly)


def _exactly(value: Fraction, _: Side) -> str:
    return plain(value)


# --- dominating pairs ----------------------------------------------------------------------------------------------


def product_in_words(product: Product) -> str:
    """Independent pairs, each with its count."""
    return "; and ".join(
        pair_in_words(pair) if count == 1 else f"{count} x {pair_in_words(pair)}" for pair, count in product
    )


def pair_in_words(pair: Pair) -> str:
    """The two laws that stand for any two neighbours."""
    match pair:
        case pairs.ShiftedGaussians(squared_shift=squared):
            return f"N(m, 1) against N(0, 1), m² = {plain(squared)}"
        case pairs.ShiftedLaplaces(shift=shift):
            return f"Lap(s, 1) against Lap(0, 1), s = {plain(shift)}"
        case pairs.ShiftedDiscreteLaplaces(parameter=parameter, distance=distance):
            return f"discrete Laplace laws, e^(-a|x|), {distance} apart, a = {plain(parameter)}"
        case pairs.ShiftedDiscreteGaussians(variance=variance, distance=distance):
            return f"discrete Gaussian laws, e^(-x²/2s), {distance} apart, s = {plain(variance)}"
        case pairs.MixedGaussians(direction=order, parts=parts):
            laws = (
                f"a mixture of {len(parts)} N(c, 1)",
                "N(0, 1)" if order is not Direction.REPLACE else "its mirror image",
            )
            first, second = laws[::-1] if order is Direction.ADD else laws
            return f"{first} against {second}"
        case pairs.UniformBalls(squared_shift=squared, dimension=dimension):
            return f"two unit balls in {dimension} dimensions, centres s apart, s² = {plain(squared)}"
        case pairs.Responses(epsilon=epsilon, options=options):
            return f"randomised response of {options} options, epsilon {plain(epsilon)}"
        case pairs.TwoResponses(epsilon=epsilon):
            return f"two steps of randomised response, epsilon {plain(epsilon)} each"
        case pairs.FourPoints(epsilon=epsilon, delta=delta):
            return f"the worst (epsilon, delta)-private pair, epsilon {plain(epsilon)}, delta {plain(delta)}"
        case pairs.BoundedRangeProfile(span=span):
            return f"the worst losses within a range of {plain(span)}"
        case pairs.TwoPoints(high=high, span=span):
            return f"two losses, {plain(high)} and {plain(high - span)}"
        case pairs.RenyiProfile():
            return "the largest profile that the Rényi divergences allow"
        case pairs.SampledGaussians(direction=order, sample_rate=rate, variance=variance):
            return f"{_sampled_gaussians(order)}, q = {plain(rate)}, z² = {plain(variance)}"
        case pairs.Sampled(draws=draws, base=base):
            return f"[{pair_in_words(base)}] seen by a record {_draws(draws)}"
        case pairs.DrawnGaussians(direction=order, draws=draws, squared_shift=squared):
            laws = "a mixture of N(ks, 1)", "N(0, 1)"
            first, second = laws[::-1] if order is Direction.ADD else laws
            return f"{first} against {second}, s² = {plain(squared)}, k the draws of a record {_draws(draws)}"
        case pairs.ReplacedGaussians(draws=draws, squared_shift=squared):
            return (
                f"three Gaussian laws, each ks from the others at most, s² = {plain(squared)}, k the draws of a record "
                f"{_draws(draws)}"
            )
        case pairs.ReplacedGroup(chances=chances, squared_shift=squared):
            return (
                f"three Gaussian laws, each js from the others at most, s² = {plain(squared)}, j of 0 to "
                f"{len(chances) - 1} the number of a group's records in a batch"
            )
        case pairs.Zeroed(draws=draws, base=base):
            return f"[{pair_in_words(base)}] zeroed for a record {_draws(draws)}, in whose place another stands else"
        case pairs.OpposedGaussians(rate=rate, squared_shift=squared):
            return (
                f"N(0, 1) and N(2s, 1) against N(0, 1) and N(s, 1), mixed at rate {plain(rate)}, s² = {plain(squared)}"
            )
        case pairs.TaggedGaussians(atoms=atoms):
            least, most = plain(atoms[0][0]), plain(atoms[-1][0])
            return f"N(m, 1) against N(0, 1), m² drawn in public, {len(atoms)} values from {least} to {most}"
        case pairs.SampledLaplaces(sample_rate=rate, shift=shift):
            return f"(1-q) Lap(0) + q Lap(s) against (1-q) Lap(0) + q Lap(-s), q = {plain(rate)}, s = {plain(shift)}"
        case pairs.SampledBalls(sample_rate=rate, squared_shift=squared, dimension=dimension):
            return (
                f"balls at 0 and s against balls at 0 and -s in {dimension} dimensions, mixed at rate {plain(rate)}, "
                f"s² = {plain(squared)}"
            )
        case pairs.TwoGuarantees(sample_rate=rate, present=present, replaced=replaced):
            return (
                f"[{pair_in_words(present)}] for presence and [{pair_in_words(replaced)}] for replacement, on samples "
                f"at rate {plain(rate)}"
            )
        case pairs.CrowdedGaussians(most=most, size=size, lean=lean):
            return f"a record that leans by {plain(lean)} against {size - 1} equal ones, cut to {most}"
        case pairs.Tagged():
            told = "; ".join(
                f"[{pair_in_words(part)}] with weight {_weight(weight)}"
                + (f" ({_weight(other)} under the second law)" if other != weight else "")
                for weight, other, part in pair.weighed
            )
            return f"one of these, drawn and revealed: {told}"
        case pairs.ShuffledBatches(base=base, batches=number):
            return f"[{pair_in_words(base)}] in one of {number} shuffled batches, which one being secret"
        case pairs.Diluted(rate=rate, base=base):
            return f"[{pair_in_words(base)}] with chance {plain(rate)}, else nothing; which of the two is known"
        case pairs.Allocated(direction=Direction.REPLACE, bins=bins, shares=shares):
            return f"one of {bins} steps, at random, moved forth against one of them moved back, {_shares(shares)}"
        case pairs.Allocated(bins=bins, shares=shares):
            return f"one of {bins} steps, at random, with the record against none, {_shares(shares)}"
        case pairs.AllocatedTo(steps=steps, participations=k, base=base):
            return f"{k} of {steps} steps, at random, with the record against none, each [{pair_in_words(base)}]"
        case pairs.Combined(product=product):
            return f"[{product_in_words(product)}] on one sample"
    return "finitely many losses"


def _shares(shares: Product) -> str:
    each = [
        f"each [{pair_in_words(base)}]" if len(shares) == 1 else f"{n} of them [{pair_in_words(base)}]"
        for base, n in shares
    ]
    return ", ".join(each)


def _sampled_gaussians(direction: Direction) -> str:
    match direction:
        case Direction.REMOVE:
            return "(1-q) N(0, z²) + q N(1, z²) against N(0, z²)"
        case Direction.ADD:
            return "N(0, z²) against (1-q) N(0, z²) + q N(1, z²)"
    return "(1-q) N(0, z²) + q N(1, z²) against (1-q) N(0, z²) + q N(-1, z²)"


def _weight(weight: Fraction) -> str:
    """A weight in few digits, rounded up."""
    return to_decimal(weight, 4, "up")


def _draws(draws: pairs.Draws) -> str:
    rate = plain(draws.rate)
    return f"with chance {rate}" if draws.slots == 1 else f"drawn {draws.slots} times with chance {rate} each"


def source_of(pair: Pair) -> str:
    """Where it is proven that the pair dominates."""
    match pair:
        case pairs.ShiftedGaussians():
            return "pairs.md, section 4 (Balle & Wang 2018; Dong, Roth & Su 2022)"
        case pairs.SampledGaussians(direction=Direction.REPLACE):
            return "pairs.md, section 5, replace one (derived there)"
        case pairs.SampledGaussians():
            return "pairs.md, section 5, add or remove one (Zhu, Dong & Wang 2022)"
        case pairs.ShiftedLaplaces():
            return "losses.md, section 2 (chains of shifts along the axes)"
        case pairs.UniformBalls():
            return "losses.md, section 2 (Tholeti & Kalyani 2020, equation 6)"
        case pairs.ShiftedDiscreteLaplaces() | pairs.ShiftedDiscreteGaussians():
            return "whole_numbers.md (derived there)"
        case pairs.MixedGaussians():
            return "mixtures.md (Gaussian comparison, pairs.md, section 5)"
        case pairs.TaggedGaussians():
            return "last_iterate.md, section 4 (derived there)"
        case pairs.SampledLaplaces() | pairs.SampledBalls():
            return "sampling.md, section 4 (derived there)"
        case pairs.Responses() | pairs.FourPoints() | pairs.TwoResponses():
            return "losses.md, section 2 (Kairouz, Oh & Viswanath 2015)"
        case pairs.BoundedRangeProfile() | pairs.TwoPoints():
            return "losses.md, section 2 (the least upper bound of all two-point pairs)"
        case pairs.RenyiProfile():
            return "losses.md, section 2 (Canonne, Kamath & Steinke 2020)"
        case pairs.Sampled(direction=Direction.REPLACE) | pairs.TwoGuarantees():
            return "sampling.md (Balle, Barthe & Gaboardi 2018, advanced joint convexity)"
        case pairs.Diluted():
            return "sampling.md, section 4 (the sample's size may be published)"
        case pairs.Sampled():
            return "sampling.md (Zhu, Dong & Wang 2022, mixture split)"
        case pairs.Zeroed() | pairs.OpposedGaussians():
            return "zero_out.md, sections 4 and 5 (three laws, derived there)"
        case pairs.Tagged() | pairs.CrowdedGaussians():
            return "truncated.md (one tag for a cut sample, derived there)"
        case pairs.ShuffledBatches():
            return "shuffled.md (clones: Feldman, McMillan & Talwar 2021, derived there for adaptive Gaussian batches)"
        case pairs.Allocated(direction=Direction.REPLACE):
            return "allocation.md, section 6 (Gaussian comparison, pairs.md, section 5)"
        case pairs.Allocated() | pairs.AllocatedTo():
            return "allocation.md (any secret choice of steps, derived there)"
        case pairs.ReplacedGroup():
            return "groups.md (three laws, how many of the group are in the batch hidden, derived there)"
        case pairs.ReplacedGaussians():
            return "sampling.md, section 6 (three laws, the number of draws hidden, derived there)"
        case pairs.DrawnGaussians():
            return "sampling.md, section 6 (Gaussian comparison, derived there)"
    return "sampling.md"
