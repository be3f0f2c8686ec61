"""DP-SGD with Opacus, accounted for what is really drawn: an engine that looks at the loader before it certifies.

    from dpbounds.opacus import PrivacyEngine

Needs Opacus (extra ``opacus``). What it rests on is derived in ``neighbours.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbounds.opacus.engine import PrivacyEngine

__all__ = ["PrivacyEngine"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dpbounds.opacus' has no attribute {name!r}")
    from dpbounds.opacus import engine

    return getattr(engine, name)
