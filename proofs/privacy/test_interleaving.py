"""interleaving.md by brute force: every interaction of small sessions with releases in between, at its best."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from proofs.privacy.boxes import above_threshold
from tests.privacy.oracle.noise import Array

ALPHAS = np.exp(np.linspace(-1.2, 1.2, 9))
History = tuple[tuple[int, int], ...]  # (query, answer), one after another


@dataclass(frozen=True)
class Session:
    """p and p' of every history; queries 0 .. queries-1, answers 0 and 1, at most ``rounds``, or until 1 halts it."""

    chances: Callable[[History], tuple[float, float]]
    rounds: int
    queries: int
    halts: bool = False

    def moves(self, history: History) -> list[tuple[History, History]]:
        """What each query can lead to."""
        if len(history) == self.rounds or (self.halts and history and history[-1][1] == 1):
            return []
        return [((*history, (q, 0)), (*history, (q, 1))) for q in range(self.queries)]

    def game(self, alpha: float, history: History = ()) -> float:
        """g_h(α): what the best strategy of an analyst who talks to this session alone still gets."""
        first, second = self.chances(history)
        options = [sum(self.game(alpha, each) for each in answers) for answers in self.moves(history)]
        return max([max(0.0, first - alpha * second), *options])

    def fixed_queries(self, alpha: float) -> float:
        """The same where all queries are fixed in advance: what no proof may take for g."""
        found = []
        for asked in itertools.product(range(self.queries), repeat=self.rounds):
            histories = [
                tuple(zip(asked, answers, strict=True)) for answers in itertools.product((0, 1), repeat=self.rounds)
            ]
            found.append(sum(max(0.0, p - alpha * r) for p, r in map(self.chances, histories)))
        return max(found)


def random_session(generator: np.random.Generator, rounds: int, queries: int = 2) -> Session:
    """Answers whose law depends on the whole history, under D and, somewhat differently, under D'."""

    @cache
    def chance(history: History, query: int) -> tuple[float, float]:
        first = float(generator.uniform(0.05, 0.95))
        moved = math.log(first / (1 - first)) + float(generator.normal(0, 0.8))
        return first, 1 / (1 + math.exp(-moved))

    def chances(history: History) -> tuple[float, float]:
        p = r = 1.0
        for step, (query, answer) in enumerate(history):
            one = chance(history[:step], query)
            p *= one[0] if answer else 1 - one[0]
            r *= one[1] if answer else 1 - one[1]
        return p, r

    return Session(cache(chances), rounds, queries)


# A release: some boxes of two outcomes that one pair dominates, of which the analyst may choose; the first attains it.
Release = Sequence[tuple[tuple[float, float], ...]]


def responses(epsilon: float) -> Release:
    true = 1 / (1 + math.exp(-epsilon))
    weaker = 1 / (1 + math.exp(-epsilon / 2))
    return (
        ((true, 1 - true), (1 - true, true)),
        ((1 - weaker, weaker), (weaker, 1 - weaker)),
        ((0.3, 0.3), (0.7, 0.7)),
    )


def played(sessions: Sequence[Session], releases: Sequence[Release], alpha: float) -> float:
    """H_α of the best interaction: at every point the analyst chooses who is asked what, or what is released."""

    @cache  # orders that lead to the same point are played on once
    def value(histories: tuple[History, ...], left: int, first: float, second: float) -> float:
        weights = [session.chances(history) for session, history in zip(sessions, histories, strict=True)]
        p, r = (math.prod(weight[side] for weight in weights) for side in (0, 1))
        best = max(0.0, first * p - alpha * second * r)
        for index, session in enumerate(sessions):
            for answers in session.moves(histories[index]):
                after = [(*histories[:index], each, *histories[index + 1 :]) for each in answers]
                best = max(best, sum(value(each, left, first, second) for each in after))
        if left < len(releases):
            for box in releases[left]:
                best = max(best, sum(value(histories, left + 1, first * p, second * r) for p, r in box))
        return best

    return value(tuple(() for _ in sessions), 0, 1.0, 1.0)


def product(sessions: Sequence[Session], releases: Sequence[Release], alpha: float) -> float:
    """(g ⊗ … ⊗ R)(α); profiles of sessions become atoms between the corners of a fine grid, which only enlarges."""
    laws = [[(p, r) for p, r in release[0]] for release in releases]
    laws += [_atoms(session) for session in sessions[1:]]
    total = 0.0
    for parts in itertools.product(*laws):
        p, r = math.prod(part[0] for part in parts), math.prod(part[1] for part in parts)
        total += p * sessions[0].game(alpha * r / p) if p > 0 else 0.0
    return total


def _atoms(session: Session) -> list[tuple[float, float]]:
    grid = np.concatenate([[0.0], np.exp(np.linspace(-6, 6, 61))])
    heights = np.array([session.game(float(a)) for a in grid])
    slopes = np.concatenate([[-1.0], np.diff(heights) / np.diff(grid), [0.0]])
    masses = np.diff(slopes)  # Q-mass at each corner
    atoms = [(float(m * a), float(m)) for m, a in zip(masses, grid, strict=True) if m > 0]
    return [*atoms, (float(heights[-1]), 0.0)]


@pytest.mark.parametrize("seed", range(6))
def test_a_session_and_releases_in_between_cost_what_their_product_costs(seed: int) -> None:
    generator = np.random.default_rng(seed)
    session = random_session(generator, rounds=2)
    releases = [responses(0.7), responses(0.4)]
    for alpha in map(float, ALPHAS[::2]):
        best, bound = played([session], releases, alpha), product([session], releases, alpha)
        assert best == pytest.approx(bound, abs=1e-12)  # never more; and no less, so that nothing smaller is true


@pytest.mark.parametrize("seed", range(3))
def test_two_sessions_at_once(seed: int) -> None:
    generator = np.random.default_rng(100 + seed)
    sessions = [random_session(generator, rounds=2), random_session(generator, rounds=1)]
    for alpha in map(float, ALPHAS[::3]):
        best, bound = played(sessions, [responses(0.5)], alpha), product(sessions, [responses(0.5)], alpha)
        assert best <= bound + 1e-12
        assert best >= 0.9 * bound


def test_fixed_queries_would_not_do() -> None:
    # the profile of a session is that of its strategies; without them some interaction exceeds the product
    session = random_session(np.random.default_rng(0), rounds=3)
    assert any(session.game(float(alpha)) > session.fixed_queries(float(alpha)) + 1e-3 for alpha in ALPHAS)


# --- AboveThreshold ---------------------------------------------------------------------------------------------------


def threshold_session(answers: Sequence[tuple[float, float]], scales: tuple[float, float], rounds: int) -> Session:
    """AboveThreshold whose query k has the answers (under D, under D'); answer 1 is "above" and ends it."""

    @cache
    def laws(asked: tuple[int, ...]) -> tuple[Array, Array]:
        first, second = (np.array([answers[query][side] for query in asked]) for side in (0, 1))
        return above_threshold(first, *scales), above_threshold(second, *scales)

    def chances(history: History) -> tuple[float, float]:
        if not history:
            return 1.0, 1.0
        first, second = laws(tuple(query for query, _ in history))
        index = len(history) - history[-1][1]  # the outcome "none" stands behind all others
        return float(first[index]), float(second[index])

    return Session(cache(chances), rounds, len(answers), halts=True)


# all moves that one record can make of two queries of sensitivity 1, at answers near and far from the threshold
MOVES = [((0.5, 1.5), (0.5, -0.5)), ((3.0, 4.0), (-3.0, -4.0)), ((0.0, 1.0), (4.0, 3.0)), ((-1.0, -2.0), (1.0, 2.0))]


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("moves", MOVES)
def test_above_threshold_is_interrupted_by_releases(
    moves: tuple[tuple[float, float], tuple[float, float]], monotone: bool
) -> None:
    up = {first < second for first, second in moves}
    if monotone and len(up) > 1:
        moves = (moves[0], (moves[1][1], moves[1][0]))  # all queries one way
    scales = (2.0, 4.0)
    session = threshold_session(moves, scales, rounds=3)
    spent = 0.75 if monotone else 1.0  # tests/privacy/mechanisms/test_interleaving.py: what the package says
    between = [responses(0.5), responses(0.5)]  # whose outcomes may choose the next query
    for alpha in (0.6, 1.0, 1.8):
        best = played([session], between, alpha)
        assert best <= _randomised([spent, 0.5, 0.5], alpha)
    assert played([session], between, 1.0) > _randomised([0.5, 0.5], 1.0) + 0.005  # the session is seen


def _randomised(epsilons: Sequence[float], alpha: float) -> float:
    """H_α of independent randomised responses, outcome by outcome."""
    truths = [1 / (1 + math.exp(-epsilon)) for epsilon in epsilons]
    outcomes = itertools.product(*([(t, 1 - t), (1 - t, t)] for t in truths))
    return math.fsum(
        max(0.0, math.prod(p for p, _ in each) - alpha * math.prod(r for _, r in each)) for each in outcomes
    )


def test_every_history_of_above_threshold_is_bounded() -> None:
    for moves in MOVES:
        session = threshold_session(moves, (2.0, 4.0), rounds=3)
        for asked in itertools.product(range(2), repeat=3):
            for said in ((0,), (1,), (0, 0), (0, 1), (0, 0, 0), (0, 0, 1)):
                p, r = session.chances(tuple(zip(asked, said, strict=False)))
                assert math.exp(-1) <= p / r <= math.exp(1)  # 1/2 + 2/4
                if said[-1] == 0:
                    assert math.exp(-0.5) <= p / r <= math.exp(0.5)  # "not yet": without the last factor
