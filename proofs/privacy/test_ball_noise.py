"""Ball noise: shared gradients that are all the same attain its δ."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(101, 100), Fraction(3)])
@pytest.mark.parametrize(("lost", "records", "steps"), [(Fraction(1, 3), 4, 3), (Fraction(9, 10), 2, 6)])
def test_shared_gradients_that_are_all_the_same_attain_it(alpha, lost, records, steps) -> None:
    # three regions of a step's output: in the differing record's ball only, in the shared one's only, in both
    q = Fraction(1, records)
    with_record, without = (q * lost, (1 - q) * lost, 1 - lost), (Fraction(0), lost, 1 - lost)
    total = Fraction(0)
    for outcome in itertools.product(range(3), repeat=steps):
        first, second = (math.prod(law[region] for region in outcome) for law in (with_record, without))
        total += max(first - alpha * second, Fraction(0))
    assert total == 1 - (1 - lost * q) ** steps
