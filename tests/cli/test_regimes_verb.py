"""`dpbounds regimes`: regions for people and programs, a map, kind refusals."""

import json

import pytest

from dpbounds.cli import main


def said(capsys, *arguments):
    assert main(["regimes", *arguments]) == 0
    return capsys.readouterr().out


def test_for_programs(capsys):
    found = json.loads(said(capsys, "gradient-norm", "--json"))
    assert found["metric"] == "gradient-norm"
    warm = next(one for one in found["regions"] if one["winner"] == "lowy-ullman-wright-2024/corollary-4.3")
    assert warm["where"] == ["a - b >= 1"]
    assert warm["conditions"] == ["n ε >= d"]
    assert (warm["value"], warm["gap"]) == ("d^(2/3)/(n ε)", "d^(1/6)")
    assert set(found["crossovers"]) == {"n ε = d", "n ε = √d"}
    assert {"id", "reason"} == set(found["left_out"][0])
    assert found["statuses"]["lowy-ullman-wright-2024/corollary-4.3"] == "proved"


def test_for_people(capsys):
    out = said(capsys, "gradient-norm")
    warm = "lowy-ullman-wright-2024/corollary-4.3"
    assert f"where n ε >= d\n  d^(2/3)/(n ε)  by {warm}, {warm}/explicit\n" in out
    assert "equals the lower bound" in out
    assert "boundaries: " in out
    assert "not compared" in out


def test_disputed_results_are_shown_on_request_only(capsys):
    assert "disputed" in said(capsys, "sosp").split("not compared")[1]
    out = said(capsys, "sosp", "--status", "disputed,claimed,proved")
    assert "note: lowy-ullman-wright-2024/corollary-4.4 is disputed" in out


def test_a_fixed_epsilon(capsys):
    found = json.loads(
        said(capsys, "population-sosp", "--epsilon-power", "1/4", "--status", "disputed,claimed", "--json")
    )
    assert found["space"] == ["dataset_size", "dimension"]
    warm = [one for one in found["regions"] if one["winner"] == "lowy-ullman-wright-2024/corollary-7.1"]
    assert any("n >= d^(27/20)" in one["conditions"] for one in warm)


@pytest.mark.thorough
def test_the_rank_as_a_further_exponent(capsys):
    found = json.loads(
        said(capsys, "population-gradient-norm", "--axis", "rank", "--assuming", "generalised linear", "--json")
    )
    new = [one for one in found["regions"] if one["winner"] == "lowy-ullman-wright-2024/corollary-8.2"]
    assert {"r^(2/3)/(n ε)", "1/(n^(3/7) ε^(3/7))", "1/√n"} <= {one["value"] for one in new}
    assert "7c - 6a + 6b <= 0" in str(new) or "6a - 6b - 7c >= 0" in str(new)  # r = (nε)^(6/7)


def test_the_width_as_a_further_exponent(capsys):
    arguments = ["frank-wolfe-gap", "--axis", "width", "--assuming", "centrally symmetric set", "--json"]
    found = json.loads(said(capsys, *arguments))
    assert "√w_C/(√n √ε)" in {one["value"] for one in found["regions"]}


@pytest.mark.rotating(4)
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_map(ending, capsys, tmp_path):
    file = tmp_path / f"map.{ending}"
    assert f"wrote {file}" in said(capsys, "gradient-norm", "--output", str(file))
    first = file.read_bytes()
    assert len(first) > 10_000
    said(capsys, "gradient-norm", "--output", str(file))
    assert file.read_bytes() == first  # the same map is the same file


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["nonsense"], ["metric must be one of", "not nonsense", "gradient-norm"]),
        (["sosp", "--epsilon-power", "-1"], ["--epsilon-power", "at least 0"]),
        (["sosp", "--output", "map.txt"], ["--output", ".png or .svg"]),
        (["sosp", "--output", "map.png", "--epsilon-power", "0"], ["--epsilon-power", "left out for a map"]),
        (["sosp", "--axis", "rank", "--output", "map.png"], ["--axis must be", "not rank", "left out for a map"]),
        (["sosp", "--status", "nice"], ["status must be one of", "not nice"]),
        (["sosp", "--assuming", "round"], ["assuming must be one of", "not round"]),
        (["sosp", "--with", "kl_exponent"], ["name=value"]),
        (["sosp", "--with", "zzz=2"], ["zzz"]),
    ],
)
def test_refusals(arguments, texts, capsys):
    assert main(["regimes", *arguments]) == 2
    error = capsys.readouterr().err
    for text in texts:
        assert text in error
