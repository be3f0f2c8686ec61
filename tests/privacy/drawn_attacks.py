"""Random runs of batches as people draw them, and what explicit attacks on them attain, by sampling what they publish.

python -m tests.privacy.drawn_attacks --count 200 --first 1000

Every attack is a pair of mixtures of Gaussians with unit variance: given how batches are drawn, the record's vector and
those of the others are fixed. Of each part of a run there are several, and all of their combinations are tried. What an
attack attains at ε is a mean of values in [0, 1] over many draws, known to a few standard errors: no upper end lies
below it, and no lower end above the best of the attacks.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from scipy.stats import binom

import dpbounds as dp
from dpbounds.errors import DpboundsError
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.relations import Relation

Array = NDArray[np.float64]
DRAWS, ERRORS, RARE = 60_000, 5.0, 30 / 60_000  # per law; standard errors; what few draws may have missed
COMBINED = 100  # combinations of attacks, at most
ROUGH = 1e-2  # relative tolerance asked of accounts


@dataclass(frozen=True)
class Law:
    """A mixture of N(c, I): centres c, one per row, and their chances."""

    centres: Array
    chances: Array

    @classmethod
    def of(cls, centres: ArrayLike, chances: ArrayLike | None = None) -> Law:
        rows = np.atleast_2d(np.asarray(centres, dtype=float))
        weights = np.full(len(rows), 1.0) if chances is None else np.asarray(chances, dtype=float)
        return cls(rows, weights / weights.sum())

    def draws(self, generator: np.random.Generator, count: int) -> Array:
        which = generator.choice(len(self.chances), count, p=self.chances)
        return self.centres[which] + generator.standard_normal((count, self.centres.shape[1]))

    def log_density(self, y: Array) -> Array:
        """Up to what all such laws have in common."""
        exponents = y @ self.centres.T - (self.centres**2).sum(axis=1) / 2
        return np.asarray(logsumexp(exponents, axis=1, b=self.chances))


Attack = tuple[Law, Law]
Losses = tuple[Array, Array]  # under the first law, and under the second


def losses(attack: Attack, generator: np.random.Generator, copies: int) -> Losses:
    """What independent copies lose together."""
    found = [np.zeros(DRAWS), np.zeros(DRAWS)]
    for _ in range(copies):
        for side, law in enumerate(attack):
            y = law.draws(generator, DRAWS)
            found[side] += attack[0].log_density(y) - attack[1].log_density(y)
    return found[0], found[1]


def attained(lost: Losses, epsilon: float) -> tuple[float, float]:
    """δ(ε) of the dearer order, and its standard error."""
    values = [-np.expm1(np.minimum(epsilon - each, 0.0)) for each in (lost[0], -lost[1])]
    dearer = max(values, key=lambda each: float(each.mean()))
    return float(dearer.mean()), float(dearer.std()) / math.sqrt(DRAWS)


# --- What runs, with attacks ------------------------------------------------------------------------------------------

Part = tuple[dp.Mechanism, Sequence[Attack]]
Batches = dict[tuple[int, int], float]  # (how often the record, how often others) -> chance


def against(relation: Relation, law: Law) -> Law:
    """The second law where the others contribute nothing: the record's vector is turned around, or there is none."""
    if relation is Relation.REPLACE_ONE:
        return Law(-law.centres, law.chances)
    return Law.of(np.zeros((1, law.centres.shape[1])))


def in_batches(
    relation: Relation, batches: Callable[[int, bool], Batches], sizes: Iterable[int], z: float
) -> list[Attack]:
    """Others that all have one vector of norm 1, 1/2 or 0, along the record's or partly across it."""
    found = []
    for size, (along, across) in itertools.product(sizes, [(-1, 0), (-0.5, 0), (0, 0), (1, 0), (0, 1), (-0.3, 0.95)]):
        others, own = np.array([along, across]), np.array([1.0, 0.0])

        def law(of: Batches, vector: Array, others: Array = others) -> Law:
            return Law.of([(mine * vector + rest * others) / z for mine, rest in of], list(of.values()))

        first = law(batches(size, True), own)
        if relation is Relation.ADD_OR_REMOVE_ONE:
            second = law(batches(size - 1, False), own)
        else:
            second = law(batches(size, True), -own if relation is Relation.REPLACE_ONE else 0 * own)
        found.append((first, second))
    return found


def poisson(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    rate, copies = Fraction(draw.randint(1, 9), 10), draw.choice([1, 2])
    shift = math.sqrt(copies) / float(z)
    law = Law.of([[0], [shift]], [1 - float(rate), float(rate)])
    return dp.PoissonSampled(dp.Gaussian(z) ** copies, rate), [(law, against(relation, law))]


def truncated(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    rate, most = Fraction(draw.randint(1, 9), 10), draw.randint(1, size)

    def batches(records: int, present: bool) -> Batches:
        others = records - present
        found: Counter[tuple[int, int]] = Counter()
        for drawn, chance in enumerate(binom.pmf(np.arange(others + 1), others, float(rate))):
            kept = float(rate) * min(1.0, most / (drawn + 1)) if present else 0.0
            found[0, min(drawn, most)] += chance * (1 - kept)
            found[1, min(drawn, most - 1)] += chance * kept
        return dict(found)

    sizes = range(1, size + 1) if relation.counts_records else [size]  # public, or at most so many
    attacks = in_batches(relation, batches, sizes, float(z))
    return dp.TruncatedPoisson(dp.Gaussian(z), rate, most, size), attacks


def fixed_size(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    b = draw.randint(1, size - 1)
    replaced = draw.random() < 0.5

    def batches(records: int, present: bool) -> Batches:
        if not present:
            return {(0, b): 1.0}
        if replaced:
            return {(k, b - k): float(binom.pmf(k, b, 1 / records)) for k in range(b + 1)}
        return {(1, b - 1): b / records, (0, b): 1 - b / records}

    kind = dp.SampledWithReplacement if replaced else dp.SampledWithoutReplacement
    return kind(dp.Gaussian(z), b, size), in_batches(relation, batches, [size], float(z))


def allocated(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    steps = draw.randint(2, 4)
    k = draw.randint(1, steps)
    law = Law.of([[(i in those) / float(z) for i in range(steps)] for those in itertools.combinations(range(steps), k)])
    return dp.RandomlyAllocated(dp.Gaussian(z), steps, k), [(law, against(relation, law))]


def kept_bins(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    mechanism = dp.BallsInBins(dp.Gaussian(z), draw.randint(1, 4), Fraction(draw.randint(1, 10), 4), redraw=False)
    visits = [times for times, bins in mechanism.visits for _ in range(bins)]
    law = Law.of(np.diag(np.sqrt(visits + [0] * (mechanism.bins - len(visits)))) / float(z))
    return mechanism, [(law, against(relation, law))]


def shuffled(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    m = draw.randint(2, 5)
    rest = draw.choice([Fraction(0), Fraction(1, 2 * m + 2)])
    places = np.eye(m + (rest > 0)) / float(z)
    chances = [(1 - float(rest)) / m] * m + ([float(rest)] if rest else [])
    law, twice = Law.of(places, chances), Law.of(2 * places, chances)
    replace = relation is Relation.REPLACE_ONE  # the others like the record in its place, 0, or opposite to the record
    attacks = [(law, against(relation, law)), (twice, Law.of(0 * places[:1])) if replace else (twice, law)]
    return dp.Shuffled(dp.Gaussian(z), m, rest), attacks


def last_iterate(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    m, epochs, order = draw.randint(1, 4), draw.randint(1, 2), draw.choice(["fixed", "shuffled", "secret"])
    h, decay = Fraction(draw.choice(["0.02", "0.3", "1"])), Fraction(draw.choice(["0", "0", "0.2", "0.7"]))
    run = dp.LastIterate(
        dp.Gaussian(z), batches=m, epochs=epochs, smoothness_step=h, order=order, weight_decay_step=decay
    )
    least, most = max(0.0, float(1 - decay - h)), float(1 - decay + h)
    half = (m + 1) // 2  # quadratic losses of the others: slopes of the steps of an epoch
    attacks = []
    for slopes in ([most] * m, [least] * m, [most] * (m - half) + [least] * half, [min(most, 1.0)] * m):
        factors = np.cumprod([1.0, *(slopes * epochs)[:0:-1]])[::-1]  # of each step, by those after it
        unit = float(z) * math.sqrt(float((factors**2).sum()))
        chosen = (
            itertools.product(range(m), repeat=epochs) if order == "shuffled" else ((i,) * epochs for i in range(m))
        )
        moved = [[sum(factors[e * m + place] for e, place in enumerate(places)) / unit] for places in chosen]
        laws = [Law.of([each]) for each in moved] if order == "fixed" else [Law.of(moved)]
        attacks += [(law, against(relation, law)) for law in laws]
    return run, attacks


def matrix(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    steps, participation = draw.randint(2, 5), draw.choice(["fixed-order", "cyclic-poisson", "balls-in-bins"])
    b = draw.randint(1, steps)
    bands = draw.randint(1, b if participation == "cyclic-poisson" else steps)
    coefficients = [Fraction(1), *(Fraction(draw.randint(-1, 3), 3) for _ in range(bands - 1))]
    rate = Fraction(draw.randint(1, 9), 10) if participation == "cyclic-poisson" else None
    groups = "position" if relation is not Relation.ADD_OR_REMOVE_ONE and rate else "independent"
    encoded = dp.Toeplitz(coefficients, steps)
    run = dp.MatrixMechanism(z, encoded, participation, separation=b, sample_rate=rate, groups=groups)
    columns = sum(float(c) * np.eye(steps, k=-k) for k, c in enumerate(coefficients)) / float(z)
    of_groups = [range(start, steps, b) for start in range(b)]
    laws = []
    for signs in itertools.product([1, -1], repeat=min(2, steps)):  # of a record's vectors, one after the other
        turned = np.resize(signs, steps)
        if participation == "balls-in-bins":
            sums = [sum(turned[i // b] * columns[:, i] for i in group) for group in of_groups]
            apart = np.zeros((b, b, steps))  # of each group along a direction of its own
            apart[np.arange(b), np.arange(b)] = sums
            laws += [Law.of(sums), Law.of(apart.reshape(b, -1))]
            continue
        for group in of_groups:
            subsets = list(itertools.product([0, 1], repeat=len(group))) if rate else [(1,) * len(group)]
            sums = [
                sum(s * turned[i // b] * columns[:, i] for s, i in zip(each, group, strict=True)) for each in subsets
            ]
            q = float(rate or 1)
            laws.append(Law.of(sums, [math.prod(q if s else 1 - q for s in each) for each in subsets]))
    return run, [(law, against(relation, law)) for law in laws]


def mixture(draw: random.Random, relation: Relation, size: int, z: Fraction) -> Part:
    norms = dict.fromkeys(Fraction(k, 3) for k in draw.sample(range(1, 6), 2))
    chances = [Fraction(k, 10) for k in (draw.randint(1, 4), draw.randint(1, 4))]
    pairs = [(Fraction(0), 1 - sum(chances)), *zip(norms, chances, strict=True)]
    law = Law.of([[float(norm / z)] for norm, _ in pairs], [float(chance) for _, chance in pairs])
    return dp.MixtureOfGaussians(z, pairs), [(law, against(relation, law))]


KINDS = (poisson, truncated, fixed_size, allocated, kept_bins, shuffled, last_iterate, matrix, mixture)
BY_POSITION = (shuffled, last_iterate)  # not where records come and go

# --- A case -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A run, the question, and attacks on each part, with how often it runs."""

    run: dp.Mechanism
    relation: Relation
    epsilon: Fraction
    parts: tuple[tuple[Sequence[Attack], int], ...]


def drawn(seed: int) -> Case:
    """The same for the same seed."""
    draw = random.Random(seed)
    relation, size = draw.choice(list(Relation)), draw.randint(2, 7)
    kinds = [kind for kind in KINDS if not (relation.counts_records and kind in BY_POSITION)]
    chosen = [(draw.choice(kinds), draw.choice([1, 1, 2])) for _ in range(draw.choice([1, 1, 2]))]
    made = [(kind(draw, relation, size, Fraction(draw.randint(4, 30), 10)), times) for kind, times in chosen]
    run = dp.Composed(tuple((mechanism, times) for (mechanism, _), times in made))
    return Case(run, relation, Fraction(draw.randint(0, 5), 2), tuple((attacks, times) for (_, attacks), times in made))


def check(seed: int) -> str:
    """One case: "attained" (as the pairs are said to be), "within" or "refused"; ``AssertionError`` else."""
    case, generator = drawn(seed), np.random.default_rng(seed)
    try:
        found = account(case.run, epsilon=case.epsilon, relation=case.relation, tolerance=ROUGH)
    except DpboundsError:
        return "refused"
    lower, upper = float(found.enclosure.exact_lower), float(found.enclosure.exact_upper)
    assert 0 <= lower <= upper <= 1, (seed, case.run, lower, upper)
    uppers = {name: proof.enclosure.exact_upper for name, proof in found.proofs}
    for name, proof in found.attacks:  # the account would cut it off there
        assert proof.enclosure.exact_lower <= uppers[name], (seed, case.run, case.relation, case.epsilon, name)
    lost = [[losses(attack, generator, times) for attack in attacks] for attacks, times in case.parts]
    best = (0.0, 0.0)
    combinations = list(itertools.product(*lost))
    random.Random(seed).shuffle(combinations)
    for chosen in combinations[:COMBINED]:
        value, error = attained((sum(a for a, _ in chosen), sum(b for _, b in chosen)), float(case.epsilon))
        assert value - ERRORS * error - RARE <= upper, (seed, case.run, case.relation, case.epsilon, value, upper)
        best = max(best, (value, error))
    once = all(times == 1 or len(attacks) == 1 for attacks, times in case.parts)  # else attacks may choose on the way
    if once and len(combinations) <= COMBINED:  # of more the best may not have been tried
        near = best[0] + ERRORS * best[1] + RARE
        assert lower <= near, (seed, case.run, case.relation, case.epsilon, lower, best)
    return "attained" if found.tight else "within"


def main() -> int:
    """Check cases, print those at fault, and how many of each outcome there were."""
    parser = argparse.ArgumentParser(prog="python -m tests.privacy.drawn_attacks", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    given = parser.parse_args()
    outcomes: Counter[str] = Counter()
    for seed in range(given.first, given.first + given.count):
        try:
            outcomes[check(seed)] += 1
        except Exception as fault:  # whatever it is, it is what was looked for
            outcomes["at fault"] += 1
            print(f"{seed}: {type(fault).__name__}: {fault}", flush=True)
    print(dict(outcomes))
    return 1 if outcomes["at fault"] else 0


if __name__ == "__main__":
    sys.exit(main())
