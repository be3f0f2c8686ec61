"""Kornowski, Liu & Talwar: which one is smaller."""

from dpbounds.theorems.registry import theorem


def test_several_passes_need_fewer_records_for_small_radii():
    statement = theorem("cited/kornowski-et-al-2024/main-result")
    for dimension in (1, 100):
        for epsilon in ("0.1", 1):
            values = {"d": dimension, "epsilon": epsilon, "goldstein_radius": "0.01", "stationarity": "0.01"}
            several = statement.evaluate("multiple-passes", **values).value
            assert several < statement.evaluate("single-pass", **values).value.lower
