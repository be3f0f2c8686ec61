"""Limits on the size of files, and on the work."""

from __future__ import annotations

from fractions import Fraction

# what is read: bytes of the file, brackets in one another, characters of a JSON number, releases, repetitions of one
BYTES, NESTING, JSON_DIGITS, RELEASES, COUNT = 16 * 2**20, 32, 1_000, 10_000, 10**30
NUMBER_BITS = 13_000
LABEL = 80  # characters of a word or a few


# of matrices: steps, rows given entry by entry, digits of a common denominator; of last iterates: batches, epochs
STEPS, ROWS, DIGITS, RUNS = 100_000, 2_048, 1_000, 10**9


# of releases on samples that are composed: beyond, doubles and the work of a minute do not reach
LEAST_RATE, LEAST_NOISE, LEAST_DELTA = Fraction(1, 10**300), Fraction(1, 10**150), Fraction(1, 10**100)


# of datasets: classes of sizes
CLASSES = 1_000
# of one account: functions evaluated on balls of 256 bits (20 000 000 are minutes), in a search that nothing guides,
# balls kept at once (half a gigabyte), and bits of a sum's denominator
MOST_WORK, MOST_SEARCH, MOST_BALLS, SUM_BITS = 20_000_000, 1_000_000, 2_000_000, 100_000
