"""Names that other tools and papers use for the commands and options of dpbounds, as suggestions."""

from __future__ import annotations

from collections.abc import Collection

import click

_COMMANDS = {
    "calibrate": ("noise", "sigma", "noise-multiplier", "get-noise-multiplier"),
    "epsilon": ("account", "accountant", "budget", "compute", "eps", "privacy", "spent", "certify", "statement"),
    "attacker": ("attack", "membership", "advantage", "tpr", "trade-off"),
    "convert": ("conversion", "conversions", "zcdp", "rdp", "gdp", "renyi"),
    "theorems": ("list", "search", "papers", "statements"),
    "fit": ("classify", "classifier", "regress", "regression", "train-classifier"),
    "run": ("train", "sgd", "dpsgd", "dp-sgd", "algorithms"),
    "check": ("certificate",),
    "regimes": ("map",),
}
# In the order of preference, for options that a command may have under one of several names.
_OPTIONS = {
    "target-epsilon": ("eps", "target-eps", "privacy-budget"),
    "epsilon": ("eps", "target-eps", "privacy-budget"),
    "noise-multiplier": ("sigma", "z", "multiplier", "noise-scale", "scale"),
    "noise-stddev": ("stddev", "std", "standard-deviation"),
    "noise-variance": ("variance", "sigma2"),
    "noise": ("mechanism", "distribution", "noise-type"),
    "sample-rate": ("q", "sampling-rate", "sampling-probability", "rate", "probability"),
    "steps": ("t", "iterations", "iters", "num-steps", "compositions", "rounds"),
    "batch-size": ("batch", "lot-size", "lot"),
    "dataset-size": ("n", "num-examples", "num-samples", "records", "size"),
    "clipping-norm": ("c", "clip", "clipping", "max-grad-norm", "l2-norm-clip", "sensitivity"),
    "relation": ("neighboring", "neighbouring", "neighboring-relation", "adjacency", "adjacent"),
    "method": ("accountant", "route"),
    "local-epsilon": ("epsilon0", "local-eps"),
    "answers": ("options", "categories", "k"),
    "report": ("html", "pdf"),
}


def command_meant(word: str, verbs: Collection[str]) -> str:
    """Return the command that a name from other tools stands for; empty if none is known.

    >>> command_meant("accountant", ["epsilon", "calibrate"])
    'epsilon'
    """
    return next((verb for verb, words in _COMMANDS.items() if word.lower() in words and verb in verbs), "")


def of_an_unknown_option(error: click.NoSuchOption) -> str:
    """Return the message of an error; it suggests an option by its meaning, else by its spelling."""
    if error.ctx is None:
        return error.format_message()
    known = {name for param in error.ctx.command.params for name in getattr(param, "opts", ())}
    word = error.option_name.lstrip("-").replace("_", "-").lower()
    meant = [f"--{option}" for option, words in _OPTIONS.items() if word in words and f"--{option}" in known]
    if f"--{word}" in known:  # with an underscore, or in capitals
        meant = [f"--{word}"]
    return f"{error.message} Did you mean {meant[0]!r}?" if meant else error.format_message()
