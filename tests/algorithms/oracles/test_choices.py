import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import choice, choices, choose
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.privacy.mechanisms import ExponentialMechanism, PureDP
from dpbounds.privacy.relations import Relation

REPLACE = Relation.REPLACE_ONE
SCORES = np.array([0.0, 0.3, -0.2, 0.7])


def chosen(method, repetitions=20_000, pen=None, **options):
    scores = options.pop("scores", np.tile(SCORES, (repetitions, 1)))
    given = {"epsilon": 2, "sensitivity": "0.5", "relation": REPLACE, "method": method, **options}
    return choose(scores, records=10, generators=noise.streams(1, repetitions), ledger=pen or OpenLedger(), **given)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_the_law_of_the_exponential_mechanism():
    weights = np.exp(2 * SCORES / (2 * 0.5))
    observed = np.bincount(chosen("exponential"), minlength=4)
    # chi-square, 3 degrees of freedom: a right sampler fails once in 10^6 such tests
    assert stats.chisquare(observed, 20_000 * weights / weights.sum()).pvalue > 1e-6


@pytest.mark.seconds
def test_the_law_of_noisy_max():
    # P(y wins) = ∫ f(t - u_y) Π F(t - u_z) dt, by quadrature with the scale 2Δ/ε = 1/2
    t = np.linspace(-12, 12, 200_001)
    law = stats.laplace(scale=0.5)
    below = np.stack([law.cdf(t - u) for u in SCORES])
    wins = [np.trapezoid(law.pdf(t - SCORES[y]) * np.delete(below, y, axis=0).prod(axis=0), t) for y in range(4)]
    assert sum(wins) == pytest.approx(1, abs=1e-6)
    observed = np.bincount(chosen("noisy-max"), minlength=4)
    assert stats.chisquare(observed, 20_000 * np.array(wins) / sum(wins)).pvalue > 1e-6


def test_what_the_ledger_gets():
    for method, described in (
        ("exponential", ExponentialMechanism(2, relation=REPLACE)),
        ("noisy-max", PureDP(2, relation=REPLACE)),
    ):
        pen = OpenLedger()
        chosen(method, repetitions=3, pen=pen)
        assert choice(2, REPLACE, method) == described
        pen.close().check_plan(described)
        with pytest.raises(BudgetExceeded):
            pen.close().check_plan(choice("1.99", REPLACE, method))


@pytest.mark.parametrize("share", [0.9, 0.5, 0.0])
@pytest.mark.parametrize("method", ["exponential", "noisy-max"])
def test_noise_that_is_too_small_is_found(method, share, monkeypatch):
    right, tampered, scores = OpenLedger(), OpenLedger(), np.zeros((1, 40_000))
    chosen(method, 1, right, scores=scores)
    right.close()
    monkeypatch.setattr(choices, "_used", lambda unit, scale: unit * (share * scale))
    chosen(method, 1, tampered, scores=scores)
    with pytest.raises(BudgetExceeded, match="noise"):
        tampered.close()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"method": "best"}, "method"),
        ({"scores": np.full((2, 3), np.nan)}, "scores"),
        ({"scores": np.zeros((1, 3))}, "scores"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(change, named):
    pen = OpenLedger()
    with pytest.raises(InvalidValue, match=named):
        chosen(repetitions=2, pen=pen, **{"method": "exponential", **change})
    assert pen.close().releases == ()


def test_laplace_noise_and_its_count():
    pen = OpenLedger()
    drawn = noise.laplace(noise.streams(0, 2), (50_000,), scale=3.0, ledger=pen)
    assert stats.kstest(drawn[0] / 3, stats.laplace.cdf).pvalue > 1e-6
    pen.close()
    short = OpenLedger()
    short.waited(0.99 * 500_000, 500_000)
    with pytest.raises(BudgetExceeded, match=r"0\.99"):
        short.close()
