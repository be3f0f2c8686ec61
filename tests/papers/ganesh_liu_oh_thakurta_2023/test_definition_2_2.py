"""Definition 2.2, a second time from the text."""

from mpmath import e

TWINS = {"tail": lambda standardised: 2 / e ** (standardised * standardised / 2)}
