"""The README is short, works outside of the repository, and says what is so. Its blocks are run with those of the pages
(tests/documentation/test_blocks.py), its two installation lines by .ci/run.
"""

import re
import subprocess
import sys

import pytest

from dpbounds.cli import main
from tests.documentation.pages import PAGES, ROOT, assert_same_up_to_round_off

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 150


def test_its_links_work_outside_of_the_repository():
    """But for the picture, whose description says where it is."""
    links = re.findall(r"(!?)\[([^\]]*)\]\(([^)]+)\)", TEXT)
    assert [link for link in links if "://" not in link[2]] == [
        (
            "!",
            "docs/demo.png: accuracy and gradient norm over the privacy budget, with the proven bound",
            "docs/demo.png",
        )
    ]
    assert (ROOT / "docs" / "demo.png").is_file()


def test_what_it_names_exists():
    named = re.findall(r"`((?:docs/)?[\w/]+(?:\.(?:md|rst|py|cff)|/))`|`(CITATION\.cff|LICENSE)`", TEXT)
    paths = [first or second for first, second in named]
    assert len(paths) > 12
    for path in paths:
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "docs" / "tutorials")), path


@pytest.mark.parametrize("ending", ["pytest", "dpbounds demo"])
def test_continuous_integration_finds_the_two_lines(ending):
    assert len(re.findall(rf"^python3 -m venv .*{ending}$", TEXT, flags=re.MULTILINE)) == 1
    assert f"line_of_the_readme '{ending}'" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.thorough
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
