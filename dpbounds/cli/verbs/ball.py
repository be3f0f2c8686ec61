"""`dpbounds ball`: noise that is uniform on a ball, one random record per step: δ for a radius, the radius for a δ."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import click

from dpbounds.cli.printing import output
from dpbounds.cli.questions.options import POSITIVE, PROBABILITY, missing, required, warn_if_delta_is_large, whole
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.ball_noise import BallDescent, Radius

_DIGITS = 17


@click.command("ball", short_help="Uniform-ball noise, one random record per step.")
@required(
    "--sensitivity",
    "S, the largest distance between two gradients",
    POSITIVE,
    help="Largest distance between two gradients.",
)
@required("--dimension", "D, of a gradient", whole, help="Dimension of a gradient.")
@click.option("--radius", callback=POSITIVE, metavar="R", help="Radius of the ball, in the units of the sensitivity.")
@click.option(
    "--target-delta",
    callback=PROBABILITY,
    metavar="D",
    help="δ for which to find the smallest radius, in place of --radius.",
)
@required("--dataset-size", "N, the number of records", whole, help="Number of records (public).")
@required("--steps", "T, each on one random record", whole, help="Number of steps, each on one random record.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    sensitivity: Fraction,
    dimension: int,
    radius: Fraction | None,
    target_delta: Fraction | None,
    dataset_size: int,
    steps: int,
    as_json: bool,
) -> int:
    """Compute δ of uniform noise on a ball (the same at every ε), or the radius for a δ, under replace-one.

    Example: dpbounds ball --sensitivity 2 --dimension 10 --target-delta 1e-3 --dataset-size 100000 --steps 1000
    """
    if (radius is None) == (target_delta is None):
        if radius is None:
            raise missing("--radius", "--radius R, or --target-delta D to find the smallest")
        raise InvalidValue("--radius", output.plain(radius), "either --radius or --target-delta, not both")

    from dpbounds.privacy.budgets.ball_noise import BallDescent

    run = BallDescent(sensitivity, dimension, dataset_size, steps)
    found = None if target_delta is None else run.radius(target_delta)
    used = radius if found is None else found.value
    assert used is not None
    used = max(used, sensitivity / 2)  # smaller balls do not meet, and cost the same
    spent, printed = run.delta(used), run.printed_delta(used)
    if target_delta is None:
        warn_if_delta_is_large(spent.exact_upper, dataset_size)
    else:
        warn_if_delta_is_large(target_delta, dataset_size, "--target-delta")
    ratio = Enclosure(
        Fraction(printed.exact_lower) / Fraction(spent.exact_upper),
        Fraction(printed.exact_upper) / Fraction(spent.exact_lower),
    )
    if as_json:
        output.print_json(
            {
                "delta": output.json_ends(spent),
                "radius": output.json_given(radius) if found is None else output.json_number(found.value, "up"),
                **({} if found is None else _solved_json(found, target_delta)),
                "total_variation": output.json_ends(run.total_variation(used)),
                "printed_delta": output.json_ends(printed),
                "printed_ratio": output.json_ends(ratio),
                "relation": str(Relation.REPLACE_ONE),
                "tight": True,
                "certified": True,
                "sensitivity": output.json_given(sensitivity),
                "dimension": dimension,
                "dataset_size": dataset_size,
                "steps": steps,
            }
        )
        return 0
    output.print_rows(
        {
            **({} if found is None else _solved_rows(found, target_delta)),
            "delta": f"{output.shown(spent)}, at every epsilon",
            "printed": f"{_six(printed)} = T delta/N (Tholeti & Kalyani 2020), {_six(ratio)} times as much",
            "relation": str(Relation.REPLACE_ONE),
            "mechanism": _described(run, radius),
        }
    )
    return 0


def _solved_json(found: Radius, target: Fraction | None) -> dict[str, object]:
    fails = None if found.fails_at is None else output.json_number(found.fails_at, "down")
    return {"fails_at": fails, "target_delta": output.json_given(target)}


def _solved_rows(found: Radius, target: Fraction | None) -> dict[str, str]:
    budget = {"budget": f"delta {output.plain(target or 0)}"}
    if found.fails_at is None:
        return {"radius": "0  (proven: gradients of random records, published as they are, keep the budget)", **budget}
    return {
        "radius": f"{to_decimal(found.value, _DIGITS, 'up')}  (proven to suffice; rounded up)",
        "fails at": f"{to_decimal(found.fails_at, _DIGITS, 'down')}  (proven)",
        **budget,
    }


def _six(enclosure: Enclosure) -> str:
    return enclosure.decimals(6)[1]


def _described(run: BallDescent, radius: Fraction | None) -> str:
    many = "a single release" if run.steps == 1 else f"{run.steps} releases"
    size = "" if radius is None else f" of radius {output.plain(radius)}"
    return (
        f"{many}, each of one random record of {run.dataset_size}, noise uniform on a ball{size} in {run.dimension} "
        f"dimensions, gradients at most {output.plain(run.sensitivity)} apart"
    )
