"""Which code computes: a digest, so that numbers of one version are never taken for those of another."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import scipy

import dpbounds
from dpbounds import algorithms

_PACKAGES = (algorithms, dpbounds)


@cache
def fingerprint() -> str:
    """A digest of the source text of ``algorithms`` and ``dpbounds`` and of the versions of numpy and scipy.

    Any change of a file changes it, one of a comment too: it costs a run, and no judgement of what matters. Computed
    once per process, which goes on running what it has loaded.
    """
    digest = hashlib.sha256(f"numpy {np.__version__}, scipy {scipy.__version__}".encode())
    roots = [Path(str(package.__file__)).parent for package in _PACKAGES]
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            if any(path.is_relative_to(other) and other.is_relative_to(root) for other in roots if other != root):
                continue  # of a package inside this one, which has its own turn, be it a folder or a link
            name, text = path.relative_to(root.parent).as_posix(), path.read_bytes()
            digest.update(f"\n{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()
