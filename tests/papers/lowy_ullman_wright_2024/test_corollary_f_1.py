"""Corollary F.1 is Corollary 8.2: its own transcription."""

from mpmath import root, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda dataset_size, epsilon, rank: (
        sqrt(1 / dataset_size)
        + min(sqrt(rank) * root(rank, 6) / (epsilon * dataset_size), root(epsilon * dataset_size, 7) ** -3)
    )
}


def test_it_is_corollary_8_2():
    values = {"n": 1000, "rank": 17, "epsilon": "0.3"}
    one, two = (theorem(f"lowy-ullman-wright-2024/corollary-{name}") for name in ("f.1", "8.2"))
    assert one.evaluate("rate", **values).value.overlaps(two.evaluate("rate", **values).value)
