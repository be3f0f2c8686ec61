"""The README is run: its commands, its Python, its table. The two installation lines are run by .ci/run."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import algorithms
import dpbounds as dp
from algorithms import PrivacyBudget
from algorithms.verification.catalogue import all_examples
from dpbounds.cli import _VERBS as VERBS
from dpbounds.cli import main
from dpbounds.privacy.domination import neighbour_classes
from dpbounds.theorems.registry import listing

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]*\w)")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)


def commands():
    """(command, expected output) of every console block."""
    for block in blocks("console"):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = example.partition("\n")
            yield command, expected


def assert_same_up_to_round_off(found, expected, relative=1e-9):
    """The same text, where numbers may differ in the last digits from machine to machine."""
    assert NUMBER.sub("#", found) == NUMBER.sub("#", expected)
    assert [float(number) for number in NUMBER.findall(found)] == pytest.approx(
        [float(number) for number in NUMBER.findall(expected)], rel=relative
    )


def test_there_is_something_to_run():
    assert len(list(commands())) >= 3
    assert len(blocks("python")) >= 2


@pytest.mark.parametrize(("command", "expected"), list(commands()), ids=lambda text: text[:60])
def test_a_command_prints_what_is_shown(command, expected, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    assert program == "dpbounds"
    assert main(arguments) == 0
    assert_same_up_to_round_off(capsys.readouterr().out, expected)


class RoundOff(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        try:
            assert_same_up_to_round_off(got, want)
        except AssertionError:
            return False
        return True


def test_the_python_gives_what_is_shown():
    parser = doctest.DocTestParser()
    test = parser.get_doctest("\n".join(blocks("python")), {}, "README.md", "README.md", 0)
    told = []
    results = doctest.DocTestRunner(checker=RoundOff(), verbose=False).run(test, out=told.append)
    assert results.attempted >= 8
    assert results.failed == 0, "".join(told)


def test_a_wrong_number_would_be_noticed():
    assert_same_up_to_round_off("noise 1.00000000001 of 3", "noise 1.0 of 3")
    for wrong in ("noise 1.001 of 3", "noise 1.0 of 4", "noise 1.0 of three", "noises 1.0 of 3"):
        with pytest.raises(AssertionError):
            assert_same_up_to_round_off(wrong, "noise 1.0 of 3")
    assert not RoundOff().check_output("[6.9, 6.91]\n", "[6.9, 6.92]\n", 0)


def test_the_demo_prints_the_table_that_is_shown(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path)]) == 0
    shown = [
        line for line in TEXT.splitlines() if line.startswith(("| epsilon budget", "| 1 ", "| 4 ", "| 10 ", "| no "))
    ]
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|") and "---" not in line]
    assert len(shown) == 5
    # measured with floating-point linear algebra: other machines may round the last digit shown, and count other steps
    assert_same_up_to_round_off("\n".join(found), "\n".join(shown), relative=5e-3)


MECHANISMS = {
    "`Gaussian`": [lambda relation: dp.Gaussian(2)],
    "`Laplace`, one dimension": [lambda relation: dp.Laplace(2, dimension=1)],
    "`Laplace`, any dimension": [lambda relation: dp.Laplace(2)],
    "`UniformBall`": [lambda relation: dp.UniformBall(9, 3)],
    "`RandomizedResponse`": [lambda relation: dp.RandomizedResponse(1)],
    "`ExponentialMechanism`": [lambda relation: dp.ExponentialMechanism(1, relation=relation)],
    "`AboveThreshold`": [lambda relation: dp.AboveThreshold(1, relation=relation)],
    "`PureDP`": [lambda relation: dp.PureDP(1, relation=relation)],
    "`ApproximateDP`": [lambda relation: dp.ApproximateDP(1, "1e-6", relation=relation)],
    "`ZCDP`": [lambda relation: dp.ZCDP(1, relation=relation)],
    "`RenyiDP`": [lambda relation: dp.RenyiDP({2: 1}, relation=relation)],
}
SAMPLINGS = [
    lambda mechanism: mechanism,
    lambda mechanism: dp.PoissonSampled(mechanism, "0.1"),
    lambda mechanism: dp.SampledWithoutReplacement(mechanism, 2, 20),
    lambda mechanism: dp.SampledWithReplacement(mechanism, 2, 20),
]


def known(mechanism, relation):
    try:
        classes = neighbour_classes(mechanism**2, dp.Relation(relation))
    except dp.UnsupportedMechanism:
        return "refused"
    return "tight" if classes.tight else "bound"


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_table_says_what_is_known(name):
    (row,) = (line for line in TEXT.splitlines() if line.startswith(f"| {name} |"))
    for make in MECHANISMS[name]:
        cells = [
            " / ".join(known(sampled(make(relation)), relation) for relation in dp.Relation) for sampled in SAMPLINGS
        ]
        assert row == f"| {name} | {' | '.join(cells)} |"


def test_what_the_table_leaves_out_is_named_elsewhere():
    for name in ("shuffled", "truncated-poisson", "random-allocation", "dp-ftrl"):
        assert f"`{name}`" in TEXT or f"--sampling {name}" in TEXT
        assert main(["epsilon", "--noise-multiplier", "1", "--sampling", name, "--delta", "0.1"]) == 2


def test_every_algorithm_is_listed_with_its_class():
    rows = [line for line in TEXT.splitlines() if line.startswith("| `") and line.count("|") == 4]
    listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert {one.name for one in all_examples() if not one.printed} <= listed
    named = {name for row in rows for name in re.findall(r"`([A-Z]\w+)`", row.split("|")[2])}
    made = {type(one.calibrated(PrivacyBudget.of(1, "1e-5"))[0]).__name__ for one in all_examples() if not one.printed}
    assert made <= named <= set(algorithms.__all__) | set(dp.__all__)


def test_every_linked_file_exists():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert "docs/demo.png" in links
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_stand_alone_checker_is_where_it_is_said_to_be(tmp_path):
    certificate = tmp_path / "certificate.json"
    asked = ["calibrate", "--target-epsilon", "1", "--target-delta", "1e-6", "--steps", "10"]
    assert main([*asked, "--certificate", str(certificate)]) == 0
    (checker,) = re.findall(r"`python (\S+) certificate\.json`", TEXT)
    done = subprocess.run([sys.executable, ROOT / checker, certificate], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ending", ["pytest", "dpbounds demo"])
def test_continuous_integration_finds_the_two_lines(ending):
    assert len(re.findall(rf"^python3 -m venv .*{ending}$", TEXT, flags=re.MULTILINE)) == 1
    assert f"line_of_the_readme '{ending}'" in (ROOT / ".ci" / "run").read_text()


def test_the_statements_are_counted():
    told = re.findall(r"(\d+)\s+statements, each", TEXT)
    assert told == [str(len(listing()))]


def test_every_verb_is_described():
    for verb in VERBS:
        assert f"| `dpbounds {verb}` |" in TEXT
