"""Definition 8: the printed width of sparse vectors vanishes at full support."""

import mpmath
from mpmath import log, sqrt


def largest_of(count, both_signs):
    """E max of ``count`` Gaussians, or of their absolute values."""
    share = (lambda x: mpmath.erf(x / sqrt(2))) if both_signs else mpmath.ncdf
    above = mpmath.quad(lambda x: 1 - share(x) ** count, [0, 1, 2, 4, 12])
    return above if both_signs else above - mpmath.quad(lambda x: share(-x) ** count, [0, 1, 2, 4, 12])


def test_sparse_vectors_as_printed_vanish_at_full_support():
    assert sqrt(10 * log(10 / 10)) == 0 < largest_of(10, both_signs=False)
