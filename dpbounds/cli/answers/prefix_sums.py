"""Quality of a calibrated Toeplitz matrix: its coefficients, and the error of the prefix sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpbounds.cli.printing import output
from dpbounds.errors import NotCertified
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz

if TYPE_CHECKING:
    from fractions import Fraction

    from dpbounds.privacy.budgets.prefix_sums import ErrorKind
    from dpbounds.privacy.mechanisms import MatrixMechanism

_DIGITS, _SHOWN = 7, 5


def as_rows(stream: MatrixMechanism, noise: Fraction, error: ErrorKind) -> dict[str, str]:
    """Rows for the terminal; none where the matrix is not a Toeplitz matrix."""
    if not isinstance(stream.matrix, Toeplitz):
        return {}
    first = ", ".join(output.plain(value) for value in stream.matrix.coefficients[:_SHOWN])
    more = f", ... ({stream.matrix.bands} in all: --json)" if stream.matrix.bands > _SHOWN else ""
    upper = _error(stream.matrix, noise, error)
    told = "not proven" if upper is None else f"{to_decimal(upper, _DIGITS, 'up')}  (proven, rounded up; {error})"
    return {"coefficients": f"{first}{more}", "error of sums": told}


def as_json(stream: MatrixMechanism, noise: Fraction, error: ErrorKind) -> dict[str, object]:
    """Return the coefficients and errors for JSON."""
    if not isinstance(stream.matrix, Toeplitz):
        return {}
    upper = _error(stream.matrix, noise, error)
    return {
        "coefficients": [output.json_given(value) for value in stream.matrix.coefficients],
        "error": error,
        "error_of_sums": None if upper is None else output.json_number(upper, "up"),
    }


def _error(matrix: Toeplitz, noise: Fraction, error: ErrorKind) -> Fraction | None:
    """Return the error in units of the clipping norm, for each coordinate of a prefix sum."""
    from dpbounds.privacy.budgets.prefix_sums import prefix_error

    try:
        upper = prefix_error(matrix, error).exact_upper
    except NotCertified:
        return None
    assert not isinstance(upper, float)
    return noise * upper
