"""`dpbounds epsilon`: the ε that a training run or a ledger spends at a given δ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from dpbounds.cli.answers.spending import SPENDING_OPTIONS, answer
from dpbounds.cli.questions.options import PROBABILITY_OR_ZERO, required


@click.command("epsilon", short_help="Compute what a training run spends: ε at a given δ.")
@required(
    "--delta",
    "D, a number that is at least 0 and less than 1",
    PROBABILITY_OR_ZERO,
    help="The δ for which to compute ε; 0 for pure ε.",
)
@SPENDING_OPTIONS
def command(delta: Fraction, **given: Any) -> int:
    """Compute what a training run spends: ε at a given δ, proven and rounded up.

    Example: dpbounds epsilon --noise-multiplier 1 --sample-rate 0.01 --steps 10000 --delta 1e-6

    Your loader shuffles: dpbounds epsilon --noise-multiplier 4 --sampling shuffled --batches 1000 --epochs 10 --delta
    1e-5 --relation replace-one
    """
    return answer("epsilon", delta, given)
