"""`dpbounds convert`: the numbers of `dp.convert`, for every way to give a guarantee."""

import dpbounds as dp
from dpbounds.cli.verbs import convert as verb
from dpbounds.privacy.accountants.arrows import NOTIONS

RE = "replace-one"


def test_the_notions_are_those_of_the_library():
    assert verb._NOTIONS == NOTIONS


def test_the_numbers_are_the_library_s(answer, said):
    found, _ = answer("convert", "--from-rho", "1/5", "--from-xi", "1/7", "--to", "epsilon", "--delta", "1e-3")
    same = dp.convert(dp.ZCDP("1/5", relation="add-or-remove-one", xi="1/7"), "epsilon", delta="1e-3")
    assert found["value"] == {"lower": same.enclosure.lower, "upper": same.enclosure.upper}
    assert found["proven"] == same.enclosure.upper
    assert (found["theorem"], found["tight"], found["delta"]) == (same.arrow.theorem, False, 0.001)
    told = said("convert", "--from-profile", "1/2:0.1,1:1e-3", "--to", "trade-off", "--false-positive-rate", "0.05")
    point = dp.convert(
        dp.ProfileDP({"1/2": "0.1", 1: "1e-3"}, relation="add-or-remove-one"), "trade-off", false_positive_rate="0.05"
    )
    assert float(told.split("at least ")[1].split()[0]) <= point.enclosure.lower
    assert "2 points of its privacy profile" in told
    for words, guarantee in (
        (("--from-epsilon", "1"), dp.PureDP(1, relation=RE)),
        (("--from-epsilon", "1", "--from-delta", "1e-4"), dp.ApproximateDP(1, "1e-4", relation=RE)),
        (("--from-epsilon", "0", "--from-delta", "1/2"), dp.ApproximateDP(0, "1/2", relation=RE)),
        (("--from-mu", "1"), dp.GaussianDP(1, relation=RE)),
        (("--from-renyi", "2:1/2, 8:3"), dp.RenyiDP({2: "1/2", 8: 3}, relation=RE)),
    ):
        found, _ = answer("convert", *words, "--to", "delta", "--epsilon", "1/3", "--relation", RE)
        assert found["value"]["upper"] == dp.delta(guarantee, "1/3", RE).upper
        assert (found["relation"], found["guarantee"][:11]) == (RE, "a black box")
