"""Corners of the Python interface: what it lists, what its results can do, what it says of wrong containers."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.expressions.exact import exact

GAUSSIAN = dp.Gaussian(2)


@pytest.fixture(scope="module")
def results():
    return (
        dp.account(GAUSSIAN, delta="1e-5"),
        dp.account(dp.PoissonSampled(GAUSSIAN, "0.1") ** 3, epsilon=1),
        dp.epsilon(GAUSSIAN, "1e-5"),
        dp.delta(GAUSSIAN, 400),  # below the reach of doubles
        dp.calibrate(dp.Gaussian, 1, "1e-5"),
        dp.remaining(GAUSSIAN, 4, "1e-5"),
        dp.Enclosure(Fraction(1, 2**20_000), Fraction(3**20_000), "wide"),
        *(GAUSSIAN**3, dp.RandomRuns("0.1"), dp.TradeOff([(1, 0)]), dp.BallDescent(1, 2, 3, 4)),
    )


@pytest.mark.seconds
def test_results_can_be_hashed_told_copied_and_sent(results):
    for result in results:
        assert hash(result) == hash(copy.deepcopy(result))
        assert repr(result)
        assert str(result)
        assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301


def test_the_listing_is_what_is_promised():
    assert dir(dp) == sorted({*dp.__all__, "__version__"})
    assert len(dir(dp)) == len(set(dir(dp)))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: dp.Composed([1]), "parts must be pairs of a mechanism and a count"),
        (lambda: dp.Composed([(1, 2)]), "parts must be of type Mechanism"),
        (lambda: dp.Composed(3), "parts must be a list of pairs"),
        (lambda: dp.Composed("ab"), "parts must be a list of pairs"),
        (lambda: dp.InParallel(0), "blocks must be a list of mechanisms"),
        (lambda: dp.InParallel((GAUSSIAN,), partition=np.array([])), "partition must be "),
        (lambda: dp.RenyiDP(3, relation="replace-one"), "points must be a list of pairs"),
        (lambda: dp.RenyiDP([3], relation="replace-one"), "points must be pairs"),
        (lambda: dp.RenyiDP(np.array(3), relation="replace-one"), "not array(3)"),
        (lambda: dp.TradeOff([(1, 0, 0)]), "points must be "),
        (lambda: dp.calibrate(3, 1, "1e-5"), "factory must be a function of one argument"),
        (lambda: dp.calibrate(lambda: GAUSSIAN, 1, "1e-5"), "factory must be a function of one argument"),
        (lambda: dp.calibrate_to_zcdp(Fraction(1, 10**5000), 1), "factory must be a function of one argument"),
        (lambda: dp.calibrate_to_curve(dp.Gaussian, [1]), "points must be pairs of ε and δ"),
        (lambda: dp.theorem(3), "id must be of type str, not 3"),
        (lambda: dp.spending("x", {}), "theorem must be of type Theorem"),
        (lambda: dp.tuned_pure(1, 3), "runs must be of type RandomRuns or PoissonRuns"),
        (lambda: dp.epsilon(GAUSSIAN, "1e-5", np.array([])), "not array([]"),
        (lambda: dp.Relation("x"), "relation must be one of"),
        (lambda: dp.Account(1, *[None] * 5), "mechanism must be of type Mechanism"),
        (lambda: dp.Enclosure("0", "1"), "enclosure must be two exact ends"),
        (lambda: dp.Enclosure(Fraction(2), Fraction(1)), "increasing order"),
        (lambda: dp.ZCDP(10**5000, relation="replace-one"), "not an integer of 16610 bits"),
        (lambda: GAUSSIAN ** (10**31), "steps"),
        (lambda: (GAUSSIAN ** (10**20)) ** (10**20), "steps"),
    ],
)
def test_what_is_wrong_is_named(call, told):
    with pytest.raises(dp.InvalidValue) as found:
        call()
    assert told in str(found.value)
    assert len(str(found.value)) < 400


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["regimes", "gradient-norm", "--with", "n=-1"], "dataset_size is an axis"),
        (["regimes", "gradient-norm", "--with", "kl_exponent=-1"], "kl_exponent"),
        (["regimes", "gradient-norm", "--epsilon-power", "1e-100000"], "--epsilon-power"),
        (["table", "gradient-norm", "--at", "n=1e400"], "between 1e-100 and 1e100"),
        (["table", "gradient-norm", "--json"], "--json needs --check"),
        (["plan", "--metric", "gradient-norm", "--n", "1e400"], "between 1e-100 and 1e100"),
        (["plan", "--metric", "gradient-norm", "--loss-range", "1e309"], "between 1e-100 and 1e100"),
        (["plan", "--metric", "gradient-norm", "--n", "5", "--steps-limit", "1e308"], "--steps-limit"),
        (["verify", "wang-xu-2019/theorem-1", "--jobs", "1e12"], "up to 1024"),
        (["audit", "dp-pgd", "--runs", "10**10"], "up to 1e7"),
        (["demo", "--repetitions", "10**10"], "up to 1e7"),
    ],
)
def test_numbers_beyond_the_limits_are_refused(words, told, capsys):
    assert main(words) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("noise", ["1e400", "1e-400", "7e999", "1e309"])
def test_long_numbers_are_told_in_json(noise, capsys):
    from dpbounds.cli.printing.output import json_given, plain

    for number in (exact(noise), -exact(noise), exact(f"1/{'7' * 900}")):
        assert plain(number)
        assert isinstance(json_given(number), str | float)
