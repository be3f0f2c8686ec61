"""`dpbounds table`: tables in every form, with numbers; pages; the check that committed files are fresh."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from dpbounds.render import catalogue, pages
from dpbounds.theorems.references import parse

ROOT = Path(__file__).parent.parent.parent
QUICK = [name for name in (*catalogue.names(), *pages.names()) if name not in ("noise-constants", "privacy-as-printed")]
AT = "n=1e6,d=100,epsilon=1,delta=1e-6"

VERB = ("table",)


@pytest.mark.parametrize("form", ["md", "latex", "html", "csv"])
def test_a_table_in_every_form(form, said):
    out = said("gradient-norm", "--format", form)
    shown = {"latex": "Cor.~4.3", "csv": "lowy-ullman-wright-2024/corollary-4.3"}
    assert shown.get(form, "Lowy et al. 2024, Corollary 4.3") in out
    if form == "md":
        header = next(line for line in out.splitlines() if line.startswith("| statement"))
        rows = [line for line in out.splitlines() if line.startswith("| ") and "$" in line]
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


def test_the_table_of_a_paper(said, tmp_path):
    chosen = ("--with", str(ROOT / "docs" / "my_theorem.py"), "--rows", "lowy-*/lemma-3.1", "--letters", "n,d,L,beta")
    said("gradient-norm", "--format", "latex", *chosen, "--output", str(tmp_path))
    text = (tmp_path / "gradient-norm.tex").read_text()
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "&" in line]
    assert [row.split(" & ")[0] for row in rows[1:]] == [
        r"\dpboundscite{Lowy et al.\ 2024}{lowy-ullman-wright-2024}, Lem.~3.1",
        r"\textbf{This paper}, Thm.~1",
    ]
    assert r"(\sqrt{\Delta_{F} L \beta d \log(1/\delta)}/(\varepsilon n))^{2/3}" in rows[1]
    assert r"\sqrt{d \sigma^{2} + 2 \Delta_{F} \beta/T}" in rows[2]
    entries = parse((tmp_path / "dpbounds.bib").read_text())
    assert {one.key for one in entries} == set(re.findall(r"\\dpboundscite\{.*?\}\{(.*?)\}", "".join(rows)))
    assert said("gradient-norm", "--format", "bib", *chosen) == (tmp_path / "dpbounds.bib").read_text()
    columns = said("gradient-norm", *chosen, "--format", "csv", "--columns", "order,statement").splitlines()
    assert (columns[0], len(columns)) == ("order,statement", 3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("sosp", "--with", "docs/my_theorem.py"), "it bounds gradient-norm"),
        (("ball-noise", "--with", "docs/my_theorem.py"), "it fits gradient-norm, sosp"),
        (("gradient-norm", "--letters", "n,d,L"), "smoothness is L, too: add smoothness=..."),
        (("gradient-norm", "--letters", "n,d,G,L,rho"), "NAME=LETTER"),
        (("gradient-norm", "--letters", "n,d,betta"), "a letter such as L, beta or L_0"),
        (("gradient-norm", "--letters", "n,n=m"), "one letter for dataset_size"),
        (("gradient-norm", "--columns", "statement,bound"), "one of statement, bounds, side"),
        (("gradient-norm", "--rows", "nobody-*"), "* stands for any letters"),
        (("gradient-norm", "--rows", "lowy-*", "--check"), "--check fits none of"),
        (("errata", "--columns", "statement"), "fit no page"),
        (("all", "--rows", "lowy-*"), "one table's name"),
    ],
)
def test_what_does_not_fit_is_refused(words, told, refused, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert told in refused(*words)


@pytest.mark.seconds
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


@pytest.mark.seconds
@pytest.mark.parametrize("name", QUICK)
def test_committed_files_are_fresh(name, said):
    out = said(name, "--check", "--output", str(ROOT / "tables"))
    assert "every file is fresh" in out


@pytest.mark.minutes
def test_every_committed_file_is_fresh(said):
    assert "every file is fresh" in said("all", "--check", "--output", str(ROOT / "tables"))


def test_stale_missing_and_superfluous_files_are_found(data, said, monkeypatch, tmp_path):
    monkeypatch.setattr(catalogue, "names", lambda: ("ball-noise",))
    monkeypatch.setattr(pages, "names", lambda: ("errata",))
    folder = tmp_path / "pages"
    assert "errata.md" in said("all", "--output", str(folder))
    made = {"errata.md", "dpbounds.bib", *(f"ball-noise.{ending}" for ending in ("md", "tex", "csv"))}
    assert {file.name for file in folder.iterdir()} == made
    assert "every file is fresh" in said("all", "--output", str(folder), "--check")
    (folder / "ball-noise.csv").write_text((folder / "ball-noise.csv").read_text() + "edited\n")
    (folder / "other.tex").write_text("")
    (folder / "errata.md").unlink()
    (folder / "runs").mkdir()
    (folder / "runs" / "verification.md").write_text("")  # measurements are not re-made
    found = data("all", "--output", str(folder), "--check", status=1)
    assert {kind: [Path(one).name for one in found[kind]] for kind in ("stale", "missing", "superfluous")} == {
        "stale": ["ball-noise.csv"],
        "missing": ["errata.md"],
        "superfluous": ["other.tex"],
    }
