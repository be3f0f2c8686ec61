"""The README is short, works outside of the repository, and says what is so. Its blocks are run with those of the pages
(tests/documentation/test_blocks.py), its two installation lines by .ci/run.
"""

import json
import re
import subprocess
import sys
import tomllib

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.theorems.registry import library
from tests.documentation.pages import PAGES, ROOT, assert_same_up_to_round_off

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 120


def links(text):
    """(mark of an image, text, target) of the links that lead into the repository."""
    found = re.findall(r"(!?)\[([^\]]*)\]\(([^)]+)\)", text)
    return [link for link in found if "://" not in link[2]]


def test_its_links_lead_into_the_documentation():
    """All of them to docs/, the folder that the front page of the site takes away (docs/index.md)."""
    targets = [target for _, _, target in links(TEXT)]
    assert len(targets) > 8
    for target in targets:
        assert target.startswith("docs/")
        assert (ROOT / target).is_file()


def test_outside_of_the_repository_no_link_is_broken():
    """The package index gets the text of a link, and no picture."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = settings["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = TEXT
    for substitution in hook["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    assert links(text) == []
    assert "[scikit-learn]" not in text
    assert "demo.png" not in text


@pytest.mark.parametrize("page", ["README.md", "docs/theorems.md"])
def test_what_it_counts_is_so(page):
    """Every number of statements on the page, counted in the library and in the index of what is verified."""
    statements = library()
    own = sum(one.paper == "dpbounds" for one in statements)
    checked = json.loads((ROOT / "algorithms/verification/index.json").read_text(encoding="utf-8"))["statements"]
    assert set(checked) <= {one.id for one in statements}
    told = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert re.search(rf"\b{len(statements) - own} (statements )?from papers\b", told)
    assert re.search(rf"\band {own} of its own\b", told)
    assert re.search(rf"\b{sum(bool(one.parts) for one in statements)} have formulas\b", told)
    assert re.search(rf"\b{len(checked)} are checked against runs\b", told)


def test_what_it_names_exists():
    named = re.findall(r"`((?:docs/)?[\w/]+(?:\.(?:md|rst|py|cff)|/))`|`(CITATION\.cff|LICENSE)`", TEXT)
    paths = [first or second for first, second in named]
    assert len(paths) > 4
    for path in paths:
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "docs" / "tutorials")), path


def test_the_poisson_formula_reports_less_than_an_attack_on_shuffled_batches_attains():
    assert "the Poisson formula reports ε = 0.16," in TEXT
    formula = dp.epsilon(dp.PoissonSampled(dp.Gaussian(4), "0.001") ** 10_000, "1e-5", "replace-one")
    (attained,) = re.findall(r"an explicit attack attains ([\d.]+)\)", TEXT)
    assert 0.155 < formula.lower < formula.upper < 0.165 < float(attained)


@pytest.mark.parametrize("ending", ["pytest", "dpbounds demo"])
def test_continuous_integration_finds_the_two_lines(ending):
    assert len(re.findall(rf"^python3 -m venv .*{ending}$", TEXT, flags=re.MULTILINE)) == 1
    assert f"line_of_the_readme '{ending}'" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.seconds
def test_the_demo_prints_the_table_that_is_shown(tmp_path, capsys):
    assert main(["demo", "--seed", "0", "--output", str(tmp_path)]) == 0
    shown = [
        line for line in TEXT.splitlines() if line.startswith(("| epsilon budget", "| 1 ", "| 4 ", "| 10 ", "| no "))
    ]
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|") and "---" not in line]
    assert len(shown) == 5
    # measured with floating-point linear algebra: other machines may round the last digit shown, and count other steps
    assert_same_up_to_round_off("\n".join(found), "\n".join(shown), relative=5e-3)


def test_the_stand_alone_checker_stands_alone(tmp_path):
    """One file of the package, in a directory of its own, with nothing of dpbounds to import."""
    certificate = tmp_path / "certificate.json"
    asked = ["calibrate", "--target-epsilon", "1", "--target-delta", "1e-6", "--steps", "10"]
    assert main([*asked, "--certificate", str(certificate)]) == 0
    (checker,) = (ROOT / "dpbounds").rglob("standalone_checker.py")
    assert any(checker.name in page.read_text(encoding="utf-8") for page in PAGES)
    (tmp_path / checker.name).write_bytes(checker.read_bytes())
    command = [sys.executable, "-P", tmp_path / checker.name, certificate]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


_BANDED = dp.Toeplitz([1, "1/2"], 20)


def ftrl(participation, groups, **given):
    return dp.MatrixMechanism(2, _BANDED, participation, separation=5, groups=groups, **given)


def last(batches, order):
    return dp.LastIterate(dp.Gaussian(2), batches=batches, epochs=2, smoothness_step="0.01", order=order)


TWO = dp.Gaussian(2)
ROWS = {
    "all records, or Poisson samples": [TWO, dp.PoissonSampled(TWO, "0.1"), dp.PoissonSampled(TWO, "0.1") @ TWO],
    "random allocation to one of M steps": [
        dp.RandomlyAllocated(TWO, 20),
        dp.BallsInBins(TWO, 20, 2, redraw=True),
        dp.BallsInBins(TWO, 20, 2, redraw=False),
        ftrl("fixed-order", "independent"),
        ftrl("cyclic-poisson", "independent", sample_rate="1/4"),
    ],
    "batches of one size": [dp.SampledWithoutReplacement(TWO, 2, 20), dp.SampledWithReplacement(TWO, 2, 20)],
    "random allocation to K of M steps": [
        dp.RandomlyAllocated(TWO, 8, 3),
        dp.TruncatedPoisson(TWO, "0.1", 8, 20),
        ftrl("balls-in-bins", "independent"),
    ],
    "shuffled batches": [dp.Shuffled(TWO, 10), last(10, "fixed"), last(10, "shuffled"), last(10, "secret")],
    "DP-FTRL in groups by position": [
        ftrl("fixed-order", "position"),
        ftrl("cyclic-poisson", "position", sample_rate="1/4"),
    ],
}
RELATIONS = ("add-or-remove-one", "replace-one", "zero-out-one")


def told():
    """The rows of the table of what is proven: their words, and an answer for each relation."""
    table = TEXT.split("| Gaussian noise on |")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def known(mechanism, relation):
    """What is known of two releases of it, by the classes of neighbours."""
    try:
        classes = neighbour_classes(mechanism**2, dp.Relation(relation))
    except dp.UnsupportedMechanism as refused:
        return "refused" if "replace-one or zero-out-one" in str(refused) else f"refused without a way out: {refused}"
    return "tight" if classes.tight else "both bounds"


def test_what_it_says_of_each_scheme_is_so():
    assert [row[0].startswith(name) for row, name in zip(told(), ROWS, strict=True)] == [True] * len(ROWS)
    for (_, *answers), mechanisms in zip(told(), ROWS.values(), strict=True):
        for mechanism in mechanisms:
            assert [known(mechanism, relation) for relation in RELATIONS] == answers, mechanism


@pytest.mark.minutes
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", [row[0] for row in told()])
def test_both_ends_are_there_and_tight_ones_meet(name, relation):
    row, mechanisms = next(
        (row, ROWS[start]) for start in ROWS for row in told() if row[0] == name and name.startswith(start)
    )
    answer = row[1 + RELATIONS.index(relation)]
    for mechanism in mechanisms:
        if answer == "refused":
            with pytest.raises(dp.UnsupportedMechanism):
                dp.epsilon(mechanism, "1e-3", relation)
            continue
        found = dp.epsilon(mechanism, "1e-3", relation)
        assert 0 < found.lower <= found.upper < float("inf"), mechanism
        if answer == "tight":
            assert found.upper < 1.005 * found.lower, mechanism
