"""Errors travel between processes, and none is longer than a person reads."""

import copy
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpbounds
from dpbounds.errors import DpboundsError, InvalidValue, demand, demand_one_of, nearest, one_of, shortened, shown
from dpbounds.limits import SHOWN


@cache
def error_classes():
    """Every exception class of both packages."""
    found = set()
    for package in (dpbounds,):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if "__main__" in module.name or module.name.startswith("dpbounds.theorems."):
                continue
            try:
                members = vars(importlib.import_module(module.name)).values()
            except ImportError:  # of an extra
                continue
            found |= {
                one
                for one in members
                if inspect.isclass(one) and issubclass(one, Exception) and one.__module__.split(".")[0] == "dpbounds"
            }
    return sorted(found, key=lambda one: one.__qualname__)


def an_error(kind):
    wanted = [one for one in inspect.signature(kind.__init__).parameters if one not in ("self", "args", "kwargs")]
    named = [
        one for one in wanted if inspect.signature(kind.__init__).parameters[one].default is inspect.Parameter.empty
    ]
    values = {"cost": 3, "names": ("a", "b")}
    return kind(*(values.get(name, f"the {name}") for name in named)) if named else kind("what went wrong")


@pytest.mark.seconds
def test_every_error_survives_a_copy_and_a_trip():
    kinds = error_classes()
    assert {InvalidValue, DpboundsError} < set(kinds)
    assert len(kinds) > 12
    for kind in kinds:
        error = an_error(kind)
        for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301
            assert type(twin) is kind
            assert str(twin) == str(error)


@pytest.mark.parametrize(
    "value",
    [1.5, "x", None, Fraction(1, 3), lambda: 0, object(), [10**5000], 10**5000, (i for i in ())],
    ids=lambda value: type(value).__name__,
)
def test_whatever_value_was_refused(value):
    error = InvalidValue("noise", value, "a number", "give one")
    twin = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(twin), twin.name, twin.allowed, twin.advice) == (str(error), "noise", "a number", "give one")


POOLS = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import dpbounds

def refused(get):
    try:
        get()
    except dpbounds.InvalidValue as error:
        assert str(error).startswith("noise_multiplier must be ") and str(error).endswith(", not -1"), error
    else:
        raise AssertionError

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        refused(pool.submit(dpbounds.Gaussian, -1).result)
        assert pool.submit(dpbounds.Gaussian, 1).result() == dpbounds.Gaussian(1)
    with context.Pool(1) as pool:
        refused(pool.apply_async(dpbounds.Gaussian, (-1,)).get)
        assert pool.apply(dpbounds.Gaussian, (1,)) == dpbounds.Gaussian(1)
"""


@pytest.mark.seconds
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_bad_value_leaves_pools_whole(method, tmp_path):
    """In a process of its own: this one may have threads, which do not survive a fork."""
    script = tmp_path / "pools.py"
    script.write_text(POOLS)
    subprocess.run([sys.executable, str(script), method], check=True)


class NoText:
    def __repr__(self):
        raise RuntimeError("no text")


class NumberWithoutText(float):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


@pytest.mark.parametrize(
    "value",
    [
        *(NoText(), NumberWithoutText(1), [NoText()], 10**5000, -(10**5000), Fraction(1, 10**5000), "x" * 10**6),
        *(Decimal("1E+999999"), np.ones((99, 99)), {NoText(): 10**5000}, b"x" * 10**5, (10**5000,) * 9, lambda: 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_value_can_be_told(value):
    text = shown(value)
    assert 0 < len(text) <= SHOWN
    assert "\n" not in text or isinstance(value, str)
    assert "0x" not in text or callable(value)


@given(st.text("aδ \n\x1b", max_size=400), st.integers(20, 200))
def test_shortened(text, longest):
    short = shortened(text, longest)
    assert len(short) <= longest
    assert short == text or (text.startswith(short[:5]) and text.endswith(short[-5:]))


def test_names_are_answered_with_names_like_them():
    assert nearest("epsilonn", ["epsilon", "delta"]) == ["epsilon"]
    assert nearest(3, ["epsilon"]) == []
    assert one_of("z", ["a", "b"]) == "one of a, b"
    assert len(one_of("z", map(str, range(10_000)), "`this`")) < 200


def test_kinds_and_words_are_demanded():
    demand("x", 1, int, type(None))
    demand_one_of("x", "a", ("a", "b"))
    with pytest.raises(InvalidValue, match="x must be of type int or NoneType"):
        demand("x", "'one'", int, type(None))
    for value in (np.array([]), None, "c", ["a"]):
        with pytest.raises(InvalidValue, match="a or b"):
            demand_one_of("x", value, ("a", "b"))
