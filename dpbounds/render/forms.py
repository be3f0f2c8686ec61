"""Tables in the requested format."""

from __future__ import annotations

from dpbounds.errors import InvalidValue
from dpbounds.render.latex import as_latex
from dpbounds.render.tables import FORMATS, Table, as_csv, as_html, as_markdown


def rendered(table: Table, form: str) -> str:
    """Return a table in a form.

    Raises:
        InvalidValue: There is no such form.
    """
    writers = {"md": as_markdown, "html": as_html, "csv": as_csv}
    if form not in FORMATS:
        raise InvalidValue("format", form, "one of " + ", ".join(FORMATS))
    return as_latex(table) if form == "latex" else writers[form](table.columns_shown)
