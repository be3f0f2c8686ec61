"""The questions of each page, their first controls, and their downloads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dpbounds.app.controls import Control, Pairs, command, controls

PAGES = {
    "noise": "Noise",
    "compare": "Compare",
    "plan": "Plan",
    "library": "Library",
    "evidence": "Evidence",
}


@dataclass(frozen=True, slots=True)
class Slider:
    """Powers of ten between which a number is moved."""

    name: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class View:
    """One question of a page.

    Attributes:
        first: Controls that are always shown; all others are behind "more options".
        example: The question of a new page.
        extra: A function of ``extras`` that adds to the answer.
        as_json: The answer is taken as JSON and shown as a table.
        long: Whether it takes a while, so that following a link does not start it.
        places: Fields that are not an option: a point on a map.
    """

    verb: str
    title: str
    first: tuple[str, ...]
    example: Pairs = ()
    extra: str = ""
    as_json: bool = False
    long: bool = False
    sliders: tuple[Slider, ...] = ()
    places: tuple[str, ...] = ()


_TRAINING = ("sampling", "sample-rate", "steps", "relation")
_SPENT = (("noise-multiplier", "1"), ("sample-rate", "0.01"), ("steps", "10000"))
_UNIT = (("n", "1e6"), ("d", "100"), ("epsilon", "1"), ("delta", "1e-6"), ("lipschitz", "1"), ("smoothness", "1"))
_LEDGER = (  # a thousand steps of training
    '{"format": "dpbounds/ledger", "version": 2, "releases": [{"mechanism": "gaussian", "noise_multiplier": "1", '
    '"sampling": "poisson", "sample_rate": "1/100", "count": 1000}]}'
)

VIEWS = {
    ("noise", "calibrate"): View(
        "calibrate",
        "How much noise does a budget need?",
        ("target-epsilon", "target-delta", *_TRAINING),
        (("target-epsilon", "1"), ("target-delta", "1e-6"), ("sample-rate", "0.01"), ("steps", "10000")),
        extra="code",
    ),
    ("noise", "epsilon"): View(
        "epsilon",
        "What ε has a training run spent?",
        ("delta", "noise-multiplier", *_TRAINING),
        (("delta", "1e-6"), *_SPENT),
        extra="code",
    ),
    ("noise", "delta"): View(
        "delta",
        "What δ has a training run spent?",
        ("epsilon", "noise-multiplier", *_TRAINING),
        (("epsilon", "7"), *_SPENT),
        extra="code",
    ),
    ("noise", "remaining"): View(
        "remaining",
        "What is left of a budget after a run?",
        ("ledger", "target-epsilon", "target-delta", "relation", "dataset-size"),
        (("ledger", _LEDGER), ("target-epsilon", "4"), ("target-delta", "1e-6")),
        extra="code",
    ),
    ("noise", "ball"): View(
        "ball",
        "What does uniform-ball noise spend?",
        ("sensitivity", "dimension", "target-delta", "radius", "dataset-size", "steps"),
        (
            *(("sensitivity", "2"), ("dimension", "10"), ("target-delta", "1e-3")),
            *(("dataset-size", "100000"), ("steps", "1000")),
        ),
    ),
    ("compare", "regimes"): View(
        "regimes",
        "Who wins where, and by how much?",
        ("metric",),
        (("metric", "gradient-norm"), ("at.n", "1e6"), ("at.d", "100"), ("at.epsilon", "1")),
        extra="regimes",
        sliders=(Slider("at.n", 1, 12), Slider("at.d", 0.5, 9), Slider("at.epsilon", -4, 0)),
        places=("at.n", "at.d", "at.epsilon"),
    ),
    ("compare", "table"): View(
        "table",
        "A table of results, with your rows, columns and values",
        ("name", "at", "rows", "columns", "format", "letters"),
        (("name", "gradient-norm"), ("at", "n=1e6,d=100,epsilon=1,delta=1e-6")),
    ),
    ("compare", "statements"): View(
        "compare",
        "Two statements at the same values",
        ("first", "second", "words", "parts"),
        (
            *(("first", "wang-xu-2019/theorem-2"), ("second", "cited/wang-ye-xu-2017/main-result")),
            ("words", "n=1e6 d=100 epsilon=1 delta=1e-6"),
        ),
    ),
    ("plan", "plan"): View(
        "plan",
        "The best guarantee for given numbers",
        (
            *("metric", "n", "d", "epsilon", "delta", "lipschitz", "smoothness", "initial-gap"),
            *("gradients-limit", "steps-limit", "batch-size", "memory-limit"),
        ),
        (("metric", "gradient-norm"), *_UNIT, ("initial-gap", "1")),
        as_json=True,
        sliders=(Slider("n", 2, 9), Slider("epsilon", -2, 1), Slider("gradients-limit", 4, 15)),
    ),
    ("library", "statements"): View(
        "theorems", "All statements", ("search", "paper", "metric", "status"), as_json=True
    ),
    ("library", "statement"): View(
        "show", "One statement", ("name",), (("name", "wang-xu-2019/theorem-2/explicit"),), extra="statement"
    ),
    ("library", "errata"): View("errata", "Errata of the papers", ("paper", "severity"), as_json=True),
    ("evidence", "verify"): View(
        "verify",
        "Does an algorithm agree with its theorem?",
        ("names", "full", "jobs"),
        (("names", "tholeti-kalyani-2020/equation-6"),),
        as_json=True,
        long=True,
    ),
    ("evidence", "tightness"): View("tightness", "How tight is each bound?", ("name",), as_json=True),
    ("evidence", "audit"): View(
        "audit",
        "What ε does an attack on an algorithm prove?",
        ("name", "epsilon", "delta", "seconds", "runs"),
        (("name", "dp-pgd"), ("seconds", "20")),
        as_json=True,
        long=True,
    ),
    ("evidence", "explain"): View(
        "explain",
        "Where does the rest of a bound go?",
        ("name",),
        (("name", "dp-pgd"), ("repetitions", "16")),
        long=True,
    ),
}

# what else there is, under headings; all that has none is under "More options"
GROUPS = {
    "How batches are drawn": (
        *("epochs", "batch-size", "dataset-size", "max-batch-size", "batches", "participations", "redraw", "same-bins"),
    ),
    "Other noise, or another unknown": (
        *("solve", "noise-multiplier", "noise-stddev", "clipping-norm", "noise", "bound"),
    ),
    "Correlated noise": (
        *("matrix", "toeplitz", "tree", "bands", "error", "participation", "separation", "at-most", "groups"),
    ),
    "Only the last iterate is published": ("release", "smoothness-step", "weight-decay-step", "order"),
}

# what may be taken away: the option that makes it, its file ("" for what is printed), and what it is
_FILES = {
    "statement": ("--statement", "", "Privacy statement"),
    "certificate": ("--certificate", "certificate.json", "Certificate"),
    "report": ("--report", "report.html", "Report to sign"),
    "picture": ("--plot", "picture.svg", "Picture"),
    "curve": ("--curve", "curve.csv", "Curve (CSV)"),
    "trade-off": ("--trade-off", "trade-off.csv", "Attacker's errors (CSV)"),
    "json": ("--json", "", "JSON"),
    "text": ("", "", "Text, as on a terminal"),
}


@cache
def files(verb: str) -> dict[str, tuple[str, str, str]]:
    """Return the files that a verb can write: option, file and words by kind."""
    options = {"", *(option for param in command(verb).params for option in param.opts)}
    without = ("json",) if verb == "table" else ()  # it says there whether files are fresh
    return {kind: one for kind, one in _FILES.items() if one[0] in options and kind not in without}


def grouped(view: View) -> dict[str, list[Control]]:
    """Return the controls that are not always shown, under their headings."""
    found: dict[str, list[Control]] = {}
    for one in controls(view.verb):
        if one.name not in view.first:
            title = next((title for title, names in GROUPS.items() if one.name in names), "More options")
            found.setdefault(title, []).append(one)
    return dict(sorted(found.items(), key=lambda pair: [*GROUPS, "More options"].index(pair[0])))


def views_of(page: str) -> dict[str, View]:
    """Return the questions of a page."""
    return {name: view for (home, name), view in VIEWS.items() if home == page}
