"""The least of the bounds on shuffled batches: by clones, by two halves through a zeroed record, or without secret.

``schemes/shuffled.md`` numbers the bounds. Parameters are chosen in floating point; the bound is then proven once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Direction, Product, ShiftedGaussians, ShuffledBatches
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.shuffling.counts import PRECISION, dominating, lost
from dpbounds.privacy.routes.shuffling.estimates import Aim, Estimate, Parts, choice_for, estimated
from dpbounds.privacy.values import Target

ROUTE = "clones"

Prove = Callable[[Product, Target], Proof]

_SLACK = 1e-4  # relative distance of the ε aimed at above the estimate
_ROUNDS = 8
_FIRST, _APART, _FINEST, _HIGHEST = 0.4, 1.0, 0.12, 24.0  # levels: log of δ/E over an epoch's total variation
_HALVES = (0.4, 0.9, 1.4, 1.9, 2.4, 2.9, 3.6)  # levels, for two halves
_SHIFTS = (0.0, -0.25, -0.5, -0.75)  # log odds of clones less those of labels, in squared shifts
_ALIKE = (0.5, 0.2, 0.0)  # shares of another record's distribution that act like a zeroed record
_SPLITS = (0.15, 0.3, 0.45, 0.6, 0.75)  # share of δ, or of ε, of the first of the two halves
# search for δ, in nats: first and last step, least log δ; number of evaluations
_STEP, _CLOSE, _DEEPEST, _LOOKS = 2.0, 0.1, -600.0, 16
_FARTHER = 1.1  # factor to go on where δ is small enough already: it decreases further, and increases in the end
_WORTH = 0.9995  # factor below which an improvement is proven
_MOST = 60.0  # largest ε for which clones are tried


def in_known_order(product: Product) -> Product:
    """Return the product that dominates for a public order: in each epoch, the batch that holds the record."""
    squared = Fraction(0)
    others = []
    for pair, count in product:
        match pair:
            case ShuffledBatches(base=ShiftedGaussians(squared_shift=shift)) | ShiftedGaussians(squared_shift=shift):
                squared += count * shift
            case _:
                others.append((pair, count))
    return (*(((ShiftedGaussians(squared), 1),) if squared else ()), *others)


@dataclass(frozen=True, slots=True)
class _Run:
    """Epochs of one order of neighbours, and the releases beside them."""

    parts: Parts
    others: Product

    @classmethod
    def of(cls, product: Product) -> _Run:
        return cls(
            tuple((pair, count) for pair, count in product if isinstance(pair, ShuffledBatches)),
            tuple((pair, count) for pair, count in product if not isinstance(pair, ShuffledBatches)),
        )

    @property
    def epochs(self) -> int:
        return sum(count for _, count in self.parts)

    def hopeless(self, delta: float) -> bool:
        """Return whether no epoch is expected to have even one clone, for any aim: a choice to stop there.

        Nor is one looked for where δ/epochs is below all doubles, in which clones are chosen.
        """
        if delta / self.epochs == 0:
            return True
        choices = ((pair, choice_for(pair, Aim(_level(self, delta), 0.0), 1e-9)) for pair, _ in self.parts)
        return all(choice is None or (pair.batches - 1) * choice.share < 1 for pair, choice in choices)

    def half(self, direction: Direction) -> _Run | None:
        """Return the run to a zeroed record (remove), or back from it; None if there is none."""
        if self.others or not all(pair.centred for pair, _ in self.parts):
            return None
        return _Run(
            tuple(
                (
                    replace(
                        pair,
                        direction=direction,
                        base=ShiftedGaussians(pair.base.squared_shift / 4),
                        centred=False,
                    ),
                    count,
                )
                for pair, count in self.parts
            ),
            (),
        )

    def estimate(self, aim: Aim, delta: float) -> Estimate | None:
        gaussian = sum(
            float(pair.squared_shift) * count for pair, count in self.others if isinstance(pair, ShiftedGaussians)
        )
        return estimated(self.parts, aim, gaussian, delta)

    def with_clones(self, aim: Aim, negligible: float) -> tuple[Product, Fraction]:
        """Return a product that dominates the run with clones, and the total variation between the two runs."""
        product, variation = self.others, Fraction(0)
        for pair, count in self.parts:
            choice = choice_for(pair, aim, negligible)
            if choice is None:
                raise Declined("shuffled batches: no odds reach that total variation")
            product = (*product, (dominating(pair, choice), count))
            variation += count * lost(pair, choice)
        return product, variation


@dataclass(frozen=True, slots=True)
class _Plan:
    """A run, a choice for it, and where it is used.

    Attributes:
        aim: The aim of the choice.
        at: The δ that the run may spend where ε is asked for; else the ε at which its δ is asked for.
        expected: The answer, by the estimate.
    """

    run: _Run
    aim: Aim
    at: float
    expected: float

    def epsilon(self, delta: Fraction, prove: Prove) -> Fraction:
        """Prove an ε that suffices at δ."""
        product, variation = self.run.with_clones(self.aim, float(delta) * 1e-9)
        aimed = Fraction(self.expected * (1 + _SLACK) + 1e-9)
        for _ in range(_ROUNDS):
            left = delta - _weighed(aimed, variation)
            if left <= 0:
                break
            found = prove(product, Target("delta", left)).enclosure.exact_upper
            if isinstance(found, float):
                break
            if found <= aimed:
                return found
            aimed = found * (1 + Fraction(_SLACK))
        raise Declined("shuffled batches: the clones leave too little of δ")

    def delta(self, most: Fraction, prove: Prove) -> Fraction:
        """Prove δ at an ε of at most ``most``, and so at every larger one."""
        product, variation = self.run.with_clones(self.aim, self.expected * 1e-9)
        epsilon = min(Fraction(self.at), most)
        found = prove(product, Target("epsilon", epsilon)).enclosure.exact_upper
        return Fraction(found) + _weighed(epsilon, variation)


def _weighed(epsilon: Fraction, variation: Fraction) -> Fraction:
    """Return (1 + e^ε) τ, rounded up."""
    with working(PRECISION):
        return ball_end((1 + ball(epsilon).exp()) * ball(variation), "up")


def upper_end_of(proof: Proof) -> Proof:
    """Use a proof for a known order as an upper bound for a secret one."""
    found = proof.enclosure
    return replace(proof, enclosure=Enclosure(Fraction(0), found.exact_upper, found.method, found.precision))


def proven(product: Product, target: Target, prove: Prove) -> Proof:
    """Prove an upper bound for a product with shuffled batches; the lower bound is 0 (attacks are better).

    Args:
        product: Pairs with multiplicities.
        target: The given value.
        prove: Proves what a product without shuffled batches spends.
    """
    best = upper_end_of(prove(in_known_order(product), target))
    run = _Run.of(product)
    search = _searched_epsilon if target.for_epsilon else _searched_delta
    for plans in search(run, float(target.value), best.enclosure.upper):
        try:
            upper = (_proven_epsilon if target.for_epsilon else _proven_delta)(plans, target.value, prove)
        except (Declined, NotCertified):
            continue
        if upper < best.enclosure.exact_upper:
            return Proof(Enclosure(Fraction(0), upper, ROUTE, PRECISION), ROUTE, _parameters(plans))
    return best


def _parameters(plans: Sequence[_Plan]) -> dict[str, object]:
    return {
        "halves" if len(plans) > 1 else "clones": tuple(
            {
                "log total variation": plan.aim.variation,
                "shift": plan.aim.shift,
                "alike": plan.aim.alike,
                "at": plan.at,
            }
            for plan in plans
        )
    }


def _proven_epsilon(plans: Sequence[_Plan], delta: Fraction, prove: Prove) -> Fraction:
    if len(plans) == 1:
        return plans[0].epsilon(delta, prove)
    first, second = plans
    share = Fraction(first.at)
    out = first.epsilon(share, prove)
    with working(PRECISION):
        left = ball_end(ball(delta - share) * (-ball(out)).exp(), "down")
    return out + second.epsilon(left, prove)


def _proven_delta(plans: Sequence[_Plan], epsilon: Fraction, prove: Prove) -> Fraction:
    if len(plans) == 1:
        return plans[0].delta(epsilon, prove)
    first, second = plans
    out = min(Fraction(first.at), epsilon)
    with working(PRECISION):
        weight = ball_end(ball(out).exp(), "up")
    return first.delta(out, prove) + weight * second.delta(epsilon - out, prove)


# --- Choosing, in floating point --------------------------------------------------------------------------------------


def expected_epsilon(product: Product, delta: float, plain: float) -> float:
    """Return a rough prediction of :func:`proven`'s ε; ``plain`` is the ε without a secret."""
    found = [sum(plan.expected for plan in plans) for plans in _searched_epsilon(_Run.of(product), delta, plain)]
    return min([plain, *found])


def _searched_epsilon(run: _Run, delta: float, plain: float) -> Iterator[tuple[_Plan, ...]]:
    """Return plans that should give an ε below ``plain``, the best one first."""
    if run.hopeless(delta):
        return
    most = min(plain * _WORTH, _MOST)
    direct = _best_epsilon(run, delta, most)
    halves = _best_halves_epsilon(run, delta, most if direct is None else min(most, direct.expected))
    if halves is not None:
        yield halves
    if direct is not None:
        yield (direct,)


def _level(run: _Run, delta: float) -> float:
    return math.log(delta / run.epochs)


def _best_epsilon(run: _Run, delta: float, most: float) -> _Plan | None:
    @cache
    def value(level: float, shift: float, alike: float) -> float:
        found = run.estimate(Aim(_level(run, delta) - level, shift, alike), delta)
        return math.inf if found is None else found.epsilon(delta, most)

    zeroed = any(pair.direction is not Direction.REPLACE for pair, _ in run.parts)
    alike = _ALIKE[0] if zeroed else 0.0
    level = _first_level(lambda x: value(x, _SHIFTS[0], alike), most)
    shift = min(_SHIFTS, key=lambda x: value(level, x, alike))
    if zeroed:
        alike = min(_ALIKE, key=lambda x: value(level, shift, x))
    level = _finer(lambda x: value(x, shift, alike), level)
    least = value(level, shift, alike)
    if not least < most:
        return None
    return _Plan(run, Aim(_level(run, delta) - level, shift, alike), delta, least)


def _first_level(value: Callable[[float], float], most: float) -> float:
    """Return a level at which it is small.

    An ε needs a level above it (δ > (1 + e^ε) τ): below the best level the value soon is infinite, above it it rises.
    """
    level, least = _FIRST, math.inf
    for steps in range(math.ceil((min(most, _HIGHEST) + 1) / _APART) + 1):
        found = value(_FIRST + steps * _APART)
        if found > least:
            break
        if found < least:
            level, least = _FIRST + steps * _APART, found
    return level


def _finer(value: Callable[[float], float], level: float) -> float:
    """Return a level nearby at which the value is smaller."""
    step = _APART / 2
    while step > _FINEST:
        nearer = min((level, level - step, level + step), key=value)
        if nearer == level:
            step /= 2
        level = nearer
    return level


def _best_halves_epsilon(run: _Run, delta: float, most: float) -> tuple[_Plan, _Plan] | None:
    there, back = run.half(Direction.REMOVE), run.half(Direction.ADD)
    if there is None or back is None:
        return None
    aims = [Aim(_level(run, delta) - math.log(3) - level, 0.0) for level in _HALVES]
    ways = [(aim, there.estimate(aim, delta / 3)) for aim in aims]
    rest = [(aim, back.estimate(aim, delta / 3)) for aim in aims]
    best: tuple[_Plan, _Plan] | None = None
    for split in _SPLITS:
        first = _first_epsilon(there, ways, split * delta, most)
        if first is None:
            continue
        second = _first_epsilon(back, rest, (1 - split) * delta * math.exp(-first.expected), most - first.expected)
        if second is not None and first.expected + second.expected < most:
            most, best = first.expected + second.expected, (first, second)
    return best


def _first_epsilon(
    run: _Run, estimates: Sequence[tuple[Aim, Estimate | None]], delta: float, most: float
) -> _Plan | None:
    found = [(seen.epsilon(delta, most), aim) for aim, seen in estimates if seen is not None]
    least, aim = min(found, key=lambda pair: pair[0], default=(math.inf, None))
    return None if aim is None or not math.isfinite(least) else _Plan(run, aim, delta, least)


def _searched_delta(run: _Run, epsilon: float, plain: float) -> Iterator[tuple[_Plan, ...]]:
    """Yield plans for δ: the best ones for an ε(δ) near the given ε."""
    if plain <= 0 or epsilon <= 0 or run.hopeless(plain):
        return
    found, log, step, looking = None, math.log(plain), _STEP, True
    for _ in range(_LOOKS):
        plans = next(_searched_epsilon(run, math.exp(log), 2 * epsilon), None)
        if plans is not None and sum(plan.expected for plan in plans) <= epsilon:
            found, step = plans, step * (2 if looking else 0.5)
            log -= step
        elif found is None:
            return
        else:
            looking, step = False, step / 2
            log += step
        if step < _CLOSE or log < _DEEPEST:
            break
    if found is None:
        return
    farther = min(epsilon / max(sum(plan.expected for plan in found), 1e-300), _FARTHER)
    yield tuple(replace(plan, at=farther * plan.expected, expected=plan.at) for plan in found)
