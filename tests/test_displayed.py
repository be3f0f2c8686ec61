"""How results show themselves: text that can be typed in again, sheets that notebooks show."""

import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.algorithms.ledger import Ledger, Release
from dpbounds.displayed import Displayed, Sheet, written
from dpbounds.privacy.mechanisms.schemes.encoders import LowerTriangular
from tests.privacy.mechanisms.examples import NOISES, SCHEMES, WHOLE

NAMES = {name: getattr(dp, name) for name in dp.__all__} | {"LowerTriangular": LowerTriangular}
GAUSSIAN = dp.Gaussian("1.5")
MECHANISMS = (
    *(*NOISES, *SCHEMES, *WHOLE),
    GAUSSIAN**1,
    GAUSSIAN**3,
    GAUSSIAN @ dp.PoissonSampled(GAUSSIAN**2, "0.1") ** 5 @ GAUSSIAN,
)


def test_every_mechanism_is_here():
    kinds = {value for value in NAMES.values() if isinstance(value, type) and issubclass(value, dp.Mechanism)}
    assert kinds - {type(each) for each in MECHANISMS} == {dp.Mechanism, dp.InParallel}  # equal only to itself


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: type(each).__name__)
def test_what_a_mechanism_writes_is_the_mechanism(mechanism):
    assert eval(repr(mechanism), NAMES) == mechanism  # noqa: S307
    assert str(mechanism) == repr(mechanism)
    _shown(mechanism)


def _shown(result):
    """The texts of what a notebook shows, which has to be well formed."""
    markup = result._repr_html_()
    told = "\n".join(ET.fromstring(f"<div>{markup}</div>").itertext())
    assert "Fraction(" not in told + str(result)
    return told


def test_results_are_shown_with_what_they_prove():
    account = dp.account(GAUSSIAN, delta="1e-6")
    assert f"{account.enclosure.decimals(10)[1]} (proven, rounded up)" in _shown(account)
    calibration = dp.calibrate(dp.Gaussian, 1, "1e-6")
    told = _shown(calibration)
    left = dp.remaining(dp.Gaussian(20) ** 10, 1, "1e-6")
    assert {"kept", "12 (13 do not fit)"} <= {line.rpartition(": ")[2] for line in _shown(left).splitlines()}
    assert "12 (13 do not fit)" in str(left)
    for text in (told, str(calibration)):
        value, fails = (Fraction(text.split(before)[1].split()[0].strip("(")) for before in _beside(text))
        assert calibration.value <= value < calibration.value + Fraction(1, 10**10)
        assert calibration.fails_at - Fraction(1, 10**10) < fails <= calibration.fails_at


def _beside(text):
    return ("noise", "suffices") if "suffices (" in text else ("noise", "fails at")


@pytest.mark.seconds
def test_plans_evaluations_samples_and_tables_are_shown():
    from dpbounds.render.catalogue import table

    plan = dp.plan("gradient-norm", n=10**6, d=100, epsilon=1, delta="1e-6", lipschitz=1, smoothness=1, initial_gap=1)
    assert "dpbounds, storm" in _shown(plan)
    value = dp.theorem("tholeti-kalyani-2020/equation-6").evaluate(distance=1, radius=1, dimension=3)
    assert "0.687" in _shown(value)
    drawn = dp.probable_epsilon(dp.RandomlyAllocated(dp.Gaussian(1), 10, 3), "1e-2", confidence="0.999", samples=20000)
    assert "not certified" in _shown(drawn)
    assert "<table" in table("gradient-norm")._repr_html_()


def test_trade_offs_are_shown_rounded_down():
    bound = dp.TradeOff([(1, "0.01"), ("0.5", "1/3")])
    assert eval(repr(bound), NAMES) == bound  # noqa: S307
    told = _shown(bound)
    exact = bound("0.1")
    (row,) = (line.split() for line in str(bound).splitlines() if line.split()[0] == "0.1")
    assert exact - Fraction(1, 10**5) < Fraction(row[1]) <= exact
    assert row[1] in told


def test_ledgers_are_shown_release_by_release():
    ledger = Ledger((Release(Fraction(2), Fraction(1, 2), count=10),), adaptive=True)
    assert "10 x Gaussian" in _shown(ledger)
    assert "only its filter" in _shown(ledger)


def test_long_tables_are_cut_and_text_is_escaped():
    sheet = Sheet("a < b", (("x", "1 & 2"),), ("n",), [(str(row),) for row in range(100)])
    assert sheet.markup().count("<tr>") == 1 + 1 + 20 + 1
    assert "... and 80 more" in sheet.text()
    assert "a &lt; b" in sheet.markup()
    assert "1 &amp; 2" in sheet.markup()


def test_exact_numbers_are_exact():
    for number in (Fraction(1, 3), Fraction(-1, 8), Fraction(10**30), Fraction(1, 10**12), Fraction(22, 7)):
        assert dp.Enclosure.exactly(eval(written(number))).contains(number)  # noqa: S307
    assert issubclass(dp.Account, Displayed)
