"""Results depend on the arguments alone: not on FLINT's process-wide context, on threads, or on earlier questions."""

import dataclasses
import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import flint
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.notions.composition_theorems import EpsilonDelta
from dpbounds.privacy.notions.optimal_composition import optimal_epsilon
from dpbounds.privacy.renyi.accountant import renyi_curve, renyi_delta, renyi_epsilon
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_epsilon
from dpbounds.theorems.evaluation import evaluate

ALLOWED = {"dpbounds/expressions/working.py", "dpbounds/privacy/publishing/standalone_checker.py"}
DP_SGD = dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 5
REPLACE = "replace-one"

CALLS: dict[str, Callable[[], object]] = {
    "gaussian delta": lambda: dp.delta(dp.Gaussian(3) ** 7, 1),
    "gaussian epsilon": lambda: dp.epsilon(dp.Gaussian(3) ** 7, "1e-6"),
    "account": lambda: dp.account(DP_SGD, delta="1e-5").proofs,
    "account for delta": lambda: dp.account(DP_SGD, epsilon=1, relation=REPLACE).proofs,
    "laplace": lambda: dp.delta(dp.Laplace(3) ** 4, "0.5"),
    "laplace epsilon": lambda: dp.epsilon(dp.Laplace(3) ** 4, "0.01"),
    "fixed size": lambda: dp.delta(dp.SampledWithoutReplacement(dp.Gaussian(2), 1, 10) ** 2, "0.5", REPLACE),
    "ball noise": lambda: dp.delta(dp.UniformBall("2.5", 3), 0),
    "beside": lambda: dp.epsilon(dp.Laplace(5) @ dp.Gaussian(5), "1e-3"),
    "guarantees": lambda: dp.epsilon(dp.PureDP("0.1", relation=REPLACE) ** 5, "1e-3", REPLACE),
    "group": lambda: dp.group_account(dp.PoissonSampled(dp.Gaussian(2), "0.2"), 2, delta="1e-4"),
    "group by a chain": lambda: dp.group_account(dp.SampledWithReplacement(dp.Laplace(3), 1, 3), 2, epsilon=1),
    "calibrate": lambda: dp.calibrate(lambda z: dp.Gaussian(z) ** 10, 1, "1e-5"),
    "calibrate laplace": lambda: dp.calibrate(lambda z: dp.Laplace(z), 1, "1e-5"),
    "hidden constant": lambda: dp.hidden_constant(1, 10, 1, "1e-5"),
    "remaining": lambda: dp.remaining(dp.Gaussian(20) ** 10, 1, "1e-6"),
    "ball descent": lambda: dp.BallDescent(1, 3, 100, 10).radius("0.01"),
    "methods": lambda: dp.all_methods(dp.Gaussian(5) ** 3, delta="1e-5"),
    "renyi": lambda: renyi_epsilon(DP_SGD, "1e-5"),
    "renyi delta": lambda: renyi_delta(dp.Laplace(3) ** 4, 1),
    "renyi curve": lambda: renyi_curve(DP_SGD).upper(3),
    "zcdp": lambda: zcdp_epsilon(dp.Gaussian(5) ** 3, "1e-5"),
    "optimal composition": lambda: optimal_epsilon(((EpsilonDelta(1, 0), 5),), "1e-3"),
    "pure": lambda: dp.epsilon(dp.PoissonSampled(dp.Laplace(3), "0.1") ** 4, 0),
    "trade-off": lambda: dp.trade_off(dp.Gaussian(3) ** 7, "0.01"),
    "bayes risk": lambda: dp.bayes_risk(dp.Gaussian(3) ** 7, "0.01"),
    "membership": lambda: dp.membership_advantage(dp.Gaussian(3) ** 7),
    "filter": lambda: dp.RenyiFilter.for_target((8, 16, 32), 3, "1e-5", "add-or-remove-one").remaining,
    "gaussian filter": lambda: dp.GaussianFilter.for_target(1, "1e-5", "add-or-remove-one").least_noise_multiplier,
    "zcdp filter": lambda: dp.ZCDPFilter.for_target(1, "1e-5", "add-or-remove-one").epsilon("1e-6"),
    "tuning": lambda: dp.tuned_epsilon(dp.Gaussian(10), dp.RandomRuns("0.1"), "1e-5"),
    "theorem": lambda: evaluate(
        dp.theorem("wang-xu-2019/theorem-2/explicit"),
        "tuned",
        {"n": 10**5, "d": 50, "rho": "0.1", "lipschitz": 1, "smoothness": 1, "initial_gap": "0.5"},
    ),
    "refused": lambda: _refused(),
}


def _refused() -> str:
    with pytest.raises(InvalidValue) as caught:
        dp.epsilon(dp.Gaussian(1), 2)
    return str(caught.value)


def _said(name: str) -> str:
    return repr(_plain(CALLS[name]()))


def _plain(result: object) -> object:
    """Every field as it is: what a result writes of itself is rounded."""
    if isinstance(result, tuple | list):
        return [_plain(each) for each in result]
    return dataclasses.asdict(result) if dataclasses.is_dataclass(result) else result


@pytest.fixture(autouse=True)
def _default_context():
    yield
    flint.ctx.default()


SECONDS = {"account", "account for delta", "fixed size", "laplace", "calibrate laplace", "methods", "remaining"}
MARKED = [pytest.param(name, marks=pytest.mark.seconds if name in SECONDS else ()) for name in CALLS]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", MARKED)
def test_the_context_of_the_caller_is_not_seen_and_not_changed(name):
    flint.ctx.default()
    expected = _said(name)
    for bits, cap in ((10, 3), (5000, 40)):
        flint.ctx.prec, flint.ctx.cap, flint.ctx.threads = bits, cap, 2
        try:
            assert _said(name) == expected, bits
            assert (flint.ctx.prec, flint.ctx.cap, flint.ctx.threads) == (bits, cap, 2)
        finally:
            flint.ctx.threads = 1


@pytest.mark.parametrize(
    "names",
    [
        ("gaussian delta", "gaussian epsilon", "guarantees", "zcdp", "membership"),
        pytest.param(tuple(CALLS), marks=pytest.mark.seconds),
    ],
    ids=len,
)
def test_order_and_threads_do_not_change_a_bit(names):
    draw = random.Random(5)
    expected = {name: _said(name) for name in names}
    asked = [name for _ in range(3) for name in draw.sample(names, len(names))]
    flint.ctx.prec = 77
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(_said, asked))
    assert [name for name, answer in zip(asked, answers, strict=True) if answer != expected[name]] == []
    assert flint.ctx.prec == 77


def test_the_context_is_restored_after_an_exception():
    def fail() -> None:
        with working(64):
            assert working_bits() == 64
            with working(300):
                raise ZeroDivisionError

    before = flint.ctx.prec
    with pytest.raises(ZeroDivisionError):
        fail()
    assert flint.ctx.prec == before


def test_nobody_else_touches_the_context():
    root = Path(dp.__file__).parents[1]
    files = {path.relative_to(root).as_posix(): path for path in sorted((root / "dpbounds").rglob("*.py"))}
    files |= {path.relative_to(root).as_posix(): path for path in sorted((root / "dpbounds/algorithms").rglob("*.py"))}
    touching = re.compile(r"\bflint\.ctx\b|\bfrom flint import [^\n]*\bctx\b")
    found = {name for name, path in files.items() if touching.search(path.read_text("utf-8"))}
    assert {name for name in found if not name.startswith("dpbounds/privacy/publishing/checker/")} == ALLOWED
