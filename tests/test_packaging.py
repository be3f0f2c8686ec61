"""What is built and installed: the reference algorithms under ``dpbounds`` alone, from a wheel and from an sdist."""

import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from dpbounds.app.results import RESULTS

ROOT = Path(__file__).parent.parent
USE = """
import importlib.util, pickle
import dpbounds.cli.verbs.demo
from dpbounds.algorithms import ProjectedGradientDescent, problems
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent as again
method = ProjectedGradientDescent(noise_multiplier=20, steps=5)
assert ProjectedGradientDescent is again
assert pickle.loads(pickle.dumps(method)) == method
assert problems.covertype().features.shape == (10_000, 55)  # a data file
assert importlib.util.find_spec("algorithms") is None
"""


def last_line(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    return done.returncode, (done.stderr or done.stdout).strip().rpartition("\n")[2]


@pytest.mark.parametrize("module", ["algorithms", "algorithms.run"])
def test_the_bare_name_says_what_to_write(module):
    code, said = last_line(sys.executable, "-c", f"import {module}", cwd=ROOT)
    assert code == 1
    assert said == (
        "ImportError: these algorithms are imported as dpbounds.algorithms: write `from dpbounds import algorithms`"
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folders of the distributions and of what is in them: sdist, wheel from it, wheel from the checkout."""
    pytest.importorskip("build")
    pytest.importorskip("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "build", "--no-isolation", str(ROOT)]
    subprocess.run([*build, "--outdir", str(folder / "both")], check=True, capture_output=True)
    subprocess.run([*build, "--wheel", "--outdir", str(folder / "direct")], check=True, capture_output=True)
    return folder


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


@pytest.mark.minutes
def test_a_wheel_is_the_same_from_the_sdist_and_from_the_checkout(built):
    (wheel,), (direct,) = (built / "both").glob("*.whl"), (built / "direct").glob("*.whl")
    files = contents(wheel)
    assert files == contents(direct)
    assert {name.split("/")[0] for name in files if ".dist-info" not in name} == {"dpbounds"}
    sources = {f"dpbounds/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "algorithms").rglob("*.py")}
    assert len(sources) > 100
    assert sources < set(files)
    publishing = [name for name in files if name.startswith("dpbounds/privacy/publishing/")]
    assert "dpbounds/privacy/publishing/standalone_checker.py" in publishing  # and not what it is made from
    assert not [name for name in publishing if name.split("/")[3] in ("checker", "amalgamate.py")]
    kernel = "dpbounds/privacy/publishing/kernel/coq"  # what `dpbounds check --kernel` builds
    for source in ("checker.v", "extracted/build.sh", "extracted/extract.v", "extracted/main.ml"):
        assert files[f"{kernel}/{source}"] == (ROOT / "proofs" / "kernel" / source).read_bytes()
    shown = {f"dpbounds/app/results/{one.file}" for one in RESULTS.values()}
    pictures = {f"dpbounds/app/results/runs/figures/{one.name}" for one in (ROOT / "tables/runs/figures").glob("*.png")}
    assert pictures
    assert shown | pictures < set(files)


@pytest.mark.minutes
def test_an_sdist_has_what_its_tests_need(built):
    (sdist,) = (built / "both").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"dpbounds/algorithms/run.py", "tests/test_packaging.py", "conftest.py", "README.md"} < names
    assert any(name.startswith("proofs/") for name in names)  # a test looks for the evidence of errata there
    assert "benchmarks/classifiers/dpbounds.json" in names
    assert not any(name.startswith("algorithms") for name in names)


@pytest.mark.minutes
def test_the_description_leads_nowhere_that_is_not_there(built):
    (wheel,) = (built / "both").glob("*.whl")
    (metadata,) = (text.decode() for name, text in contents(wheel).items() if name.endswith("/METADATA"))
    assert "# dpbounds" in metadata
    assert [link for link in re.findall(r"\]\(([^)]*)\)", metadata) if not link.startswith(("http", "#"))] == []
    assert find_spec("twine") is not None
    distributions = [str(path) for path in (built / "both").iterdir()]
    checked = [sys.executable, "-m", "twine", "check", "--strict", *distributions]
    assert subprocess.run(checked, capture_output=True).returncode == 0


@pytest.mark.minutes
def test_a_fresh_environment_runs_what_was_installed(built, tmp_path):
    """Its dependencies are those of the environment of the tests; nothing else of it is on the path."""
    (wheel,) = (built / "both").glob("*.whl")
    venv.create(tmp_path / "fresh", with_pip=True)
    python = str(tmp_path / "fresh" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    (site,) = (tmp_path / "fresh" / "lib").glob("*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages") and not (Path(path) / "algorithms").exists()]
    (site / "dependencies.pth").write_text("\n".join(others))
    assert last_line(python, "-I", "-c", USE, cwd=tmp_path) == (0, "")
    program = str(tmp_path / "fresh" / "bin" / "dpbounds")
    asked = [program, "epsilon", "--noise-multiplier", "5", "--delta", "1e-5"]
    assert subprocess.run(asked, cwd=tmp_path, capture_output=True, check=True).stdout.startswith(b"epsilon ")
