"""Figure 1: who is better where."""

import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/figure-1")


@pytest.mark.parametrize(("d", "n", "is_better"), [(90, 100, True), (110, 100, False), (10, 10**6, True)])
def test_the_empirical_rate_improves_for_d_below_n(d, n, is_better):
    old, new = (evaluate(f"{who}-empirical", d=d, n=n, epsilon=1).value for who in ("liu", "new"))
    assert (new.upper < old.lower) is is_better


@pytest.mark.parametrize(("d", "n", "epsilon"), [(10, 1000, "1"), (500, 1000, "1"), (3, 10**8, "0.01")])
def test_the_population_rate_never_loses(d, n, epsilon):
    values = {"d": d, "n": n, "epsilon": epsilon}
    old, new, least = (
        evaluate(part, **values).value.lower for part in ("liu-population", "new-population", "lower-population")
    )
    assert least < new <= old
    zeta = evaluate("factor", **values).value.lower
    assert (new < 0.999999 * old) is (zeta < 1)


def test_constant_dimension():
    """For constant d and ε the new population rate falls as 1/√n, up to a constant, and the old one as n^{-1/3}."""
    for part, power in (("new-population", 0.5), ("liu-population", 1 / 3)):
        one, other = (evaluate(part, d=5, n=n, epsilon=1).value.lower for n in (10**16, 10**20))
        assert one / other == pytest.approx(10 ** (4 * power), rel=0.15)
