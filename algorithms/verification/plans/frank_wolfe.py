"""Checks: frank wolfe."""

from __future__ import annotations

from algorithms.verification.suite import Planned

PLANNED: tuple[Planned, ...] = ()
