"""Records with declared columns: nothing is read off them, and what is not declared is refused."""

import numpy as np
import pytest

from dpbounds.algorithms.problems.declared import read_declared
from dpbounds.errors import InvalidValue

CITIES = {"city": ("Leeds", "York")}


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,city,buys\n20,Leeds,yes\n50, York ,no\n35,Paris,no\n")
    (tmp_path / "ranges.csv").write_text("feature,lower,upper\nage,0,100\n")
    return path


def test_categories_become_columns_of_their_declared_values(people):
    found = read_declared(people, CITIES, people.with_name("ranges.csv"))
    assert found.names == ("age", "city=Leeds", "city=York")
    np.testing.assert_array_equal(found.features, [[20, 1, 0], [50, 0, 1], [35, 0, 0]])
    assert found.ranges == ((0, 100), (0, 1), (0, 1))
    assert (found.labels, found.label, found.categorical) == (("yes", "no", "no"), "buys", 2)


def test_a_number_whose_name_has_an_equals_sign_is_no_category(people):
    people.write_text("age=years,buys\n20,yes\n50,no\n")
    assert read_declared(people, {}, None).categorical == 0


def test_other_records_change_no_column(people):
    """The columns of neighbours are the same, whichever values occur."""
    before = read_declared(people, CITIES, None)
    people.write_text(people.read_text().replace("Leeds", "Rome"))
    after = read_declared(people, CITIES, None)
    assert after.names == before.names
    np.testing.assert_array_equal(after.features[1:], before.features[1:])
    assert after.features[0, 1:].tolist() == [0, 0]
    assert before.ranges is after.ranges is None


def test_a_column_may_be_left_out_or_be_the_label(people):
    found = read_declared(people, {}, people.with_name("ranges.csv"), label="buys", left_out=("city",))
    assert found.names == ("age",)
    assert read_declared(people, {**CITIES, "buys": ("yes",)}, None, "age").numbers().tolist() == [20, 50, 35]


@pytest.mark.parametrize(
    ("categories", "ranges", "label", "left_out", "told"),
    [
        ({}, "ranges.csv", None, (), "the declaration of 'city' is missing: give a range .*published"),
        (
            {},
            None,
            None,
            (),
            "of 'city', with entries that are not finite numbers, is missing: give the values .*published",
        ),
        ({"town": ("A",)}, None, None, (), "category must be one of the columns age, city, buys"),
        (CITIES, None, "sells", (), "label must be one of the columns"),
        (CITIES, None, None, ("aeg",), "column to leave out must be one of"),
        ({**CITIES, "buys": ("yes",)}, None, None, (), "it is the label, or left out"),
        ({"city": ("Leeds", "Leeds")}, None, None, (), "one or more, each once"),
        ({"city": ()}, None, None, (), "one or more, each once"),
        ({}, None, None, ("age", "city"), "at least one feature"),
    ],
)
def test_what_is_refused(people, categories, ranges, label, left_out, told):
    with pytest.raises(InvalidValue, match=told):
        read_declared(people, categories, ranges and people.with_name(ranges), label, left_out)
