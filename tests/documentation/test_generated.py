"""What the pages say of the code is what the code says, and all of it is there."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import dpbounds as dp
from dpbounds import algorithms
from dpbounds.algorithms.verification.catalogue import all_examples
from dpbounds.cli import _VERBS as VERBS, main
from dpbounds.cli.answers.assumptions import assumptions
from dpbounds.privacy.mechanisms.core import CODE
from dpbounds.privacy.mechanisms.descriptions import SAMPLINGS
from tests.documentation.pages import PAGES, ROOT, fences

DOCS = ROOT / "docs"
DERIVATIONS = [page for package in ("dpbounds", "algorithms") for page in (ROOT / package).rglob("*.md")]


@pytest.fixture(scope="module")
def generated():
    specification = importlib.util.spec_from_file_location("generated", DOCS / "generated.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.seconds
def test_generated_parts_are_fresh(generated):
    parts = []
    for page in generated.PAGES:
        text = page.read_text(encoding="utf-8")
        parts += re.findall("<!-- generated: (.*) -->", text)
        assert generated.refreshed(text) == text, f"{page} is not fresh: run python docs/generated.py"
    assert sorted(parts) == sorted(generated.PARTS)


@pytest.fixture(scope="module")
def json_shapes():
    pytest.importorskip("pydantic")
    specification = importlib.util.spec_from_file_location("json_shapes", DOCS / "json_shapes.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["json_shapes"] = module  # where the types find one another
    specification.loader.exec_module(module)
    yield module
    del sys.modules["json_shapes"]


@pytest.mark.seconds
def test_schemas_are_fresh(json_shapes):
    assert {path.stem for path in json_shapes.HOME.iterdir()} == set(VERBS)
    for path, text in json_shapes.schemas().items():
        assert path.read_text(encoding="utf-8") == text, f"{path} is not fresh: run python docs/json_shapes.py"


@pytest.mark.seconds
def test_a_stale_part_would_be_noticed(generated):
    page = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
    stale = page.replace("| tight / bound / bound |", "| tight / tight / tight |", 1)
    assert stale != page
    assert generated.refreshed(stale) == page


def test_every_mechanism_is_in_the_table(generated):
    described = {found for name in generated.MECHANISMS for found in re.findall(r"`(\w+)`", name)}
    classes = {name for name in dp.__all__ if inspect.isclass(getattr(dp, name))}
    mechanisms = {name for name in classes if issubclass(getattr(dp, name), dp.Mechanism)}
    made_of_others = {kind.__name__ for kind in SAMPLINGS.values()} | {"Composed", "InParallel", "LastIterate"}
    wanted = mechanisms - made_of_others - {"Mechanism"}
    assert described == wanted, "a mechanism needs a row in MECHANISMS of docs/generated.py"


@pytest.mark.parametrize("relation", dp.Relation)
def test_every_mechanism_has_an_assumption_of_its_own(generated, relation):
    for name, mechanism in generated.MECHANISMS.items():
        try:
            made = mechanism(str(relation))
        except dp.UnsupportedMechanism:
            continue
        first = next(assumptions(made, relation))
        assert first.who == CODE, name
        assert "contributes nothing changes" not in first.text, name


@pytest.mark.seconds
def test_every_algorithm_is_in_the_table():
    rows = re.findall(
        r"^\| (`.*?) \| `(\w+)` \|", (DOCS / "training.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    listed = [name for names, _ in rows for name in re.findall(r"`([^`]+)`", names)]
    assert sorted(listed) == sorted(each.name for each in all_examples() if not each.printed)
    behind_estimators = {"ClippedDescent"}
    assert {kind for _, kind in rows} <= set(algorithms.__all__) | behind_estimators


def test_every_verb_is_described():
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    for verb in VERBS:
        assert f"| `dpbounds {verb}` |" in page
    shown = {fence.text.split()[2] for page in PAGES for fence in fences(page, "console")}
    unshown = {"demo", "show", "errata", "compare", "check", "table", "verify", "audit", "remaining", "new"}
    assert set(VERBS) - shown <= unshown


def test_every_public_name_is_in_the_reference():
    """Once, on one of its pages, below the module that has it."""
    described: dict[str, list[str]] = {}
    for page in sorted((DOCS / "api").iterdir()):
        module = ""
        lines = page.read_text(encoding="utf-8")
        for kind, name in re.findall(
            r"^\.\. (currentmodule|auto(?:function|class|exception)):: ([\w.]+)$", lines, re.M
        ):
            if kind == "currentmodule":
                module = name
            else:
                described.setdefault(module, []).append(name)
    assert sorted(described.pop("dpbounds")) == sorted(dp.__all__)
    assert sorted(described.pop("dpbounds.algorithms")) == sorted({*algorithms.__all__} - {"problems"})
    assert "automodule:: dpbounds.algorithms.problems\n" in (DOCS / "api" / "problems.md").read_text(encoding="utf-8")
    assert described
    for module, names in described.items():
        assert [name for name in names if not hasattr(importlib.import_module(module), name)] == []


def test_every_page_of_the_reference_has_an_example_and_is_listed():
    index = (DOCS / "api.md").read_text(encoding="utf-8")
    for page in (DOCS / "api").iterdir():
        assert fences(page, "python"), page.name
        assert f"](api/{page.name})" in index
        assert f"\napi/{page.stem}\n" in index


@pytest.mark.seconds
def test_the_engine_for_opacus_is_described():
    """By hand, as it is not imported where Opacus is missing."""
    pytest.importorskip("opacus")
    from dpbounds.opacus import PrivacyEngine

    page = (DOCS / "api" / "libraries.md").read_text(encoding="utf-8")
    options = set(inspect.signature(PrivacyEngine.__init__).parameters) - {"self"}
    assert [name for name in options if f"| `{name}`" not in page and f", `{name}` |" not in page] == []
    methods = [name for name in vars(PrivacyEngine) if not name.startswith("_") and name != "accountant"]
    assert [name for name in methods if f"| `{name}(" not in page] == []
    shown = re.findall(r"^\| `(\w+)\(", page, flags=re.MULTILINE)
    assert sorted(shown) == sorted(methods)


def test_what_the_table_leaves_out_is_refused():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in ("shuffled", "dp-ftrl"):
        assert f"`{name}`" in text or f"--sampling {name}" in text
        assert main(["epsilon", "--noise-multiplier", "1", "--sampling", name, "--delta", "0.1"]) == 2


def test_every_derivation_is_in_the_list_of_proofs():
    """Each in one entry, and every entry finds one."""
    entries = [
        line for fence in fences(DOCS / "proofs.md", "{toctree}") for line in fence.text.splitlines() if "/" in line
    ]
    found: list[Path] = []
    for entry in entries:
        pages = set(ROOT.glob(entry.removeprefix("/") + ".md"))
        assert pages - set(found), entry
        found += sorted(pages - set(found))
    proofs = [page for page in DERIVATIONS if page.name != "ATTRIBUTION.md"]
    assert sorted(found) == sorted(proofs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    text = re.sub(r"^(```+).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    for link in links:
        assert (page.parent / link.partition("#")[0]).is_file(), link
