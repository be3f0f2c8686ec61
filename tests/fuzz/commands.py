"""Commands made from what Click knows of the verbs, and what is wrong with how one ended."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from tests.fuzz import pools
from tests.fuzz.children import SECONDS, SECONDS_OF, Ended, run

_LONGEST = 600
_QUIET = re.compile(r"(note: |warning: |wrote |\d+ finished cells )")  # on standard error, beside the error
_WARNING = re.compile(r"\b[A-Z]\w*Warning\b|Exception ignored")
_PASSING = ("check", "remaining", "table", "verify", "audit", "demo")  # their status 1 is a verdict that they print
_NAMES = {
    "paper": ("wang-xu-2019", "cited", "lowy-ullman-wright-2024"),
    "metric": ("gradient-norm", "excess-empirical-risk", "excess-population-risk", "sosp"),
    "status": ("proved", "claimed", "proved,claimed,disputed"),
    "search": ("ball", "noise"),
    "method": ("certified", "rdp", "zcdp", "gdp", "basic", "all", "optimal", "advanced"),
    "sampling": (
        *("poisson", "without-replacement", "with-replacement", "full-batch"),
        *("random-allocation", "balls-in-bins"),
    ),
    "participation": ("single", "fixed-order", "minimum-separation", "cyclic-poisson", "balls-in-bins"),
    "groups": ("position", "independent", "content"),
    "toeplitz": ("1,1/2", "square-root", "1,-1/2,2", "0,1"),
    "assuming": ("quasar-convex", "generalised-linear"),
    "axis": ("rank", "width"),
    "format": ("md", "latex", "html", "csv"),
    "part": ("bound", "rate", "spent", "tuned"),
    "severity": ("privacy", "typo"),
    "label": ("y", "a"),
    "positive": ("1", "0"),
}
_GOOD_PAIRS = (
    *("n=1e6", "d=100", "epsilon=1", "delta=1e-6", "T=9"),
    *("lipschitz=1", "smoothness=1", "initial_gap=1", "diameter=2"),
)
_STATEMENTS = (
    *("wang-xu-2019/theorem-2", "wang-xu-2019/theorem-2/explicit", "cited/wang-ye-xu-2017/main-result"),
    *("lowy-ullman-wright-2024/lemma-3.1/explicit", "wang-xu-2019/theorem-1", "lowy-ullman-wright-2024/corollary-4.3"),
    *("my.py", "syntax.py", "exit.py", "deep.py", "nosuch.py", "adir.py", "wang-xu-2019", "wang-xu-2019/theorem-99"),
)
_ARGUMENTS = {
    "ALGORITHM": ("dp-pgd", "dp-gd", "dp-sgd", "nosuch"),
    "FILE": ("c.json", "l.json"),
    "KIND": ("theorem", "algorithm", "noise", "scheme"),
    "METRIC": _NAMES["metric"],
    "NAME": ("my-paper-2026/theorem-2", "cited/my-paper-2026/lemma-a.4", "spider/my-spider", "student-t", "laplace"),
    "NAME|all": ("gradient-norm", "noise-constants", "errata", "wang-xu-2019", "cited"),
}

# A valid command of each verb, and other ways through its code: the fuzzer starts from one of them.
BASES: dict[str, tuple[str, ...]] = {
    "demo": ("--data d.csv --ranges r.csv --label y --positive 1 --repetitions 2 --epsilon 1 --delta 1e-3 --output o",),
    "run": (
        "dp-storm n=50 d=2 steps=3 --epsilon 1 --delta 1e-3 --output o",
        "dp-gd --data d.csv --ranges r.csv --label y --positive 1 --epsilon 1 --delta 1e-3 --output o steps=3",
        "dp-fw-l1 --epsilon 1 --delta 1e-3 --output o --guarded",
    ),
    "calibrate": (
        "--target-epsilon 1 --target-delta 1e-6 --steps 3",
        "--target-epsilon 1 --target-delta 1e-6 --steps 10 --sample-rate 0.01",
        "--target-epsilon 1 --target-delta 1e-6 --steps 9 --toeplitz 1,1/2 --participation single --groups content",
        "--target-epsilon 1 --target-delta 1e-6 --solve steps --noise-multiplier 5",
        "--target-epsilon 1 --target-delta 0 --steps 3 --noise laplace",
        "--target-advantage 0.1 --steps 3",
        "--target-tpr 0.1 --at-fpr 0.01 --steps 3",
        "--target-mu 1 --least-rate 1e-4 --steps 3",
    ),
    "epsilon": (
        "--noise-multiplier 1 --delta 1e-6 --steps 3",
        "--noise-multiplier 1 --delta 1e-6 --steps 10 --sample-rate 0.01",
        "--noise-multiplier 9 --delta 1e-6 --steps 8 --toeplitz 1,1/2 --participation fixed-order --separation 4 "
        "--relation zero-out-one",
        "--noise-multiplier 2 --delta 1e-6 --sampling balls-in-bins --batches 3 --epochs 2 --same-bins",
        "--noise-multiplier 1 --delta 1e-6 --steps 3 --method all",
        "--ledger l.json --delta 1e-6",
    ),
    "delta": (
        "--noise-multiplier 1 --epsilon 1 --steps 3",
        "--noise-multiplier 1 --epsilon 1 --steps 10 --sample-rate 0.01 --json",
    ),
    "attacker": (
        "--noise-multiplier 1 --steps 3",
        "--noise-multiplier 1 --steps 10 --sample-rate 0.01 --prior 0.1 --baseline 0.2",
        "--ledger l.json --false-positive-rate 0,0.3,1 --least-rate 1e-3",
    ),
    "convert": (
        "--from-epsilon 1 --from-delta 1e-6 --to epsilon --delta 1e-3",
        "--from-rho 0.1 --from-xi 0.1 --to delta --epsilon 1",
        "--from-mu 1 --to renyi --renyi-order 3",
        "--from-renyi 2:0.1,8:1 --to trade-off --false-positive-rate 0.1",
        "--from-profile 1:0.1,2:0.01 --to gdp --least-rate 0.1 --json",
        "--noise-multiplier 1 --steps 3 --to zcdp",
        "--ledger l.json --to pure",
    ),
    "remaining": (
        "--ledger l.json --target-epsilon 4 --target-delta 1e-5",
        "--ledger sampled.json --target-epsilon 4 --target-delta 1e-5",
    ),
    "ball": (
        "--sensitivity 2 --dimension 10 --target-delta 1e-3 --dataset-size 1000 --steps 10",
        "--sensitivity 2 --dimension 10 --radius 30 --dataset-size 1000 --steps 10",
    ),
    "check": ("c.json",),
    "theorems": ("", "--metric gradient-norm"),
    "show": ("wang-xu-2019/theorem-2", "lowy-ullman-wright-2024/corollary-4.3"),
    "evaluate": (
        "wang-xu-2019/theorem-2/explicit --part tuned n=1e5 d=50 rho=0.1 lipschitz=1 smoothness=1 initial_gap=0.5",
    ),
    "compare": ("wang-xu-2019/theorem-2 cited/wang-ye-xu-2017/main-result n=1e6 d=100 epsilon=1 delta=1e-6",),
    "tightness": ("wang-chen-xu-2019/algorithm-4/explicit", "lowy-ullman-wright-2024/lemma-3.1/explicit --json"),
    "errata": ("", "--severity privacy"),
    "table": ("gradient-norm", "wang-xu-2019 --at n=1e6,d=100,epsilon=1,delta=1e-6"),
    "regimes": ("gradient-norm", "excess-empirical-risk --epsilon-power 0"),
    "plan": (
        "--metric gradient-norm --n 1e6 --d 100 --epsilon 1 --delta 1e-6 --lipschitz 1 --smoothness 1 --initial-gap 1",
        "--metric gradient-norm --data d.csv --ranges r.csv --label y --positive 1 --epsilon 1 --delta 1e-3",
    ),
    "fit": (
        "d.csv --label y --classes 0,1 --ranges r.csv --epsilon 1 --delta 1e-3",
        "d.csv --label a --target-range -1,1 --category y=0,1 --estimate-ranges --epsilon 9 --delta 1e-3 --json",
    ),
    "verify": ("tholeti-kalyani-2020/equation-6",),
    "audit": (
        "dp-pgd --runs 20",
        "--scores scores.csv --one-run --delta 1e-6 --epsilon 1",
        "--scores scores.csv --many-runs --threshold 0.5 --claim c.json",
        "--scores scores.csv --many-runs --claim l.json",
    ),
    "explain": ("dp-pgd --repetitions 4",),
    "new": ("theorem my-paper-2026/theorem-2", "algorithm spider/my-spider", "noise student-t", "scheme every-third"),
}


MINUTES = {"--full", "--mutations", "--experiments", "all"}  # work that is meant to take long
_SELDOM = {"demo": 0.2, "run": 0.4, "verify": 0.2, "audit": 0.3, "table": 0.5, "plan": 0.5}  # they take seconds


def drawn(seed: int, case: int, verbs: tuple[str, ...] = tuple(BASES)) -> list[str]:
    """The words of one command, always the same for the same seed and number."""
    draw = random.Random(f"{seed} {case}")
    if case < len(verbs):  # first, one of each that is valid
        return [verbs[case], *BASES[verbs[case]][0].split()]
    verb = draw.choices(verbs, [_SELDOM.get(verb, 1.0) for verb in verbs])[0]
    base = [verb, *draw.choice(BASES[verb]).split()]
    from dpbounds.cli import _commands

    command = _commands.get_command(click.Context(_commands), verb)
    assert command is not None
    nasty = draw.random() < 0.6
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        base = _changed(base, draw.choice(command.params), draw, nasty)
    if verb in ("verify", "audit") and MINUTES & set(base):
        return [verb, *BASES[verb][0].split()]
    return base


def _changed(words: list[str], param: click.Parameter, draw: random.Random, nasty: bool) -> list[str]:
    """The command with an option set or left out, or with another argument."""
    if isinstance(param, click.Argument):
        value = draw.choice(list(_values(param, draw, nasty)))
        places = [
            i for i in range(1, len(words)) if not words[i].startswith("--") and not words[i - 1].startswith("--")
        ]
        fits = [i for i in places if ("=" in words[i]) == ("=" in (param.metavar or ""))]
        if not fits or (param.nargs == -1 and draw.random() < 0.5):
            return [*words, value]
        place = draw.choice(fits)
        return [*words[:place], value, *words[place + 1 :]]
    name = draw.choice(param.opts)
    kept = _without(words, param.opts)
    if getattr(param, "is_flag", False):
        return [*kept, name] if draw.random() < 0.9 else kept
    if draw.random() < 0.03:
        return kept
    value = draw.choice(list(_values(param, draw, nasty)))
    return [*kept, f"{name}={value}"] if value.startswith("-") or draw.random() < 0.1 else [*kept, name, value]


def _without(words: list[str], options: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word not in options and word.split("=")[0] not in options:
            kept.append(word)
        skip = not skip and word in options
    return kept


def _values(param: click.Parameter, draw: random.Random, nasty: bool) -> Iterator[str]:
    """Values for an option or an argument, as far as its kind can be told."""
    name, metavar = param.opts[0].lstrip("-"), (param.metavar or "").strip("[].")
    if isinstance(param.type, click.Choice):
        yield from pools.TEXTS if nasty else map(str, param.type.choices)
    elif isinstance(param.type, click.Path):
        yield from pools.PATHS if nasty else pools.WRITTEN
        yield from _ARGUMENTS.get(metavar, ()) if isinstance(param, click.Argument) else ()
    elif "=" in metavar:
        pairs = pools.PAIRS if nasty else _GOOD_PAIRS
        yield from pairs if "," not in metavar else (",".join(draw.sample(_GOOD_PAIRS, 3)), *pairs)
    elif isinstance(param, click.Argument) and metavar in ("ID", "[ID]"):
        yield from _STATEMENTS if draw.random() < 0.6 else pools.TEXTS
    elif isinstance(param, click.Argument):
        yield from pools.TEXTS if nasty else _ARGUMENTS.get(metavar, ("gradient-norm",))
    elif name in _NAMES or name.rstrip("s") in _NAMES:
        yield from pools.TEXTS if nasty else _NAMES[name if name in _NAMES else name.rstrip("s")]
    else:
        yield from pools.NUMBERS if nasty else (pools.plausible(name, draw),)


def tried(words: list[str], place: Path, certificate: str) -> tuple[Ended, list[str]]:
    """Run one command in a directory of its own; return how it ended, and what is wrong with that."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    pools.world(place, certificate)
    before = _seen(place)

    def action() -> int:
        from dpbounds.cli import main

        return main(words)

    ended = run(action, place, SECONDS_OF.get(words[0], SECONDS))
    changed = sorted(name for name, time in _seen(place).items() if before.get(name) != time)
    shutil.rmtree(place, ignore_errors=True)
    return ended, list(faults(words, ended, changed))


def _seen(place: Path) -> dict[str, int]:
    return {path.name: path.lstat().st_mtime_ns for path in place.iterdir()}


def faults(words: list[str], ended: Ended, changed: list[str]) -> Iterator[str]:
    """What a command must not do."""
    if ended.stopped:
        yield ended.stopped
        return
    if ended.status not in (0, 1, 2):
        yield f"status {ended.status}"
    if "Traceback (most recent" in ended.err + ended.out:
        yield "a traceback"
    lines = [line for line in ended.err.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("dpbounds:")]
    if any(_WARNING.search(line) for line in lines):
        yield "a warning"
    if strange := [line for line in lines if line not in errors and not _QUIET.match(line)]:
        yield f"on standard error: {strange[0][:200]}"
    verdict = not errors and words[0] in _PASSING and ended.out.strip()
    if len(errors) != (ended.status != 0) and not (ended.status == 1 and verdict):
        yield f"{len(errors)} error lines with status {ended.status}"
    if lines and (longest := max(map(len, lines))) > _LONGEST:
        yield f"a line of {longest} characters on standard error"
    if any(not character.isprintable() for line in errors for character in line):
        yield "a control character in an error"
    if ended.status == 0 and not ended.out.strip():
        yield "nothing on standard output"
    if "--json" in words and not errors and ended.out.strip():
        try:
            json.loads(ended.out, parse_constant=lambda name: json.loads("{"))
        except ValueError:
            yield "no JSON"
    if errors and changed:
        yield "left behind: " + ", ".join(changed)
    own = f"dpbounds-{words[0]}" if words[0] in ("demo", "fit") else ""  # where these write to by default
    given = " ".join([*words, own, "nowhere" if "link" in words else ""])
    here = any(word.split("=")[-1] == "." for word in words)  # as the folder to write to
    if not here and (strangers := [name for name in changed if name not in given]):
        yield "files that nobody named: " + ", ".join(strangers)
