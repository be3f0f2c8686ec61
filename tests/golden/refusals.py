"""How algorithms are calibrated from good and bad parameters: what is made, its bounds, or which error is raised."""

from __future__ import annotations

from dpbounds.errors import DpboundsError
from tests.golden import adapters
from tests.golden.recording import Answer

_COMMON = (
    {},
    {"epsilon": 0},
    {"epsilon": "x"},
    {"delta": 2},
    {"relation": "both"},
    {"steps": 0},
    {"steps": 2.5},
    {"steps": 7},
    {"steps": 7, "relation": "add-or-remove-one"},
    {"noise": "loud"},
    {"noise": "secure", "steps": 3},
    {"epsilon": 2, "delta": "1e-7", "steps": 12},
)
_WITHOUT_STEPS = tuple(given for given in _COMMON if "steps" not in given)
_CASES = {
    "dp-pgd": (
        *_COMMON,
        {"step_size": -1},
        {"step_size": "0.1"},
        {"step_size": 9e9},
        {"step_size": 0.3, "steps": 5},
        {"step_size": None},
    ),
    "dp-sgd-poisson": (
        *_COMMON,
        {"distance": -1},
        {"distance": "1/2", "steps": 4},
        {"sampling": 3},
        {"sampling": ("poisson", "1/10"), "steps": 5},
        {"sampling": ("poisson", "1/10")},
        {"sampling": ("without replacement", 10, 10**9)},
        {"variant": "x"},
        {"variant": "as-printed"},
        {"variant": "as-printed", "steps": 9},
        {"output": "best"},
        {"output": "last", "steps": 4},
        {"release": "x"},
        {"release": "last-iterate"},
        {"release": "last-iterate", "output": "last", "steps": 4},
    ),
    "dp-spider": (
        *_COMMON,
        {"anchor_period": 0},
        {"steps": 12, "anchor_period": 4},
        {"steps": 3, "anchor_period": 1},
        {"initial_gap": -1},
        {"initial_gap": "1/5"},
        {"step_size": 0},
        {
            "anchor_sampling": ("poisson", "1/2"),
            "difference_sampling": ("poisson", "1/10"),
            "steps": 12,
            "anchor_period": 4,
        },
        {"anchor_sampling": ("poisson", "1/2"), "steps": 3, "anchor_period": 1},
        {"variant": "as-printed", "steps": 4},
        {"variant": "y"},
        {"anchor_sampling": 5},
    ),
    "dp-fw-l1": (
        *_COMMON,
        {"step_fraction": 2},
        {"start": [9.0]},
        {"method": "noisy-max", "steps": 5},
        {"method": "z"},
        {"variant": "as-printed"},
        {"variant": "as-printed", "steps": 9, "step_fraction": 0.1},
        {"variant": "q"},
        {"failure_probability": 3, "variant": "as-printed"},
    ),
    "net-exponential-mechanism": (
        *_WITHOUT_STEPS,
        {"radius": -1},
        {"radius": 1},
        {"covering_radius": "1/2"},
        {"regularisation": "1/2"},
        {"regularisation": -1},
        {"variant": "as-printed"},
        {"variant": "as-quoted"},
        {"variant": "z"},
        {"largest": 3},
        {"relation": "add-or-remove-one"},
    ),
}
_BOUNDS = ((), ("exact",), ("population",))


def questions():
    """Of one algorithm per family, every set of parameters; a tuple is a way to draw batches."""
    for name, cases in _CASES.items():
        for given in cases:
            yield f"{name} {given}", lambda name=name, given=given: _made(name, given)


def _made(name, given):
    known, problem = adapters.calibrated_example(name, 1, "1e-5")
    more = (known.constraint,) if name == "dp-fw-l1" else ()
    options = {key: adapters.sampling(*one) if isinstance(one, tuple) else one for key, one in given.items()}
    made = type(known).calibrated(problem, *more, **options)
    ends, refused = {}, {}
    for arguments in _BOUNDS:
        try:
            found = made.bound(problem, *arguments)
        except (DpboundsError, TypeError) as error:  # not every algorithm takes every argument
            refused[str(arguments)] = type(error).__name__, str(error)
        else:
            ends[f"bound{arguments}"] = found.exact_lower, found.exact_upper
    return Answer({key: kind for key, (kind, _) in refused.items()}, ends, [repr(made), refused])
