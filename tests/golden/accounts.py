"""Questions to the accountants that are written one a line: relation, what is asked at what, mechanism."""

from __future__ import annotations

from pathlib import Path

import dpbounds as dp
from tests.golden.mechanisms import made
from tests.golden.recording import Answer


def lines(name):
    """The questions of a file here; empty lines and those that begin with # are none."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def read(line):
    """Its relation, its target as a keyword argument, and its mechanism."""
    relation, wanted, target, expression = line.split(maxsplit=3)
    given = {"epsilon": "delta", "delta": "epsilon"}[wanted]
    return relation, {given: target}, made(expression)


def account(line, **options):
    """The account that a line asks for."""
    relation, target, mechanism = read(line)
    return dp.account(mechanism, relation=relation, **target, **options)


def answer(line):
    """Both ends, and whether the analysis is tight; the route of each class with its parameters is text."""
    found = account(line)
    proofs = [(name, one.route, one.parameters) for name, one in found.proofs]
    attacks = [(name, one.route, one.parameters) for name, one in found.attacks]
    moments = None if found.moments is None else found.moments.parameters
    ends = {line.split()[1]: (found.enclosure.exact_lower, found.enclosure.exact_upper)}
    told = {"method": found.enclosure.method, "proofs": proofs, "attacks": attacks, "moments": moments}
    return Answer({"tight": found.tight, "complete": found.complete}, ends, told)


def questions(name):
    """The questions of a file."""
    for line in lines(name):
        yield line, lambda line=line: answer(line)
