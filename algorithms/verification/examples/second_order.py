"""Examples: second order."""

from __future__ import annotations

from algorithms.verification.examples.base import Example

EXAMPLES: tuple[Example, ...] = ()
