"""Export of finished cells as a table: CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from dpbounds import documents
from dpbounds.algorithms.verification.sweeping.cells import Result
from dpbounds.errors import InvalidValue

ENDINGS = (".csv", ".parquet")


def write(path: Path, results: Iterable[Result]) -> None:
    """Write one line per repetition of each finished cell: task, seed, repetition, parameters, numbers.

    A refused run has one line, with the reason for its numbers; a run without a proof has none.

    Args:
        path: Ends in ".csv" or ".parquet"; the second needs pyarrow.
        results: In any order.
    """
    finished = sorted((result for result in results if result.unproven is None), key=lambda result: result.cell.key)
    lines = [line for result in finished for line in _lines(result)]
    names = list(dict.fromkeys(name for line in lines for name in line))
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(lines)
        documents.write(path, text.getvalue())
        return
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise InvalidValue("parquet", path, "left out: it needs pyarrow", "pip install pyarrow") from None
    content = io.BytesIO()
    parquet.write_table(pa.table({name: [line.get(name) for line in lines] for name in names}), content)
    documents.write(path, content.getvalue())


def _lines(result: Result) -> list[dict[str, object]]:
    shared: dict[str, object] = {"task": result.task, "seed": result.cell.seed, "repetition": 0, **result.parameters}
    if result.refused is not None:
        return [shared | {"refused": result.refused}]
    vectors = {name: value for name, value in result.numbers.items() if isinstance(value, list)}
    shared |= {name: value for name, value in result.numbers.items() if name not in vectors}
    return [
        shared | {"repetition": i} | {name: value[i] for name, value in vectors.items() if i < len(value)}
        for i in range(max(map(len, vectors.values()), default=1))
    ]
