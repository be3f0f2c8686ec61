"""`dpbounds calibrate`: the smallest noise, the most steps or the largest rate within a budget."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from dpbounds.cli.answers import prefix_sums
from dpbounds.cli.answers.attacker_targets import answer_attacker_target
from dpbounds.cli.answers.plots import PLOT_OPTION
from dpbounds.cli.answers.spending import write_publications
from dpbounds.cli.printing import output
from dpbounds.cli.printing.progress import waiting_line
from dpbounds.cli.questions.allocation import ALLOCATED
from dpbounds.cli.questions.options import (
    CALIBRATION_TARGET_OPTIONS,
    PUBLISHING_OPTIONS,
    RELATION_OPTION,
    REPORT_OPTION,
    TIME_LIMIT_OPTION,
    Word,
    budget_of,
    note_if_stopped,
    unfit,
    warn_if_delta_is_large,
    whole,
)
from dpbounds.cli.questions.subjects import hidden_parameters, under_proven_relation
from dpbounds.cli.questions.training import (
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    FIXED_SIZE,
    FULL_BATCH,
    GAUSSIAN,
    LAST_ITERATE,
    NOISES,
    POISSON,
    SAMPLINGS,
    SHUFFLED,
    TRAINING_OPTIONS,
    Training,
    read_training,
)
from dpbounds.expressions.exact import Direction, to_decimal
from dpbounds.privacy.mechanisms.schemes.last_iterate import CONDITION

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.calibration import Calibration
    from dpbounds.privacy.budgets.prefix_sums import ErrorKind
    from dpbounds.privacy.mechanisms import Mechanism

_FIELDS = {"noise": "noise_multiplier", "steps": "steps", "sample-rate": "sample_rate", "batches": "batches"}
_WHOLE = ("steps", "batches")
_DIGITS = 12
_TOLERANCE = "0.1 %"
_NEAR = Fraction(1, 10**6)  # relative: closer than that, what fails is a neighbour of what suffices


@click.command("calibrate", short_help="Find the least noise, or the most steps, for a budget.")
@CALIBRATION_TARGET_OPTIONS
@click.option(
    "--solve",
    type=Word([*_FIELDS, "epochs"]),
    default="noise",
    show_default=True,
    help="Find the smallest noise, the most steps or epochs, the largest rate, the fewest batches.",
)
@TRAINING_OPTIONS
@RELATION_OPTION
@click.option(
    "--group-size", callback=whole, default="1", metavar="K", help="Group size: number of records that differ together."
)
@click.option("--explain", is_flag=True, help="Print the proof, its assumptions, and what would improve the result.")
@TIME_LIMIT_OPTION
@click.option("--digits", type=click.IntRange(1, 1000), metavar="N", help="Number of digits to print (default 12).")
@PLOT_OPTION
@REPORT_OPTION
@PUBLISHING_OPTIONS
def command(
    solve: Literal["noise", "steps", "sample-rate", "batches", "epochs"],
    **given: Any,
) -> int:
    """Find the smallest noise for a budget (or the most steps, or the largest rate), with proofs of both bounds.

    Example: dpbounds calibrate --target-epsilon 1 --target-delta 1e-6 --sample-rate 0.01 --steps 10000
    """
    for name in ("plot", "report"):
        if given[name] is not None and given["group_size"] != 1:
            raise unfit(f"--group-size {given['group_size']}", f"does not fit --{name}, which is about one record")
    if given["explain"] and given["as_json"]:
        raise unfit("--explain", "does not fit --json here", "dpbounds epsilon --explain --json has an advantage in it")
    if given["digits"] is not None and given["as_json"]:
        raise unfit(f"--digits {given['digits']}", "does not fit --json, which has all digits of a double")
    if solve == "epochs":
        _demand_epochs(given)
        solve = "steps"
    if any(given[name] is not None for name in ("target_tpr", "at_fpr", "target_mu", "least_rate")):
        return answer_attacker_target(solve, given)
    target_epsilon, target_delta = budget_of(given)
    asked = solve
    training, given = under_proven_relation(
        given,
        partial(read_training, unknown=asked),
        lambda read: read.with_value(asked, Fraction(2 if asked == "batches" else 1)),
    )
    warn_if_delta_is_large(target_delta, training.dataset_size, "--target-delta")

    from dpbounds.cli.answers.cheaper import cheaper_noise
    from dpbounds.cli.questions.subjects import demand_publishable
    from dpbounds.privacy.budgets.calibration import calibrate

    demand_publishable(training.with_value(solve, Fraction(1)), training.relation, given)
    with waiting_line(given["time_limit"]):
        found = calibrate(
            lambda value: training.with_value(solve, value),
            target_epsilon,
            target_delta,
            training.relation,
            solve=solve,
            group_size=int(given["group_size"]),
            time_limit=given["time_limit"],
        )
        cheaper = cheaper_noise(found, partial(training.with_value, solve))
    note_if_stopped(found.complete)
    error: ErrorKind = given["error"] or "mean"
    statement = write_publications(found, given)
    if given["plot"] is not None:
        from dpbounds.cli.answers import plots

        at = partial(training.with_value, solve)
        plots.write(given["plot"], plots.calibration(found, at, _field(solve, training)))
    if given["report"] is not None:
        _write_report(found, training, given)
    if given["as_json"]:
        instead: dict[str, object] = {} if cheaper is None else {"cheaper": cheaper.as_json()}
        written = {} if training.stream is None else prefix_sums.as_json(training.stream, found.value, error)
        said = {} if statement is None else {"statement": statement}
        output.print_json({**_as_json(found, training), **written, **instead, **said})
        return 0
    added = {} if training.stream is None else prefix_sums.as_rows(training.stream, found.value, error)
    named = {} if cheaper is None else {"cheaper": cheaper.in_words()}
    output.print_rows({**_as_rows(found, training, given["digits"] or _DIGITS), **added, **named})
    if given["explain"]:
        _explain(found)
    if statement is not None:
        click.echo(f"\n{statement}")
    return 0


def _explain(found: Calibration) -> None:
    """Print the proof that the value suffices, as ``dpbounds epsilon --explain`` does for the mechanism."""
    from dpbounds.cli.answers.explanation import print_explanation
    from dpbounds.cli.answers.methods import Question, certified

    click.echo("\nwhat suffices was proven to, as follows")
    question = Question("epsilon", found.target_delta, found.mechanism, found.relation, None, found.group_size)
    print_explanation(question, certified(question), certified(question.at_zero()).enclosure)


def _demand_epochs(given: dict[str, Any]) -> None:
    """Refuse ``--solve epochs`` where nothing goes by epochs."""
    if given["release"] != LAST_ITERATE and given["sampling"] not in (SHUFFLED, *ALLOCATED):
        where = f"--sampling {SHUFFLED}, {' or '.join(ALLOCATED)}, or --release {LAST_ITERATE}"
        raise unfit("--solve epochs", f"needs {where}", "with other samplings --solve steps finds the number of steps")


def _write_report(found: Calibration, training: Training, given: dict[str, Any]) -> None:
    from dpbounds.cli.answers import reports
    from dpbounds.privacy.accountants.certified import account

    safe, unsafe = _directions(found.solve)
    name = _field(found.solve, training).replace("_", " ")
    value = reports.rounded(found.value, safe)
    budget = f"ε = {output.plain(found.target_epsilon)} at δ = {output.plain(found.target_delta)}"
    fails = "nothing: all suffice" if found.fails_at is None else reports.rounded(found.fails_at, unsafe)
    numbers = {
        f"{name}, proven to suffice": value,
        f"{name}, proven not to": fails,
        **({} if found.within_tolerance else {f"gap, not within {_TOLERANCE}": found.in_words}),
        "budget": budget,
        "ε spent": reports.rounded(found.epsilon.exact_upper, "up"),
    }
    files = {} if given["certificate"] is None else {"certificate": given["certificate"]}
    spent = account(found.mechanism, delta=found.target_delta, relation=found.relation)
    verdict = f"A {name} of {value} keeps the budget, {budget}"
    condition = None if training.hidden is None else CONDITION
    report = reports.account_report(
        "Calibration", verdict, True, spent, numbers=numbers, condition=condition, files=files
    )
    reports.write(given["report"], report)


def _field(solve: str, training: Training) -> str:
    """Return the name of the parameter that is solved for."""
    in_epochs = training.sampling == SHUFFLED or training.allocation is not None or training.hidden is not None
    return "epochs" if solve == "steps" and in_epochs else _FIELDS[solve]


def _directions(solve: str) -> tuple[Direction, Direction]:
    """Return the safe rounding directions of the sufficient and of the failing value."""
    return ("up", "down") if solve in ("noise", "batches") else ("down", "up")


def _as_json(found: Calibration, training: Training) -> dict[str, object]:
    safe, unsafe = _directions(found.solve)
    is_whole = found.solve in _WHOLE

    def number(value: Fraction, direction: Direction) -> float | int | str:
        return int(value) if is_whole else output.json_number(value, direction)

    field = _field(found.solve, training)
    context: dict[str, object] = {
        "noise_multiplier": output.json_given(training.noise_multiplier),
        **({} if training.noise_variance is None else {"noise_variance": output.json_given(training.noise_variance)}),
        **({} if training.noise == GAUSSIAN else {"noise": training.noise, "bound": training.bound}),
        "sample_rate": output.json_given(training.sample_rate),
        "steps": training.steps,
    }
    if training.stream is not None:
        from dpbounds.cli.questions.matrices import stream_parameters

        context |= stream_parameters(training.stream)
    how = {"sampling": training.sampling}
    if training.hidden is not None:
        given = {} if training.noise_multiplier is None else {"noise_multiplier": context["noise_multiplier"]}
        context = {**given, **hidden_parameters(training.hidden)}
        how = {"release": LAST_ITERATE, "condition": CONDITION}
    if training.sampling in FIXED_SIZE:
        context |= {"batch_size": training.batch_size, "dataset_size": training.dataset_size}
    if training.max_batch_size is not None:
        context |= {"max_batch_size": training.max_batch_size, "dataset_size": training.dataset_size}
    if training.sampling == SHUFFLED:
        context = {"noise_multiplier": context["noise_multiplier"], "batches": training.batches}
        context |= {"epochs": training.steps}
    if training.allocation is not None:
        context |= training.allocation.as_json()
    return {
        field: number(found.value, safe),
        "fails_at": None if found.fails_at is None else number(found.fails_at, unsafe),
        "gap": None if found.gap is None else output.json_number(found.gap, "up"),
        "within_tolerance": found.within_tolerance,
        "epsilon": output.json_ends(found.epsilon),
        "target_epsilon": output.json_given(found.target_epsilon),
        "target_delta": output.json_given(found.target_delta),
        "relation": str(found.relation),
        **({} if found.group_size == 1 else {"group_size": found.group_size}),
        **how,
        "certified": True,
        **({} if found.complete else {"complete": False}),
        "tight": _is_tight(found),
        **{name: value for name, value in context.items() if name != field},
    }


def _is_tight(found: Calibration) -> bool:
    """Return whether the sufficient value is also necessary: an attack attains it, or breaks the next value."""
    from dpbounds.privacy.domination.composition import neighbour_classes

    if found.fails_at is not None and abs(found.value - found.fails_at) <= _grain(found):
        return True
    if found.group_size == 1:
        return neighbour_classes(found.mechanism, found.relation).tight and found.within_tolerance
    from dpbounds.privacy.accountants.groups import is_attained

    return is_attained(found.mechanism, found.relation, found.group_size)


def _grain(found: Calibration) -> Fraction:
    return Fraction(1) if found.solve in _WHOLE else _NEAR * found.value


def _as_rows(found: Calibration, training: Training, digits: int) -> dict[str, str]:
    safe, _ = _directions(found.solve)
    is_whole = found.solve in _WHOLE
    value = str(found.value) if is_whole else to_decimal(found.value, digits, safe)
    unknown = found.fails_at is not None and found.epsilon.exact_lower == 0  # what attacks attain here was not asked
    tight = _is_tight(found) or (None if unknown else False)
    return {
        _field(found.solve, training).replace(
            "_", " "
        ): f"{value}  (proven to suffice{'' if is_whole else f'; rounded {safe}'})",
        "fails at": _failing(found, digits),
        **({} if found.within_tolerance else {"gap": f"not within {_TOLERANCE}: {found.in_words}"}),
        "epsilon": output.shown(found.epsilon, tight=tight, limit=found.target_epsilon),
        "budget": f"epsilon {output.plain(found.target_epsilon)}, delta {output.plain(found.target_delta)}"
        + (", which is the membership advantage" if found.target_epsilon == 0 else ""),
        "relation": str(found.relation),
        **({} if found.group_size == 1 else {"group size": str(found.group_size)}),
        "training": _rest(found, training),
        **({} if training.hidden is None else {"provided": CONDITION}),
    }


def _failing(found: Calibration, digits: int) -> str:
    """Return the neighbour that fails, in words where there is none or it lies at a distance."""
    if found.fails_at is None and found.solve == "sample-rate" and found.value == 1:
        return "nothing: even rate 1 suffices"
    if found.fails_at is None:
        if not found.complete:
            return "not known: the time limit ended the search"
        less = found.solve in ("noise", "batches")
        return f"unknown: no attack is known, so that {'less' if less else 'more'} may suffice"
    _, unsafe = _directions(found.solve)
    value = str(found.fails_at) if found.solve in _WHOLE else to_decimal(found.fails_at, digits, unsafe)
    if _is_tight(found):
        return f"{value}  (proven)"
    return f"{value}  (proven, by an explicit attack; what lies in between is not decided)"


def _rest(found: Calibration, training: Training) -> str:
    """Return the given options in one line."""
    from dpbounds.cli.printing.wording import drawn
    from dpbounds.privacy.mechanisms import parts_of

    if training.stream is not None:
        return drawn(training.stream)
    if training.hidden is not None:
        return f"the last iterate of {drawn(found.mechanism)}"
    parts = []
    if training.sampling == SHUFFLED:
        parts.append(_epochs(found.mechanism, training))
    elif training.steps is not None:
        parts.append("a single release" if training.steps == 1 else f"{training.steps} releases")
    if training.allocation is not None:
        parts.append(training.allocation.in_words())
    elif training.sampling == FULL_BATCH:
        parts.append("the full batch")
    elif training.sampling in FIXED_SIZE or training.sampling not in SAMPLINGS:
        parts.append(drawn(parts_of(found.mechanism)[0][0]))
    elif training.sample_rate is not None:
        parts.append(f"Poisson samples at rate {output.plain(training.sample_rate)}")
    elif training.sampling == POISSON:
        parts.append("Poisson samples")
    if training.max_batch_size is not None:
        parts.append(f"cut to at most {training.max_batch_size} of {training.dataset_size} records")
    if training.noise_multiplier is not None:
        parts.append(f"{NOISES[training.noise]} noise multiplier {output.plain(training.noise_multiplier)}")
    elif training.noise_variance is not None:
        parts.append(f"{NOISES[training.noise]} noise of squared parameter {output.plain(training.noise_variance)}")
    elif training.noise != GAUSSIAN:
        parts.append(f"{NOISES[training.noise]} noise")
    if training.noise in (DISCRETE_GAUSSIAN, DISCRETE_LAPLACE):
        parts.append(f"whole numbers of norm {training.bound} at most")
    return ", ".join(parts)


def _epochs(mechanism: Mechanism, training: Training) -> str:
    """Epochs over shuffled batches, where one number may be the unknown."""
    from dpbounds.cli.printing.wording import releases
    from dpbounds.privacy.mechanisms import parts_of

    if training.steps is not None and training.batches is not None:
        return releases(parts_of(mechanism)[0][0], training.steps)
    many = "epochs" if training.steps is None else "an epoch" if training.steps == 1 else f"{training.steps} epochs"
    return f"{many} over {'' if training.batches is None else f'{training.batches} '}shuffled batches"
