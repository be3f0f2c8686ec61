"""The parts of the pages that are made from the code, between ``<!-- generated: NAME -->`` and ``<!-- end -->``.

``python docs/generated.py`` writes them again; a test says when that is needed.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import click

import dpbounds as dp
from dpbounds.algorithms import PrivacyBudget
from dpbounds.algorithms.verification.catalogue import all_examples
from dpbounds.cli import _commands
from dpbounds.privacy.accountants.arrows import ARROWS, NOTIONS, Arrow
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.theorems.registry import library
from dpbounds.theorems.vocabulary import Metric

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(Path(__file__).parent.rglob("*.md")), ROOT / "CONTRIBUTING.md"]
_PART = re.compile(r"(?<=<!-- generated: )(\w+)( -->\n).*?(?=^<!-- end -->)", re.DOTALL | re.MULTILINE)


def _table(head: str, rows: Iterator[str]) -> str:
    lines = [head, "| " + " | ".join("---" for _ in head.split("|")[1:-1]) + " |", *rows]
    return "\n" + "\n".join(lines) + "\n\n"


def verbs() -> str:
    """Every verb and the first sentence of its help."""
    context = click.Context(_commands)
    commands = (_commands.get_command(context, verb) for verb in _commands.list_commands(context))
    return _table(
        "| verb | what it does |",
        (f"| `dpbounds {each.name}` | {each.get_short_help_str(200).rstrip('.')} |" for each in commands if each),
    )


MECHANISMS: dict[str, Callable[[str], dp.Mechanism]] = {
    "`Gaussian`": lambda relation: dp.Gaussian(2),
    "`Laplace`, one dimension": lambda relation: dp.Laplace(2, dimension=1),
    "`Laplace`, any dimension": lambda relation: dp.Laplace(2),
    "`DiscreteLaplace`": lambda relation: dp.DiscreteLaplace(2),
    "`DiscreteGaussian`, one dimension": lambda relation: dp.DiscreteGaussian(2, dimension=1),
    "`DiscreteGaussian`, any dimension": lambda relation: dp.DiscreteGaussian(2, 2),
    "`TruncatedDiscreteLaplace`, `TruncatedDiscreteGaussian`": lambda relation: dp.TruncatedDiscreteLaplace(2, reach=9),
    "`Skellam`, one dimension": lambda relation: dp.Skellam(4, dimension=1),
    "`NoiseInShares`": lambda relation: dp.NoiseInShares("gaussian", 1, 4),
    "`MixtureOfGaussians`": lambda relation: dp.MixtureOfGaussians(2, {0: "0.5", 1: "0.3", 2: "0.2"}),
    "`UniformBall`": lambda relation: dp.UniformBall(9, 3),
    "`RandomizedResponse`": lambda relation: dp.RandomizedResponse(1),
    "`ExponentialMechanism`": lambda relation: dp.ExponentialMechanism(1, relation=relation),
    "`PermuteAndFlip`": lambda relation: dp.PermuteAndFlip(1, relation=relation),
    "`AboveThreshold`": lambda relation: dp.AboveThreshold(1, relation=relation),
    "`PureDP`": lambda relation: dp.PureDP(1, relation=relation),
    "`ApproximateDP`": lambda relation: dp.ApproximateDP(1, "1e-6", relation=relation),
    "`ZCDP`": lambda relation: dp.ZCDP(1, relation=relation),
    "`RenyiDP`": lambda relation: dp.RenyiDP(((2, 1),), relation=relation),
    "`GaussianDP`": lambda relation: dp.GaussianDP(1, relation=relation),
    "`ProfileDP`": lambda relation: dp.ProfileDP(((1, "1e-3"),), relation=relation),
    "`MatrixMechanism`": lambda relation: dp.MatrixMechanism(2, dp.Toeplitz([1], 2), "single", groups="content"),
}
SAMPLINGS: dict[str, Callable[[dp.Mechanism], dp.Mechanism]] = {
    "full batch": lambda mechanism: mechanism,
    "Poisson samples": lambda mechanism: dp.PoissonSampled(mechanism, "0.1"),
    "Poisson by user": lambda mechanism: dp.PoissonByUser(mechanism, "0.1"),
    "without replacement": lambda mechanism: dp.SampledWithoutReplacement(mechanism, 2, 20),
    "truncated Poisson": lambda mechanism: dp.TruncatedPoisson(mechanism, "0.1", 8, 20),
    "with replacement": lambda mechanism: dp.SampledWithReplacement(mechanism, 2, 20),
    "shuffled": lambda mechanism: dp.Shuffled(mechanism, 10),
    "random allocation": lambda mechanism: dp.RandomlyAllocated(mechanism, 20),
}


def known(mechanism: dp.Mechanism, relation: str) -> str:
    """What is known of two releases of it: ``tight``, ``bound`` or ``refused``."""
    try:
        classes = neighbour_classes(mechanism**2, dp.Relation(relation))
    except dp.UnsupportedMechanism:
        return "refused"
    return "tight" if classes.tight else "bound"


def mechanisms() -> str:
    """What is known of each mechanism and each way to draw batches, under each relation."""
    return _table(
        f"| mechanism | {' | '.join(SAMPLINGS)} |",
        (
            f"| {name} | "
            + " | ".join(
                " / ".join(known(sampled(make(relation)), relation) for relation in dp.Relation)
                for sampled in SAMPLINGS.values()
            )
            + " |"
            for name, make in MECHANISMS.items()
        ),
    )


def algorithms() -> str:
    """Every algorithm: the names by which ``audit`` knows it, its class, and the first sentence about it."""
    budget = PrivacyBudget.of(1, "1e-5")
    names: dict[type, list[str]] = {}
    for each in all_examples():
        if not each.printed:
            names.setdefault(type(each.calibrated(budget)[0]), []).append(f"`{each.name}`")
    return _table(
        "| names | class | what it is |",
        (
            f"| {', '.join(called)} | `{kind.__name__}` | {(kind.__doc__ or '').splitlines()[0].rstrip('.')} |"
            for kind, called in names.items()
        ),
    )


TOPICS = {
    "First-order stationary points": (
        *(Metric.GRADIENT_NORM, Metric.PROJECTED_GRADIENT_NORM),
        *(Metric.POPULATION_GRADIENT_NORM, Metric.FRANK_WOLFE_GAP),
    ),
    "Second-order stationary points": (Metric.SOSP, Metric.POPULATION_SOSP),
    "Excess risk": (Metric.EXCESS_EMPIRICAL_RISK, Metric.EXCESS_POPULATION_RISK),
    "Generalisation, estimation errors and sample sizes": (
        *(Metric.GENERALISATION_GAP, Metric.ESTIMATION_ERROR, Metric.SAMPLE_SIZE),
    ),
    "Distances, functional inequalities and numbers of steps": (
        *(Metric.DISTANCE, Metric.FUNCTIONAL_INEQUALITY, Metric.COUNT),
    ),
    "Privacy": (Metric.PRIVACY,),
    "Definitions, assumptions and problems": (Metric.NONE,),
}


def anchors() -> dict[str, str]:
    """Return the section of each theorem in the pages of ``tables``, by its id, as a link from a page of ``docs``."""
    found: dict[str, str] = {}
    for page in sorted((ROOT / "tables").glob("*.md")):
        text, taken = page.read_text(encoding="utf-8"), Counter[str]()
        for title, after in re.findall(r"^#{1,3} (.+)$\n(?:\n`([^`]+)` ·)?", text, flags=re.MULTILINE):
            anchor = re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")
            if after:
                found[after] = f"../tables/{page.name}#{anchor}{f'-{taken[anchor]}' * (taken[anchor] > 0)}"
            taken[anchor] += 1
    return found


def _source(paper: str) -> str:
    """Authors and year of a paper, by its id."""
    *authors, year = paper.removeprefix("cited/").split("-")
    names = [name.capitalize() for name in authors if name not in ("et", "al")]
    if not names:
        return paper
    joined = f"{names[0]} et al." if "al" in authors else " & ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{joined} {year}"


def topics() -> str:
    """Return every theorem of the library, in a table for each topic."""
    links, theorems = anchors(), library()
    assert {one.metric for one in theorems} <= {metric for metrics in TOPICS.values() for metric in metrics}
    sections = []
    for topic, metrics in TOPICS.items():
        chosen = sorted((one for one in theorems if one.metric in metrics), key=lambda one: metrics.index(one.metric))
        rows = (
            f"| [{one.number}]({links[one.id]}) | {_source(one.paper)} | {one.title} "
            f"| {'' if one.metric is Metric.NONE else str(one.metric).replace('-', ' ')} | {one.status} |"
            for one in chosen
        )
        sections.append(
            f"\n## {topic}\n" + _table("| theorem | source | about | quantity | status |", rows).rstrip("\n")
        )
    return "\n".join(sections) + "\n\n"


def layers() -> str:
    """The import contracts: each line imports only from the lines below it, and not from its own."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    blocks = []
    for contract in settings:
        if contract["type"] == "layers":
            drawn = (layer.replace("dpbounds.algorithms.", "").replace("dpbounds.", "") for layer in contract["layers"])
            blocks.append("\n".join((contract["name"], *(f"  {line}" for line in drawn))))
    return "\n```\n" + "\n\n".join(blocks) + "\n```\n\n"


def arrows() -> str:
    """Return what each guarantee says in each notion, a table for every guarantee."""
    sections = []
    for start, title in GUARANTEES.items():
        rows = (
            f"| {to} | {arrow.theorem or 'none'} | {_tightness(arrow)} | {arrow.none} | {arrow.source}; {arrow.proof} |"
            for to in NOTIONS
            if (arrow := ARROWS[start, to])
        )
        head = "| `to` | what follows | | no finite number | source, and proof |"
        sections.append(f"\n### {title}\n" + _table(head, rows).rstrip("\n"))
    return "\n".join(sections) + "\n\n"


def _tightness(arrow: Arrow) -> str:
    if not arrow.theorem:
        return ""
    return "tight" if arrow.tight else "bound"


GUARANTEES: dict[type[dp.Mechanism], str] = {
    dp.PureDP: "Pure: `PureDP(epsilon)`",
    dp.ApproximateDP: "Approximate: `ApproximateDP(epsilon, delta)`",
    dp.ProfileDP: "Points of a profile, trade-off functions, distributions of the loss: `ProfileDP(points)`",
    dp.ZCDP: "Concentrated: `ZCDP(rho, xi=0)`",
    dp.RenyiDP: "Rényi: `RenyiDP(points)`",
    dp.GaussianDP: "Gaussian: `GaussianDP(mu)`",
}


PARTS = {part.__name__: part for part in (verbs, mechanisms, algorithms, topics, layers, arrows)}


def refreshed(text: str) -> str:
    """A page with its generated parts made again."""
    return _PART.sub(lambda found: found[1] + found[2] + PARTS[found[1]](), text)


if __name__ == "__main__":
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = refreshed(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"wrote {page}")
