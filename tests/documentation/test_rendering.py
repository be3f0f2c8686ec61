"""Formulas of derivations are set as they are meant, and nothing of them is lost."""

import importlib.util
import re
import sys

import pytest

from tests.documentation.pages import ROOT

pytestmark = pytest.mark.seconds  # quick, but Sphinx is not in the environment of the README


@pytest.fixture(scope="module")
def rendering():
    pytest.importorskip("sphinx")
    specification = importlib.util.spec_from_file_location("rendering", ROOT / "docs" / "rendering.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["rendering"] = module
    specification.loader.exec_module(module)
    return module


def set_as(rendering, text):
    return "".join(
        node.astext() if node.tagname == "#text" else f"<{node.tagname[:3]} {''.join(map(str, node.children))}>"
        for node in rendering.scripts(text)
    )


@pytest.mark.parametrize(
    "latex", [r"\nosuchcommand{x}", r"\frac{x", "x_{1", "x}", r"\sqrt", r"\left( x", "x^", r"\mathbb{E", r"\{x}"]
)
def test_latex_that_is_wrong_or_unknown_is_an_error(rendering, latex):
    from docutils.utils.math import MathError

    with pytest.raises(MathError):
        rendering.mathml(latex)


def test_latex_becomes_mathml(rendering):
    drawn = rendering.mathml(r"\left\{\frac12, \big(x_1, \dots\big)\right\}", display=True)
    assert drawn.startswith('<math display="block">')
    assert re.sub(r"<[^>]+>|\s", "", drawn) == "{12,(x1,…)}"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("x_k + y", "x<sub k> + y"),
        ("e^{-λt} - 1", "e<sup -λt> - 1"),
        ("(x)_+ dx", "(x)<sub +> dx"),
        ("2^-24 q", "2<sup -24> q"),
        ("P_b,i and P_b, too", "P<sub b,i> and P<sub b>, too"),
        ("max_{x>=0} f", "max<sub x>=0> f"),
        ("∫_a^∞ f", "∫<sub a><sup ∞> f"),
        ("gap_D(w)", "gap<sub D>(w)"),
        ("δ̃_ν(ε)", "δ̃<sub ν>(ε)"),
        ("noise_multiplier, drop_last", "noise_multiplier, drop_last"),
        ("see a/theorem_2_explicit.md and x_1", "see a/theorem_2_explicit.md and x<sub 1>"),
        ("an open brace e^{x", "an open brace e^{x"),
    ],
)
def test_scripts(rendering, typed, meant):
    assert set_as(rendering, typed) == meant


def test_nothing_of_a_derivation_is_lost(rendering):
    for path in (ROOT / "dpbounds").rglob("*.md"):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            kept = "".join(node.astext() for node in rendering.scripts(paragraph))
            assert re.sub(r"[_^{}]", "", kept) == re.sub(r"[_^{}]", "", paragraph)


def test_underscores_are_kept_and_emphasis_works(rendering):
    source = [
        "a (x)_+ b (y)_+ and *not* `z_+ z_+`\n\n| p_+ | q_+ |\n| --- | --- |\n| r_+ | s*W |\n\n    code (x)_+ (y)_+\n"
    ]
    rendering._keep_formulas(None, "dpbounds/x", source)
    assert source[0] == (
        "a (x)\\_+ b (y)\\_+ and *not* `z_+ z_+`\n\n| p\\_+ | q\\_+ |\n| --- | --- |\n| r\\_+ | s\\*W |\n\n"
        "    code (x)_+ (y)_+\n"
    )


def test_commands_keep_their_lines(rendering):
    page = "```console\n$ one\nanswer\n```\n\n```console\n$ two\nanswer\n```\n"
    source = [page]
    rendering._keep_formulas(None, "docs/x", source)
    assert source == [page]


def test_a_formula_of_two_lines_is_no_list(rendering):
    source = ["the sum $a\n+ b$ and\n\n$$\nc\n+ d\n$$\n\n- $e$\n- $f$\n"]
    rendering._keep_formulas(None, "tables/x", source)
    assert source[0] == "the sum $a + b$ and\n\n$$\nc\n+ d\n$$\n\n- $e$\n- $f$\n"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("|x| is ``|y|``.", "\\|x\\| is ``|y|``."),
        (
            "Text.\n\n    for k:\n        |g|\n\n    return\n\n|x|",
            "Text.\n\n::\n\n    for k:\n        |g|\n\n    return\n\n\\|x\\|",
        ),
        ("Text::\n\n    |g|", "Text::\n\n    |g|"),
        ("Args:\n    x: |x|.\n\n        More.", "Args:\n    x: \\|x\\|.\n\n        More."),
        (">>> f(x | y)\na|b\n\n|x|", ">>> f(x | y)\na|b\n\n\\|x\\|"),
    ],
)
def test_docstrings(rendering, written, read):
    assert "\n".join(rendering._docstring(written.split("\n"))) == read
