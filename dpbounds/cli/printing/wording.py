"""Mechanisms and dominating pairs in words."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.cli.printing.output import plain
from dpbounds.privacy import mechanisms as known
from dpbounds.privacy.mechanisms import Mechanism, parts_of
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.pairs import Direction, Pair, Product


def described(mechanism: Mechanism) -> str:
    """The releases of a mechanism in one line."""
    return "; ".join(_counted(part, count) for part, count in parts_of(mechanism))


def _counted(part: Mechanism, count: int) -> str:
    many = "a single release" if count == 1 else f"{count} releases"
    return f"{many} on {drawn(part)}, {noise_of(part)}"


def drawn(part: Mechanism) -> str:
    """On what a release runs: the full batch, or a sample."""
    match part:
        case known.PoissonSampled(sample_rate=rate):
            return f"Poisson samples at rate {plain(rate)}"
        case known.SampledWithoutReplacement(batch_size=b, dataset_size=n):
            return f"{batches(b, n)} without replacement"
        case known.SampledWithReplacement(batch_size=b, dataset_size=n):
            return f"{batches(b, n)} with replacement"
    return "the full batch"


def batches(batch_size: int, dataset_size: int) -> str:
    """Batches of a fixed size."""
    what = "one record" if batch_size == 1 else f"{batch_size} records"
    return f"{what} of {dataset_size} drawn"


def noise_of(part: Mechanism) -> str:
    """What a release adds or does, whatever it runs on."""
    match part:
        case (
            known.PoissonSampled(mechanism=inner)
            | known.SampledWithoutReplacement(mechanism=inner)
            | known.SampledWithReplacement(mechanism=inner)
        ):
            return noise_of(inner)
        case known.Gaussian(noise_multiplier=multiplier, noise_stddev=stddev, sensitivity=distance):
            return f"Gaussian {_noise(multiplier, 'stddev', stddev, distance)}"
        case known.Laplace(noise_multiplier=multiplier, noise_scale=scale, sensitivity=distance):
            return f"Laplace {_noise(multiplier, 'scale', scale, distance)}"
        case known.UniformBall(radius=radius, dimension=dimension, sensitivity=distance):
            told = "per unit of the per-record bound" if distance is None else f"at sensitivity {plain(distance)}"
            return f"noise uniform on a ball in {dimension} dimensions, radius {plain(radius)} {told}"
        case known.RandomizedResponse(epsilon=epsilon, options=options):
            return f"randomised response of {options} options, epsilon {plain(epsilon)}"
        case known.ExponentialMechanism(epsilon=epsilon, relation=relation, monotone=monotone):
            return f"exponential mechanism, epsilon {plain(epsilon)} ({relation}{', monotone' if monotone else ''})"
        case known.AboveThreshold(epsilon=epsilon, relation=relation):
            return f"above-threshold test, epsilon {plain(epsilon)} ({relation})"
        case known.PureDP(epsilon=epsilon, relation=relation):
            return f"a black box with epsilon {plain(epsilon)} ({relation})"
        case known.ApproximateDP(epsilon=epsilon, delta=delta, relation=relation):
            return f"a black box with epsilon {plain(epsilon)}, delta {plain(delta)} ({relation})"
        case known.ZCDP(rho=rho, relation=relation):
            return f"a black box with rho-zCDP, rho {plain(rho)} ({relation})"
        case known.RenyiDP(points=points, relation=relation):
            return f"a black box with Rényi bounds at {len(points)} orders ({relation})"
    return repr(part)


def _noise(multiplier: Fraction | None, name: str, amount: Fraction | None, distance: Fraction | None) -> str:
    if multiplier is not None:
        return f"noise multiplier {plain(multiplier)}"
    assert amount is not None
    assert distance is not None
    return f"noise of {name} {plain(amount)} at sensitivity {plain(distance)}"


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
        case pairs.Combined(product=product):
            return f"[{product_in_words(product)}] on one sample"
    return "finitely many losses"


def _sampled_gaussians(direction: Direction) -> str:
    match direction:
        case Direction.REMOVE:
            return "(1-q) N(0, z²) + q N(1, z²) against N(0, z²)"
        case Direction.ADD:
            return "N(0, z²) against (1-q) N(0, z²) + q N(1, z²)"
    return "(1-q) N(0, z²) + q N(1, z²) against (1-q) N(0, z²) + q N(-1, z²)"


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
            return "laws.md, section 2 (chains of shifts along the axes)"
        case pairs.UniformBalls():
            return "laws.md, section 2 (Tholeti & Kalyani 2020, equation 6)"
        case pairs.SampledLaplaces() | pairs.SampledBalls():
            return "sampling.md, section 4 (derived there)"
        case pairs.Responses() | pairs.FourPoints() | pairs.TwoResponses():
            return "laws.md, section 2 (Kairouz, Oh & Viswanath 2015)"
        case pairs.BoundedRangeProfile() | pairs.TwoPoints():
            return "laws.md, section 2 (the least upper bound of all two-point pairs)"
        case pairs.RenyiProfile():
            return "laws.md, section 2 (Canonne, Kamath & Steinke 2020)"
        case pairs.Sampled(direction=Direction.REPLACE) | pairs.TwoGuarantees():
            return "sampling.md (Balle, Barthe & Gaboardi 2018, advanced joint convexity)"
        case pairs.Sampled():
            return "sampling.md (Zhu, Dong & Wang 2022, mixture split)"
        case pairs.DrawnGaussians():
            return "sampling.md, section 6 (Gaussian comparison, derived there)"
    return "sampling.md"
