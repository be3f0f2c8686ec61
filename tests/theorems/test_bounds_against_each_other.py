"""Every lower bound with constants against every upper bound with constants on the same quantity, where both apply.

Orders of growth are held against each other in ``tests/rates/test_promises.py``.
"""

import itertools

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.rates.promises import shapes
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.record import Bound, Metric, Side
from dpbounds.theorems.registry import library, theorem

GRID = {
    "dataset_size": (100, 10_000, 10**6),
    "dimension": (4, 50, 1000),
    "epsilon": ("0.1", "1"),
    "delta": ("1e-9",),
    "rho": ("0.01",),
    "lipschitz": (1, 3),
    "diameter": (2,),
}
FIXED = {
    "enclosing_radius": 1,
    "net_radius": "0.05",
    "smoothness": 1,
    "initial_gap": 1,
    "loss_range": 2,
    "steps": 100,
    "noise_stddev": "0.1",
    "step_size": "0.1",
    "inverse_temperature": 10,
    "failure_probability": "0.05",
    "sub_gaussian": 1,
    "candidates": 1000,
    "regularisation": "0.01",
}
GOALS = {metric for metric in Metric if "risk" in metric or "gradient" in metric or "sosp" in metric}


def bounds(side):
    return [
        (one, part)
        for one in library()
        if one.side in (side, Side.TIGHT) and one.metric in GOALS
        for part in one.parts
        if isinstance(part, Bound) and part.unit != Bound(formula=part.formula).unit  # a quantity, not a number
    ]


def special(statement):
    return {one.name for one in statement.assumptions} & set(shapes())


def value(statement, part, point):
    """The value where the statement applies, else None."""
    try:
        found = evaluate(statement, part.name, point)
    except (InvalidValue, NotCertified):
        return None
    return found.value if found.applies is True else None


def test_no_lower_bound_exceeds_an_upper_bound():
    compared = set()
    for point in itertools.product(*GRID.values()):
        at = FIXED | dict(zip(GRID, point, strict=True))
        uppers = [(one, value(*one, at)) for one in bounds(Side.UPPER)]
        for lower in bounds(Side.LOWER):
            below = value(*lower, at)
            if below is None:
                continue
            for upper, above in uppers:
                statement, part = upper
                same = statement.metric == lower[0].metric and not special(statement) and "printed" not in part.name
                if above is not None and same:
                    assert below.exact_lower <= above.exact_upper, (lower[0].id, statement.id, at)
                    compared.add((lower[0].id, statement.id, part.name))
    assert len(compared) >= 3, compared


def test_the_comparison_is_no_formality():
    """Lower and upper bound for private selection are within a factor of a thousand: a wrong power of n would show."""
    lower, upper = (theorem(f"ganesh-liu-oh-thakurta-2023/{name}/explicit") for name in ("theorem-5.11", "theorem-5.8"))
    for size in (10**6, 10**9):
        at = FIXED | {
            "dataset_size": size,
            "dimension": 50,
            "epsilon": 1,
            "delta": "1e-12",
            "lipschitz": 1,
            "diameter": 2,
        }
        below, above = evaluate(lower, None, at).value, evaluate(upper, "tuned", at).value
        assert below.exact_lower <= above.exact_upper < 1000 * below.exact_upper
