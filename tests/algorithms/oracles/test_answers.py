"""What reaches an answer, from outside: its size by the problem's constants, its law; and that no two are alike.

The size is z G/n (z √p L/n, z L ‖x - y‖/n), written here again, for a noise multiplier z on the sum.
"""

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.unreleased import opened
from tests.algorithms.oracles.test_oracles import N, P, oracle

R, CALLS, Z = 300, 4, 3
X = np.random.default_rng(1).standard_normal((R, P)) / 10
Y = X + 0.01
ABOVE = np.triu_indices(P)
DIVISOR = {"full": N, "hessian": N, "difference": N, "without": 7, "with": 7, "poisson": N / 8, "one": 1}


def residuals(kind):
    """Noise of some calls in units of what it must be, shape (calls, R, m)."""
    ask = oracle(kind, OpenLedger(), R)
    answers = [ask(X, Y) if kind == "difference" else ask(X) for _ in range(CALLS)]
    added = np.stack([answer.noisy - opened(answer.exact) for answer in answers])
    if kind == "hessian":
        added = added[:, :, ABOVE[0], ABOVE[1]] * np.where(ABOVE[0] == ABOVE[1], 1, np.sqrt(2))
    reach = {"hessian": np.sqrt(P), "difference": 0.01 * np.sqrt(P)}.get(kind, 1.0)  # G = L = 1
    return added / (Z * reach / DIVISOR[kind])


@pytest.mark.parametrize("kind", list(DIVISOR))
def test_noise_has_the_size_and_the_law_that_the_constants_ask_for(kind):
    rows = residuals(kind)
    n = rows.size
    assert 1e-9 < stats.chi2.cdf((rows**2).sum(), n) < 1 - 1e-9
    assert stats.kstest(rows.ravel(), "norm").pvalue > 1e-9
    pairs = [(rows[i], rows[j]) for i in range(CALLS) for j in range(i)]
    for ours, theirs in (*pairs, (rows[:, ::2], rows[:, 1::2]), (rows[..., 1:], rows[..., :-1])):
        assert abs((ours * theirs).sum()) < 7 * np.sqrt(ours.size)
