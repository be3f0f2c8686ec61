"""Noise along the path: how many records, draws from a net, and what a good start saves."""

import math

import numpy as np
import pytest

from dpbounds.algorithms.second_order import iterative_path_noise, path_noise_descent
from dpbounds.privacy.mechanisms import ZCDP, ExponentialMechanism, Gaussian, parts_of
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

full, iterative = evaluated("dpbounds/second-order-path-noise"), evaluated("dpbounds/second-order-path-noise/iterative")
UNIT = {"G": 1, "L": 1, "rho_H": 1, "rho": 1, "Delta_F": 1, "zeta": "0.01"}
SHARED = "curvature_kept curvature_length gradient_error window"
OWN = "small_ball overgrowth power_noise selection_error check_error restart_ratio"


def given(names, parameters, **more):
    """The values of a point, with the path and the searches that it asks for."""
    values = dict(zip(names.split(), parameters.split(), strict=True))
    first = {name: values[name] for name in SHARED.split()} | UNIT | more
    path, searches = (full(part, **first).value.upper for part in ("path_length", "searches"))
    return {**values, **UNIT, **more, "path_length": repr(path * (1 + 1e-12)), "searches": math.ceil(searches)}


# n√ρ of two derivations of the theorem, by other programs than this one
@pytest.mark.parametrize(
    ("dimension", "alpha", "parameters", "expected"),
    [
        (10, "0.1", ".787 1.346 .102 .02", 2.21e4),
        (10, "0.01", ".823 1.374 .124 .02", 5.43e5),
        (10, "0.001", ".858 1.397 .147 .018", 1.39e7),
        (100, "0.1", ".707 1.292 .058 .006", 9.45e4),
        (100, "0.01", ".742 1.309 .075 .009", 2.03e6),
        (100, "0.001", ".777 1.335 .096 .009", 4.53e7),
    ],
)
def test_how_many_records(dimension, alpha, parameters, expected):
    found = full(**given(SHARED, parameters, d=dimension, alpha=alpha))
    assert not found.failing
    assert found.value.upper == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("alpha", "parameters", "known"),
    [
        ("0.1", ".682 1.2 .0571 .0226 .113 .0265 .542 .0401 .0138 .856", 2.46e5),
        ("0.01", ".739 1.28 .08 .00655 .0635 .0273 .54 .0377 .0111 .749", 5.18e6),
        ("0.001", ".779 1.32 .101 .00296 .066 .0287 .639 .0362 .0106 .743", 1.24e8),
    ],
)
def test_how_many_without_hessians(alpha, parameters, known):
    point = given(f"{SHARED} {OWN}", parameters, d=1000, alpha=alpha)
    for part in ("power_steps", "restarts_of_a_search", "restarts"):
        point[part] = math.ceil(iterative(part, **point).value.upper)
    found = iterative(**point)
    assert not found.failing
    assert found.value.upper < 1.03 * known  # less where the best exponent of the restarts is known exactly
    fewer = iterative(**{**point, "restarts": point["restarts"] - 1})
    assert [one.why for one in fewer.conditions if one.holds is False] == ["this many restarts are not used up"]


# n√ρ of the third reading: our own parameters need no more, and much less nowhere
@pytest.mark.parametrize(
    ("dimension", "alpha", "known"),
    [
        (1000, "0.1", 2.453e5), (1000, "0.01", 5.165e6), (1000, "0.001", 1.251e8),
        (10**4, "0.1", 7.0e5), (10**4, "0.01", 1.444e7), (10**4, "0.001", 3.416e8),
        (10**5, "0.1", 2.103e6), (10**5, "0.01", 4.388e7), (10**5, "0.001", 1.033e9),
    ],
)  # fmt: skip
def test_how_many_without_hessians_at_the_parameters_that_a_plan_finds(dimension, alpha, known):
    found = iterative_path_noise._parameters((1.0, 1.0, 1.0, 1.0, float(dimension), 0.01, float(alpha)))
    rounded = " ".join(f"{each:.7f}" for each in found)
    point = given(f"{SHARED} {OWN}", rounded, d=dimension, alpha=alpha)
    for part in ("power_steps", "restarts_of_a_search", "restarts"):
        point[part] = math.ceil(iterative(part, **point).value.upper)
    records = iterative(**point)
    assert not records.failing
    assert 0.75 * known < records.value.upper < 1.02 * known  # less: the best exponent of the restarts is exact here


@pytest.mark.parametrize(("alpha", "known"), [("0.1", 6.33e5), ("0.01", 1.24e7), ("0.001", 2.49e8)])
def test_how_many_with_hessians_in_a_thousand_dimensions(alpha, known):
    found = path_noise_descent._parameters((1.0, 1.0, 1.0, 1.0, 1000.0, 0.01, float(alpha)), 1000)
    records = full(**given(SHARED, " ".join(f"{float(each):.5f}" for each in found), d=1000, alpha=alpha))
    assert not records.failing
    assert records.value.upper == pytest.approx(known, rel=0.02)


# --- from a point drawn from a net

warm = evaluated("dpbounds/second-order-path-noise/warm-start")
START = {"d": 2, "n": 400, "rho": "0.05", "G": 1, "D": 1, "zeta": "0.1"}


@pytest.mark.seconds
def test_a_draw_from_a_net_is_as_near_to_the_infimum_as_is_said():
    """Losses |w - z|, exactly: the chance of a point that is worse than ψ, on nets as fine and as coarse as allowed."""
    psi = warm("start_gap", **START).value.upper
    epsilon, rng = 2 * math.sqrt(0.05), np.random.default_rng(0)
    radius = 2 / (epsilon * 400)  # Dd/(ε_E n)
    for spacing in (radius * math.sqrt(2), radius):
        line = np.arange(-0.5, 0.5 + spacing, spacing)
        net = np.array([(x, y) for x in line for y in line if x * x + y * y <= 0.25])
        assert len(net) <= (1 + math.sqrt(2) / radius) ** 2 * 2
        data = rng.normal(0.1, 0.05, (400, 2))
        risk = np.linalg.norm(net[:, None] - data, axis=2).mean(axis=1)
        weights = np.exp(-(risk - risk.min()) * epsilon * 400 / 2)
        lowest = risk.min() - radius  # no more than this below the best of the net
        assert weights[risk > lowest + psi].sum() / weights.sum() <= 0.05
        closer = risk > risk.min() + psi / 20
        assert weights[closer].sum() / weights.sum() > 0.05  # a twentieth of it is not enough


population = evaluated("dpbounds/second-order-path-noise/population")


@pytest.mark.parametrize(("n", "radius"), [(30, 3.0), (300, 1.0)])
def test_derivatives_of_records_that_are_drawn_are_as_near_as_is_said(n, radius):
    """Losses cos(w - z) in one dimension, z uniform: F_P is constant, and the supremum has a closed form."""
    draws = np.random.default_rng(1).uniform(0, 2 * math.pi, (2000, n))
    waves = np.abs(np.exp(1j * draws).mean(axis=1))  # of F, its slope and its curvature
    values = {"G": 1, "L": 1, "rho_H": 1, "d": 1, "n": n, "D": radius / 2, "path_length": radius / 2, "zeta": "0.9"}
    for part in ("gradient_deviation", "hessian_deviation"):
        allowed = population(part, **values).value.upper
        assert (waves > allowed).mean() <= 0.9 / 4
        assert (waves > allowed / 6).mean() > 0.9 / 4  # a sixth of it is not enough
    grid = np.linspace(-radius, radius, 50)
    worst = np.abs(np.sin(grid[:, None, None] - draws[None, :20]).mean(axis=2)).max(axis=0)
    assert (worst <= waves[:20] * (1 + 1e-12)).all()


def test_the_population_s_point_is_the_records_and_what_they_are_off():
    chosen = {"curvature_kept": "0.92", "curvature_length": "1.44", "gradient_error": "0.16", "window": "0.04"}
    common = {"G": 1, "L": 1, "rho_H": 1, "d": 2, "D": 1, "rho": "0.03", "zeta": "0.05", "n": 10**6, **chosen}
    found = population("bound", **common, alpha="0.0011", start_gap="0.0002", path_length="1.3", searches=40)
    assert found.applies
    off = [
        population(part, **common, path_length="1.3").value.upper
        for part in ("gradient_deviation", "hessian_deviation")
    ]
    assert found.value.upper == pytest.approx(max(0.0011 + off[0], (math.sqrt(0.0011) + off[1]) ** 2), rel=1e-9)
    more = population("bound", **common, alpha="0.0005", start_gap="0.0002", path_length="3", searches=100)
    assert more.applies is False  # so few records are not enough for it


def test_a_good_start_saves_records_and_the_point_gets_better_with_every_record():
    chosen = {"curvature_kept": "0.85", "curvature_length": "1.39", "gradient_error": "0.145", "window": "0.03"}
    common = {"G": 1, "L": 1, "rho_H": 1, "d": 10, "rho": "0.03", "zeta": "0.01", **chosen}

    def enough(n, alpha):
        gap = warm("start_gap", n=n, D=1, **{name: common[name] for name in ("G", "d", "rho", "zeta")}).value.upper
        length, searches = (
            warm(name, start_gap=str(gap), alpha=str(alpha), rho_H=1, **chosen).value.upper
            for name in ("path_length", "searches")
        )
        point = {**common, "alpha": str(alpha), "path_length": str(length * (1 + 1e-9)), "searches": int(searches)}
        return warm(start_gap=str(gap), **point).value.upper <= n

    def least(n):
        low, high = 1e-9, 0.5
        while high > 1.001 * low:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if enough(n, middle) else (middle, high)
        return high

    few, many = least(10**6), least(10**8)
    assert few < 0.003
    assert 0.9 < math.log(few / many) / math.log(100) < 1.2  # 2/3 without a warm start


# --- from such a point, without Hessians

WITHOUT = ".78 1.32 .1 .003 .0635 .0287 .64 .036 .0106 .743"  # c, s, w, v, x_0, p_3, ν, w_1, w_2, b
WITH = "0.85 1.39 0.145 0.003"


def least_stationarity(statement, names, parameters, counted, n, d):
    """The least α for which a statement says that n records are enough; P and the whole numbers are those it names."""
    chosen = dict(zip(names.split(), parameters.split(), strict=True))
    common = {"G": 1, "L": 1, "rho_H": 1, "d": d, "rho": 1, "zeta": "0.01", **chosen}
    psi = repr(statement("start_gap", n=n, D=1, **common).value.upper)

    def enough(alpha):
        point = {**common, "D": 1, "n": n, "alpha": repr(alpha), "start_gap": psi}
        point["path_length"] = repr(statement("path_length", **point).value.upper * (1 + 1e-9))
        for part in counted:
            point[part] = math.ceil(statement(part, **point).value.upper)
        found = statement(**point)
        assert not found.failing
        return found.value.upper <= n

    low, high = 1e-16, 1.0
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@pytest.mark.seconds
def test_without_hessians_a_good_start_has_the_order_of_a_small_gradient():
    """At n = d² the order d^(2/3)/n of the path is d^(-4/3); searches with Hessians are d^(6/5)/n^(6/5) = d^(-6/5)."""
    products, hessians = f"{SHARED} {OWN}", SHARED
    searched = evaluated("dpbounds/second-order-path-noise/warm-start/iterative")
    counted = ("searches", "power_steps", "restarts_of_a_search", "restarts")
    found = {}
    for d in (10**8, 10**10):
        found["products", d] = least_stationarity(searched, products, WITHOUT, counted, d**2, d)
        found["hessians", d] = least_stationarity(warm, hessians, WITH, ("searches",), d**2, d)
    fall = {
        kind: math.log(found[kind, 10**10] / found[kind, 10**8]) / math.log(100) for kind in ("products", "hessians")
    }
    assert fall["products"] == pytest.approx(-4 / 3, abs=0.04)  # logarithms make it a little less
    assert fall["hessians"] == pytest.approx(-6 / 5, abs=0.04)
    assert 20 * found["products", 10**8] < found["hessians", 10**8]


@pytest.mark.parametrize(("rho", "kind"), [("24", Gaussian), ("24.01", ZCDP)])
@pytest.mark.parametrize("statement", ["warm-start/iterative", "population/iterative"])
def test_choices_count_as_gaussian_noise_while_their_range_allows_it(statement, rho, kind):
    record = theorem(f"dpbounds/second-order-path-noise/{statement}")
    assert [type(part) for part, _ in parts_of(spending(record, {"rho": rho}).mechanism)] == [
        ExponentialMechanism,
        kind,
    ]
