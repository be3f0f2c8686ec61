"""Secure noise: its account is checked by direct sums; what OpenDP draws is checked where it is installed."""

import importlib.util
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy import stats

from dpbounds.algorithms import noise, secure_noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import GradientOracle
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms import ZCDP
from dpbounds.privacy.relations import Relation

INSTALLED = importlib.util.find_spec("opendp") is not None
REPLACE = Relation.REPLACE_ONE


def drawn(values, stddev=0.5, bound=Fraction(1, 4), relation=REPLACE):
    pen = OpenLedger()
    given = {"noise_stddev": stddev, "per_record_bound": bound, "relation": relation, "ledger": pen}
    return secure_noise.gaussian(values, **given), pen.close()


@pytest.mark.parametrize("stddev", [0.4, 1.0, 7.3])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("order", [1.01, 2, 17.5])
def test_a_discrete_gaussian_diverges_no_more_than_a_continuous_one(stddev, shift, order):
    x = np.arange(-2000, 2001)
    log_weight = -(x**2) / (2 * stddev**2)
    mass = np.exp(log_weight).sum()
    exponent = order * -((x - shift) ** 2) / (2 * stddev**2) + (1 - order) * log_weight
    top = exponent.max()
    divergence = (top + math.log(np.exp(exponent - top).sum() / mass)) / (order - 1)
    assert divergence <= order * shift**2 / (2 * stddev**2) * (1 + 1e-10)


@pytest.mark.parametrize("bound", [Fraction(1), Fraction(1, 3), Fraction(10) ** 40, Fraction(1, 10**40)])
@pytest.mark.parametrize("dimension", [1, 2, 100, 10_001])
def test_the_grid_is_fine_and_no_finer_than_it_need_be(bound, dimension):
    h = Fraction(2) ** secure_noise.grid_exponent(bound, dimension)
    assert dimension * h**2 <= (bound / 2**24) ** 2 < dimension * (2 * h) ** 2


@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2), ("add-or-remove-one", 1)])
def test_rho_is_that_of_the_gaussian_and_a_little_more(relation, factor):
    rho = secure_noise.rho(0.5, Fraction(1, 4), 10, Relation(relation))
    ideal = Fraction(factor**2, 8)
    assert ideal < rho < ideal * (1 + Fraction(1, 2**22))


def test_rounding_moves_neighbours_apart_by_less_than_the_account_allows():
    rng, dimension, bound = np.random.default_rng(0), 6, 0.01
    h = math.ldexp(1.0, secure_noise.grid_exponent(Fraction(bound), dimension))
    for coarse in (h, 2**20 * h):  # the account's inequality, on its own grid and on one where rounding matters
        for _ in range(200):
            a, u = rng.standard_normal(dimension), rng.standard_normal(dimension)
            b = a + bound * u / np.linalg.norm(u)
            moved = np.linalg.norm(np.rint(a / coarse) - np.rint(b / coarse))
            assert moved <= bound / coarse + math.sqrt(dimension)


def fake(monkeypatch, sample):
    monkeypatch.setattr(secure_noise, "_sampler", sample)


def test_what_is_written_is_what_the_sampler_is_asked_for(monkeypatch):
    asked = []
    fake(monkeypatch, lambda scale, dimension: asked.append((scale, dimension)) or (lambda row: [v + 3 for v in row]))
    values = np.array([[0.1, -1e3], [5e-12, 0.25]])
    noisy, ledger = drawn(values)
    k = secure_noise.grid_exponent(Fraction(1, 4), 2)
    assert asked == [(math.ldexp(0.5, -k), 2)]
    assert np.abs(noisy - values).max() <= 3.5 * 2.0**k
    assert (np.ldexp(noisy, -k) == np.rint(np.ldexp(noisy, -k))).all()
    (release,) = ledger.releases
    assert release.described == ZCDP(secure_noise.rho(0.5, Fraction(1, 4), 2, REPLACE), relation="replace-one")
    assert ledger.spent("1e-6", "replace-one").upper > 0
    with pytest.raises(UnsupportedMechanism):
        ledger.spent("1e-6", "add-or-remove-one")


def test_the_ledger_never_calls_it_gaussian(monkeypatch):
    fake(monkeypatch, lambda scale, dimension: lambda row: row)
    _, ledger = drawn(np.zeros((2, 3)))
    with pytest.raises(UnsupportedMechanism, match="Gaussian noise of known size"):
        _ = ledger.gaussian_releases
    assert "Gaussian" not in str(ledger)


def test_nothing_is_written_where_nothing_can_be_drawn(monkeypatch):
    pen = OpenLedger()
    arguments = {"per_record_bound": Fraction(1), "relation": REPLACE, "ledger": pen}
    for stddev in (0.0, math.nan, 1e12):
        with pytest.raises(InvalidValue, match="noise_stddev"):
            secure_noise.gaussian(np.zeros((1, 2)), noise_stddev=stddev, **arguments)
    fake(monkeypatch, lambda scale, dimension: lambda row: row)
    with pytest.raises(InvalidValue, match="answer"):
        secure_noise.gaussian(np.full((1, 2), 1e12), noise_stddev=1.0, **arguments)
    monkeypatch.undo()
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    secure_noise._sampler.cache_clear()
    with pytest.raises(secure_noise.MissingSampler, match=r"dpbounds\[secure\]"):
        secure_noise.gaussian(np.zeros((1, 2)), noise_stddev=1.0, **arguments)
    assert pen.close().releases == ()


@pytest.mark.skipif(not INSTALLED, reason="the extra 'secure' is not installed")
@pytest.mark.parametrize("stddev", [0.5, 5000.0])
def test_what_opendp_draws_is_gaussian_to_the_eye(stddev):
    noisy, _ = drawn(np.zeros((40, 100)), stddev)
    assert stats.kstest(noisy.ravel() / stddev, "norm").pvalue > 1e-6
    assert (noisy != drawn(np.zeros((40, 100)), stddev)[0]).mean() > 0.99


@pytest.mark.skipif(not INSTALLED, reason="the extra 'secure' is not installed")
def test_an_oracle_draws_it():
    class Constant:
        records, dimension, lipschitz = 10, 50, sympy.Integer(1)

        def objective_and_gradient(self, X):
            return np.zeros(len(X)), np.ones(X.shape)

    pen = OpenLedger()
    oracle = GradientOracle(Constant(), Fraction(3), noise.streams(0, 20), pen, noise="secure", relation=REPLACE)
    answer = oracle(np.zeros((20, 50)))
    assert stats.kstest((answer.noisy - 1).ravel() / 0.3, "norm").pvalue > 1e-6
    assert float(pen.close().releases[0].described.rho) == pytest.approx(2 / 9, rel=1e-6)
