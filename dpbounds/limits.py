"""Limits on the size of inputs: in one place, so that no file and no argument can fill the memory or stall a proof."""

from __future__ import annotations

from fractions import Fraction

# --- Numbers ----------------------------------------------------------------------------------------------------------

# Decimal digits of a numerator and of a denominator that come in: more than any use needs (δ = 1e-1000), and few enough
# that their squares and products with counts stay below the 4 300 digits that Python turns into text.
DIGITS = 1_000
# Characters of a number that comes in as text: two numbers of that many digits, their exponents, spaces.
CHARACTERS = 2_100
# Steps, records, dimensions, members of a group: a double holds it, and so does every product of a few of them.
COUNT = 10**30
# Powers of ten of what plans, tables and runs take, either way: three such numbers have a product that is a double.
PRACTICAL = 100
# The smallest relative width that can be aimed at: a double.
SMALLEST_TOLERANCE = Fraction(1, 10**300)
# Runs and repetitions, each of which is done: more would take years.
RUNS = 10_000_000
# Draws of a Monte Carlo bound: some hours.
SAMPLES = 10_000_000_000
# Processes on one machine.
PROCESSES = 1_024

# --- Words ------------------------------------------------------------------------------------------------------------

# Characters of a value that an error shows, and of the whole line on a terminal.
SHOWN = 120
LINE = 500

# --- Files ------------------------------------------------------------------------------------------------------------

# Bytes of a JSON file, of a table of records (also unpacked), of any other text. A ledger of 10 000 releases has 2 MB.
JSON_BYTES = 16 * 2**20
TABLE_BYTES = 512 * 2**20
TEXT_BYTES = 16 * 2**20
# Objects and lists in one another; characters of a number without quotation marks. (Ours: 8, and 24.)
NESTING = 32
JSON_DIGITS = 1_000
# Releases in a file, each of which costs the accountant work. (Equal ones in a row are one.)
RELEASES = 10_000
# Characters of a word from a file that an error shows.
QUOTED = 60

# --- Matrices ---------------------------------------------------------------------------------------------------------

# Rows of a matrix that is given entry by entry, of which all products of two columns may be asked for; steps of one
# that is given by its coefficients, or of a tree.
MATRIX_ROWS = 2_048
MATRIX_STEPS = 100_000
