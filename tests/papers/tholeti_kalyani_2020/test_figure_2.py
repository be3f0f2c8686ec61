"""Figure 2: values for several dimensions."""

import pytest
from mpmath import mpf

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("tholeti-kalyani-2020/figure-2")


@pytest.mark.parametrize(
    ("dimension", "values"),
    [
        (1, (0.05, 0.125, 0.25, 0.5, 0.75)),
        (2, (0.0636354414568, 0.158739500227, 0.314962357526, 0.608997781044, 0.855706387186)),
        (3, (0.0749375, 0.1865234375, 0.3671875, 0.6875, 0.9140625)),
        (10, (0.128861197334, 0.315906805874, 0.589927928101, 0.918135768834, 0.996849162579)),
        (50, (0.277821067323, 0.62751010483, 0.928990460018, 0.999862208489, 0.999999999898)),
    ],
)
def test_values_to_twelve_digits(dimension, values):
    for distance, value in zip(("0.1", "0.25", "0.5", "1", "1.5"), values, strict=True):
        found = evaluate("curve", Delta_g=distance, r_u=1, d=dimension).value
        assert found.lower == pytest.approx(value, rel=1e-11)
    if dimension == 2:
        assert evaluate("dimension-2", Delta_g=1, r_u=1).value.lower == pytest.approx(values[3])


def test_the_limit_in_many_dimensions():
    gaps = []
    for dimension in (10, 100, 1000):
        values = {"distance": 1 / mpf(dimension) ** 0.5, "radius": 1, "dimension": dimension}
        values["distance"] = str(values["distance"])
        exact, limit = (evaluate(name, **values).value.lower for name in ("curve", "many-dimensions"))
        gaps.append(limit / exact - 1)
    assert gaps == pytest.approx([-0.028, -0.0029, -0.00029], rel=0.05)
