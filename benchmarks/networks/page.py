"""Writes the tables and the figures of ``docs/networks.md`` from ``runs.csv`` and ``regime.csv``."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.networks import regime, sweep
from benchmarks.networks.cases import ABOUT
from dpbounds.render import style

DOCS = Path(__file__).parents[2] / "docs"
ORDER = (*sweep.MAIN, *sweep.REST)
_DARK = {style.INK: "#e8e8e8", style.SOFT: "#a9a9a9", "#dddddd": "#3a3d42", "#000000": "#f2f2f2", "white": "#131416"}
_BRIGHT = {"#0072b2": "#56a8e0", "#009e73": "#3fcf9f"}
_FIRST = Path(__file__).parent / "first_runs.csv"
Rows = list[dict[str, str]]


def mean_and_half(values: Sequence[float]) -> tuple[float, float]:
    """The mean and half of its 95 % interval."""
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return float(np.mean(values)), float(half)


def scores(rows: Iterable[dict[str, str]], *by: str) -> dict[tuple[str, ...], list[float]]:
    """The scores in per cent, by these columns, in the order of the store."""
    found: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(100 * float(row["score"]))
    return found


def told(values: Sequence[float], digits: int = 1) -> str:
    """As a table shows it."""
    mean, half = mean_and_half(values)
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(each) + " |" for each in (head, ["---"] * len(head), *lines))


def _of_public(rows: Rows) -> Rows:
    return [row for row in rows if row["chosen"] == "public"]


def networks() -> str:
    """A row for each case and ε that has runs, a column for each method; the best of a row is bold."""
    found = scores(_of_public(sweep.rows()), "case", "epsilon", "method")
    names = [name for name in ORDER if any(key[2] == name for key in found)]
    lines = []
    for case, epsilon in ((case, str(epsilon)) for case in sweep.CASES for epsilon in sweep.EPSILONS):
        own = [found.get((case, epsilon, name)) for name in names]
        best = max((np.mean(values) for values in own if values is not None), default=None)
        cells = ["" if values is None else told(values) for values in own]
        if best is not None:
            marked = [
                f"**{cell}**" if values is not None and np.mean(values) == best else cell
                for cell, values in zip(cells, own, strict=True)
            ]
            lines.append([case, epsilon, *marked])
    return _table(["case", "ε", *names], lines)


def cases() -> str:
    """What was trained, with the records that training saw."""
    seen = {row["case"]: [row["case"], *ABOUT[row["case"]], row["n"], row["p"]] for row in sweep.rows()}
    ordered = [seen[case] for case in sweep.CASES if case in seen]
    return _table(["case", "model", "records", "n", "parameters"], ordered)


def gradients() -> str:
    """At the last iterate of the first case: the norm of the clipped mean gradient, and what it took."""
    rows = [row for row in _of_public(sweep.rows()) if row["case"] == sweep.CASES[0] and row["epsilon"] == "4"]
    lines = []
    for name in ORDER:
        own = [row for row in rows if row["method"] == name]
        if own:
            norms = [float(row["gradient_norm"]) for row in own]
            lines.append([name, own[0]["settings"], own[0]["passes"], told(norms, 3)])
    return _table(["method", "settings", "gradients over n", "norm of the gradient"], lines)


def paid() -> str:
    """How settings were found against what they are worth."""
    found = scores(sweep.rows(), "case", "epsilon", "method", "chosen")
    lines = []
    for case, epsilon, name in dict.fromkeys(key[:3] for key in found if key[3] not in ("public", "as dp-sgd")):
        hows = ("public", "best of a random number", "permute-and-flip")
        values = [found.get((case, epsilon, name, how)) for how in hows]
        lines.append([case, epsilon, name, *("" if each is None else told(each) for each in values)])
    return _table(["case", "ε", "method", "public part", "best of a random number", "permute-and-flip"], lines)


def peers() -> str:
    """The same DP-SGD in three libraries, and the ε that each finds for the noise that is certified here."""
    rows = [row for row in sweep.rows() if row["chosen"] in ("public", "as dp-sgd")]
    found = scores(rows, "case", "epsilon", "method")
    own = {
        (row["case"], row["epsilon"], row["method"]): match[1]
        for row in rows
        if (match := re.search(r"own_epsilon=(\S+)", row["settings"]))
    }
    lines = []
    for case, epsilon in dict.fromkeys(key[:2] for key in own):
        cells = [told(found[case, epsilon, "dp-sgd"])]
        for peer in sweep.PEERS:
            at = (case, epsilon, peer)
            cells += [told(found[at]), own[at]] if at in own else ["", ""]
        lines.append([case, epsilon, *cells])
    return _table(["case", "ε", "dpbounds", "JAX-privacy", "its ε", "Opacus", "its ε"], lines)


def recursion() -> str:
    """Every method's smallest gradient over all numbers of steps, and the accuracy there."""
    rows, lines = regime.rows(), []
    for data, epsilon in dict.fromkeys((row["data"], row["epsilon"]) for row in rows):
        for steps in ("40", "160"):
            own = {
                row["method"]: row
                for row in rows
                if (row["data"], row["epsilon"], row["steps"]) == (data, epsilon, steps)
            }
            best = min(own, key=lambda name: float(own[name]["gradient_norm"]))
            cells = []
            for name in regime.METHODS:
                row = own[name]
                text = f"{1000 * float(row['gradient_norm']):.1f} ± {1000 * float(row['half']):.1f}"
                text = f"**{text}**" if name == best else text
                cells.append(f"{text}, {100 * float(row['accuracy']):.1f} %")
            reach = f"{float(own['dp-storm']['reach']):.2f}"
            lines.append([data, epsilon, steps, *cells, reach])
    return _table(["records", "ε", "steps", *regime.METHODS, "reach of STORM"], lines)


def earlier() -> str:
    """The first sweep, whose programme had other models' sizes, settings and δ."""
    with _FIRST.open() as file:
        rows = list(csv.DictReader(file))
    found = scores(rows, "case", "epsilon", "method")
    names = list(dict.fromkeys(key[2] for key in found))
    lines = []
    for case, epsilon in dict.fromkeys(key[:2] for key in found):
        best = max(np.mean(found[case, epsilon, name]) for name in names)
        cells = [told(found[case, epsilon, name]) for name in names]
        marked = [
            f"**{text}**" if np.mean(found[case, epsilon, name]) == best else text
            for name, text in zip(names, cells, strict=True)
        ]
        n = next(row["n"] for row in rows if row["case"] == case)
        lines.append([case, n, epsilon, *marked])
    return _table(["case", "n", "ε", *names], lines)


TABLES = (cases, networks, gradients, paid, peers, recursion, earlier)


def figures() -> dict[str, Callable[[], Any]]:
    """By file name."""
    return {"networks": _accuracy, "networks-recursion": _slopes}


def _accuracy() -> Any:
    found = scores(_of_public(sweep.rows()), "case", "epsilon", "method")
    shown = [case for case in sweep.CASES if any(key[0] == case for key in found)]
    caption = (
        "Held-out accuracy at one certified budget, δ = 1e-6, add-or-remove-one: means of five seeds with 95 % "
        "intervals. Settings are chosen on a public part."
    )
    figure, axes = style.canvas(3.4 * len(shown) + 2.4, 4.4, len(shown), title="Which method pays", caption=caption)
    names = [name for name in ORDER if any(key[2] == name for key in found)]
    for one, case in zip(axes, shown, strict=True):
        for place, epsilon in enumerate(sweep.EPSILONS):
            own = [
                (i, found[case, str(epsilon), name])
                for i, name in enumerate(names)
                if (case, str(epsilon), name) in found
            ]
            if not own:
                continue
            middles, halves = zip(*(mean_and_half(values) for _, values in own), strict=True)
            one.errorbar(
                middles,
                [i + 0.2 * (place - 1) for i, _ in own],
                xerr=halves,
                linestyle="none",
                marker=style.MARKS[place],
                color=style.COLOURS[place],
                capsize=2,
                elinewidth=1,
                label=f"ε = {epsilon}",
            )
        n = next(row["n"] for row in sweep.rows() if row["case"] == case)
        style.titled(one, f"{case}, n = {int(n):,}".replace(",", " "))
        one.set_xlabel("accuracy in per cent")
        one.set_yticks(range(len(names)), names if one is axes[0] else [""] * len(names))
        one.set_ylim(len(names) - 0.5, -0.5)
    style.keyed_below(figure, len(sweep.EPSILONS))
    return figure


def _slopes() -> Any:
    rows = regime.rows()
    shown = [("breast cancer", "1"), ("breast cancer", "4"), ("breast cancer", "8"), ("digits", "8")]
    caption = (
        "‖∇F‖ at the last iterate over the number of steps, each with one look at all records: Cauchy loss, real "
        "records of length 1, full batches. Means of 40 fresh seeds with 95 % intervals; settings are each method's "
        "best of those within 25 % of the least loss."
    )
    figure, axes = style.canvas(12.4, 4.2, 4, title="Where recursion pays: small moves, many steps", caption=caption)
    for one, (data, epsilon) in zip(axes, shown, strict=True):
        for place, name in enumerate(regime.METHODS):
            own = [row for row in rows if (row["data"], row["epsilon"], row["method"]) == (data, epsilon, name)]
            steps, norms, halves = (
                np.array([float(row[each]) for row in own]) for each in ("steps", "gradient_norm", "half")
            )
            one.errorbar(
                steps * 1.025 ** (place - 2),
                norms,
                yerr=halves,
                color=style.COLOURS[place],
                marker=style.MARKS[place],
                linestyle=style.DASHES[place],
                capsize=2,
                elinewidth=1,
                label=name,
            )
        style.titled(one, f"{data}, ε = {epsilon}")
        one.set_xscale("log", base=2)
        one.set_yscale("log")
        ticks = sorted({int(row["steps"]) for row in rows})
        one.set_xticks(ticks, [str(each) for each in ticks])
        one.set_xlabel("steps")
        style.plain_decades(one.yaxis)
    axes[0].set_ylabel("norm of the gradient")
    style.keyed_below(figure, len(regime.METHODS))
    return figure


def darkened(figure: Any) -> Any:
    """The same figure for dark pages."""
    from matplotlib.colors import to_hex

    turned = {to_hex(old): new for old, new in (_DARK | _BRIGHT).items()}
    figure.set_facecolor(_DARK["white"])
    for one in figure.axes:
        one.set_facecolor(_DARK["white"])
        one.grid(color=_DARK["#dddddd"])
        one.tick_params(colors=_DARK[style.SOFT], labelcolor=_DARK[style.INK], which="both")
    for part in figure.findobj():
        for name in ("color", "edgecolor", "markerfacecolor", "markeredgecolor"):
            read, write = getattr(part, f"get_{name}", None), getattr(part, f"set_{name}", None)
            if read is None or write is None:
                continue
            own = read()
            colour = own if isinstance(own, str) or len(own) != 1 else own[0]
            try:
                new = turned.get(to_hex(colour))
            except ValueError:
                continue
            if new is not None:
                write(new)
    return figure


def page() -> None:
    """Replace the tables, draw the figures."""
    path = DOCS / "networks.md"
    text = path.read_text(encoding="utf-8")
    for made in TABLES:
        name = made.__name__
        pattern = rf"<!-- table {name} -->.*?<!-- end of {name} -->"
        new = f"<!-- table {name} -->\n\n{made()}\n\n<!-- end of {name} -->"
        text = re.sub(pattern, lambda _, new=new: new, text, flags=re.DOTALL)  # type: ignore[misc]
    path.write_text(text, encoding="utf-8")
    for name, draw in figures().items():
        style.save(draw(), DOCS / f"{name}.png")
        style.save(darkened(draw()), DOCS / f"{name}-dark.png")
