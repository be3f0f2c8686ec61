"""Bounds on δ(ε) of sampled Gaussian releases that need closed forms only: for numbers beyond what doubles can plan.

They hold for every noise, rate and number of steps, and answer at once; how far apart they lie depends on the numbers.
The proofs are in ``drawn_steps.md``, which numbers the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Direction, GaussianProduct, Pair, Product, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.routes.closed_forms import closed_form_delta, losses_stay_below, squared_shift_of
from dpbounds.privacy.routes.gaussian_profiles import log_tail, tail, upper_bound_of_epsilon

METHOD = "drawn steps"

_PRECISION = 192
_DEVIATIONS = (2, 5, 10, 40, 160)  # above the mean: how many draws are counted with
_PLACES = (Fraction(1, 2), Fraction(3, 4), Fraction(15, 16))  # of thresholds, between the two means
_SHARES = Fraction(1, 2), Fraction(7, 8), Fraction(127, 128)  # of the way from one expected number of hits to the other
_BISECTIONS = 40

# Where the other routes can plan in doubles.
_TARGETS = Fraction(1, 10**1000), Fraction(10**9)
_NEXT_TO_ONE = Fraction(1, 10**12)
_MOST_STEPS = 10**12
_RAREST, _HARDLY = Fraction(1, 10**12), Fraction(1, 10**6)
_VARIANCES = Fraction(1, 2500), Fraction(10**24)


@dataclass(frozen=True, slots=True)
class _Part:
    """A sampled pair, T times."""

    pair: SampledGaussians
    count: int

    @property
    def rate(self) -> Fraction:
        return self.pair.sample_rate

    def shift(self, draws: int) -> Fraction:
        """Squared distance of the means, in standard deviations, where the record is drawn so often."""
        return draws * (4 if self.pair.direction is Direction.REPLACE else 1) / self.pair.variance


def delta_between(product: GaussianProduct, epsilon: Fraction) -> Enclosure:
    """Enclose δ(ε) for ε >= 0 between the best of these bounds."""
    bounds = _Bounds.of(product)
    with working(bounds.bits):
        low, high = bounds.below(epsilon), bounds.above(epsilon)
        return Enclosure(min(low, high), high, METHOD, bounds.bits)


def epsilon_between(product: GaussianProduct, delta: Fraction) -> Enclosure:
    """Enclose ε(δ) for δ in (0, 1): where the bounds on δ(ε) cross it.

    Raises:
        NotCertified: The numbers are too large to be written down.
    """
    bounds = _Bounds.of(product)
    with working(bounds.bits):
        if bounds.above(Fraction(0)) <= delta:
            return Enclosure(Fraction(0), Fraction(0), METHOD, bounds.bits)
        whole = ball_end(upper_bound_of_epsilon(bounds.whole, delta), "up")  # always suffices
        high = _last(whole, lambda e: bounds.above(e) > delta)[1]
        low = _last(whole, lambda e: bounds.below(e) > delta)[0]
        return Enclosure(min(low, high), high, METHOD, bounds.bits)


def _last(top: Fraction, holds: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """(holds, does not) of a property that is lost as ε grows, on a logarithmic scale below ``top``, 0 and top free."""
    low, high, step = Fraction(0), top, 1
    while step < 1 << 12:  # downwards by ever larger factors
        checkpoint()
        point = _rounded(high / (1 << step))
        if holds(point):
            low = point
            break
        high, step = point, 2 * step
    for _ in range(_BISECTIONS):
        checkpoint()
        if low == 0 or high - low <= high / 1000:
            break
        point = _rounded((low + high) / 2 if high <= 2 * low else low * _root(high / low))
        low, high = (point, high) if holds(point) else (low, point)
    return low, high


def _root(ratio: Fraction) -> int:
    """A whole number near the square root of a ratio above 2, and below the ratio."""
    return 1 << max(1, (int(ratio).bit_length() - 1) // 2)


def _rounded(value: Fraction) -> Fraction:
    shift = 40 - (value.numerator.bit_length() - value.denominator.bit_length())
    return Fraction(round(value * Fraction(2) ** shift)) / Fraction(2) ** shift


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The bounds of one product, at the working precision."""

    product: GaussianProduct
    parts: tuple[_Part, ...]
    fixed: Fraction  # squared shift of the full-batch releases
    bits: int

    @classmethod
    def of(cls, product: GaussianProduct) -> _Bounds:
        parts = tuple(_Part(pair, count) for pair, count in product if isinstance(pair, SampledGaussians))
        return cls(
            product, parts, squared_shift_of(product), _PRECISION + 2 * sum(part.count for part in parts).bit_length()
        )

    @property
    def whole(self) -> Fraction:
        """Squared shift without sampling."""
        return self.fixed + sum(part.shift(part.count) for part in self.parts)

    def above(self, epsilon: Fraction) -> Fraction:
        """The least upper bound on δ(ε)."""
        if losses_stay_below(self.product, epsilon):
            return Fraction(0)
        found = [Fraction(1), self._basic(epsilon)]
        found += [missed + self._shifted(shift, epsilon, "up") for missed, shift in self._drawn()]
        return min(found)

    def _shifted(self, squared_shift: Fraction, epsilon: Fraction, direction: str) -> Fraction:
        if squared_shift == 0:
            return Fraction(0)
        return ball_end(closed_form_delta(ShiftedGaussians(squared_shift), epsilon)[0], direction)

    def _drawn(self) -> Iterator[tuple[Fraction, Fraction]]:
        """(2): at most so many draws of each part, but for a probability; and the squared shift they make."""
        yield Fraction(0), self.whole
        never = sum((part.count * (-ball(part.rate)).log1p() for part in self.parts if part.rate < 1), arb(0))
        if all(part.rate < 1 for part in self.parts):
            yield ball_end(-never.expm1(), "up"), self.fixed
        for deviations in _DEVIATIONS:
            missed, shift = arb(0), self.fixed
            for part in self.parts:
                mean = part.count * part.rate
                root = ball_end(ball(mean).sqrt(), "up")
                draws = min(part.count, int(mean + deviations * (root + deviations)) + 1)
                missed += _more_than(draws, part.count, part.rate)
                shift += part.shift(draws)
            yield ball_end(missed, "up"), shift

    def _basic(self, epsilon: Fraction) -> Fraction:
        """(3): basic composition."""
        total = sum(count for _, count in self.product)
        return sum(
            (count * ball_end(closed_form_delta(pair, epsilon / total)[0], "up") for pair, count in self.product),
            Fraction(0),
        )

    def below(self, epsilon: Fraction) -> Fraction:
        """The largest lower bound on δ(ε)."""
        found = [Fraction(0), self._shifted(self.fixed, epsilon, "down")]
        for part in self.parts:
            found.append(ball_end(closed_form_delta(part.pair, epsilon)[0], "down"))
            found += [self._all_drawn(part, draws, epsilon) for draws in _powers(part.count)]
            found += [ball_end(value, "down") for value in _counted(part, epsilon) if value > 0]
        return max(found)

    def _all_drawn(self, part: _Part, draws: int, epsilon: Fraction) -> Fraction:
        """(4): the record is drawn in each of so many steps."""
        if part.pair.direction is Direction.ADD:
            return Fraction(0)
        lost = -draws * ball(part.rate).log()
        further = epsilon + ball_end(lost, "up")
        value = closed_form_delta(ShiftedGaussians(self.fixed + draws / part.pair.variance), further)[0]
        return max(Fraction(0), ball_end((-lost).exp() * value, "down"))


def _powers(count: int) -> Iterator[int]:
    draws = 1
    while draws < count and draws < 1 << 12:
        yield draws
        draws *= 8
    yield count


def _more_than(draws: int, count: int, rate: Fraction) -> arb:
    """Chernoff's bound on the probability of more than so many draws."""
    if draws >= count:
        return arb(0)
    least = draws + 1
    if Fraction(least, count) <= rate:
        return arb(1)
    return (-_divergence(least, count, ball(rate), ball(rate).log())).exp()


def _divergence(hits: int, count: int, rate: arb, log_rate: arb) -> arb:
    """T KL(hits/T ‖ rate)."""
    share = Fraction(hits, count)
    first = hits * (ball(share).log() - log_rate)
    if hits == count:
        return first
    return first + (count - hits) * (ball(1 - share).log() - (-rate).log1p())


def _counted(part: _Part, epsilon: Fraction) -> Iterator[arb]:
    """(5): how many of the T outcomes are large, under the two hypotheses of the remove (or add) order."""
    q, mu, count = ball(part.rate), (1 / ball(part.pair.variance)).sqrt(), part.count
    spread = arb(2 * count).log().sqrt()
    places = [mu * ball(place) for place in _PLACES]
    places += [mu - 4 * spread, (arb(count) / q).log().sqrt() * 2]
    for place in places:
        t = place.mid()
        if not t > 0:
            continue
        r, log_r = tail(t), log_tail(t)
        p = r + q * (tail(t - mu) - r)
        for hits in _numbers_of_hits(r, p, count):
            if part.pair.direction is Direction.ADD:
                yield _few(hits - 1, r, log_r, p, count, epsilon)
            else:
                yield _many(hits, r, log_r, p, count, epsilon)


def _numbers_of_hits(r: arb, p: arb, count: int) -> list[int]:
    """1, and some between what is expected without the record and with it."""
    places = (count * (r + (p - r) * ball(share)) for share in _SHARES)
    found = (place.mid().ceil().unique_fmpz() for place in places)
    return sorted({1} | {max(1, int(number)) for number in found if number is not None})


def _many(hits: int, r: arb, log_r: arb, p: arb, count: int, epsilon: Fraction) -> arb:
    """P(at least so many) - e^ε Q(at least so many)."""
    if hits == 1:  # with a union bound for Q
        return -(count * (-p).log1p()).expm1() - (ball(epsilon) + (arb(count).log() + log_r)).exp()
    if not count * r < hits < count * p:
        return arb(0)
    log_false = -_divergence(hits, count, r, log_r)
    return 1 - (-_divergence(hits, count, p, p.log())).exp() - (ball(epsilon) + log_false).exp()


def _few(hits: int, r: arb, log_r: arb, p: arb, count: int, epsilon: Fraction) -> arb:
    """P(at most so many) - e^ε Q(at most so many), where outcomes are large with probability r under P, p under Q."""
    if hits == 0:
        return (count * (-r).log1p()).exp() - (ball(epsilon) + count * (-p).log1p()).exp()
    if not count * r < hits < count * p:
        return arb(0)
    log_missed = -_divergence(hits, count, p, p.log())
    return 1 - (-_divergence(hits, count, r, log_r)).exp() - (ball(epsilon) + log_missed).exp()


def plannable(product: Product, target: Fraction) -> bool:
    """Whether a product and a target (δ or ε) lie where the other routes' choices, made in doubles, mean something."""
    if not (target == 0 or _TARGETS[0] <= target <= _TARGETS[1]) or 1 - _NEXT_TO_ONE < target < 1:
        return False
    return all(count <= _MOST_STEPS and _moderate(pair) for pair, count in product)


def _moderate(pair: Pair) -> bool:
    match pair:
        case ShiftedGaussians(squared_shift=squared_shift):
            return 1 / _VARIANCES[1] <= squared_shift <= 1 / _VARIANCES[0]
        case SampledGaussians(sample_rate=rate, variance=variance):
            return rate >= _RAREST and _VARIANCES[0] <= variance <= _VARIANCES[1]
    return True


def nearly_full_batch(product: Product) -> bool:
    """Whether hardly a step of a sampled product leaves the record out: then (2) and (4) nearly meet."""
    rates = [pair.sample_rate for pair, _ in product if isinstance(pair, SampledGaussians)]
    return bool(rates) and all(1 - rate <= _HARDLY for rate in rates)


def negligible(product: GaussianProduct, epsilon: Fraction) -> bool:
    """Whether even without sampling δ(ε) is below 10^-1000: ε >= μ²/2 + sqrt(2 log 10^1000) μ, sqrt(...) < 68."""
    whole = _Bounds.of(product).whole
    beyond = epsilon - whole / 2
    return beyond > 0 and beyond * beyond > 68**2 * whole
