"""How far one record moves an answer, how mechanisms combine, and what is refused."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.pairs.pairs import Diluted, Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.relations import Order, Relation, as_relation
from tests.privacy.products import products_of

ADD_OR_REMOVE, REPLACE, ZERO_OUT = Relation
EVERY = list(Relation)


# --- Relations -------------------------------------------------------------------------------------------------------


def test_relations_are_spelled_as_people_write_them() -> None:
    assert [str(relation) for relation in EVERY] == ["add-or-remove-one", "replace-one", "zero-out-one"]
    assert as_relation("replace-one") is REPLACE
    assert as_relation(ADD_OR_REMOVE) is ADD_OR_REMOVE


def test_a_replaced_record_moves_a_sum_twice_as_far() -> None:
    assert [relation.sensitivity_factor for relation in EVERY] == [1, 2, 1]


def test_every_order_belongs_to_one_relation() -> None:
    assert sorted(order for relation in EVERY for order in relation.orders) == sorted(Order)
    assert [relation.counts_records for relation in EVERY] == [True, False, False]


@pytest.mark.parametrize("name", ["substitute", "", "Replace-One", "REPLACE_ONE", "replace_one", None, 2])
def test_an_unknown_relation_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidValue, match=r"relation must be .*add-or-remove-one, replace-one, zero-out-one"):
        as_relation(name)


# --- The rule of sensitivity, per mechanism and relation -------------------------------------------------------------


@pytest.mark.parametrize(("relation", "factor"), [(ADD_OR_REMOVE, 1), (REPLACE, 2), (ZERO_OUT, 1)])
def test_noise_per_record_bound_gets_the_relations_factor(relation: Relation, factor: int) -> None:
    for z in (Fraction(1, 2), Fraction(1), Fraction(7, 3)):
        expected = (((ShiftedGaussians(factor**2 / z**2), 1),),)
        assert products_of(Gaussian(z), relation) == expected
        assert products_of(PoissonSampled(Gaussian(z), 1), relation) == expected


@pytest.mark.parametrize("relation", EVERY)
def test_an_explicit_sensitivity_gets_no_factor(relation: Relation) -> None:
    release = Gaussian(noise_stddev=6, sensitivity="1.5")
    expected = (((ShiftedGaussians(Fraction(1, 16)), 1),),)
    assert products_of(release, relation) == expected
    assert products_of(PoissonSampled(release, 1), relation) == expected


def test_a_sampled_release_is_measured_against_the_record_bound_itself() -> None:
    """Under replace-one the two components lie at +C and -C of the middle one: no factor on the noise."""
    step = PoissonSampled(Gaussian("1.5"), "0.1")
    rate, variance = Fraction(1, 10), Fraction(9, 4)
    assert products_of(step, ADD_OR_REMOVE) == (
        ((SampledGaussians(Direction.REMOVE, rate, variance), 1),),
        ((SampledGaussians(Direction.ADD, rate, variance), 1),),
    )
    assert products_of(step, REPLACE) == (((SampledGaussians(Direction.REPLACE, rate, variance), 1),),)
    assert products_of(step, ZERO_OUT) == products_of(step, ADD_OR_REMOVE)


def test_an_explicit_sensitivity_under_sampling() -> None:
    step = PoissonSampled(Gaussian(noise_stddev=3, sensitivity=2), "0.1")
    same = PoissonSampled(Gaussian("1.5"), "0.1")
    assert products_of(step, ADD_OR_REMOVE) == products_of(same, ADD_OR_REMOVE)
    assert products_of(step, ZERO_OUT) == products_of(same, ZERO_OUT)
    # either vector may be far longer than their distance: whether the sample holds one may be seen
    assert products_of(step, REPLACE) == (((Diluted(Fraction(1, 10), ShiftedGaussians(Fraction(4, 9))), 1),),)


# --- The algebra -----------------------------------------------------------------------------------------------------


def test_powers_and_products_count_steps() -> None:
    a, b = Gaussian(1), PoissonSampled(Gaussian(2), "0.1")
    assert (a**3).parts == ((a, 3),)
    assert (a @ b).parts == ((a, 1), (b, 1))
    assert (a @ b @ a).parts == ((a, 1), (b, 1), (a, 1))
    assert a**10 == Composed(((a, 10),))
    assert (a ** (10**30)).parts == ((a, 10**30),)


@pytest.mark.parametrize("count", ["10", "1e1", 10.0, Fraction(10), Decimal(10)])
def test_whole_numbers_of_any_kind_count_steps(count: int) -> None:
    assert Gaussian(1) ** count == Gaussian(1) ** 10


def test_nested_compositions_are_flattened_and_multiplied_out() -> None:
    a, b = Gaussian(1), PoissonSampled(Gaussian(2), "0.1")
    assert ((a @ b**2) ** 3).parts == ((a, 3), (b, 6))
    assert ((a**2) ** 5).parts == ((a, 10),)
    assert (((a @ b) ** 2 @ a) ** 7).parts == ((a, 14), (b, 14), (a, 7))
    assert Composed((((a @ b) ** 2, 3),)) == Composed(((a, 6), (b, 6)))


def test_descriptions_are_values() -> None:
    assert Gaussian("0.5") == Gaussian(0.5) == Gaussian(Fraction(1, 2)) == Gaussian(Decimal("0.5"))
    assert Gaussian("0.1") != Gaussian(0.1)  # a tenth is not the double next to it
    assert len({Gaussian(1), Gaussian(1.0), Gaussian(2)}) == 2
    assert Gaussian(noise_stddev=2, sensitivity=1) != Gaussian(2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Gaussian(1).noise_multiplier = Fraction(2)  # type: ignore[misc]  # that is the point


def test_full_batch_parts_merge_into_one_shift() -> None:
    mixed = Gaussian(2) ** 3 @ PoissonSampled(Gaussian(4), 1) @ Gaussian(noise_stddev=3, sensitivity=1) ** 2
    one = 3 * Fraction(1, 4) + Fraction(1, 16) + 2 * Fraction(1, 9)
    two = 3 * Fraction(4, 4) + Fraction(4, 16) + 2 * Fraction(1, 9)
    assert products_of(mixed, ADD_OR_REMOVE) == (((ShiftedGaussians(one), 1),),)
    assert products_of(mixed, REPLACE) == (((ShiftedGaussians(two), 1),),)


def test_equal_sampled_parts_are_counted_together() -> None:
    step, other = PoissonSampled(Gaussian(2), "0.1"), PoissonSampled(Gaussian(2), "0.2")
    run = (step**5 @ other @ Gaussian(1)) ** 2 @ step
    for relation, orders in ((ADD_OR_REMOVE, (Direction.REMOVE, Direction.ADD)), (REPLACE, (Direction.REPLACE,))):
        shift = Fraction(2 * relation.sensitivity_factor**2)
        assert products_of(run, relation) == tuple(
            (
                (ShiftedGaussians(shift), 1),
                (SampledGaussians(order, Fraction(1, 10), Fraction(4)), 11),
                (SampledGaussians(order, Fraction(1, 5), Fraction(4)), 2),
            )
            for order in orders
        )


def test_the_order_of_full_batch_and_sampled_parts_does_not_matter() -> None:
    a, b = Gaussian(3), PoissonSampled(Gaussian(2), "0.1")
    for relation in EVERY:
        assert products_of(a @ b, relation) == products_of(b @ a, relation)


def test_a_mechanism_without_a_proven_pair_is_refused() -> None:
    class Unknown(Mechanism):
        def __repr__(self) -> str:
            return "Unknown()"

    for relation in EVERY:
        for mechanism in (Unknown(), Unknown() ** 2, Gaussian(1) @ Unknown()):
            with pytest.raises(UnsupportedMechanism, match=r"no dominating pair .* Unknown\(\)"):
                products_of(mechanism, relation)


# --- Refusals --------------------------------------------------------------------------------------------------------

NOT_POSITIVE = [0, 0.0, -0.0, "0", -1, "-1e-9", Fraction(-1, 2)]
NOT_NUMBERS = [math.nan, math.inf, -math.inf, "nan", "inf", "a lot", "", "1,5", True, [1.0], 1j]


@pytest.mark.parametrize("value", NOT_POSITIVE)
@pytest.mark.parametrize("field", ["noise_multiplier", "noise_stddev", "sensitivity"])
def test_noise_and_sensitivity_must_be_positive(field: str, value: float) -> None:
    others = {"noise_multiplier": {}, "noise_stddev": {"sensitivity": 1}, "sensitivity": {"noise_stddev": 1}}[field]
    with pytest.raises(InvalidValue, match=f"^{field} must be .*greater than 0"):
        Gaussian(**{field: value, **others})


def test_no_noise_is_no_privacy() -> None:
    with pytest.raises(InvalidValue, match="no noise means no privacy"):
        Gaussian(0)


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("noise_multiplier", Gaussian),
        ("noise_stddev", lambda value: Gaussian(noise_stddev=value, sensitivity=1)),
        ("sensitivity", lambda value: Gaussian(noise_stddev=1, sensitivity=value)),
        ("sample_rate", lambda value: PoissonSampled(Gaussian(1), value)),
    ],
)
def test_what_is_no_number_is_refused_by_name(name: str, build: Callable[[object], Mechanism], value: object) -> None:
    with pytest.raises(InvalidValue, match=f"^{name} must be "):
        build(value)


@pytest.mark.parametrize("values", [{}, {"noise_stddev": 1}, {"sensitivity": 1}])
def test_half_a_description_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(InvalidValue, match="either noise_multiplier alone, or noise_stddev together with sensitivity"):
        Gaussian(**values)


@pytest.mark.parametrize("extra", [{"noise_stddev": 1}, {"sensitivity": 1}, {"noise_stddev": 1, "sensitivity": 1}])
def test_two_descriptions_at_once_are_refused(extra: dict[str, int]) -> None:
    with pytest.raises(InvalidValue, match="either noise_multiplier alone"):
        Gaussian(1, **extra)


@pytest.mark.parametrize("rate", [0, "0", -0.1, 1.0000001, "1.1", 2, "-1/3"])
def test_a_sample_rate_must_be_a_positive_probability(rate: float) -> None:
    with pytest.raises(InvalidValue, match=r"^sample_rate must be .*greater than 0 and at most 1"):
        PoissonSampled(Gaussian(1), rate)


def test_the_ends_of_the_sample_rate() -> None:
    assert PoissonSampled(Gaussian(1), 1).sample_rate == 1
    assert PoissonSampled(Gaussian(1), "1e-300").sample_rate == Fraction(1, 10**300)


def test_samples_of_samples_and_several_releases_on_one_sample() -> None:
    twice = PoissonSampled(PoissonSampled(Gaussian(1), "0.5"), "0.2")
    assert products_of(twice, ADD_OR_REMOVE) == products_of(PoissonSampled(Gaussian(1), "0.1"), ADD_OR_REMOVE)
    # four releases on one and the same sample are one release with half the noise, not four on samples of their own
    for relation in EVERY:
        together = products_of(PoissonSampled(Gaussian(2) ** 4, "0.1"), relation)
        assert together == products_of(PoissonSampled(Gaussian(1), "0.1"), relation)


def test_only_mechanisms_are_sampled() -> None:
    with pytest.raises(InvalidValue, match=r"^mechanism must be .*a mechanism"):
        PoissonSampled(3, "0.5")


@pytest.mark.parametrize("count", [0, -1, 1.5, "2.5", "0", Fraction(1, 2), math.nan, math.inf, True, "two", None, [2]])
def test_steps_must_be_a_positive_whole_number(count: int) -> None:
    with pytest.raises(InvalidValue, match=r"^steps must be "):
        Gaussian(1) ** count
    with pytest.raises(InvalidValue, match=r"^steps must be "):
        Composed(((Gaussian(1), count),))


def test_nothing_composed_is_refused() -> None:
    with pytest.raises(InvalidValue, match="at least one mechanism"):
        Composed(())


def test_only_mechanisms_compose() -> None:
    with pytest.raises(TypeError):
        Gaussian(1) @ 3  # type: ignore[operator]  # refused at run time as well
