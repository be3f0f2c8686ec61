"""Theorem 1: what becomes of the distance that one record makes."""

from fractions import Fraction


def total_variation(first, second):
    return sum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2


def test_one_differing_record_keeps_one_nth_of_its_distance():
    # laws on four cells: a mixture over three records against the same with one record replaced
    shared = [[Fraction(1, 2), Fraction(1, 2), 0, 0], [0, Fraction(1, 3), Fraction(2, 3), 0]]
    before, after = [Fraction(1, 4)] * 4, [0, 0, Fraction(1, 5), Fraction(4, 5)]
    mixtures = [[sum(column) / 3 for column in zip(*shared, one, strict=True)] for one in (before, after)]
    assert total_variation(*mixtures) == total_variation(before, after) / 3
