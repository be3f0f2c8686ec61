"""Lemma 3: against the exact law of the choice."""

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated


@pytest.mark.parametrize("failure", ["0.5", "0.01", "1e-6"])
def test_the_exact_law_keeps_the_bound(failure):
    bound = evaluated("wang-xu-2019/lemma-3")(Delta_u=1, epsilon_0="0.7", N=50, zeta=failure)
    generator = np.random.default_rng(0)
    for spread in (1.0, 10.0, 100.0):
        scores = -np.append(0.0, spread * generator.random(49))
        weights = np.exp(0.7 * scores / 2)
        short = weights[scores <= -bound.value.upper].sum() / weights.sum()
        assert short <= float(failure)
