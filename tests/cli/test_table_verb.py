"""`dpbounds table`: tables in every form, with numbers; pages; the check that committed files are fresh."""

import csv
import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from dpbounds.render import catalogue, pages

ROOT = Path(__file__).parent.parent.parent
QUICK = [name for name in (*catalogue.names(), *pages.names()) if name not in ("noise-constants", "privacy-as-printed")]
AT = "n=1e6,d=100,epsilon=1,delta=1e-6"

VERB = ("table",)


@pytest.mark.parametrize("form", ["md", "latex", "html", "csv"])
def test_a_table_in_every_form(form, said):
    out = said("gradient-norm", "--format", form)
    assert "corollary-4.3" in out
    if form == "md":
        header = next(line for line in out.splitlines() if line.startswith("| statement"))
        rows = [line for line in out.splitlines() if line.startswith("| `")]
        assert rows
        assert all(line.replace(r"\|", "").count("|") == header.count("|") for line in rows)
    if form == "latex":
        assert out.count("{") == out.count("}")
        assert r"\toprule" in out
        assert out.isascii(), [letter for letter in out if not letter.isascii()]
    if form == "html":
        ET.fromstring(out.removeprefix("<!DOCTYPE html>\n"))  # every element is closed
        assert "<math" in out
    if form == "csv":
        rows = list(csv.reader(io.StringIO(out)))
        assert len({len(row) for row in rows}) == 1


@pytest.mark.thorough
def test_numbers_sort_and_say_what_applies(said):
    rows = list(csv.DictReader(io.StringIO(said("gradient-norm", "--format", "csv", "--at", AT))))
    values = [row["value"] for row in rows]
    sizes = [float(value.removeprefix("~ ")) for value in values if not value.startswith(("needs", "not"))]
    assert sizes == sorted(sizes)
    assert len(sizes) >= 5
    assert all(value.startswith("~ ") for value in values if value[-1].isdigit())  # rates are no bounds
    assert any(value.startswith("needs ") for value in values)
    more = AT + ",rho=0.1,lipschitz=1,smoothness=1,initial_gap=1,diameter=1,steps=100,noise_stddev=0.1,step_size=0.5"
    text = said("explicit-bounds", "--format", "csv", "--at", more)
    explicit = list(csv.DictReader(io.StringIO(text)))
    assert any(row["value"][:1].isdigit() for row in explicit)
    assert "yes" in {row["applies"] for row in explicit}


@pytest.mark.thorough
@pytest.mark.parametrize("name", QUICK)
def test_committed_files_are_fresh(name, said):
    out = said(name, "--check", "--output", str(ROOT / "tables"))
    assert "every file is fresh" in out


@pytest.mark.slow
def test_every_committed_file_is_fresh(said):
    assert "every file is fresh" in said("all", "--check", "--output", str(ROOT / "tables"))


def test_stale_missing_and_superfluous_files_are_found(data, said, monkeypatch, tmp_path):
    monkeypatch.setattr(catalogue, "names", lambda: ("ball-noise",))
    monkeypatch.setattr(pages, "names", lambda: ("errata",))
    folder = tmp_path / "pages"
    assert "errata.md" in said("all", "--output", str(folder))
    assert {file.name for file in folder.iterdir()} == {"errata.md", *(f"ball-noise.{e}" for e in ("md", "tex", "csv"))}
    assert "every file is fresh" in said("all", "--output", str(folder), "--check")
    (folder / "ball-noise.csv").write_text((folder / "ball-noise.csv").read_text() + "edited\n")
    (folder / "other.tex").write_text("")
    (folder / "errata.md").unlink()
    (folder / "runs").mkdir()
    (folder / "runs" / "verification.md").write_text("")  # measurements are not re-made
    found = data("all", "--output", str(folder), "--check", status=1)
    assert {kind: [Path(one).name for one in files] for kind, files in found.items()} == {
        "stale": ["ball-noise.csv"],
        "missing": ["errata.md"],
        "superfluous": ["other.tex"],
    }
