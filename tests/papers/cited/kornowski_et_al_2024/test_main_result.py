"""Kornowski, Liu & Talwar: the two sample sizes of the abstract, a second time; which one is smaller."""

from mpmath import mpf, power, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "single-pass": lambda dimension, goldstein_radius, stationarity, epsilon: (
        (sqrt(dimension) / stationarity + dimension / epsilon) / goldstein_radius / stationarity**2
    ),
    "multiple-passes": lambda dimension, stationarity, epsilon, goldstein_radius: (
        dimension / stationarity**2
        + power(dimension * sqrt(dimension) / (goldstein_radius * stationarity**3), mpf(1) / 2) / epsilon
    ),
}


def test_several_passes_need_fewer_records_for_small_radii():
    statement = theorem("cited/kornowski-et-al-2024/main-result")
    for dimension in (1, 100):
        for epsilon in ("0.1", 1):
            values = {"d": dimension, "epsilon": epsilon, "goldstein_radius": "0.01", "stationarity": "0.01"}
            several = statement.evaluate("multiple-passes", **values).value
            assert several < statement.evaluate("single-pass", **values).value.lower
