"""Privacy spent: constants that papers leave open, claims compared with certified values, ball noise."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpbounds.errors import MISSING, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.symbols import delta, noise_constant
from dpbounds.privacy.budgets.ball_noise import BallDescent
from dpbounds.privacy.budgets.calibration import hidden_constant
from dpbounds.privacy.relations import Relation
from dpbounds.render.catalogue.numbers import DIGITS, Values, at_in_words
from dpbounds.render.catalogue.statements import named
from dpbounds.render.tables import Table, TableCell
from dpbounds.theorems.evaluation import evaluate
from dpbounds.theorems.record import Claim, Metric, Theorem
from dpbounds.theorems.registry import library
from dpbounds.theorems.spending import Spending, spending

# The point at which promises are compared; a statement takes from it what it needs.
REFERENCE: Mapping[str, Fraction] = {
    name: Fraction(text)
    for name, text in {
        "dataset_size": "10000", "dimension": "100", "epsilon": "1", "delta": "1e-6", "rho": "1/20", "steps": "1000",
        "batch_size": "100", "sample_rate": "1/100", "anchor_period": "10", "candidates": "100", "rank": "20",
        "lipschitz": "1", "lipschitz_l1": "1", "smoothness": "1", "smoothness_l1": "1", "hessian_lipschitz": "1",
        "initial_gap": "1", "loss_range": "1", "excess_risk": "1/10", "stationarity": "1/10", "diameter": "1",
        "l1_diameter": "2", "norm_bound": "1", "l1_norm_bound": "1", "gaussian_width": "10", "enclosing_radius": "1",
        "net_radius": "1/10", "sensitivity": "1", "score_sensitivity": "1/10000", "distance": "1", "radius": "20",
        "quasar_convexity": "1/2", "pl_constant": "1/10", "regularisation": "1/10", "log_sobolev": "1",
        "inverse_temperature": "10", "drift_threshold": "1", "step_size": "1/10", "step_epsilon": "1/10",
        "failure_probability": "1/100", "difference_noise_stddev": "1/10",
        "noise_stddev": "1/10", "noise_multiplier": "1", "gaussian_mu": "1",
    }.items()
}  # fmt: skip
# Quantities of single papers.
_LOCAL = {
    name: Fraction(text)
    for name, text in {"temperature_constant": "3/10", "stages": "5", "noise_cap": "1", "searches": "100"}.items()
}
_RELATIONS = (Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE)
_LARGEST_CONSTANT = Fraction(2) ** 20
_BISECTIONS = 24


def noise_constants() -> Table:
    """Return the table of c2 of "noise c2 q √(T ln(1/δ))/ε suffices", over a grid."""
    rows: list[tuple[TableCell, ...]] = []
    for rate, steps in (("1", 100), ("1", 10_000), ("0.1", 1000), ("0.01", 1000), ("0.01", 10_000), ("0.001", 10_000)):
        for epsilon in ("0.1", "1", "5"):
            for failure in ("1e-5", "1e-8"):
                cells: list[TableCell] = [rate, str(steps), epsilon, failure]
                for relation in reversed(_RELATIONS):
                    found = hidden_constant(rate, steps, epsilon, failure, relation)
                    cells.append(found.decimals(DIGITS)[1])
                in_range = Fraction(epsilon) < Fraction(rate) ** 2 * steps
                rows.append((*cells, "yes" if in_range else "no"))
    return Table(
        name="noise-constants",
        title="The unspecified constant of the moments accountant's noise",
        columns=("sample rate q", "steps T", "ε", "δ", "c₂, add-or-remove-one", "c₂, replace-one", "ε < q²T"),
        rows=tuple(rows),
        preface=(
            "Abadi et al. 2016, Theorem 1: for some c₁ and c₂, a noise multiplier of c₂ q √(T ln(1/δ))/ε suffices for "
            "ε < c₁ q² T. These are the smallest c₂, rounded up, by certified calibration under Poisson sampling "
            "(q = 1: full batch).",
        ),
        footnotes=('No single constant serves every row; the papers that say "for some c₂" promise one.',),
    )


def privacy_as_printed() -> Table:
    """Return the table of claimed and certified privacy of every algorithm, under both relations."""
    rows = [row for theorem in library() if theorem.privacy is not None for row in [_promise(theorem)] if row]
    return Table(
        name="privacy-as-printed",
        title="Claimed and spent privacy",
        columns=("statement", "promise", "promised", "spent, replace-one", "kept", "spent, add-or-remove-one", "kept ",
                 "constant"),
        rows=tuple(rows),
        in_print=("statement", "promise", "promised", "spent, replace-one", "kept", "constant"),
        preface=(
            "Each algorithm's releases, as prescribed, composed with explicit sensitivities and accounted for by the "
            "certified accountant; spends are rounded up.",
            f"At {at_in_words(REFERENCE)}; a statement takes from this what it needs.",
        ),
        footnotes=(
            "constant: where the paper leaves a constant of the noise open, the smallest one (rounded up) for which "
            "the promise is kept under replace-one at these values, and the spend is at that constant.",
            "Versions with constants of this library are listed like the published ones.",
        ),
    )  # fmt: skip


def _promise(theorem: Theorem) -> tuple[TableCell, ...] | None:
    assert theorem.privacy is not None
    values: dict[str, Any] = dict(REFERENCE)
    values.update((quantity.name, _LOCAL[quantity.name]) for quantity in theorem.local if quantity.name in _LOCAL)
    if theorem.privacy.claim is Claim.TOTAL_VARIATION:
        if theorem.metric is not Metric.PRIVACY:
            return None  # the radius is chosen for a δ, which is not a promise of the paper
        values["delta"] = _promised_delta(theorem, values)
    constant = ""
    if noise_constant in theorem.privacy.needs:
        values["noise_constant"] = _smallest_constant(theorem, values)
        constant = _up(values["noise_constant"])
    cells: list[TableCell] = []
    promised = ""
    for relation in _RELATIONS:
        found = _spending(theorem, values, relation)
        if isinstance(found, str):
            cells += [found, None]
            continue
        promised = _up(found.promised)
        cells += [found.spent.decimals(DIGITS)[1], _VERDICTS[found.kept]]
    if not promised:
        return None
    return (named(theorem), f"{theorem.privacy.claim}, {theorem.privacy.relation}", promised, *cells, constant or None)


_VERDICTS = {True: "yes", False: "NO", None: "not decided"}


def _spending(theorem: Theorem, values: Values, relation: Relation) -> Spending | str:
    try:
        return spending(theorem, values, relation)
    except UnsupportedMechanism:
        return "nothing proven"
    except InvalidValue as error:
        if error.value == MISSING:
            return f"needs {error.name}"
        if error.name == "relation":
            return "nothing proven"  # its assumptions say nothing about that relation
        raise


def _promised_delta(theorem: Theorem, values: Values) -> Fraction:
    """A δ that the statement gives by a formula."""
    part = theorem.bound
    if part is None:
        return Fraction(values["delta"])
    known = {
        name: value for name, value in values.items() if name != delta.name or delta in part.expression.free_symbols
    }
    return Fraction(_up(Fraction(evaluate(theorem, part.name, known).value.exact_upper)))


def _smallest_constant(theorem: Theorem, values: Values) -> Fraction:
    """Return the least noise constant that keeps the promise under the statement's own relation, rounded up."""

    def keeps(constant: Fraction) -> bool:
        return spending(theorem, {**values, "noise_constant": constant}).kept is True

    high = Fraction(1)
    while not keeps(high):
        high *= 2
        if high > _LARGEST_CONSTANT:
            raise InvalidValue("noise_constant", high, f"small enough for {theorem.id}")
    low = high / 2
    while low > 1 / _LARGEST_CONSTANT and keeps(low):
        high, low = low, low / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def _up(number: Fraction) -> str:
    """Return a few digits, rounded up."""
    from decimal import ROUND_CEILING, Context

    context = Context(prec=DIGITS, rounding=ROUND_CEILING)
    value = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{value.normalize(context):f}" if abs(value) >= Decimal("1e-4") else f"{value:.3e}"


def ball_noise() -> Table:
    """Tholeti & Kalyani's descent: δ of a run over dimensions and radii, tight and as printed."""
    rows: list[tuple[TableCell, ...]] = []
    for dimension in (1, 3, 10, 100, 1000):
        for radius in ("1.5", "4", "20"):
            run = BallDescent(Fraction(2), dimension, 10_000, 1000)
            tight, claimed = run.delta(Fraction(radius)), run.printed_delta(Fraction(radius))
            variance = Fraction(radius) ** 2 * dimension / (dimension + 2)
            rows.append((
                str(dimension),
                radius,
                tight.decimals(DIGITS)[1],
                claimed.decimals(DIGITS)[1],
                _up(variance),
            ))  # fmt: skip
    return Table(
        name="ball-noise",
        title="Perturbed gradient descent with noise uniform on a ball",
        columns=("dimension", "radius", "δ, tight", "δ, printed T δ₁/N", "noise power r²d/(d+2)"),
        rows=tuple(rows),
        preface=(
            "Gradients of distance at most 2 (per-record gradients at most 1, a record replaced), N = 10 000 records, "
            "T = 1000 steps, one uniformly drawn record per step. The same δ holds for every ε. Rounded up.",
        ),
        footnotes=(
            "A radius below 1 hides nothing in a step: only sampling does.",
            "The printed sum is never below the tight value; where δ is small the two agree to first order.",
        ),
    )
