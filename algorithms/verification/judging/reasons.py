"""Why a statement has no check: one honest reason for each whose algorithm exists and which no run is compared with.

A test compares this list with the library and the suite: every such statement has a check or a reason, and none has
both. A reason may name statements that do have a check, where these carry what can be seen of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

_WX, _WCX, _TK = "wang-xu-2019", "wang-chen-xu-2019", "tholeti-kalyani-2020"
_GLOT, _LUW, _OWN = "ganesh-liu-oh-thakurta-2023", "lowy-ullman-wright-2024", "dpbounds"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no run is compared with a statement.

    Attributes:
        why: In one sentence.
        checked: Ids of statements that have a check and stand for what can be seen of this one.
    """

    why: str
    checked: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.why + (f": {', '.join(self.checked)}" if self.checked else "")


def _reason(why: str, *checked: str) -> Reason:
    return Reason(why, checked)


_same = partial(_reason, "the same numbers, in another form, have a check")
_describes = partial(_reason, "it describes and promises nothing by itself; what is promised of it has a check")
_follows = partial(_reason, "it follows by arithmetic alone from what has a check")
_explicit = partial(_reason, "it has no constants to compare a run with; the theorem with constants has a check")
_figure = partial(_reason, "a figure of measurements; what its methods promise has a check")
_population = partial(
    _reason, "it is about the distribution of the records; these runs see one dataset only, and that part has a check"
)


def _escape(*checked: str) -> Reason:
    why = f"disputed: its proof rests on an escape from saddle points that is refuted as stated ({_GLOT}/lemma-3.4)"
    return Reason(f"{why}, and it has no constants{'; what survives has a check' if checked else ''}", checked)


_LOWER = Reason("a lower bound on all algorithms at once: no run of one of them can attain or refute it")
_FALSE = Reason("refuted by an example in its errata, which the tests of the library evaluate")
_TABLE = Reason("a table of rates of other statements, without constants")
_NOT_BUILT = Reason(
    "about an algorithm that is quoted and not built here; for the case k = 2 a restarted one has a check",
    (f"{_OWN}/polyak-lojasiewicz-restarted-spider",),
)
_EXPONENTIAL = Reason(
    "exponential time: the mechanism chooses from a net in up to (εn)^(6/7) dimensions; the projection has a check",
    (f"{_LUW}/lemma-8.1",),
)
_LAWS = Reason(
    "a distance between a sampler's distribution and its target that no sample reveals: a divergence of high order, "
    "or a total variation of order δ, sits where samples do not fall"
)
_ONE_STEP = Reason(
    "it holds of every single step, whatever the estimate, so that nothing is random; its sum over a run has a check",
    (f"{_GLOT}/lemma-3.7/explicit",),
)
_TEMPERATURE = Reason(
    "asymptotic: its unnamed constant is exponential in the inverse temperature; the case with constants has a check",
    (f"{_OWN}/langevin-under-pl",),
)

_MADE_EXPLICIT = {
    _GLOT: ("lemma-3.3", "lemma-3.7", "theorem-5.6", "theorem-5.8"),
    _LUW: ("corollary-4.3", "corollary-5.3", "lemma-3.1", "lemma-e.3", "theorem-3.2"),
    _WCX: ("theorem-1", "theorem-4", "theorem-5", "theorem-6", "theorem-8"),
    _WX: ("theorem-6",),
}
_ALIKE = (
    (_escape(), _LUW, ("corollary-4.4", "corollary-7.1", "corollary-e.4", "lemma-e.1", "theorem-e.2")),
    (_FALSE, _GLOT, ("lemma-3.4", "lemma-5.3")),
    (_FALSE, _WCX, ("remark-2", "theorem-3")),
    (
        _LOWER,
        _GLOT,
        ("theorem-5.9", "theorem-5.9/explicit", "theorem-5.10/explicit", "theorem-5.11", "theorem-5.11/explicit"),
    ),
    (_LOWER, _LUW, ("lemma-6.5",)),
    (
        _LOWER,
        _OWN,
        (
            "lower-bound/gradient-norm",
            "lower-bound/sosp",
            "lower-bound/population-gradient-norm",
            "lower-bound/population-sosp",
            "lower-bound/convex",
            "lower-bound/strongly-convex",
            "lower-bound/population-convex",
        ),
    ),
    (_TABLE, _GLOT, ("table-2", "table-3")),
    (_EXPONENTIAL, _LUW, ("corollary-8.2", "corollary-f.1")),
    (_NOT_BUILT, _LUW, ("corollary-6.3", "lemma-6.2")),
    (_TEMPERATURE, _WCX, ("remark-1", "theorem-2")),
    (_LAWS, _GLOT, ("lemma-d.2", "theorem-d.1")),
    (_ONE_STEP, _GLOT, ("lemma-3.5", "lemma-3.5/explicit")),
)
REASONS: Mapping[str, Reason] = MappingProxyType(
    {
        f"{paper}/{item}": _explicit(f"{paper}/{item}/explicit")
        for paper, items in _MADE_EXPLICIT.items()
        for item in items
    }
    | {f"{paper}/{item}": reason for reason, paper, items in _ALIKE for item in items}
    | {
        f"{_OWN}/ball-noise-at-fixed-delta": Reason(
            "it compares bounds at their best radius, which no single run does; for single records these have a check",
            (f"{_TK}/algorithm-1/explicit", f"{_TK}/theorem-1/explicit"),
        ),
        f"{_OWN}/second-order-path-noise/warm-start/rate": _explicit(
            f"{_OWN}/second-order-path-noise/warm-start/iterative"
        ),
        f"{_OWN}/population-tree-spider": _explicit(f"{_OWN}/population-tree-spider/explicit"),
        # Ganesh, Liu, Oh & Thakurta 2023
        f"{_GLOT}/lemma-3.6": _escape(f"{_GLOT}/theorem-4.2/explicit"),
        f"{_GLOT}/lemma-5.3/explicit": Reason(
            "the regularised risk is a step on the way to the risk, whose bound has a check",
            (f"{_GLOT}/theorem-5.6/explicit",),
        ),
        f"{_GLOT}/theorem-4.2": _escape(f"{_GLOT}/theorem-4.2/explicit"),
        f"{_GLOT}/theorem-4.6": _escape(f"{_GLOT}/theorem-4.6/explicit"),
        f"{_GLOT}/theorem-5.7": Reason(
            "it has no constants; the same risks of the exact sampler, with constants, have a check",
            (f"{_GLOT}/theorem-5.6/explicit",),
        ),
        # Lowy, Ullman & Wright 2024
        f"{_LUW}/equation-2": _follows(f"{_LUW}/lemma-4.2", f"{_LUW}/lemma-4.2/explicit"),
        f"{_LUW}/lemma-3.3": _escape(f"{_LUW}/algorithm-1/explicit"),
        f"{_LUW}/proposition-d.1": _same(f"{_LUW}/proposition-d.1/explicit"),
        f"{_LUW}/theorem-3.4": _escape(f"{_LUW}/theorem-3.2/explicit"),
        # Tholeti & Kalyani 2020
        f"{_TK}/equation-7": _same(f"{_TK}/theorem-1/explicit"),
        f"{_TK}/theorem-1": _same(f"{_TK}/theorem-1/explicit"),
        f"{_TK}/theorem-2": Reason(
            "asymptotic: it holds below a step size that is not named; what has constants has a check",
            (f"{_TK}/algorithm-1/explicit",),
        ),
        # Wang, Chen & Xu 2019
        f"{_WCX}/equation-1": _describes(f"{_OWN}/langevin-under-pl"),
        f"{_WCX}/equation-2": _describes(f"{_OWN}/langevin-under-pl"),
        f"{_WCX}/remark-3": _explicit(f"{_WCX}/theorem-9/explicit"),
        # Wang & Xu 2019
        f"{_WX}/corollary-1": _explicit(f"{_WX}/theorem-6/explicit"),
        f"{_WX}/figure-1": _figure(f"{_WX}/theorem-2/explicit"),
        f"{_WX}/figure-2": _figure(f"{_WX}/theorem-2/explicit"),
        f"{_WX}/theorem-3": _population(f"{_WX}/theorem-2/explicit"),
    }
)
