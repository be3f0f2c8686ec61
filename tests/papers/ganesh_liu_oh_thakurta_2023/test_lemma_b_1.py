"""Lemma B.1: against random runs on quadratics that are not convex."""

import numpy as np

from tests.papers.reference_formulas import evaluated


def test_random_runs_stay_below():
    generator = np.random.default_rng(7)
    ratios = []
    for _ in range(200):
        count = int(generator.integers(8, 15))
        curvatures = generator.uniform(-1, 1, size=3)
        x = start = generator.normal(size=3) * generator.uniform(0, 1)
        errors, way = 0.0, [0.0]
        for step in range(count + 1):
            if step == count:
                last = x
            error = generator.normal(size=3) * generator.uniform(0, 0.5)
            errors += (error**2).sum()
            x = x - (curvatures * x + error)
            way.append(((x - start) ** 2).sum())
        fallen = (curvatures * (start**2 - last**2)).sum() / 2
        # the decrease may be negative here: the formula is linear in it
        assert max(way) <= count * (8 * fallen + 7 * errors) + 1e-12
        assert max(way[:-1]) <= count * (4 * fallen + 4 * errors) + 1e-12
        ratios.append(max(way) / (count * (8 * fallen + 50 * errors)))
    assert 0.005 < max(ratios) <= 1
    values = {"decrease": 1, "squared_errors": 1, "L": 1}
    evaluate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-b.1")
    assert evaluate("bound", escape_steps=7, **values).applies is False
    assert evaluate("bound", escape_steps=8, **values).value.lower == 8 * 58
