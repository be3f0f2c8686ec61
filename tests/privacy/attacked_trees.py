"""Random mechanisms on tiny datasets, and the best attacks on them that can be listed: an oracle from definitions.

**Mechanisms.** A tree is a few releases in a row, of a number each: the sum of what sampled records hold, plus noise. A
release runs on a sample (Poisson, of a fixed size, drawn with replacement, a sample of a sample), several may share
one Poisson sample, and releases may run on the blocks of a partition, one partition throughout, by record or by index.

**Attacks.** Two datasets of at most four records differ in a group of k. Before each release the attacker chooses, in
view of everything published, what each record holds, out of -1, 0 and 1; a record's block is chosen once for all. The
law of a release is the mixture over all samples, enumerated; of its outcomes only cells are seen, and cells of similar
likelihood ratio are taken together. Whoever sees less is weaker, and a policy is played exactly as it is: so what an
attack attains is a lower bound on H_α that is wrong by rounding only. Which policy is played is found by backward
induction on a grid of thresholds (as in ``oracle.games``), which proves nothing and need not.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special

import dpbounds.privacy.mechanisms as dp
from dpbounds.privacy.relations import Relation

Array = NDArray[np.float64]
Table = tuple[Array, Array]  # masses of the same outcomes under both datasets
Values = tuple[int, ...]  # what each record holds

_CELLS = 260  # of the line, per release
_OUTCOMES = {1: 4000, 2: 110, 3: 36, 4: 14}  # kept per release, by the number of releases
_FEWEST = 8
_GRID = np.linspace(-14, 14, 281)  # of log α
_LARGEST_BATCHES = 90
_NOWHERE = -1  # the block of a record without content


# --- Samples ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scheme:
    """How a batch is drawn: "full", "poisson" (rate), "without" or "with" replacement (size), or one inside another."""

    kind: str
    number: Fraction = Fraction(1)
    inner: Scheme | None = None

    def wrap(self, base: dp.Mechanism, size: int) -> dp.Mechanism:
        if self.inner is not None:
            base = self.inner.wrap(base, size if self.kind == "poisson" else int(self.number))
        match self.kind:
            case "poisson":
                return dp.PoissonSampled(base, self.number)
            case "without":
                return dp.SampledWithoutReplacement(base, int(self.number), size)
            case "with":
                return dp.SampledWithReplacement(base, int(self.number), size)
        return base

    def batches(self, records: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        """The probability of each batch, a sorted tuple of the positions given, which may repeat."""
        found: dict[tuple[int, ...], float] = {}
        for batch, mass in self._drawn(records):
            inner = {batch: 1.0} if self.inner is None else self.inner.batches(batch)
            for last, share in inner.items():
                key = tuple(sorted(last))
                found[key] = found.get(key, 0.0) + mass * share
        return found

    def _drawn(self, records: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], float]]:
        number, n = self.number, len(records)
        match self.kind:
            case "full":
                yield records, 1.0
            case "poisson":
                rate = float(number)
                for size in range(n + 1):
                    for batch in itertools.combinations(records, size):
                        yield batch, rate**size * (1 - rate) ** (n - size)
            case "without":
                every = list(itertools.combinations(records, int(number)))
                yield from ((batch, 1 / len(every)) for batch in every)
            case "with":
                yield from ((batch, n ** -int(number)) for batch in itertools.product(records, repeat=int(number)))


# --- Releases --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noise:
    """Noise of a kind ("gaussian", "laplace", "ball") and a scale."""

    kind: str
    scale: Fraction

    @property
    def mechanism(self) -> dp.Mechanism:
        match self.kind:
            case "gaussian":
                return dp.Gaussian(self.scale)
            case "laplace":
                return dp.Laplace(self.scale, dimension=1)
        return dp.UniformBall(self.scale, 1)

    def edges(self, reach: int) -> Array:
        z = float(self.scale)
        far = reach + {"gaussian": 8, "laplace": 18, "ball": 1}[self.kind] * z
        kinks = [m + t for m in range(-reach, reach + 1) for t in ((-z, z) if self.kind == "ball" else (0.0,))]
        return np.unique(np.concatenate((np.linspace(-far, far, _CELLS), kinks)))

    def masses(self, edges: Array, mean: int) -> Array:
        """Of the cells between the edges, and of both ends; accurate in both tails."""
        x = (edges - mean) / float(self.scale)
        left, right = self._below(x), self._below(-x)  # P(noise < x), P(noise > x): the noise is symmetric
        inner = np.where(x[:-1] > 0, right[:-1] - right[1:], left[1:] - left[:-1])
        return np.concatenate((left[:1], inner, right[-1:]))

    def _below(self, x: Array) -> Array:
        match self.kind:
            case "gaussian":
                return np.asarray(special.ndtr(x))
            case "laplace":
                return np.asarray(np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2))
        return np.asarray(np.clip((x + 1) / 2, 0, 1))


@dataclass(frozen=True)
class Step:
    """One or more releases on one batch; ``block`` of the partition, or None for the whole dataset."""

    noises: tuple[Noise, ...]
    scheme: Scheme
    block: int | None = None

    def mechanism(self, size: int) -> dp.Mechanism:
        base = self.noises[0].mechanism
        for other in self.noises[1:]:
            base = base @ other.mechanism
        return self.scheme.wrap(base, size)

    def law(self, values: Values, labels: Sequence[int], edges: Sequence[Array]) -> Array:
        """Masses of the cells of what is published, flat."""
        here = tuple(i for i in range(len(values)) if self.block is None or labels[i] == self.block)
        weights: dict[int, float] = {}
        for batch, mass in self.scheme.batches(here).items():
            total = sum(values[i] for i in batch)
            weights[total] = weights.get(total, 0.0) + mass
        law = np.zeros(math.prod(len(each) + 1 for each in edges))
        for total, weight in weights.items():
            joint = np.ones(1)
            for noise, cuts in zip(self.noises, edges, strict=True):
                joint = np.outer(joint, noise.masses(cuts, total)).ravel()
            law += weight * joint
        return law


# --- Trees -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A random mechanism and the neighbours it is attacked on.

    Attributes:
        mechanism: As the package knows it.
        steps: The same, release by release.
        relation: The neighbouring relation.
        records: How many the larger dataset holds.
        group: How many of them differ.
        partition: "record", "index" or None.
        sizes: Of the blocks of a partition by index, whose first records come first.
    """

    mechanism: dp.Mechanism
    steps: tuple[Step, ...]
    relation: Relation
    records: int
    group: int
    partition: str | None
    sizes: tuple[int, ...]

    @property
    def shared(self) -> int:
        return self.records - self.group


def random_tree(seed: int, relation: Relation | None = None) -> Tree:
    """A tree; the same for the same seed. Without a relation, records are replaced, or added or removed."""
    draw = random.Random(seed)
    drawn = draw.choice([Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE])
    relation = drawn if relation is None else relation
    records = draw.choice([2, 3, 3, 4])
    group = draw.choice([1, 1, 1, 2]) if records > 2 else 1
    partition = draw.choice([None, "record"] if relation.counts_records else [None, "record", "index"])
    # public: what the larger of two neighbours holds at least, anywhere along the chain of a group
    public = records - group + 1 if relation.counts_records else records
    first = draw.randint(1, records - 1)
    sizes = (first, records - first) if partition == "index" else ()

    def noise() -> Noise:
        scale = Fraction(draw.choice(["1/2", "1", "3/2", "3"]))
        kind = draw.choice(["gaussian", "gaussian", "gaussian", "laplace", "laplace", "ball"])
        return Noise(kind, max(scale, Fraction(1)) if kind == "ball" else scale)

    def poisson() -> Scheme:
        return Scheme("poisson", Fraction(draw.choice(["1/10", "1/4", "1/2", "3/4", "1"])))

    def fixed(size: int) -> Scheme:
        most = max(1, size - group) if relation.counts_records else size
        if draw.random() < 0.4:
            return Scheme("with", Fraction(draw.randint(1, 3)))
        return Scheme("without", Fraction(draw.randint(1, min(most, size))))

    def scheme(size: int, only_poisson: bool) -> Scheme:
        kind = draw.choice(["full", "poisson", "poisson", "nested"] + ([] if only_poisson else ["fixed", "fixed"]))
        match kind:
            case "full":
                return Scheme("full")
            case "poisson":
                return poisson()
            case "fixed":
                return fixed(size)
        outer = poisson() if only_poisson or draw.random() < 0.5 else fixed(size)
        inner = poisson()
        if outer.kind == "without" and draw.random() < 0.5:
            inner = Scheme("without", Fraction(draw.randint(1, int(outer.number))))
        return Scheme(outer.kind, outer.number, inner)

    def step(size: int, block: int | None) -> Step:
        chosen = scheme(size, partition == "record" and block is not None)
        several = chosen.kind in ("full", "poisson") and chosen.inner is None and draw.random() < 0.12
        return Step((noise(), noise()) if several else (noise(),), chosen, block)

    steps: list[Step] = []
    parts: list[tuple[dp.Mechanism, int]] = []
    if partition is not None:
        blocks = [step(sizes[i] if sizes else public, i) for i in range(2)]
        in_parallel = dp.InParallel(
            tuple(each.mechanism(sizes[i] if sizes else public) for i, each in enumerate(blocks)), partition
        )
        times = draw.choice([1, 1, 1, 2])
        steps += blocks * times
        parts.append((in_parallel, times))
    if not steps or (len(steps) == 2 and draw.random() < 0.4):
        others = [step(public, None) for _ in range(1 if steps else draw.choice([1, 1, 2, 2, 3]))]
        steps += others
        parts += [(each.mechanism(public), 1) for each in others]
    whole = parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else dp.Composed(tuple(parts))
    return Tree(whole, tuple(steps), relation, records, group, partition, sizes)


# --- Attacks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Roles:
    """Who lies where: the labels of the shared records, and of the group in the first and the second dataset."""

    shared: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


def _roles(tree: Tree) -> Iterator[_Roles]:
    """Where records lie; under add-or-remove-one the second dataset lacks the group, zeroed it is in no block."""
    replace = tree.relation is Relation.REPLACE_ONE
    if tree.partition is None:
        nobody = (0,) * tree.group
        yield _Roles((0,) * tree.shared, nobody, () if tree.relation.counts_records else nobody)
        return
    if tree.partition == "index":
        positions = [block for block, size in enumerate(tree.sizes) for _ in range(size)]
        for chosen in set(itertools.combinations(range(tree.records), tree.group)):
            group = tuple(positions[i] for i in chosen)
            yield _Roles(tuple(positions[i] for i in range(tree.records) if i not in chosen), group, group)
        return
    gone = (_NOWHERE,) * tree.group if tree.relation is Relation.ZERO_OUT_ONE else ()
    everywhere = list(itertools.combinations_with_replacement(range(2), tree.group))
    for shared in ((0,) * tree.shared, (1,) * tree.shared):
        for group in everywhere:
            for other in itertools.product(range(2), repeat=tree.group) if replace else (gone,):
                yield _Roles(shared, group, tuple(other))


def _assignments(tree: Tree, draw: random.Random) -> list[tuple[Values, Values, Values]]:
    """What the shared records hold, and the group in either dataset."""
    every = list(itertools.product((-1, 0, 1), repeat=tree.shared))
    shared = dict.fromkeys([*((c,) * tree.shared for c in (-1, 0, 1)), *draw.sample(every, min(2, len(every)))])
    k = tree.group
    own: list[tuple[Values, Values]]
    match tree.relation:
        case Relation.REPLACE_ONE:
            own = [((a,) * k, (b,) * k) for a, b in ((1, -1), (-1, 1), (1, 0), (0, 1))]
        case Relation.ADD_OR_REMOVE_ONE:
            own = [((a,) * k, ()) for a in (1, -1)]
        case Relation.ZERO_OUT_ONE:
            own = [((a,) * k, (0,) * k) for a in (1, -1)]
    return [(rest, first, second) for rest in shared for first, second in own]


def _merged(table: Table, most: int) -> Table:
    """Fewer outcomes: those of similar likelihood ratio are taken together, impossible ones dropped."""
    first, second = table
    seen = (first > 0) | (second > 0)
    first, second = first[seen], second[seen]
    if len(first) <= most:
        return first, second
    with np.errstate(divide="ignore"):
        ratio = np.log(first) - np.log(second)
    order = np.argsort(ratio)
    first, second, ratio = first[order], second[order], ratio[order]
    place = np.cumsum(first + second) / 2  # in [0, 1]: equal shares of both laws ...
    bins = np.floor(place * (most - 3) * (1 - 1e-9)).astype(int) + 1
    bins[np.isneginf(ratio)], bins[np.isposinf(ratio)] = 0, most - 1  # ... and what tells for sure by itself
    first, second = np.bincount(bins, first, most), np.bincount(bins, second, most)
    used = (first > 0) | (second > 0)
    return first[used], second[used]


def _tables(tree: Tree, step: Step, roles: _Roles, outcomes: int, draw: random.Random) -> list[Table]:
    reach = 3 * tree.records if step.scheme.kind == "with" else tree.records
    edges = [noise.edges(reach) if len(step.noises) == 1 else noise.edges(reach)[::4] for noise in step.noises]
    found: dict[bytes, Table] = {}
    for rest, mine, other in _assignments(tree, draw):
        first = step.law((*rest, *mine), (*roles.shared, *roles.first), edges)
        second = step.law((*rest, *other), (*roles.shared, *roles.second), edges)
        table = _merged((first, second), outcomes)
        if np.abs(table[0] - table[1]).max() > 1e-12:  # else nothing is learnt
            found[np.round(np.concatenate(table), 9).tobytes()] = table
    return list(found.values())


def attained(tree: Tree, alphas: Sequence[float], seed: int = 0) -> Array:
    """For each α the largest H_α that a listed attack attains, over both directions."""
    best = np.zeros(len(alphas))
    draw = random.Random(seed)
    for roles in _roles(tree):
        seeing = [step for step in tree.steps if step.block is None or step.block in (*roles.first, *roles.second)]
        outcomes = _OUTCOMES.get(len(seeing), _FEWEST)
        steps = [tables for step in seeing if (tables := _tables(tree, step, roles, outcomes, draw))]
        ways = (0, 1) if tree.relation is not Relation.REPLACE_ONE else (0,)
        for way in ways:
            turned = steps if way == 0 else [[(q, p) for p, q in tables] for tables in steps]
            best = np.maximum(best, [_played(turned, alpha) for alpha in alphas])
    return best


def _policies(steps: Sequence[list[Table]]) -> list[NDArray[np.int64]]:
    """For each release, which table to play at each threshold α Q/P on the grid: backward induction, interpolated."""
    value: Array = np.maximum(1 - np.exp(_GRID), 0)
    found = []
    for tables in reversed(steps):
        values = []
        for first, second in tables:
            with np.errstate(divide="ignore"):
                shift = np.clip(np.log(second) - np.log(first), -30, 30)
            at = np.interp(_GRID[:, None] + np.where(first > 0, shift, 30.0)[None, :], _GRID, value, left=1.0)
            values.append(at @ first)
        found.append(np.argmax(values, axis=0))
        value = np.max(values, axis=0)
    return found[::-1]


def _played(steps: Sequence[list[Table]], alpha: float) -> float:
    """What the policy attains at α, exactly."""
    first, second = np.ones(1), np.ones(1)
    for tables, policy in zip(steps, _policies(steps), strict=True):
        with np.errstate(divide="ignore"):
            log_alpha = np.clip(math.log(alpha) + np.log(second) - np.log(first), _GRID[0], _GRID[-1])
        choice = policy[np.rint((log_alpha - _GRID[0]) / (_GRID[1] - _GRID[0])).astype(int)]
        following = [
            (np.outer(first[choice == index], p).ravel(), np.outer(second[choice == index], q).ravel())
            for index, (p, q) in enumerate(tables)
            if (choice == index).any()
        ]
        first, second = (np.concatenate(parts) for parts in zip(*following, strict=True))
        alive = first > 0
        first, second = first[alive], second[alive]
    return float(np.maximum(first - alpha * second, 0).sum())
