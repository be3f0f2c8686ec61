"""Wording that readers stumble over only becomes rarer."""

import re

import pytest

from tests.documentation import words


@pytest.mark.seconds
def test_counts_only_fall():
    found, allowed = words.counts(), words.recorded()
    more = {key: (count, allowed.get(key, 0)) for key, count in found.items() if count > allowed.get(key, 0)}
    assert not more, "write it in plain words: python -m tests.documentation.words RULE says where"
    fewer = {key for key, count in allowed.items() if found.get(key, 0) < count}
    assert not fewer, "write the lower counts down: python -m tests.documentation.words --write"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("person", "which nobody knows"),
        ("tell", "the command tells it"),
        ("apart", "data that are hard to tell apart"),
        ("so many", "after so many steps"),
        ("law", "the law of the loss"),
        ("chance", "with chance 1/2"),
        ("stands", "the file stands beside it"),
        ("is no", "that is no number"),
        ("ends", "the upper end"),
    ],
)
def test_each_rule_finds_what_it_is_for(rule, text):
    assert re.search(words.RULES[rule], text)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("so many", "so many as there are"),
        ("law", "by the law of large numbers"),
        ("is no", "there is no number"),
        ("is no", "is no longer so"),
        ("house", "a room for improvement"),
    ],
)
def test_what_reads_well_is_not_found(rule, text):
    assert not re.search(words.RULES[rule], text)


def test_texts_are_found_where_they_stand_and_code_is_left_out(tmp_path):
    page, code = tmp_path / "page.md", tmp_path / "code.py"
    page.write_text("# A page\n\n```python\nlaw = 1\n```\n\nThe law of `chance`.\n", "utf-8")
    code.write_text('"""What it is."""\n\nlaw = f"the law {1}"  # of a chance\n# so many\n', "utf-8")
    assert [(piece.line, piece.text) for piece in words._of_page(page) if "law" in piece.text] == [
        (7, "The law of `chance`.")
    ]
    assert [tuple(piece) for piece in words._of_code(code)] == [
        (1, "docstring", "What it is."),
        (3, "text", "the law …"),
        (3, "remark", "# of a chance"),
        (4, "comment", "# so many"),
    ]
