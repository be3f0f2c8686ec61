"""Skellam noise in the stand-alone checker: against sums over Poisson numbers at 60 digits, and what is not covered."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb, ctx

import dpbounds as dp
from dpbounds.errors import CertificateError
from dpbounds.privacy.publishing import standalone_checker as checker
from dpbounds.privacy.publishing.certificates import certificate, check_certificate
from tests.privacy.pairs.test_skellam import profile as summed
from tests.privacy.publishing.certified import ADD, REPLACE, ZERO, plain, unproven


def release(variance: str, bound: str = "1", dimension: int | None = None, **drawn: Any) -> dict[str, Any]:
    noise = {"kind": "skellam", "variance": variance, "bound": bound, "dimension": dimension}
    return {"kind": "poisson" if drawn else "full-batch", "mechanism": noise, "count": 1, **drawn}


def steps(release: dict[str, Any], relation: str) -> list[Any]:
    aim = checker.Aim(Fraction(1, 1000), 1, {}, {})
    read = checker.read_release(release)
    with ctx.workprec(200):
        found, _ = checker.steps_of([read], checker.RECORD[relation][0], relation, aim)
    return found


def is_near(ball: arb, value: Any) -> bool:
    """Whether all of a ball agrees with a number to 25 digits, relatively; the sums are right to about 30."""
    wanted = arb(mpmath.nstr(value, 45))
    return bool(abs(ball - wanted) < abs(wanted) * arb(10) ** -25)


@pytest.mark.parametrize(("variance", "distance"), [("1/100", 1), ("1/2", 2), ("4", 1), ("4", 5), ("60", 2)])
def test_profiles_are_sums_over_poisson_numbers(variance: str, distance: int) -> None:
    with ctx.workprec(200), mpmath.workdps(50):
        found = checker.skellam_profile(Fraction(variance), distance)
        for e in ("0", "1/10", "3/5", "2"):
            alpha, loss = checker.number(Fraction(e)).exp(), mpmath.mpf(Fraction(e).numerator) / Fraction(e).denominator
            value = summed(variance, distance, loss)
            assert is_near(found(alpha), value), e
            mirrored = 1 - mpmath.exp(-loss) + mpmath.exp(-loss) * value  # the pair is its own reversal
            assert is_near(found(1 / alpha), mirrored), e


def test_a_threshold_beyond_the_table_is_enclosed() -> None:
    with ctx.workprec(64):
        found = checker.skellam_profile(Fraction(4), 1)(arb(10**40))
    assert found.lower() <= 0 < found.upper() < arb(2) ** -64


@pytest.mark.parametrize("variance", ["1/2", "4", "3000"])
def test_what_the_sums_lack_is_counted_twice(variance: str) -> None:
    """Both Poisson numbers may lie outside of what was kept, from M to N: the table shows N - M and p_M p_N."""
    with ctx.workprec(64), mpmath.workdps(60):
        masses, lost, reach = checker.skellam_masses(Fraction(variance), 1)
        mu = mpmath.mpf(Fraction(variance).numerator) / Fraction(variance).denominator / 2

        def poisson(j: int) -> Any:
            return mpmath.exp(-mu + j * mpmath.log(mu) - mpmath.loggamma(j + 1))

        last = mpmath.mpf(masses[-1].mid().str(30, radius=False))
        wide = len(masses) - 1
        (first,) = [m for m in range(int(mu) + 1) if abs(poisson(m) * poisson(m + wide) / last - 1) < 1e-9]
        outside = mpmath.nsum(poisson, [first + wide + 1, mpmath.inf]) + mpmath.fsum(map(poisson, range(first)))
        counted = mpmath.mpf(lost.mid().str(30, radius=False))
        assert 2 * outside <= counted <= 2.6 * outside
        assert 0 < reach <= wide
        assert lost < arb(2) ** -128


def test_as_many_coordinates_move_by_one_as_may() -> None:
    for bound, dimension, relation, many in (
        *(("19/10", None, ADD, 3), ("19/10", 2, ADD, 2), ("3/2", 9, ZERO, 2), ("7/5", None, ADD, 1)),
        *(("5", 1, ADD, 1), ("5", 1, REPLACE, 1)),
    ):
        ((found, count),) = steps(release("9", bound, dimension), str(relation))
        assert count == many
        distance = 1 if dimension != 1 else 10 if relation is REPLACE else 5
        with ctx.workprec(200), mpmath.workdps(50):
            assert is_near(found(arb(2)), summed("9", distance, mpmath.log(2)))


@pytest.mark.parametrize(
    ("wrong", "relation"),
    [
        (release("9", "2"), "add-or-remove-one"),
        (release("9"), "replace-one"),
        (release("9", "3/2", sample_rate="1/5"), "zero-out-one"),
        (release("9", sample_rate="1/5"), "replace-one"),
        (release(f"1/{10**400}"), "zero-out-one"),
        (release(f"{10**12}"), "zero-out-one"),
    ],
)
def test_what_is_not_covered_is_not_claimed(
    wrong: dict[str, Any], relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker.effort, "done", 0.0)
    with pytest.raises(checker.NotCovered):
        steps(wrong, relation)


def test_the_variance_is_rounded_down_in_words() -> None:
    words = checker.release_in_words(release("200/3", "5/3", 7))
    assert words == ("1 x skellam noise, variance 66.6666666666666, bound 1.66666666666667, dimension 7, on full batch")


@pytest.mark.seconds
def test_a_calibrated_variance_stands_in_its_certificate() -> None:
    document = plain(dp.calibrate(lambda variance: dp.Skellam(variance), 1, "1e-4"))
    assert document["version"] == 6
    assert document["calibration"]["value"] == document["accounts"][0]["mechanism"][0]["mechanism"]["variance"]
    assert checker.check(document)[0] == checker.CONFIRMED
    assert check_certificate(document).holds


def test_samples_of_vectors_of_which_several_coordinates_move_have_no_certificate() -> None:
    with pytest.raises(CertificateError, match=r"does not re-derive.*bound each coordinate"):
        certificate(unproven(dp.PoissonSampled(dp.Skellam(4, "1.5"), "0.1"), ADD))
