"""Writes ``docs/networks.md``'s table and figure from ``runs.csv``."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from dpbounds.render import style
from tests.benchmarks.networks.sweep import EPSILONS, STORE

DOCS = Path(__file__).parents[3] / "docs"
BEGIN, END = "<!-- table of networks -->", "<!-- end of the table -->"
METHODS = ("dp-gd", "dp-sgd", "dp-sgd-momentum", "dp-spider", "dp-storm", "warm-spider")
Scores = dict[tuple[str, int, str], list[float]]


def scores() -> tuple[Scores, dict[str, tuple[str, str]]]:
    """By case, ε and method; and n and p of each case."""
    found: Scores = {}
    sizes = {}
    with STORE.open() as file:
        for row in csv.DictReader(file):
            key = (row["case"], int(row["epsilon"]), row["method"])
            found.setdefault(key, []).append(100 * float(row["score"]))
            sizes[row["case"]] = (row["n"], row["p"])
    return found, sizes


def table() -> str:
    """Means and halves of 95 % intervals, the best of a row bold."""
    found, sizes = scores()
    lines = ["| model | n, p | ε | " + " | ".join(METHODS) + " |", "|" + " --- |" * (3 + len(METHODS))]
    for case, (n, p) in sizes.items():
        for epsilon in EPSILONS:
            own = {name: found[case, epsilon, name] for name in METHODS if (case, epsilon, name) in found}
            if not own:
                continue
            best = max(own, key=lambda name: float(np.mean(own[name])))
            cells = [_cell(own[name], name == best) if name in own else "-" for name in METHODS]
            lines.append(f"| {case} | {n}, {p} | {epsilon} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(values: list[float], best: bool) -> str:
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    told = f"{np.mean(values):.1f} ± {half:.1f}"
    return f"**{told}**" if best else told


def figure() -> None:
    """One pair of axes for each model: the score over ε."""
    found, sizes = scores()
    caption = "Accuracy on held-out records, mean of five seeds, over the certified ε (δ = 1e-5, add-or-remove-one)."
    drawn, axes = style.canvas(4.2 * len(sizes), 3.6, len(sizes), title="Which method pays", caption=caption)
    for one, case in zip(axes, sizes, strict=True):
        for place, name in enumerate(METHODS):
            have = [epsilon for epsilon in EPSILONS if (case, epsilon, name) in found]
            means = [np.mean(found[case, epsilon, name]) for epsilon in have]
            look = {"color": style.COLOURS[place], "marker": style.MARKS[place], "linestyle": style.DASHES[place]}
            one.plot(have, means, label=name, **look)
        style.titled(one, case)
        one.set_xlabel("ε")
        one.set_ylabel("accuracy in per cent")
        one.set_xscale("log", base=2)
        one.set_xticks(EPSILONS, [str(each) for each in EPSILONS])
    style.keyed(axes[0])
    style.save(drawn, DOCS / "networks.png")


def page() -> None:
    """Replace the table, draw the figure."""
    path = DOCS / "networks.md"
    text = path.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")
    figure()
