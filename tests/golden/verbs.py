"""What each verb of the command line prints with --json."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path

from tests.golden import accounts, adapters
from tests.golden.recording import Answer

_DOCS = str(Path(__file__).parents[2] / "docs")


def questions():
    """Each line of the file; ``{docs}`` is the folder of the documentation."""
    for line in accounts.lines("verbs.txt"):
        yield line, lambda line=line: _answered(line)


def _answered(line):
    """Numbers are the outcome, pairs of ends as intervals; words are text."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # some verbs write files
        try:
            status, *said = adapters.invoke(line.replace("{docs}", _DOCS).split())
        finally:
            os.chdir(here)
    output, errors = (one.replace(_DOCS, "{docs}").replace(scratch, "{here}") for one in said)
    try:
        document = json.loads(output)
    except ValueError:
        return Answer({"status": status, "json": False}, text=[output, errors])
    values, ends, words = {}, {}, {}
    _sort_out(document, "", values, ends, words)
    return Answer({"status": status, "values": values}, ends, [words, errors])


def _sort_out(entry, name, values, ends, words):
    """Walk through a JSON document."""
    if isinstance(entry, dict):
        pair = entry.get("lower"), entry.get("upper")
        if all(map(_is_number, pair)) and pair[0] <= pair[1]:
            ends[name] = tuple(repr(one) for one in pair)
            entry = {key: value for key, value in entry.items() if key not in ("lower", "upper")}
        for key, value in entry.items():
            _sort_out(value, f"{name}.{key}", values, ends, words)
    elif isinstance(entry, list):
        for at, value in enumerate(entry):
            _sort_out(value, f"{name}[{at}]", values, ends, words)
    elif isinstance(entry, str):
        words[name] = entry
    elif not (name.endswith("seconds") and isinstance(entry, float)):  # what a clock says
        values[name] = entry


def _is_number(entry):
    return isinstance(entry, int | float) and not isinstance(entry, bool) and not math.isnan(entry)
