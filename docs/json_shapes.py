"""What ``--json`` prints, verb by verb.

``python docs/json_shapes.py`` writes it as JSON Schema into ``docs/schemas``. A test says when that is needed, and each
answer that the verbs' tests read is held against its schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # Pydantic asks for this one below Python 3.12

Number = float | str
"""A number; text where a double does not reach (as 1e-400, inf) or more than 15 digits were asked for."""
Given = float | str | None
"""What was asked for, or null where it does not apply."""


class Head(TypedDict):
    """Every object, and every entry of a list."""

    schema_version: int
    """Rises where a field is renamed, dropped or changes its meaning."""
    dpbounds_version: str
    verb: str | None


class Told(TypedDict):
    message: str
    """The line on standard error, without its "dpbounds: "."""
    status: int
    """The exit status."""


class Failure(Head):
    """What any verb prints instead when it does not end with an answer."""

    error: Told


class Ends(TypedDict):
    """Both are proven; rounded outwards."""

    lower: Number
    upper: Number


class Explained(TypedDict):
    order: str
    """Which dataset is the first of the two."""
    role: Literal["dominates", "attack"]
    enclosure: Ends
    route: str
    precision: int
    parameters: dict[str, Any]
    error_budget: dict[str, float]


class Trained(TypedDict, total=False):
    """The training run that the options describe; absent with a ledger."""

    noise_multiplier: Given
    noise_variance: Given
    noise: str
    bound: Given
    sampling: str
    sample_rate: Given
    steps: int | None
    batch_size: int | None
    dataset_size: int | None
    max_batch_size: int | None
    batches: int | None
    participations: int | None
    epochs: Given
    redraw: bool | None
    bands: int | None
    participation: str
    separation: int | None
    at_most: int | None
    groups: str | None
    release: str
    order: str
    smoothness_step: Given | list[Given]
    weight_decay_step: Given
    local_epsilon: Given
    answers: int | None
    checkpoints: list[int]
    condition: str
    """On which everything here depends, such as a seed that has to stay secret."""
    ledger: str


class Cheaper(TypedDict):
    """Poisson samples of the same expected size, where they cost less."""

    sampling: str
    sample_rate: Given
    relation: str
    noise_multiplier: NotRequired[Number]
    """That suffices for the same budget."""
    epsilon: NotRequired[Number]
    """That the same noise then spends."""


class AfterSteps(TypedDict):
    steps: int
    epsilon: NotRequired[Ends]
    delta: NotRequired[Ends]


class Spent(Head, Trained):
    relation: str
    method: str
    certified: bool
    digits: int | None
    """How many both ends share."""
    route: NotRequired[str]
    complete: NotRequired[bool]
    """Whether the time limit was not reached."""
    tight: NotRequired[bool]
    """Whether an attack attains the upper end."""
    attained: NotRequired[Ends | None]
    """Where it is not tight: what an explicit attack attains, or null where none is known."""
    group_size: NotRequired[int]
    neighbour_order: NotRequired[str]
    """The only order of neighbours that counts, where it is not all."""
    total_variation: NotRequired[Ends]
    after: NotRequired[list[AfterSteps]]
    """With ``--after``: what fewer steps spend."""
    explain: NotRequired[list[Explained]]
    note: NotRequired[str]
    """A remark on the mechanism, such as that a secret order gains nothing."""
    cheaper: NotRequired[Cheaper]
    statement: NotRequired[str]
    value: NotRequired[Given]
    """With another method than the certified one: what it says."""
    ratio: NotRequired[float | None]
    why: NotRequired[str | None]


class Epsilon(Spent):
    epsilon: NotRequired[Ends]
    delta: Number


class Delta(Spent):
    delta: NotRequired[Ends]
    epsilon: Number


class Method(TypedDict):
    method: str
    epsilon: NotRequired[Ends]
    delta: NotRequired[Ends]
    value: NotRequired[Given]
    """Of a method that proves nothing, or null where it does not answer."""
    certified: bool
    ratio: float | None
    """To the certified value."""
    why: str | None


class Methods(Head, Trained):
    """With ``--method all``."""

    methods: list[Method]
    epsilon: NotRequired[Number]
    delta: NotRequired[Number]
    relation: str


class UpperEnd(TypedDict):
    probable_upper: Number


class Probable(Head, Trained):
    """With ``--probable``: by sampling, not certified."""

    epsilon: UpperEnd | Number
    delta: UpperEnd | Number
    relation: str
    method: Literal["sampling"]
    certified: Literal[False]
    confidence: Number
    """That the bound holds, over the draws."""
    samples: int
    """In each order."""
    seed: int | None


class Calibrated(Head, Trained):
    fails_at: Given
    """Proven not to suffice: a hair less noise, one step more, a hair higher rate; null where all suffice."""
    gap: Given
    """How far the best value may be, as a share of the one that suffices; null where none is known to fail."""
    within_tolerance: bool
    """Whether the gap is known and at most 0.001."""
    epsilon: Ends
    target_epsilon: Number
    target_delta: Number
    relation: str
    certified: bool
    tight: bool
    complete: NotRequired[bool]
    group_size: NotRequired[int]
    coefficients: NotRequired[list[Number]]
    error: NotRequired[str]
    error_of_sums: NotRequired[Given]
    cheaper: NotRequired[Cheaper]
    statement: NotRequired[str]


class ErrorRates(Head, Trained):
    """Of `--target-tpr`."""

    fails_at: Given
    """Proven not to suffice; null where the dominating pairs are not attained."""
    true_positive_rate: Ends
    target_tpr: Number
    at_fpr: Number
    relation: str
    certified: bool


class OfMu(Head, Trained):
    """Of `--target-mu`."""

    fails_at: Given
    """Proven not to suffice; null where none was found."""
    gdp_parameter: Ends
    target_mu: Number
    least_rate: Number
    relation: str
    certified: bool


class Rates(TypedDict):
    false_positive_rate: Number
    true_positive_rate: Ends
    """The largest that a test attains: publish the upper end."""
    false_negative_rate: Ends


class Attacker(Head, Trained):
    relation: str
    certified: bool
    complete: NotRequired[bool]
    """False where a time limit ended the search: the bounds are proven, and better ones may exist."""
    advantage: Ends
    """Of membership inference: true minus false positive rate."""
    prior: Number
    bayes_risk: Ends
    """The least probability of a wrong guess: publish the lower end."""
    rates: list[Rates]
    baseline: NotRequired[Number]
    reconstruction_risk: NotRequired[Number]
    least_rate: NotRequired[Number]
    gdp_parameter: NotRequired[Ends]
    """The smallest mu of Gaussian differential privacy, for tests with both error rates at least least_rate."""


class Converted(Head, Trained):
    to: str
    delta: NotRequired[Number]
    epsilon: NotRequired[Number]
    renyi_order: NotRequired[Number]
    false_positive_rate: NotRequired[Number]
    least_rate: NotRequired[Number]
    value: Ends
    """One end is proven for all mechanisms of this description, and one of them attains the other."""
    proven: Number
    """The end to publish: of a trade-off function the lower one."""
    relation: str
    certified: bool
    theorem: str | None
    """Null where no guarantee was given."""
    source: str | None
    tight: bool | None
    """Whether a mechanism with the guarantee attains the value; null where no guarantee was given."""
    guarantee: NotRequired[str]


class Remaining(Head):
    epsilon: Ends
    within: bool | None
    """Null where neither is proven."""
    target_epsilon: Number
    target_delta: Number
    relation: str
    noise_multiplier: Given
    """Of one more full-batch Gaussian release; null where none is proven to fit."""
    noise_fails_at: Given
    more: int | None
    """Releases like the last, which is told in words."""
    more_fails_at: int | None
    last: str
    tight: bool
    certified: bool
    complete: NotRequired[bool]
    ledger: str


class Ball(Head):
    delta: Ends
    radius: Number
    fails_at: NotRequired[Given]
    """Null where no noise is needed."""
    target_delta: NotRequired[Number]
    total_variation: Ends
    """Of a step's two balls."""
    printed_delta: Ends
    printed_ratio: Ends
    relation: str
    tight: bool
    certified: bool
    sensitivity: Number
    dimension: int
    dataset_size: int
    steps: int


class Claim(TypedDict):
    """Ends are exact, as text."""

    role: str
    relation: str
    relation_in_words: str
    given: str
    target: str
    lower: str
    upper: str
    releases: list[str]
    digest: str


class LedgerOf(TypedDict):
    file: str
    digest: str
    matches: bool


class Checked(Head):
    holds: bool
    verdict: str
    lines: list[str]
    """How it was checked."""
    claims: list[Claim]
    assumptions: list[str]
    ledger: NotRequired[LedgerOf]


class Listed(TypedDict):
    id: str
    paper: str
    number: str
    title: str
    metric: str
    side: str | None
    mode: str | None
    status: str
    algorithm: str | None


class Entry(Head, Listed):
    parts: list[str]
    part_statuses: dict[str, str]
    errata: list[str]
    """Their severities."""


class Assumed(TypedDict):
    name: str
    text: str


class Required(TypedDict):
    text: str
    why: str


class Part(TypedDict):
    name: str
    kind: Literal["bound", "rate", "parameter"]
    meaning: str
    formula: str
    latex: str
    quantities: list[str]
    status: str
    side: str | None
    under: str | None
    assumptions: list[str]
    conditions: list[Required]
    """Those of this part, besides the statement's."""


class Wrong(TypedDict):
    """An erratum of a paper."""

    printed: str
    right: str
    severity: Literal["typo", "harmless", "constant", "gap", "false", "privacy"]
    evidence: str
    """The test that derives it or exhibits the example."""
    survives: str | None
    relation: str | None
    also: list[str]
    """Ids of statements with the same fault."""


class Shown(Head, Listed):
    relation: str | None
    sampling: str | None
    statement: str
    assumptions: list[Assumed]
    conditions: list[Required]
    parts: list[Part]
    errata: list[Wrong]
    letters: dict[str, str]
    notes: list[str]
    relies_on: list[str]
    superseded_by: list[str]
    makes_explicit: str | None
    where: str
    read: str
    defects: list[str]


class Erratum(Head, Wrong):
    id: str
    where: str


class Condition(TypedDict):
    text: str
    holds: bool | None
    why: str | None
    missing: list[str]


class Evaluated(Head):
    id: str
    part: str
    kind: Literal["bound", "rate", "parameter"]
    value: Ends | None
    """Of a rate, or a parameter printed as an order: that of the formula inside the O(.). Null where a condition fails:
    the statement says nothing there, and the exit status is 1."""
    digits: int
    conditions: list[Condition]
    up_to_constant: NotRequired[bool]
    applies: NotRequired[bool | None]
    """Null where a condition could not be checked, and none fails."""
    claim: NotRequired[str]
    """This and what follows: with ``--part spent``."""
    relation: NotRequired[str]
    promised: NotRequired[Number]
    kept: NotRequired[bool | None]


class Side(TypedDict):
    id: str
    part: str
    kind: str
    value: Ends | None
    """Null where a condition fails; the exit status is 1 then."""
    up_to_constant: bool
    applies: bool | None


class Assumptions(TypedDict):
    shared: list[str]
    first_only: list[str]
    second_only: list[str]


class Compared(Head):
    statements: list[Side]
    ratio: Ends | None
    """The first over the second."""
    same_kind: bool
    assumptions: Assumptions


class Instance(TypedDict):
    part: str
    verdict: str
    ratio: Ends
    bound: Ends
    instance: Ends
    loss: str
    run: str
    gap: str
    at: dict[str, str]


class Tightness(Head):
    id: str
    instances: list[Instance]
    open: str | None
    """Why there is no instance."""


class Files(Head):
    """With ``--check``."""

    stale: list[str]
    missing: list[str]
    superfluous: list[str]


class Region(TypedDict):
    winner: str
    ties: list[str]
    where: list[str]
    """Inequalities in the exponents."""
    conditions: list[str]
    """The same in n, d and ε."""
    value: str
    verdict: Literal["tight", "gap", "open"] | None
    gap: str | None
    by_logarithms: list[str]
    pure: list[str]
    """Those of the winners that are ε-DP."""
    pure_gap: str | None
    """To the best lower bound for ε-DP."""


class LeftOut(TypedDict):
    id: str
    reason: str


class Regimes(Head):
    metric: str
    space: list[str]
    regions: list[Region]
    """None where nothing can be compared."""
    crossovers: list[str]
    left_out: list[LeftOut]
    statuses: dict[str, str]
    derived: list[str]
    """Ids whose order follows from a bound with constants."""
    advice: list[str]
    """Options with which there would be more to compare."""


class RateAt(TypedDict):
    value: Number
    formula: str
    hides: list[str]
    logs_hidden: bool


class Since(TypedDict):
    dataset_size: int
    monotone: bool
    part: str


class Released(TypedDict):
    count: int
    release: str


class PlannedParameter(TypedDict):
    value: Given
    meaning: str | None
    up_to_constant: bool


class Guarantee(TypedDict):
    id: str
    kind: Literal["bound", "order"]
    place: int | None
    """Among its like."""
    like: str
    """With what it is ranked."""
    metric: str
    sense: str | None
    part: str
    meaning: str | None
    bound: Ends | None
    rate: RateAt | None
    vacuous: bool | None
    meaningful_from: Since | None
    rho: Given
    privacy: str
    releases: list[Released]
    parameters: dict[str, PlannedParameter]
    command: str | None
    """That runs it."""
    gradient_evaluations: float | None
    batch_size: float | None
    """Records that a step looks at, on average where they are sampled."""
    memory: float | None
    cost_note: str
    status: str
    assumes: list[str]
    unchecked: list[str]
    notes: list[str]
    why: str


class Trivial(TypedDict):
    value: Number
    reason: str


class Floor(TypedDict):
    id: str
    value: Number
    up_to_constant: bool


class Needs(TypedDict):
    id: str
    needs: list[str]


class Planned(Head):
    metric: str
    relation: str
    values: dict[str, Given]
    ranking: list[Guarantee]
    not_ranked: list[Guarantee]
    """Orders that hide what decides."""
    all_vacuous: bool
    trivial: list[Trivial]
    lower_bounds: list[Floor]
    missing: list[Needs]
    left_out: list[LeftOut]


class Measured(TypedDict):
    mean: Number
    low: Number
    high: Number


class Judged(TypedDict):
    predicted: Any
    measured: Measured
    verdict: Literal["holds", "compatible", "undecided", "fails"]
    reason: str


class OtherExponent(TypedDict):
    problem: str
    exponent: Number
    low: Number
    high: Number
    regime: str


class Check(Judged):
    theorem: str
    name: str
    kind: str
    chosen: NotRequired[str]
    """The problem on which an exponent shows, and beside it what others gave."""
    others: NotRequired[list[OtherExponent]]
    seconds: float


class PlannedCheck(TypedDict):
    theorem: str
    name: str
    kind: str


class Experiment(TypedDict):
    theorem: str
    name: str
    findings: list[str]


class Verified(Head):
    checks: list[Check]
    counts: dict[str, int]
    left_out: list[PlannedCheck]
    """With --quick: what is not run."""
    suite_error: float
    """The chance of any false alarm."""
    experiments: list[Experiment]


class RunBound(Ends):
    """Of a mean."""

    metric: str
    trivial: bool
    measured: float | None
    """Null for private records."""


class NoiseTested(TypedDict):
    kind: str
    """Of the answers, with how many numbers each has."""
    numbers: int
    seen_below: float | None
    """Noise that is all too small by a factor below this one would have been seen with probability 0.999."""


class RunGuarded(TypedDict):
    """What guards that found no fault could have seen."""

    run: list[NoiseTested]
    repetitions: int
    """How many more were made, on made-up or public records."""
    more: list[NoiseTested]


class PrivateScore(TypedDict):
    kind: str
    """accuracy, or mean absolute error."""
    value: float
    """With noise: it may lie outside of the range of scores."""
    typical_error: float
    """The mean absolute value of the noise."""


class Parts(TypedDict):
    fitted: int
    held_out: int


class Fit(Head):
    model: Literal["classifier", "regressor"]
    label: str
    classes: list[str] | None
    target_range: list[float] | None
    features: list[str]
    """A number, or NAME=VALUE, which is 1 for records with this value of a category."""
    ranges: list[list[float]] | None
    """To which features are cut before a prediction, where they were chosen privately."""
    coefficients: list[list[float]]
    intercepts: list[float]
    records: Parts
    score: PrivateScore
    epsilon: Number
    delta: Number
    relation: str
    statement: str
    files: list[str]


class RunOf(Head):
    algorithm: str
    records: int | None
    dimension: int
    public: bool
    """Whether the records are."""
    preparation: list[str]
    parameters: dict[str, Any]
    steps: int | None
    seed: int | None
    epsilon: Ends
    delta: Number
    relation: str
    release: str
    """What may be published: every-iterate or last-iterate."""
    last_iterate_alone: Ends | None
    """ε if the point is all that is published, where the ledger knows that and the budget is for all iterates."""
    metric: str
    bounds: list[RunBound]
    """Of the run's metric first."""
    no_bound: str | None
    repetitions: int
    point: list[float | None]
    """One repetition's."""
    noise_drawn: str
    guarded: RunGuarded | None
    ledger: dict[str, Any]
    statement: str | None
    files: list[str]


class Lower(TypedDict):
    epsilon: Number
    delta: Number
    confidence: float
    """Of this line; a table's is that of all its lines together, and lower."""
    attack: str
    method: str


class Promise(TypedDict):
    epsilon: Number
    delta: Number
    relation: NotRequired[str]


class Audited(TypedDict):
    algorithm: str
    runs: int
    ended: str
    limit: str
    """What kept the bound low, or nothing."""
    seed: int
    lower: Lower
    unassuming: Number
    """The bound without a ledger's word."""
    reach: Given
    """About the ε of the pair that was run."""
    certified: Number
    claim: Promise
    sound: bool
    claim_refuted: bool


class Audit(Head, Audited):
    """Of one algorithm."""


class Audits(Head):
    """Of all."""

    findings: list[Audited]
    confidence: float


class ShownEpsilon(TypedDict):
    epsilon: Number
    found_by: str


class ShownGaussian(TypedDict):
    """Of a run that is Gaussian private with some μ."""

    mu: Number
    epsilon: Number | None
    """That follows at the δ; null at δ = 0."""
    found_by: str


class AuditedClaim(TypedDict):
    epsilon: Number
    delta: Given
    relation: str
    source: str
    """The option, or the file, that states the claim."""


class ScoredAudit(Head):
    """Of scores of canaries, with ``--scores``."""

    design: Literal["one-run", "many-runs"]
    relation: str
    delta: Given
    confidence: float
    """Of each bound by itself."""
    included: int
    excluded: int
    lower: ShownEpsilon
    gaussian: ShownGaussian
    claim: AuditedClaim | None
    claim_refuted: bool | None
    gaussian_claim_refuted: bool | None


class Copy(TypedDict):
    name: str
    flaw: str
    broken: bool
    claim: Promise
    lower: Lower
    caught: bool


class Copies(Head):
    """With ``--mutations``."""

    copies: list[Copy]
    all_as_expected: bool
    confidence: float


class Line(TypedDict):
    claim: str
    due_to: str
    left: Number
    right: Number
    relation: str
    factor: Given
    error: Number
    verdict: str


class Curvature(TypedDict):
    measured: Number
    public: Number


class Explanation(Head):
    algorithm: str
    quantity: str
    repetitions: int
    steps: int
    measured: Number
    bound: Ends
    subtracted: Number
    lines: list[Line]
    factors: dict[str, Given]
    curvature: Curvature | None
    output_rule: dict[str, Number]
    regime: dict[str, Number]


class DemoData(TypedDict):
    records: int
    features: int
    positive: Any
    preparation: list[str]
    name: NotRequired[str]
    source: NotRequired[str]
    held_out: NotRequired[int]


class Accuracy(TypedDict):
    mean: float
    lowest: float
    highest: float
    per_repetition: list[float]


class DemoCheck(Judged):
    name: str
    theorem: str
    kind: str


class DemoRow(TypedDict):
    target_epsilon: Number
    target_delta: Number
    relation: str
    epsilon: Ends
    certified: bool
    noise_multiplier: Number
    noise_stddev: float
    steps: int
    step_size: float
    repetitions: int
    accuracy: Accuracy
    checks: list[DemoCheck]
    statement: str
    ledger: dict[str, Any]


class WithoutNoise(TypedDict):
    accuracy: float
    projected_gradient_norm: float
    steps: int
    converged: bool


class Demo(Head):
    data: DemoData
    problem: str
    seed: int | None
    rows: list[DemoRow]
    without_noise: WithoutNoise
    largest_class_accuracy: float
    outside_the_guarantee: list[str]
    files: list[str]


class Stubs(Head):
    kind: Literal["theorem", "algorithm", "noise", "scheme"]
    name: str
    files: list[str]
    """Written; from the root of the checkout on."""
    kept: list[str]
    """They exist already, and are to be added to."""
    steps: list[str]
    """What is left to do."""


SHAPES: dict[str, Any] = {
    "calibrate": Calibrated | ErrorRates | OfMu,
    "epsilon": Epsilon | Methods | Probable,
    "delta": Delta | Methods | Probable,
    "attacker": Attacker,
    "convert": Converted,
    "remaining": Remaining,
    "ball": Ball,
    "check": Checked,
    "theorems": list[Entry],
    "show": Shown,
    "evaluate": Evaluated,
    "compare": Compared,
    "tightness": list[Tightness],
    "errata": list[Erratum],
    "table": Files,
    "regimes": Regimes,
    "plan": Planned,
    "demo": Demo,
    "run": RunOf,
    "fit": Fit,
    "verify": Verified,
    "audit": Audit | Audits | Copies | ScoredAudit,
    "explain": Explanation,
    "new": Stubs,
}
HOME = Path(__file__).parent / "schemas"


def schemas() -> dict[Path, str]:
    """The files, and what belongs into them."""
    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    made = {verb: TypeAdapter(shape | Failure, config=config).json_schema() for verb, shape in SHAPES.items()}
    return {HOME / f"{verb}.json": json.dumps(_untitled(one), indent=1) + "\n" for verb, one in made.items()}


def _untitled(schema: Any) -> Any:
    """Without the titles, which say a field's name again."""
    if isinstance(schema, dict):
        told = {name: _untitled(value) for name, value in schema.items()}
        return {name: value for name, value in told.items() if name != "title" or not isinstance(value, str)}
    return [_untitled(one) for one in schema] if isinstance(schema, list) else schema


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
