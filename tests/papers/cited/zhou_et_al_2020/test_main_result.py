"""Zhou et al.: the order of the abstract, and the one quoted with ε."""

from dpbounds.theorems.registry import theorem


def test_taken_at_its_word_it_is_below_what_came_later():
    values = {"n": 10**6, "d": 16}
    plain = theorem("cited/zhou-et-al-2020/main-result").evaluate("abstract", **values).value
    assert plain < theorem("cited/arora-et-al-2023/population-rate").evaluate("rate", **values, epsilon=1).value.lower


def test_the_two_quotations_part_for_many_records():
    statement = theorem("cited/zhou-et-al-2020/main-result")
    for n, ratio in ((10**4, 100), (10**8, 10_000)):
        plain = statement.evaluate("abstract", n=n, d=1).value.lower
        quoted = statement.evaluate("rate", n=n, d=1, epsilon=1).value.lower
        assert 1.0 < quoted / plain / ratio < 1.02
