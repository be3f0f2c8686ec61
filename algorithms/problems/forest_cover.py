"""Covertype, the real data of Wang & Xu 2019: a sample that ships with the package, or a file of the same columns."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from dpbounds.algorithms.problems.datasets import Dataset, Range, column_of_numbers, prepared, read_table, two_classes
from dpbounds.algorithms.problems.problem import checked_bound
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike

# Fixed in advance, in round figures, without looking at the records: angles and the hillshade index by their units,
# heights by the terrain of northern Colorado (metres), distances by the extent of a wilderness area (metres).
_RANGES: dict[str, Range] = {
    "Elevation": (1500.0, 4500.0),
    "Aspect": (0.0, 360.0),
    "Slope": (0.0, 90.0),
    "Horizontal_Distance_To_Hydrology": (0.0, 2000.0),
    "Vertical_Distance_To_Hydrology": (-1000.0, 1000.0),
    "Horizontal_Distance_To_Roadways": (0.0, 10000.0),
    "Hillshade_9am": (0.0, 255.0),
    "Hillshade_Noon": (0.0, 255.0),
    "Hillshade_3pm": (0.0, 255.0),
    "Horizontal_Distance_To_Fire_Points": (0.0, 10000.0),
    **{f"Wilderness_Area{area}": (0.0, 1.0) for area in range(1, 5)},
    **{f"Soil_Type{soil}": (0.0, 1.0) for soil in range(1, 41)},
}


def covertype(feature_bound: ExactLike = 1, positive: int = 2, path: str | Path | None = None) -> Dataset:
    """Return Covertype as a problem of two classes: one cover type against the rest.

    Features are shifted and scaled so that fixed public ranges become [-1, 1], an intercept is added, and every record
    is clipped to l2 norm ``feature_bound``.

    Args:
        feature_bound: B > 0, public.
        positive: The cover type, 1 to 7, that becomes +1.
        path: A CSV file with the 54 features and ``Cover_Type`` (the whole dataset, say, as ``as_frame`` of
            scikit-learn's ``fetch_covtype`` writes it with the columns renamed); None for the sample of 10 000 that
            ships with the package: the head of the file, in which the seven classes are nearly balanced (1262 to 1620
            records each), so that it does not represent the accuracy on the whole dataset.

    Source: Blackard 1998, UCI Machine Learning Repository, CC BY 4.0.
    """
    bound = checked_bound(feature_bound)
    if positive not in range(1, 8):
        raise InvalidValue("positive", positive, "a cover type, 1 to 7")
    if path is None:
        with as_file(files("dpbounds.algorithms.problems") / "data" / "covertype_sample.csv.gz") as sample:
            header, rows = read_table(sample, "path")
    else:
        header, rows = read_table(path, "path")
    if sorted(header) != sorted((*_RANGES, "Cover_Type")):
        wrong = sorted(set(header) ^ {*_RANGES, "Cover_Type"})
        raise InvalidValue(f"columns of {path}", ", ".join(wrong[:5]), "the 54 features of Covertype and Cover_Type")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    features = np.column_stack([column_of_numbers(columns[name], name) for name in _RANGES])
    labels, meaning, how = two_classes([value.strip() for value in columns["Cover_Type"]], "Cover_Type", positive)
    notes: tuple[str, ...] = (
        how,
        "the ranges are fixed round figures (units, terrain), public and not read off the records",
    )
    if path is None:
        notes += (
            "the head of the file, classes nearly balanced, not a random sample: no basis for claims about accuracy",
        )
    return prepared(
        "Covertype" if path is None else Path(path).name,
        features,
        labels,
        tuple(_RANGES),
        bound,
        meaning,
        tuple(_RANGES.values()),
        intercept=True,
        notes=(*notes, "Blackard 1998, UCI Machine Learning Repository, CC BY 4.0"),
    )
