"""`dpbounds regimes`: regions for people and programs, a map, kind refusals."""

import json

import pytest

VERB = ("regimes",)


def test_for_programs(data):
    found = data("gradient-norm")
    assert found["metric"] == "gradient-norm"
    winner = "dpbounds/second-order-path-noise/warm-start/rate"
    warm = next(one for one in found["regions"] if one["winner"] == winner)
    assert "a - b >= 1" in warm["where"]
    assert warm["conditions"] == ["n ε >= d"]
    assert (warm["value"], warm["verdict"], warm["gap"]) == ("d^(2/3)/(n ε)", "gap", "d^(1/6)")
    assert {one["verdict"] for one in found["regions"]} == {"gap", "tight"}
    assert set(found["crossovers"]) == {"n ε = d", "n ε = √d"}
    assert {"id", "reason"} == set(found["left_out"][0])
    assert found["statuses"]["lowy-ullman-wright-2024/corollary-4.3"] == "proved"


def test_for_people(said):
    out = said("gradient-norm")
    warm = "Lowy et al. 2024, Corollary 4.3"
    path = "dpbounds, second order path noise, warm start, rate"  # a second-order point is as good
    assert f"where n ε >= d\n  d^(2/3)/(n ε)  by {path}; {warm}; {warm}, explicit\n" in out
    assert "\n  tight: equals the lower bound\n" in out
    assert "\n  gap: d^(1/6) above the best lower bound\n" in out
    assert "\n  open: no lower bound that compares is known\n" in said("projected-gradient-norm")
    assert "boundaries: " in out
    assert "not compared" in out


def test_disputed_results_are_shown_on_request_only(said):
    assert "disputed" in said("sosp").split("not compared")[1]
    out = said("sosp", "--status", "disputed,claimed,proved")
    assert (
        "note: Lowy et al. 2024, Corollary 4.4 is disputed: `dpbounds show lowy-ullman-wright-2024/corollary-4.4`"
        in out
    )


def test_a_fixed_epsilon(data):
    found = data("population-sosp", "--epsilon-power", "1/4", "--status", "disputed,claimed")
    assert found["space"] == ["dataset_size", "dimension"]
    warm = [one for one in found["regions"] if one["winner"] == "lowy-ullman-wright-2024/corollary-7.1"]
    assert any("n >= d^(27/20)" in one["conditions"] for one in warm)


@pytest.mark.minutes
def test_the_rank_as_a_further_exponent(data):
    found = data("population-gradient-norm", "--axis", "rank", "--assuming", "generalised linear")
    new = [one for one in found["regions"] if one["winner"] == "lowy-ullman-wright-2024/corollary-8.2"]
    assert {"r^(2/3)/(n ε)", "1/(n^(3/7) ε^(3/7))", "1/√n"} <= {one["value"] for one in new}
    assert "7c - 6a + 6b <= 0" in str(new) or "6a - 6b - 7c >= 0" in str(new)  # r = (nε)^(6/7)


def test_the_width_as_a_further_exponent(said):
    arguments = ["frank-wolfe-gap", "--axis", "width", "--assuming", "centrally symmetric set", "--json"]
    found = json.loads(said(*arguments))
    assert "√w_C/(√n √ε)" in {one["value"] for one in found["regions"]}


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_map(ending, said, tmp_path):
    file = tmp_path / f"map.{ending}"
    assert f"wrote {file}" in said("gradient-norm", "--output", str(file))
    first = file.read_bytes()
    assert len(first) > 10_000
    said("gradient-norm", "--output", str(file))
    assert file.read_bytes() == first  # the same map is the same file
