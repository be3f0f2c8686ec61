"""A time limit ends the proofs at any checkpoint, and what is returned then is sound. The clock only counts."""

import json
from fractions import Fraction

import flint
import pytest

import dpbounds as dp
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.time_limit import TimeIsUp, checkpoint, clocked, time_limited
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.accountants.questions import relative_width
from dpbounds.privacy.accountants.routing import _by_lattice
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.lattice import Work

DP_SGD = dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 5
MIXED = dp.Laplace(2) ** 2 @ dp.Gaussian(4)
CASES = [
    pytest.param(DP_SGD, "add-or-remove-one", marks=pytest.mark.seconds),
    pytest.param(DP_SGD, "replace-one", marks=pytest.mark.seconds),
    (MIXED, "add-or-remove-one"),
]
FEW, MANY = (1, 40), (1, 2, 3, 5, 8, 30, 100, 300)


class Ticks:
    """A clock that goes on by one whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> float:
        self.now += 1
        return float(self.now)


@pytest.mark.one_in(4)
@pytest.mark.seconds_cases("2-epsilon-mixed")
@pytest.mark.parametrize(("mechanism", "relation"), CASES, ids=["remove", "replace", "mixed"])
@pytest.mark.parametrize("given", ["delta", "epsilon"])
@pytest.mark.parametrize("stops", [FEW, pytest.param(MANY, marks=pytest.mark.seconds)], ids=len)
def test_what_is_proven_so_far_is_sound_whenever_the_time_ends(mechanism, relation, given, stops):
    target = {"delta": "0.001"} if given == "delta" else {"epsilon": "0.5"}
    whole = account(mechanism, relation=relation, **target)
    assert whole.complete
    widths = []
    for stop in (*stops, 10**9):
        with clocked(Ticks()):
            found = account(mechanism, relation=relation, time_limit=stop, **target)
        assert found.enclosure.overlaps(whole.enclosure)
        assert found.complete == (found.enclosure.method != "stopped by the time limit")
        widths.append(found.enclosure.exact_upper - found.enclosure.exact_lower)
        assert flint.ctx.prec == 53
    assert found.complete
    assert widths[0] > 4 * widths[-1]  # that it was stopped shows


def test_no_order_waits_until_another_one_is_narrow():
    """Under either relation an account has wide proofs for every order before it has a narrow one for any."""
    mechanism = dp.PoissonSampled(dp.Laplace(2), "0.1") ** 20
    seen = set()
    for stop in (100, 400, 600, 800):
        with clocked(Ticks()):
            found = account(mechanism, delta="1e-6", time_limit=stop)
        widths = {proof.route: relative_width(proof) for _, proof in found.proofs}
        assert widths.get("bounds", 0.0) <= 0.9 or widths.get("lattice", 1.0) >= 2e-3
        seen |= set(widths)
    assert seen >= {"bounds", "lattice"}


def test_without_any_limit_nothing_is_looked_at():
    with clocked(Ticks()):
        assert account(dp.Gaussian(3), delta="1e-5", time_limit=None).complete


@pytest.mark.parametrize("solve", ["noise", "steps"])
@pytest.mark.parametrize("base", [dp.Gaussian, pytest.param(dp.Laplace, marks=pytest.mark.seconds)])
def test_calibration_returns_what_suffices_or_refuses(solve, base):
    kept, said = 0, []
    for stop in (1, 20, 60, 120, 400, 10**9):
        with clocked(Ticks()):
            try:
                if solve == "noise":
                    found = dp.calibrate(lambda z: base(z) ** 3, 1, "1e-5", time_limit=stop)
                else:
                    found = dp.calibrate(lambda n: base(30) ** int(n), 1, "1e-5", solve="steps", time_limit=stop)
            except dp.NotCertified as refused:
                said.append(str(refused))
                continue
        kept += 1
        spent = account(found.mechanism, delta="1e-5").enclosure
        assert spent.exact_lower <= 1  # (at a lattice's width: the proof was of δ at ε = 1)
        assert found.epsilon.exact_upper <= 1
    assert kept >= 1
    assert all("time limit" in each for each in said)
    assert found.complete


def test_remaining_says_less_and_nothing_wrong():
    for stop in (1, 10, 100, 10**9):
        with clocked(Ticks()):
            left = dp.remaining(dp.Gaussian(20) ** 10, 1, "1e-6", time_limit=stop)
        assert left.more <= 12
        assert left.too_many is None or left.too_many >= 13
    assert (left.complete, left.more, left.too_many) == (True, 12, 13)


def test_before_any_epsilon_suffices_there_is_a_refusal():
    mechanism = dp.ApproximateDP(1, "0.0001", relation="replace-one") ** 5 @ dp.Gaussian(3)
    with clocked(Ticks()), pytest.raises(dp.NotCertified, match="time limit passed before any"):
        account(mechanism, delta="0.0003", relation="replace-one", time_limit=1)


@pytest.mark.parametrize("seconds", [0, -1, "0"])
def test_a_limit_is_positive(seconds):
    with pytest.raises(dp.InvalidValue, match="time_limit"):
        dp.epsilon(dp.Gaussian(1), "1e-5", time_limit=seconds)


def test_limits_may_be_nested():
    ticks = Ticks()
    with clocked(ticks), time_limited(3):
        ticks.now += 3
        with time_limited(1000), pytest.raises(TimeIsUp):
            checkpoint()
        with time_limited(None), pytest.raises(TimeIsUp):
            checkpoint()
    checkpoint()


@pytest.mark.seconds
def test_the_command_line_says_that_it_was_stopped(capsys):
    from dpbounds.cli import main

    question = ["--noise-multiplier", "1", "--sample-rate", "0.1", "--steps", "5", "--delta", "0.001"]
    with clocked(Ticks()):
        assert main(["epsilon", *question, "--time-limit", "1", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["complete"] is False
    assert "time limit" in printed.err
    with clocked(Ticks()):
        assert main(["epsilon", *question, "--time-limit", "1"]) == 0
    assert "time limit" in capsys.readouterr().out
    assert main(["epsilon", *question, "--time-limit", "1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is True


def test_a_narrow_tolerance_is_honoured_or_refused():
    for tolerance in (1e-12, 1e-30, 1e-100):
        for found in (
            dp.epsilon(dp.Gaussian(3) ** 7, "1e-6", tolerance=tolerance),
            dp.delta(dp.Gaussian(3) ** 7, 1, tolerance=tolerance),
            dp.delta(dp.Laplace(3), "0.1", tolerance=tolerance),
        ):
            assert found.exact_upper - found.exact_lower <= Fraction(tolerance) * found.exact_upper
    with pytest.raises(dp.NotCertified, match="looser tolerance"):
        dp.epsilon(DP_SGD, "1e-6", tolerance=1e-30)


def within(low, high):
    return Proof(Enclosure(Fraction(low), Fraction(high)), "lattice")


@pytest.mark.parametrize("reason", [Declined("the work is done"), TimeIsUp("the time is up")], ids=["work", "time"])
def test_what_attempts_proved_is_kept_whatever_ends_them(reason):
    wide, narrow = within(1, 2), within(99, 100)

    def lattice(width, work, kept):
        kept += [wide, narrow]
        raise reason

    assert {id(each) for each in _by_lattice([1e-5, 1e-3], lattice, Work(0), [], every=True)} == {id(wide), id(narrow)}
    kept = _by_lattice([1e-5, 1e-1], lattice, Work(0), [], every=False)
    assert all(each is narrow for each in kept)
    assert kept


def test_an_end_before_anything_was_proven_is_told():
    def lattice(width, work, kept):
        raise TimeIsUp("at once")

    with pytest.raises(TimeIsUp):
        _by_lattice([1e-5], lattice, Work(0), [], every=True)
