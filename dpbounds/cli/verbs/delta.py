"""`dpbounds delta`: the δ that a training run or a ledger spends at a given ε."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from dpbounds.cli.answers.spending import SPENDING_OPTIONS, answer
from dpbounds.cli.questions.options import AT_LEAST_ZERO, required


@click.command("delta", short_help="Compute what a training run spends: δ at a given ε.")
@required("--epsilon", "E, a number that is at least 0", AT_LEAST_ZERO, help="The ε for which to compute δ.")
@SPENDING_OPTIONS
def command(epsilon: Fraction, **given: Any) -> int:
    """Compute what a training run spends: δ at a given ε, proven and rounded up.

    Example: dpbounds delta --noise-multiplier 1 --sample-rate 0.01 --steps 10000 --epsilon 7
    """
    return answer("delta", epsilon, given)
