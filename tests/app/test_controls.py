"""Forms from Click's options, and from a form the words of a command."""

import click
import pytest

from dpbounds.app.controls import command, controls, documents, typed, words
from dpbounds.app.layout import layout
from dpbounds.app.views import GROUPS, VIEWS, files
from dpbounds.cli.questions.options import METHODS
from dpbounds.cli.questions.training import samplings
from dpbounds.errors import InvalidValue

VERBS = sorted({view.verb for view in VIEWS.values()})


def test_a_form_gives_the_words_of_a_command():
    pairs = [("target-epsilon", "1"), ("target-delta", "1e-6"), ("steps", "10"), ("tree", "yes"), ("sample-rate", "")]
    assert words("calibrate", pairs) == [
        *("calibrate", "--target-epsilon", "1", "--target-delta", "1e-6", "--steps", "10", "--tree"),
    ]
    assert typed(["show", "a b"]) == "dpbounds show 'a b'"


def test_no_value_becomes_an_option():
    assert words("epsilon", [("delta", "--json")]) == ["epsilon", "--delta=--json"]
    assert words("show", [("name", "--bibtex")]) == ["show", "--", "--bibtex"]
    assert words("regimes", [("metric", "m"), ("with", "-x kl_exponent=2")]) == [
        *("regimes", "--with=-x", "--with", "kl_exponent=2", "m"),
    ]


@pytest.mark.parametrize(
    ("verb", "pairs", "told"),
    [
        ("calibrate", [("report", "theirs.html")], "option must be one of calibrate's"),
        ("epsilon", [("ledger", "ledger.json")], "option must be"),
        ("epsilon", [("matrix", "theirs.csv")], "matrix must be optimal, .*reads no files"),
        ("calibrate", [("target-epsilom", "1")], "target-epsilon"),
        ("epsilon", [("delta", "1"), ("delta", "2")], "given once only"),
        ("show", [("name", "theirs.PY ")], "no program"),
        ("regimes", [("metric", "m"), ("with", "x=1 theirs.py")], "no program"),
        ("regimes", [("metric", "m"), ("with", "'theirs.py' x=1")], "no program"),
        ("compare", [("first", "a"), ("second", "b"), ("value.x", "theirs.py")], "no program"),
        ("evaluate", [("words", "'n=1")], "quotes closed"),
    ],
)
def test_what_is_refused(verb, pairs, told):
    with pytest.raises(InvalidValue, match=told):
        words(verb, pairs)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_a_control_but_those_about_files(verb):
    shown = {one.option for one in controls(verb)}
    for param in command(verb).params:
        if isinstance(param, click.Option) and not set(param.opts) & shown:
            known = {"--json", "--label", "--positive", "--centre", "--check", "--figures", "--scheduler"}
            known |= {"--bibtex", "--latex", "--markdown"}
            assert isinstance(param.type, click.Path) or set(param.opts) <= known, param.opts


@pytest.mark.parametrize("verb", VERBS)
def test_no_control_names_a_file_or_a_place_on_the_net(verb):
    for param in command(verb).params:
        if isinstance(param.type, click.Path) or "--scheduler" in param.opts:
            found = [one for one in controls(verb) if one.option in param.opts]
            if [one.kind for one in found] == ["document"]:  # its text, under a name of ours
                made = words(verb, [(found[0].name, "/etc/passwd")])
                (name,) = {"ledger.json", "certificate.json", "scores.csv", "scores-out.csv", "claim.json"} & {*made}
                assert made == [verb, found[0].option, name]
                assert documents(verb, [(found[0].name, "/etc/passwd")]) == ((name, "/etc/passwd"),)
            else:
                assert [one.choices for one in found] in ([], [("optimal",)]), param.opts


def test_a_document_fits_into_an_address():
    assert documents("remaining", [("target-epsilon", "1"), ("ledger", " \n")]) == ()
    with pytest.raises(InvalidValue, match=r"at most 16000 characters .*command line reads longer"):
        documents("remaining", [("ledger", " " * 16000 + "1")])


def test_every_choice_of_the_command_line_is_offered():
    by_name = {one.name: one for one in controls("epsilon")}
    assert by_name["sampling"].choices == samplings()
    assert by_name["method"].choices == METHODS
    assert by_name["relation"].default == "add-or-remove-one"
    assert by_name["redraw"].kind == by_name["same-bins"].kind == "check"
    assert by_name["delta"].required
    assert not by_name["steps"].required


@pytest.mark.parametrize("key", VIEWS, ids="/".join)
def test_views_name_what_there_is(key):
    view = VIEWS[key]
    known = {one.name for one in controls(view.verb) if view.has(one.name)}
    assert set(view.first) <= known
    assert set(view.changed) <= known
    assert {name for name, _ in view.example} <= known | set(view.places)
    assert {slider.name for slider in view.sliders} <= known | set(view.places)
    form = layout(view, dict(view.example))
    shown = [one.name for one in (*form.first, *(one for rest in form.groups.values() for one in rest), *form.gone)]
    assert sorted(shown) == sorted(known)
    options = {option for param in command(view.verb).params for option in param.opts}
    assert {option for option, _, _ in files(view.verb).values()} <= options | {""}


def test_groups_name_what_there_is():
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) <= {one.name for verb in ("calibrate", "epsilon") for one in controls(verb)}
