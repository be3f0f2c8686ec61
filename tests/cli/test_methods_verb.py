"""`--method`: one accountant, or all side by side."""

import pytest

from dpbounds.cli import main

RUN = ["--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "10000"]
METHODS = ["certified", "rdp", "zcdp", "zcdp-classical", "gdp", "optimal", "advanced", "basic"]


def test_all_methods_in_json(answer):
    found, _ = answer("epsilon", *RUN, "--delta", "1e-6", "--method", "all")
    methods = {entry["method"]: entry for entry in found["methods"]}
    assert list(methods) == METHODS
    assert found["delta"] == 1e-6
    for name, entry in methods.items():
        assert set(entry) == {"method", "value" if name == "gdp" else "epsilon", "certified", "ratio", "why"}
        assert entry["certified"] is (name != "gdp")
    assert methods["certified"]["epsilon"]["upper"] == pytest.approx(6.907384495045)
    assert methods["rdp"]["ratio"] == pytest.approx(1.0733, abs=1e-4)
    assert methods["gdp"]["value"] < methods["certified"]["epsilon"]["lower"]


def test_all_methods_for_people(said):
    lines = said("epsilon", *RUN, "--delta", "1e-6", "--method", "all").splitlines()
    assert lines[0].split() == ["delta", "1e-06"]
    table = [line.split() for line in lines[5:]]
    assert [row[0] for row in table] == METHODS
    assert table[4][1].startswith("~"), "the approximation is marked"


@pytest.mark.parametrize("verb", ["epsilon", "delta"])
def test_one_method(answer, verb):
    target = ["--delta", "1e-6"] if verb == "epsilon" else ["--epsilon", "8"]
    certified, _ = answer(verb, *RUN, *target)
    found, _ = answer(verb, *RUN, *target, "--method", "rdp")
    assert (found["method"], found["certified"]) == ("rdp", True)
    assert found[verb]["upper"] >= certified[verb]["upper"]


def test_the_approximation_is_no_proof(answer):
    found, errors = answer("epsilon", *RUN, "--delta", "1e-6", "--method", "gdp")
    assert found["certified"] is False
    assert "epsilon" not in found
    assert "do not publish" in errors


def test_a_method_that_does_not_apply(capsys):
    batches = ["--sampling", "without-replacement", "--batch-size", "5", "--dataset-size", "50", "--steps", "3"]
    asked = ["epsilon", "--noise-multiplier", "1", *batches, "--delta", "1e-6", "--method", "gdp"]
    assert main([*asked, "--relation", "replace-one"]) == 2
    assert "central limit" in capsys.readouterr().err
