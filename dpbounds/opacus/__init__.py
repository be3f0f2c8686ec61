"""DP-SGD with Opacus: an engine that accounts for the batches that were drawn, and checks the loader.

    from dpbounds.opacus import PrivacyEngine

Needs Opacus (extra ``opacus``). What it rests on is derived in ``neighbours.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbounds.opacus.engine import PrivacyEngine

__all__ = ["PrivacyEngine"]


_OLDEST = (1, 6)  # oldest version that was examined


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dpbounds.opacus' has no attribute {name!r}")
    try:
        import opacus
    except ImportError:
        opacus = None
    if opacus is None or tuple(map(int, opacus.__version__.split(".")[:2])) < _OLDEST:
        needed = ".".join(map(str, _OLDEST))
        raise ModuleNotFoundError(f"dpbounds.opacus needs Opacus {needed} or later: pip install 'dpbounds[opacus]'")
    from dpbounds.opacus import engine

    return getattr(engine, name)
