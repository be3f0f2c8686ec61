"""Suggestions by meaning for unknown commands and options."""

import click
import pytest

from dpbounds.cli import _commands, main, meant


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        ("epsilon --sigma 1 --delta 1e-5", "--noise-multiplier"),
        ("epsilon --noise_multiplier 1", "--noise-multiplier"),
        ("epsilon --Noise-Multiplier 1", "--noise-multiplier"),
        ("calibrate --eps 1", "--target-epsilon"),
        ("plan --eps 1", "--epsilon"),
        ("epsilon --q 0.01", "--sample-rate"),
        ("epsilon --adjacency replace", "--relation"),
        ("accountant", "epsilon"),
        ("train", "run"),
        ("epsilonn", "epsilon"),  # by spelling
    ],
)
def test_what_is_meant_is_suggested(words, suggested, capsys):
    assert main(words.split()) == 2
    assert f"id you mean {suggested!r}?".replace("'", "") in capsys.readouterr().err.replace("'", "")


def test_other_words_are_suggested_by_their_spelling(capsys):
    assert main(["epsilon", "--stepz", "1"]) == 2
    assert "--steps" in capsys.readouterr().err


def test_what_a_command_does_not_have_is_not_suggested(capsys):
    assert main(["show", "--sigma", "1"]) == 2
    assert "mean" not in capsys.readouterr().err


def test_all_suggestions_exist_and_no_word_has_two_meanings():
    context = click.Context(_commands)
    verbs = {name: _commands.get_command(context, name) for name in _commands.list_commands(context)}
    options = {name for verb in verbs.values() for param in verb.params for name in getattr(param, "opts", ())}
    assert set(meant._COMMANDS) <= set(verbs)
    assert {f"--{name}" for name in meant._OPTIONS} <= options
    words = [word for each in meant._COMMANDS.values() for word in each]
    assert len(set(words)) == len(words)
    assert not set(words) & set(verbs)
