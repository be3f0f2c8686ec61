"""Accounts that take seconds to a minute each: what people run, and the widths of it."""

from __future__ import annotations

from tests.golden import accounts


def questions():
    """All of them, in order."""
    yield from accounts.questions("slow.txt")
