"""The conda recipe says what pyproject.toml says."""

import tomllib
from pathlib import Path

import jinja2
import pytest
import yaml
from packaging.requirements import Requirement

import dpbounds

pytestmark = pytest.mark.minutes
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # which brings no windows along
NOT_FOR_CONDA = {"interoperability", "opacus", "jax", "secure"}  # extras with what conda-forge may lack


def recipe():
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text("utf-8")
    rendered = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True).from_string(text)
    return yaml.safe_load(rendered.render(PYTHON="python"))


def as_conda(requirements):
    found = [Requirement(one) for one in requirements]
    return {f"{CONDA_NAMES.get(one.name, one.name)} {one.specifier}" for one in found if one.name != "dpbounds"}


def ordered(lines):
    """The same line whichever limit comes first."""
    return {(line.split()[0], frozenset("".join(line.split()[1:]).split(","))) for line in lines}


def drifted(recipe):
    project, build = PROJECT["project"], PROJECT["build-system"]
    extras = project["optional-dependencies"]
    users = [one for name in ("demo", "verify", "app", "cluster") for one in extras[name]]
    assert set(extras) - NOT_FOR_CONDA - {"demo", "verify", "app", "cluster"} == {"test", "docs", "dev"}
    needed, python = recipe["requirements"], f"python {project['requires-python']}"
    pairs = {
        "version": (recipe["package"]["version"], dpbounds.__version__),
        "name": (recipe["package"]["name"], project["name"]),
        "run": (ordered(needed["run"]), ordered([python, *as_conda(project["dependencies"])])),
        "host": (ordered(needed["host"]), ordered([python, "pip", *as_conda(build["requires"])])),
        "extras": (ordered(needed["run_constrained"]), ordered(as_conda(users))),
        "scripts": (
            recipe["build"]["entry_points"],
            [f"{name} = {place}" for name, place in project["scripts"].items()],
        ),
        "licence": (recipe["about"]["license"], project["license"]),
        "summary": (recipe["about"]["summary"], project["description"]),
    }
    return [name for name, (said, meant) in pairs.items() if said != meant]


def test_the_conda_recipe_says_what_the_project_says():
    found = recipe()
    assert drifted(found) == []
    place = (ROOT / "packaging" / "conda" / found["source"]["path"]).resolve()
    assert (place / "pyproject.toml").exists()
    assert (place / found["about"]["license_file"]).exists()


def test_what_the_recipe_tries_is_a_command_that_answers(capsys):
    from dpbounds.cli import main

    *_, example = recipe()["test"]["commands"]
    assert main(example.split()[1:]) == 0
    assert capsys.readouterr().out.startswith("epsilon")
