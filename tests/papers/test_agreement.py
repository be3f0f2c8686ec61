"""Statements against one another: the same number, one below another, or one a known multiple of another."""

from math import log

import pytest

from dpbounds.theorems.registry import theorem
from tests.papers.reference_formulas import name_of

ARORA, ZHOU = "cited/arora-et-al-2023", "cited/zhou-et-al-2020/main-result"
DESCENT, BOOST = "cited/wang-ye-xu-2017/main-result", "cited/tran-cutkosky-2022/main-result:rate"
TABLE, EARLIER = "ganesh-liu-oh-thakurta-2023/table-1", "lowy-ullman-wright-2024/appendix-a"
PASSES = "cited/kornowski-et-al-2024/main-result"
GANESH, LOWY, WANG = "ganesh-liu-oh-thakurta-2023", "lowy-ullman-wright-2024", "wang-xu-2019"
DESCENT_POINT = "sample_rate=1 d=7 n=50 steps=9 smoothness=2 lipschitz=3 initial_gap=1 step_size=1/5"
USUAL = "n=5000 d=20 epsilon=0.5 delta=1e-5"

SAME = [
    ("cited/gao-wright-2023/main-result", "cited/avdiukhin-et-al-2024/main-result", "n=5000 d=20 epsilon=1"),
    ("cited/liu-talwar-2024/main-result", f"{ARORA}/population-rate:rate", "n=10000 d=10 epsilon=0.5"),
    ("cited/liu-talwar-2024/main-result", f"{ARORA}/population-rate:rate", "n=1000000 d=10000 epsilon=0.5"),
    ("cited/xu-et-al-2026/main-result", BOOST, "n=100000 d=100 epsilon=0.5"),
    ("cited/xu-et-al-2026/population", f"{ARORA}/population-rate:rate", "n=100000 d=100 epsilon=0.5"),
    ("cited/zhang-et-al-2017/main-result", f"{WANG}/table-1:zhang-et-al-2017", USUAL),
    (DESCENT, f"{WANG}/table-1:wang-ye-xu-2017", USUAL),
    (f"{TABLE}:empirical-sosp", f"{GANESH}/table-3:empirical", "n=3000 d=7 epsilon=1"),
    (f"{TABLE}:population-sosp", f"{GANESH}/table-3:population", "n=3000 d=7 epsilon=1"),
    (f"{LOWY}/corollary-f.1:rate", f"{LOWY}/corollary-8.2:rate", "n=1000 rank=17 epsilon=0.3"),
    (f"{LOWY}/section-1:non-convex", f"{LOWY}/corollary-4.3:combined", "n=10000 d=30 epsilon=1 delta=1e-5"),
    ("tholeti-kalyani-2020/equation-7", "tholeti-kalyani-2020/theorem-1",
     "steps=30 dataset_size=1000 sensitivity=0.7 radius=1.1 dimension=12"),
    *(  # the polynomials, term by term from the text
        (f"tholeti-kalyani-2020/equation-9:dimension-{d}", "tholeti-kalyani-2020/equation-6",
         f"distance=0.7 radius=0.8 dimension={d}")
        for d in (1, 3, 5)
    ),
    # all records are a sample at rate 1: zG/n and zL/n are the noise
    ("dpbounds/noisy-descent-batches", "dpbounds/noisy-descent-exact",
     f"{DESCENT_POINT} noise_multiplier=5 noise_stddev=0.3"),
    ("dpbounds/storm/batches", "dpbounds/storm",
     f"{DESCENT_POINT} noise_multiplier=5 first_ratio=0.5 momentum=0.9 noise_stddev=0.15 difference_noise_stddev=0.2"),
    (f"{LOWY}/proposition-5.2/explicit", f"{LOWY}/proposition-d.1/explicit:any-noise",
     "n=1000 d=5 steps=200 rho=1 lipschitz=2 diameter=3 quasar_convexity=0.3 noise_stddev=0.04"),
    *(
        (f"{LOWY}/theorem-3.2/explicit:{part}", f"{LOWY}/lemma-3.1/explicit:{part}",
         "n=200 d=2 rho=0.5 lipschitz=0.65 smoothness=2 excess_risk=0.04 initial_gap=0.04")
        for part in ("bound", "prescribed", "steps")
    ),
    # the unit ball gives back descent in the plane
    *(
        (f"{WANG}/theorem-5/explicit:{part}", f"{WANG}/theorem-2/explicit:{part}",
         "initial_gap=1 steps=30 noise_stddev=0.1 mirror_step=1/2 relative_smoothness=1 dual_second_moment=7 "
         "step_size=1/2 smoothness=1 dimension=7")
        for part in ("bound", "noisy")
    ),
    # the rows of a table, for sets of norm 1, and their theorems
    (f"{WANG}/table-1:algorithm-1", f"{WANG}/theorem-2:rate", USUAL),
    (f"{WANG}/table-1:algorithm-2", f"{WANG}/theorem-4:rate", f"{USUAL} norm_bound=1 gaussian_width=2.5"),
    (f"{WANG}/table-1:algorithm-3", f"{WANG}/theorem-5:rate", f"{USUAL} norm_bound=1 gaussian_width=2.5"),
    (f"{WANG}/table-1:algorithm-4", f"{WANG}/corollary-1:rate", USUAL),
]  # fmt: skip
BELOW = [
    # convexity helps wherever the rate says anything
    (f"{ARORA}/population-rate:convex", f"{ARORA}/population-rate:rate", "n=100 d=1 epsilon=1"),
    (f"{ARORA}/population-rate:convex", f"{ARORA}/population-rate:rate", "n=10000 d=100 epsilon=1"),
    (f"{ARORA}/population-rate:convex", f"{ARORA}/population-rate:rate", "n=1000000 d=100000 epsilon=1"),
    # what replaced it, or came later
    (DESCENT, "cited/zhang-et-al-2017/main-result", USUAL),
    (f"{ZHOU}:abstract", f"{ARORA}/population-rate:rate", "n=1000000 d=16 epsilon=1"),
    (f"{TABLE}:empirical-sosp", f"{TABLE}:empirical-sosp-before", "n=1000 d=100 epsilon=1"),
    (f"{TABLE}:empirical-sosp", f"{TABLE}:empirical-sosp-before", "n=1000000 d=1 epsilon=1"),
    (f"{TABLE}:empirical-sosp", f"{TABLE}:empirical-sosp-before", "n=1000000 d=1000000 epsilon=1"),
    (f"{TABLE}:empirical-sosp-before", f"{TABLE}:empirical-sosp", "n=10 d=1000000 epsilon=1"),  # d > n²ε²
    # lower bounds
    (f"{TABLE}:empirical-lower", f"{TABLE}:empirical-sosp", "n=1000000 d=1 epsilon=1"),
    (f"{TABLE}:empirical-lower", f"{TABLE}:empirical-sosp", "n=1000000 d=100 epsilon=1"),
    (f"{TABLE}:population-lower", f"{TABLE}:population-sosp", "n=1000000 d=1 epsilon=1"),
    (f"{TABLE}:population-lower", f"{TABLE}:population-sosp", "n=1000000 d=100 epsilon=1"),
    # the sharper of two
    ("wang-chen-xu-2019/remark-3:sharper_sample_size", "wang-chen-xu-2019/remark-3:sample_size",
     "d=100 epsilon=1 stationarity=0.1"),
]  # fmt: skip
BELOW += [
    (f"{ARORA}/theorem-4.3", f"{ARORA}/theorem-4.2",
     f"n={n} d={d} epsilon=1 lipschitz=3 smoothness=1 initial_gap=1 delta=1e-7")
    for n, d in ((10**4, 100), (10**6, 10_000), (10**6, 100))
]  # fmt: skip
BELOW += [
    (f"{EARLIER}:{lower}", f"{EARLIER}:{upper}", f"n={n} d={d} epsilon=1 delta=1e-6")
    for n, d in ((1000, 10), (10**6, 1000), (10**9, 10))
    for lower, upper in (
        ("lower-empirical", "arora-empirical"),
        ("arora-empirical", "before-2022"),
        ("lower-population", "arora-population"),
    )
]
BELOW += [
    (f"{LOWY}/section-1:generalised-linear", f"{EARLIER}:arora-glm", f"rank={rank} n=10000 epsilon=1")
    for rank in (1, 10, 1000, 10**6)
]
BELOW += [  # several passes need fewer records for small radii
    (f"{PASSES}:multiple-passes", f"{PASSES}:single-pass",
     f"d={d} epsilon={epsilon} goldstein_radius=0.01 stationarity=0.01")
    for d in (1, 100)
    for epsilon in ("0.1", 1)
]  # fmt: skip
MULTIPLE = [
    (DESCENT, "cited/avdiukhin-et-al-2024/main-result", USUAL, log(1e5) ** (1 / 4)),
    ("cited/bassily-smith-thakurta-2014/main-result:pure", "cited/bassily-smith-thakurta-2014/main-result:approximate",
     "n=10000 d=400 epsilon=1 delta=0.36787944117144233", 20),
    (f"{ZHOU}:rate", f"{ZHOU}:abstract", "n=10000 d=1 epsilon=1", 101),  # the two quotations part for many records
    (f"{ZHOU}:rate", f"{ZHOU}:abstract", "n=100000000 d=1 epsilon=1", 10_001),
    (f"{GANESH}/lemma-5.5/explicit:transport", f"{GANESH}/lemma-5.5:rate",
     "n=7 lipschitz=2 inverse_temperature=0.5 diameter=3 regularisation=0.1", 2),
    (f"{GANESH}/theorem-5.9/explicit", f"{GANESH}/theorem-5.9", "candidates=16 n=100", 3**0.5 / 16),
    (f"{GANESH}/theorem-5.9/explicit", f"{GANESH}/theorem-5.9", "candidates=1099511627776 n=10000", 3**0.5 / 16),
    ("wang-chen-xu-2019/remark-3:sample_size", "wang-chen-xu-2019/remark-3:sharper_sample_size",
     "d=100 epsilon=1 stationarity=0.001", 10),
]  # fmt: skip
MULTIPLE += [  # (d/N)^(4/7) against (√d/N)^(2/3)
    ("cited/wang-xu-2020/main-result", BOOST, f"n={n} d={d} epsilon=1", d ** (5 / 21) * n ** (2 / 21))
    for n, d in ((100, 1), (10**6, 10), (10**6, 10**5))
]


def value(name, values):
    """Of a statement, or of its part after a colon, at those of the values that it needs."""
    statement, _, part = name.partition(":")
    found = theorem(statement)
    part = found.part(part or None)
    conditions = (*found.conditions, *part.conditions)
    needed = {one.name for one in part.expression.free_symbols.union(*(one.holds.free_symbols for one in conditions))}
    given = dict(one.split("=") for one in values.split())
    return found.evaluate(
        part.name, **{name: one for name, one in given.items() if name_of(name) in needed}
    ).formula_value


@pytest.mark.parametrize(("one", "other", "values"), SAME)
def test_the_same(one, other, values):
    assert value(one, values).overlaps(value(other, values))


@pytest.mark.parametrize(("lower", "upper", "values"), BELOW)
def test_one_is_below_the_other(lower, upper, values):
    assert value(lower, values).upper < value(upper, values).lower


@pytest.mark.parametrize(("large", "small", "values", "ratio"), MULTIPLE)
def test_one_is_a_multiple_of_the_other(large, small, values, ratio):
    assert value(large, values).lower / value(small, values).lower == pytest.approx(ratio, rel=1e-9)
