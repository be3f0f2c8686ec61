"""JAX, imported when a test first uses it: collecting tests does not pay for it.

``needs_jax`` skips the tests of a module where JAX is not installed.
"""

from importlib import import_module
from importlib.util import find_spec

import pytest

needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="could not import 'jax'")


class Lazy:
    """A module that is imported when it is first asked for a name."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(import_module(self._name), name)


jax, jnp = Lazy("jax"), Lazy("jax.numpy")
