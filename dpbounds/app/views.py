"""The questions of each page, their first controls, and their downloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from dpbounds.app.controls import Pairs, command

PAGES = {
    "noise": "Privacy",
    "check": "Certificate",
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
        about: What the answer is good for, in one sentence.
        first: Controls that are always shown; those of the sampling scheme follow "sampling".
        example: The question of a new page.
        extra: A function of ``extras`` that adds to the answer.
        as_json: The answer is taken as JSON and shown as a table.
        long: Whether it runs programs for minutes: it is sent by a button, and a link does not start it.
        waits: Whether a new page waits for its button, as the example takes seconds.
        takes: The expected time; "" where ``expected.py`` has it by sampling schemes, or the answer takes a second.
        places: Fields that are not an option: a point on a map.
        without: Controls of the verb that belong to another question.
        alone: Whether all other controls belong to other questions, and only the first ones are shown.
        changed: Fields of :class:`Control` that differ from the verb's, by control.
    """

    verb: str
    title: str
    about: str
    first: tuple[str, ...]
    example: Pairs = ()
    extra: str = ""
    as_json: bool = False
    long: bool = False
    waits: bool = False
    takes: str = ""
    sliders: tuple[Slider, ...] = ()
    places: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    alone: bool = False
    changed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Return whether a control of the verb belongs to the question."""
        return name in self.first or not (self.alone or name in self.without)

    @property
    def opens_filled(self) -> bool:
        """Whether a new page has the example in its form, and computes nothing before its button is pressed."""
        return self.waits or self.long


_TRAINING = ("sampling", "relation")
_POISSON = (("sampling", "poisson"), ("sample-rate", "0.01"), ("steps", "10000"))
_SPENT = (("noise-multiplier", "1"), *_POISSON)
_UNIT = (("n", "1e6"), ("d", "100"), ("epsilon", "1"), ("delta", "1e-6"), ("lipschitz", "1"), ("smoothness", "1"))
_LEDGER = (  # a thousand steps of training
    '{"format": "dpbounds/ledger", "version": 2, "releases": [{"mechanism": "gaussian", "noise_multiplier": "1", '
    '"sampling": "poisson", "sample_rate": "1/100", "count": 1000}]}'
)

_SCORES = "score,in\n" + "2.5,1\n0.5,0\n" * 20  # twenty canaries of each kind, which the scores separate
_OF_RUNS = ("runs", "seconds", "enough", "jobs", "seed")  # options of audits of algorithms
# options of audits of a model of your own
_OF_SCORES = ("scores", "scores-out", "many-runs", "threshold", "guesses", "claim")

VIEWS = {
    ("noise", "calibrate"): View(
        "calibrate",
        "How much noise does a budget need?",
        "Before training: the smallest noise multiplier, or the most steps, with which a privacy budget is kept.",
        ("target-epsilon", "target-delta", "noise-multiplier", *_TRAINING),
        (("target-epsilon", "1"), ("target-delta", "1e-6"), *_POISSON),
        extra="code",
    ),
    ("noise", "epsilon"): View(
        "epsilon",
        "What ε has a training run spent?",
        "After training: the ε that holds for the noise and the steps that were used.",
        ("delta", "noise-multiplier", *_TRAINING),
        (("delta", "1e-6"), *_SPENT),
        extra="code",
    ),
    ("noise", "delta"): View(
        "delta",
        "What δ has a training run spent?",
        "The δ that belongs to a given ε.",
        ("epsilon", "noise-multiplier", *_TRAINING),
        (("epsilon", "7"), *_SPENT),
        extra="code",
    ),
    ("noise", "attacker"): View(
        "attacker",
        "What can an attacker find out?",
        "The meaning of ε and δ: how often an attacker can tell whether a record is in the data.",
        ("noise-multiplier", *_TRAINING, "false-positive-rate", "prior", "baseline"),
        (("noise-multiplier", "1"), ("sampling", "poisson"), ("sample-rate", "0.01"), ("steps", "1000")),
        extra="attacker",
    ),
    ("noise", "remaining"): View(
        "remaining",
        "What is left of a budget after a run?",
        "The steps that a run may still make, from the ledger that it wrote.",
        ("ledger", "target-epsilon", "target-delta", "relation", "dataset-size"),
        (("ledger", _LEDGER), ("target-epsilon", "4"), ("target-delta", "1e-6")),
        extra="code",
    ),
    ("noise", "convert"): View(
        "convert",
        "What does a guarantee mean in another notion of privacy?",
        "Pure ε, (ε, δ), Rényi divergences, ρ of zCDP, μ of Gaussian DP and trade-off curves, by proven theorems.",
        ("to", "from-epsilon", "from-delta", "from-rho", "from-mu", "delta", "epsilon", "relation"),
        (("to", "epsilon"), ("from-rho", "0.1"), ("delta", "1e-6")),
        alone=True,
    ),
    ("noise", "ball"): View(
        "ball",
        "What does uniform-ball noise spend?",
        "Noise that is uniform on a ball, in place of Gaussian noise.",
        ("sensitivity", "dimension", "target-delta", "radius", "dataset-size", "steps"),
        (
            *(("sensitivity", "2"), ("dimension", "10"), ("target-delta", "1e-3")),
            *(("dataset-size", "100000"), ("steps", "1000")),
        ),
    ),
    ("check", "certificate"): View(
        "check",
        "Does a certificate hold?",
        "For a certificate that you were sent: an independent checker proves its claim again, or refutes it.",
        ("file", "ledger"),
        as_json=True,
        waits=True,
        takes="about 1 s for a thousand equal steps",
    ),
    ("compare", "regimes"): View(
        "regimes",
        "Which result is best where?",
        "A map of the best known order of growth, for each number of records and of parameters, and each ε.",
        ("metric",),
        (("metric", "gradient-norm"), ("at.n", "1e6"), ("at.d", "100"), ("at.epsilon", "1")),
        extra="regimes",
        sliders=(Slider("at.n", 1, 12), Slider("at.d", 0.5, 9), Slider("at.epsilon", -4, 0)),
        places=("at.n", "at.d", "at.epsilon"),
    ),
    ("compare", "table"): View(
        "table",
        "A table of results, with your rows, columns and values",
        "Tables for a paper or a talk, in Markdown, LaTeX or CSV.",
        ("name", "at", "rows", "columns", "format", "letters"),
        (("name", "gradient-norm"), ("at", "n=1e6,d=100,epsilon=1,delta=1e-6")),
    ),
    ("compare", "statements"): View(
        "compare",
        "Two theorems at the same values",
        "The values of two theorems side by side, with their ratio.",
        ("first", "second", "words", "parts"),
        (
            *(("first", "wang-xu-2019/theorem-2"), ("second", "cited/wang-ye-xu-2017/main-result")),
            ("words", "n=1e6 d=100 epsilon=1 delta=1e-6"),
        ),
    ),
    ("plan", "plan"): View(
        "plan",
        "The best guarantee for given numbers",
        "All theorems that apply to your numbers, ranked by what they guarantee, with the commands that run them.",
        (
            *("metric", "n", "d", "epsilon", "delta", "lipschitz", "smoothness", "initial-gap"),
            *("gradients-limit", "steps-limit", "batch-size", "memory-limit"),
        ),
        (("metric", "gradient-norm"), *_UNIT, ("initial-gap", "1")),
        as_json=True,
        waits=True,
        takes="about 10 s",
        sliders=(Slider("n", 2, 9), Slider("epsilon", -2, 1), Slider("gradients-limit", 4, 15)),
    ),
    ("library", "statements"): View(
        "theorems",
        "All theorems",
        "Theorems, algorithms and definitions, by paper, with their status and known errors.",
        ("search", "paper", "metric", "status"),
        as_json=True,
    ),
    ("library", "statement"): View(
        "show",
        "One theorem",
        "A theorem with its conditions and formulas, evaluated at your values.",
        ("name",),
        (("name", "wang-xu-2019/theorem-2/explicit"),),
        extra="statement",
    ),
    ("library", "errata"): View(
        "errata",
        "Errata of the papers",
        "Errors in published versions, with corrections.",
        ("paper", "severity"),
        as_json=True,
    ),
    ("evidence", "verify"): View(
        "verify",
        "Does an algorithm agree with its theorem?",
        "Runs of an algorithm, compared with the guarantee of its theorem.",
        ("names", "full", "jobs"),
        (("names", "tholeti-kalyani-2020/equation-6"),),
        as_json=True,
        long=True,
        takes="5 to 60 s for each theorem, at small size",
    ),
    ("evidence", "tightness"): View(
        "tightness",
        "How tight is each bound?",
        "Bounds beside problems on which they are nearly attained.",
        ("name",),
        as_json=True,
    ),
    ("evidence", "audit"): View(
        "audit",
        "What ε does an attack on an algorithm prove?",
        "Attacks on an algorithm: a lower bound on its ε, with a stated confidence.",
        ("name", "epsilon", "delta", "seconds", "runs"),
        (("name", "dp-pgd"), ("seconds", "20")),
        as_json=True,
        long=True,
        takes="at most {seconds} s",
        without=_OF_SCORES,
    ),
    ("evidence", "scores"): View(
        "audit",
        "What ε do scores of canaries show?",
        "For a model of your own: scores of records that were in its data or not give a lower bound on its ε.",
        ("scores", "one-run", "many-runs", "delta", "epsilon", "relation"),
        (("scores", _SCORES), ("one-run", "yes"), ("delta", "1e-5"), ("epsilon", "1")),
        as_json=True,
        waits=True,
        takes="about 1 s",
        without=("name", "mutations", *_OF_RUNS),
        changed={
            "scores": {"required": True, "help": "A CSV file with the columns score and in (1 or 0)."},
            "one-run": {"help": "All canaries were in one run, each by a fair coin."},
            "many-runs": {"help": "Each score is of an independent run."},
            "delta": {"help": "δ of the lower bound, and of the claim."},
            "epsilon": {"default": "", "help": "A claimed ε, which the lower bound is compared with."},
            "relation": {
                "default": "add-or-remove-one",
                "empty": "add-or-remove-one (default)",
                "help": "Neighbouring relation: what the coin of a canary decides.",
            },
        },
    ),
    ("evidence", "explain"): View(
        "explain",
        "Which proof step loses the most?",
        "The steps of a proof, measured on runs: where a bound is larger than it has to be.",
        ("name", "repetitions"),
        (("name", "dp-pgd"), ("repetitions", "16")),
        long=True,
        takes="about 60 s",
    ),
}

# headings of controls that are not always shown; those without one are under "More options"
GROUPS = {
    "Batch size, epochs": (
        *("sample-rate", "steps", "epochs", "batches", "batch-size", "max-batch-size", "dataset-size"),
        *("participations", "redraw", "same-bins"),
    ),
    "Other noise, or another unknown": (
        *("solve", "noise-multiplier", "noise-stddev", "clipping-norm", "noise", "bound", "noise-variance"),
    ),
    "An attacker in place of a budget": ("target-advantage", "target-tpr", "at-fpr", "target-mu", "least-rate"),
    "Correlated noise": (
        *("matrix", "toeplitz", "tree", "bands", "error", "participation", "separation", "at-most", "groups"),
    ),
    "Only the last iterate is published": ("release", "smoothness-step", "weight-decay-step", "order"),
}

# downloads: the option that makes one, its file ("" for printed text), and its name
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


def views_of(page: str) -> dict[str, View]:
    """Return the questions of a page."""
    return {name: view for (home, name), view in VIEWS.items() if home == page}
