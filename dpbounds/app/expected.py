"""Expected times of questions, in seconds.

Those about a training run depend on the sampling scheme. They were measured on one core of a small machine, for 60 000
records, batches of 256 and 20 epochs, at ε = 3 or noise multiplier 1. The page names that run, as others differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpbounds.app.layout import scheme_in_use
from dpbounds.app.views import View
from dpbounds.cli.questions import allocation, training

_RUN = "of 60 000 records, batches of 256 and 20 epochs"
_SECONDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        training.POISSON: {"calibrate": "1", "epsilon": "1", "delta": "1", "attacker": "3"},
        training.WITHOUT_REPLACEMENT: {"calibrate": "1", "epsilon": "1", "delta": "1", "attacker": "2"},
        training.WITH_REPLACEMENT: {"calibrate": "10", "epsilon": "4", "delta": "3"},
        training.TRUNCATED: {"epsilon": "15", "delta": "12"},
        training.SHUFFLED: {"calibrate": "22", "epsilon": "4", "delta": "18", "attacker": "more than 120"},
        allocation.RANDOM_ALLOCATION: {
            "calibrate": "43",
            "epsilon": "4",
            "delta": "19",
            "attacker": "more than 120",
        },
        allocation.BALLS_IN_BINS: {"calibrate": "38", "epsilon": "2", "delta": "5"},
    }
)


def expected(view: View, given: Mapping[str, str]) -> str:
    """Return the expected time of a question in words; "" where it was not measured.

    Args:
        view: The question.
        given: The values of its form.
    """
    if view.takes:
        return view.takes.format_map({"seconds": "60", **given})
    seconds = _SECONDS.get(scheme_in_use(given), {}).get(view.verb)
    if seconds is None:
        return ""
    return f"{seconds if seconds.startswith('more') else f'about {seconds}'} s for a run {_RUN}"
