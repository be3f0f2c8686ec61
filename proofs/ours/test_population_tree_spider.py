"""Tree-SPIDER on fresh records: the dyadic blocks of a segment, and how many records they use."""

from itertools import pairwise

import pytest


def blocks_of(t, levels):
    """The dyadic blocks that cut [0, t), from the largest: (j, i) for [i 2^j, (i+1) 2^j)."""
    found, at = [], 0
    for j in reversed(range(levels)):
        if t >> j & 1:
            found.append((j, at >> j))
            at += 2**j
    return found


@pytest.mark.parametrize("levels", range(1, 9))
def test_the_blocks_of_a_segment(levels):
    m, used, bits = 2**levels, set(), 0
    for t in range(m):
        blocks = blocks_of(t, levels)
        ends = [0, *((i + 1) * 2**j for j, i in blocks)]
        assert ends[-1] == t
        assert [start for start, _ in pairwise(ends)] == [i * 2**j for j, i in blocks]
        assert all(i % 2 == 0 for _, i in blocks)
        used.update(blocks)
        bits += len(blocks)
    assert sum(2**j for j, _ in used) == levels * m // 2  # times b₂: the records of the differences
    assert bits == levels * m // 2  # every bit, in every other step
