"""The noise in an answer of every oracle: its size by the problem's constants, its distribution, no two alike.

The size is z G over the divisor, and the like, written here again, for a noise multiplier z on the sum.
"""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy import stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import (
    CorrelatedGradientOracle,
    GradientDifferenceOracle,
    HessianProductOracle,
    PathGradientOracle,
    QuantileClippedOracle,
    VisitGradientOracle,
)
from dpbounds.algorithms.oracles.correlated import dense
from dpbounds.algorithms.problems import Clipped
from dpbounds.algorithms.sampling import Correlated, Shuffle
from dpbounds.algorithms.unreleased import opened
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from tests.algorithms.oracles.test_oracles import SAMPLINGS, Bowl, N, P, oracle

R, CALLS, Z = 300, 4, 3
X = np.random.default_rng(1).standard_normal((R, P)) / 10
ABOVE = np.triu_indices(P)
ROOT = np.sqrt(P)
MATRIX = Toeplitz([1, "1/2"], CALLS)


class Curved(Bowl):
    """With all that oracles of second order, and clipped ones, ask for; H <= 1 of √(1 + u²)."""

    hessian_lipschitz = sympy.Integer(1)
    initial_point = np.zeros(P)

    def record_gradients(self, x, rows):
        return self.each(x)[rows]


PROBLEM = Curved()
SINGLE = {"full": N, "without": 7, "with": 7, "poisson": N / 8, "one": 1}  # the divisors of questions at one point
KINDS = [*SINGLE, "difference", *(f"difference {name}" for name in SAMPLINGS)]
KINDS += ["hessian", "product", "path", "quantile", "visits", "correlated"]


def asked(kind):
    """What a kind of oracle answers in some calls in a row, and how large its noise has to be, for each call."""
    rest = Fraction(Z), noise.streams(9, R), OpenLedger()
    moved = 0.01 * ROOT  # the distance between two points
    match kind.split():
        case ["difference", *scheme]:
            sampling = SAMPLINGS[scheme[0]] if scheme else None
            ask = GradientDifferenceOracle(PROBLEM, *rest, sampling=sampling)
            return [ask(X, X + 0.01) for _ in range(CALLS)], moved / SINGLE[scheme[0] if scheme else "full"]
        case ["hessian"]:
            ask = oracle(kind, OpenLedger(), R)
            return [ask(X) for _ in range(CALLS)], ROOT / N
        case ["product"]:
            ask = HessianProductOracle(PROBLEM, *rest)
            return [ask(X, np.full((R, P), 0.01)) for _ in range(CALLS)], moved / N
        case ["path"]:
            ask = PathGradientOracle(PROBLEM, Fraction(Z), Fraction(1), *rest[1:])
            answers = [ask(X), *(ask(X + 0.01 * k, X + 0.01 * (k - 1)) for k in range(1, CALLS))]
            fading = np.sqrt(-np.expm1(-2 * np.array([np.inf, *[moved] * (CALLS - 1)])))
            return answers, np.sqrt(3) / N * fading[:, None, None]
        case ["quantile"]:
            ask = QuantileClippedOracle(Clipped(PROBLEM, "1/2"), None, Fraction(Z), Fraction(1, 10), *rest[1:])
            return [ask(X, np.full((R, 1), 0.3)) for _ in range(CALLS)], 1 / N
        case ["visits"]:
            ask = VisitGradientOracle(PROBLEM, Shuffle(4), *rest)
            return [ask(X) for _ in range(CALLS)], 4 / N
        case ["correlated"]:
            ask = CorrelatedGradientOracle(PROBLEM, Correlated(MATRIX, bins=4), *rest)
            return [ask(X) for _ in range(CALLS)], 4 / N
    ask = oracle(kind, OpenLedger(), R)
    return [ask(X) for _ in range(CALLS)], 1 / SINGLE[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_noise_has_the_size_and_distribution_that_the_constants_ask_for_and_no_two_calls_share_it(kind):
    answers, size = asked(kind)
    added = np.stack([answer.noisy - opened(answer.exact) for answer in answers])
    if kind == "hessian":
        added = added[:, :, ABOVE[0], ABOVE[1]] * np.where(ABOVE[0] == ABOVE[1], 1, np.sqrt(2))
    if kind == "correlated":
        added = np.einsum("st,trp->srp", dense(MATRIX), added)
    rows = added / (Z * size)
    assert 1e-9 < stats.chi2.cdf((rows**2).sum(), rows.size) < 1 - 1e-9
    assert stats.kstest(rows.ravel(), "norm").pvalue > 1e-9
    pairs = [(rows[i], rows[j]) for i in range(CALLS) for j in range(i)]
    for ours, theirs in (*pairs, (rows[:, ::2], rows[:, 1::2]), (rows[..., 1:], rows[..., :-1])):
        assert abs((ours * theirs).sum()) < 7 * np.sqrt(ours.size)
