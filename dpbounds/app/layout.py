"""The layout of a form: the fields of the sampling scheme that is chosen, and no others.

Which options a scheme has is what the command line says (``cli/questions/training.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dpbounds.app.controls import Control, controls
from dpbounds.app.views import GROUPS, View
from dpbounds.cli.questions.matrices import CORRELATED, MATRICES
from dpbounds.cli.questions.training import (
    FULL_BATCH,
    GAUSSIAN,
    LAST_ITERATE,
    POISSON,
    options_without_use,
    scheme_options,
)

_SAMPLING = "sampling"
_MORE = "More options"
CHOOSERS = (_SAMPLING, "release", "solve", "noise", *MATRICES)  # controls that change which fields a form has


@dataclass(frozen=True, slots=True)
class Layout:
    """The controls of a form, by their places.

    Attributes:
        first: Controls that are always shown.
        groups: Further controls, under the headings that hide them.
        gone: Controls for which the question has no use; their values are kept and not sent.
        values: The values of all controls, the sampling scheme in use among them.
    """

    first: tuple[Control, ...]
    groups: Mapping[str, tuple[Control, ...]]
    gone: tuple[Control, ...]
    values: Mapping[str, str]


def layout(view: View, given: Mapping[str, str]) -> Layout:
    """Lay out the controls of a question for the values that are given."""
    known = {one.name: one for one in controls(view.verb) if view.has(one.name)}
    for name, changes in view.changed.items():
        known[name] = replace(known[name], **changes)
    first, gone, values = list(view.first), frozenset[str](), dict(given)
    if _SAMPLING in known:
        scheme = scheme_in_use(given)
        unknown = given.get("solve", "noise") if "solve" in known else None
        gone = options_without_use(scheme, given.get("noise", GAUSSIAN), unknown)
        after = first.index(_SAMPLING) + 1
        options = scheme_options(scheme)
        first[after:after] = [name for name in options.first if name in known]
        known[_SAMPLING] = replace(known[_SAMPLING], help=options.batch or known[_SAMPLING].help)
        if _SAMPLING not in gone:
            values[_SAMPLING] = scheme
    groups: dict[str, list[Control]] = {}
    for one in known.values():
        if one.name not in first and one.name not in gone:
            groups.setdefault(heading(one.name), []).append(one)
    return Layout(
        tuple(known[name] for name in dict.fromkeys(first) if name not in gone),
        {title: tuple(groups[title]) for title in (*GROUPS, _MORE) if title in groups},
        tuple(one for one in known.values() if one.name in gone),
        values,
    )


def heading(name: str) -> str:
    """Return the heading under which a control is found that is not always shown."""
    return next((title for title, names in GROUPS.items() if name in names), _MORE)


def scheme_in_use(given: Mapping[str, str]) -> str:
    """Return the sampling scheme of a form: Poisson samples where nothing is given, else that of the command line.

    >>> scheme_in_use({}), scheme_in_use({"steps": "2"}), scheme_in_use({"release": "last-iterate"})
    ('poisson', 'full-batch', 'last-iterate')
    """
    if given.get("release") == LAST_ITERATE:
        return LAST_ITERATE
    if any(given.get(name) for name in MATRICES):
        return CORRELATED
    at_a_rate = not given or "sample-rate" in given or given.get("solve") == "sample-rate"
    return given.get(_SAMPLING) or (POISSON if at_a_rate else FULL_BATCH)
