"""Corollary F.1 is Corollary 8.2: its own transcription."""

from dpbounds.theorems.registry import theorem


def test_it_is_corollary_8_2():
    values = {"n": 1000, "rank": 17, "epsilon": "0.3"}
    one, two = (theorem(f"lowy-ullman-wright-2024/corollary-{name}") for name in ("f.1", "8.2"))
    assert one.evaluate("rate", **values).value.overlaps(two.evaluate("rate", **values).value)
