"""Private linear models for scikit-learn: data in, a proven privacy statement out.

Records are clipped one by one to public bounds, an algorithm that writes a ledger descends on a loss of linear scores,
and what may be claimed is said in words by ``privacy_statement_``. By default that is clipped gradient descent
(``estimators.clipped_descent``), whose numbers are public and were found on other data; the papers' algorithms, with
the numbers of their theorems, stay on request. Needs scikit-learn 1.6 or later (extras ``demo`` and ``verify``).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.fields import WhichNoise, count, demand_one_of, positive
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.sets import ConstraintSet, L1Ball, L2Ball
from dpbounds.algorithms.problems.sigmoid import sigmoid_loss
from dpbounds.algorithms.run import Run
from dpbounds.errors import MISSING, InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.privacy.relations import Relation

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError:
    needed = "PrivateLinearClassifier needs scikit-learn 1.6 or later: pip install 'dpbounds[demo]' 'scikit-learn>=1.6'"
    raise ModuleNotFoundError(needed) from None

from dpbounds.algorithms.estimators import costs, scores
from dpbounds.algorithms.estimators.clipped_descent import (
    HUBER,
    LOGISTIC,
    MULTINOMIAL,
    ClippedDescent,
    RangesChoice,
    Tuned,
)
from dpbounds.algorithms.estimators.inputs import (
    OF_CLASSES,
    OF_NUMBERS,
    Units,
    checked_classes,
    is_estimate,
    norm_bound,
)

_DIFFERENCE = {
    Relation.ADD_OR_REMOVE_ONE: "added or removed",
    Relation.REPLACE_ONE: "replaced by another",
    Relation.ZERO_OUT_ONE: "left out of every sum, its place and the number of records kept",
}
_SEEDED = (
    " With the seed, this noise can be subtracted; of several fits with one seed, publish at most one: their noise "
    "is the same."
)

CLIPPED = "clipped-gd"

# Of ε, what choices of ranges cost together, about.
_FOR_RANGES = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class Entry:
    """An algorithm of a paper that the classifier can use, on the sigmoid loss of two classes.

    What else it understands (``steps``, ``noise``) is read off the arguments of its ``calibrated``.

    Attributes:
        home: "module:Class"; the class offers ``calibrated(problem, epsilon=, delta=, relation=, ...)``, whose result
            offers ``run(problem, seed=, repetitions=)``. Imported when first used.
        l1: Whether it minimises the loss plus l1 ‖x‖₁; others would leave the regulariser out without a word.
        radius: Whether it keeps to a ball: "optional", "required" or "refused".
        constraint: From p and the radius to the set that ``calibrated`` takes as ``constraint``, where it does.
    """

    home: str
    l1: bool = False
    radius: Literal["optional", "required", "refused"] = "refused"
    constraint: Callable[[int, ExactLike], ConstraintSet] | None = None

    def load(self) -> Any:
        """Return the class."""
        module, _, name = self.home.partition(":")
        return getattr(importlib.import_module(module), name)


# One line per algorithm besides ``CLIPPED``.
ALGORITHMS: dict[str, Entry] = {
    "dp-pgd": Entry(
        "dpbounds.algorithms.descents.projected_gradient_descent:ProjectedGradientDescent", True, "optional"
    ),
    "dp-spider": Entry("dpbounds.algorithms.spider.spider:Spider"),
    "dp-sgd": Entry("dpbounds.algorithms.descents.stochastic_gradient_descent:StochasticGradientDescent"),
    "dp-fw": Entry(
        "dpbounds.algorithms.frank_wolfe.gaussian_frank_wolfe:GaussianFrankWolfe", radius="required", constraint=L2Ball
    ),
    "dp-fw-l1": Entry(
        "dpbounds.algorithms.frank_wolfe.vertex_frank_wolfe:VertexFrankWolfe", radius="required", constraint=L1Ball
    ),
}


class _PrivateLinear(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class of classifier and regressor: records in public units, the run, and its privacy statement."""

    _typical = OF_CLASSES

    epsilon: ExactLike
    delta: ExactLike
    relation: str
    feature_bound: ExactLike | None
    feature_ranges: ArrayLike | str | None
    weight_bound: ExactLike
    steps: int | None
    noise: WhichNoise
    max_gradients: int | None
    fit_intercept: bool
    verbose: int
    random_state: int | np.random.RandomState | None

    def _checked(self) -> PrivacyBudget:
        demand_one_of(self.noise, WhichNoise, "noise")
        return PrivacyBudget.of(self.epsilon, self.delta, self.relation)

    def _weights(self, sample_weight: ArrayLike | None, matrix: Array) -> Array | None:
        """Return weights in units of their public bound; ``Records.clipped_to`` clips those above 1."""
        if sample_weight is None:
            return None
        weights: Array = _check_sample_weight(sample_weight, matrix, dtype=np.float64, ensure_non_negative=True)
        return weights / float(positive(self.weight_bound, "weight_bound"))

    def _descend(
        self,
        matrix: Array,
        targets: scores.Targets,
        outputs: int,
        tuned: Tuned,
        weights: Array | None,
        budget: PrivacyBudget,
    ) -> tuple[Run, Array, Array]:
        """Return the run of clipped gradient descent, and coefficients (K, p) and intercepts (K,) for raw features."""
        ranges = self._ranges_to_choose(budget, *matrix.shape) if is_estimate(self.feature_ranges) else None
        units = None
        if ranges is None:
            units = Units.of(self.feature_ranges, matrix.shape[1], "feature_ranges", self.fit_intercept)
        bound = (
            norm_bound(self.feature_bound, units is not None, matrix.shape[1], self._typical)
            if ranges is None
            else None
        )
        if bound is None and self.noise == "secure":
            name, public = ("feature_bound", "a number") if ranges is None else ("feature_ranges", "public")
            raise InvalidValue(
                name, "'estimate'", f"{public} with secure noise", "choices are drawn in double precision"
            )
        rows = matrix if units is None else units.apply(matrix)
        records = scores.Records(rows, targets, outputs, tuned.loss, weights, self.fit_intercept)
        problem = records if bound is None else records.clipped_to(bound)
        made = ClippedDescent.calibrated(
            problem,
            tuned,
            budget.epsilon,
            budget.delta,
            self.steps,
            budget.relation,
            self.noise,
            max_gradients=self._most_gradients(records.dimension),
            ranges=ranges,
        )
        self._say_cost(made.title, made.steps, made.gradients(problem), matrix.shape[1], outputs)
        if self.verbose > 1:
            made = attrs.evolve(made, watch=costs.Progress(made.steps))
        run = made.run(problem, seed=self._seed(), repetitions=1)
        solution = run.output[0].reshape(outputs, -1)
        coefficients, intercepts = solution[:, : matrix.shape[1]].copy(), np.zeros(outputs)
        if self.fit_intercept:
            intercepts = solution[:, -1] * (float(scores.INTERCEPT) * run.parameters["feature_bound"])
        if ranges is not None:
            units = Units(run.outputs["middle"][0], run.outputs["half"][0])
        if units is not None:
            coefficients /= units.half
            intercepts = intercepts - coefficients @ units.middle
        return run, coefficients, intercepts

    def _ranges_to_choose(self, budget: PrivacyBudget, records: int, features: int) -> RangesChoice:
        if is_estimate(self.feature_bound):
            advice = "records in ranges that were chosen have a public norm"
            raise InvalidValue("feature_bound", "'estimate'", "None or a number with feature_ranges='estimate'", advice)
        bound = norm_bound(self.feature_bound, True, features, self._typical)
        assert bound is not None  # there are ranges
        choice = RangesChoice.within(budget.epsilon * _FOR_RANGES, features, bound, self.fit_intercept)
        if records < choice.least_records:
            allowed = f"public with fewer than {choice.least_records} records of {features} features at this epsilon"
            advice = (
                f"from {records} a private choice is likely to miss; roughly known ranges will do, as numbers are cut"
            )
            raise InvalidValue("feature_ranges", "'estimate'", allowed, advice)
        return choice

    def _inside(self, X: ArrayLike) -> Array:
        """Return features of records to predict, clipped to the chosen ranges."""
        check_is_fitted(self)
        matrix: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return matrix if self.ranges_ is None else np.clip(matrix, *self.ranges_.T)

    def _most_gradients(self, dimension: int) -> int:
        return (
            costs.most_gradients(dimension)
            if self.max_gradients is None
            else count(self.max_gradients, "max_gradients")
        )

    def _say_cost(self, title: str, steps: int, gradients: int, features: int, outputs: int = 1) -> None:
        if self.verbose > 0:
            seconds = costs.expected_seconds(gradients, features, outputs)
            costs.say(f"{title}: {steps} steps, {gradients} gradients of single records, about {seconds:.1g} s")

    def _seed(self) -> int | None:
        if self.random_state is None:
            return None
        if isinstance(self.random_state, int | np.integer) and not isinstance(self.random_state, bool):
            return int(self.random_state)
        return int.from_bytes(check_random_state(self.random_state).bytes(16), "little")

    def _keep(self, X: ArrayLike, run: Run, budget: PrivacyBudget, records: int, told: str, outside: str) -> None:
        assert run.spent is not None  # a budget was given
        validate_data(self, X, skip_check_array=True)  # the number and names of the features
        self.n_iter_ = run.steps
        self.ledger_: Ledger = run.ledger
        self.spent_: Enclosure = run.spent
        self.ranges_: Array | None = None
        if "middle" in run.outputs:
            middle, half = run.outputs["middle"][0], run.outputs["half"][0]
            self.ranges_ = np.column_stack([middle - half, middle + half])
        self.privacy_statement_ = self._statement(run, budget, records, told, outside)

    def _statement(self, run: Run, budget: PrivacyBudget, records: int, told: str, outside: str) -> str:
        released = str(run.ledger).replace("\n", "; ")
        published = "coef_ and intercept_" if self.ranges_ is None else "coef_, intercept_ and ranges_"
        lines = [
            f"{published} are ({_above(budget.epsilon)}, {_above(budget.delta)})-differentially private: "
            f"the ledger spends epsilon in {run.spent} at this delta, by a certified accountant.",
            f"Neighbours: two datasets where one record (features, {told}) is "
            f"{_DIFFERENCE[budget.relation]} ({budget.relation}).",
            f"Algorithm: {run.algorithm}, {run.steps} steps on {records} records; released: {released}.",
            f"Noise: {run.noise_drawn}.{_SEEDED if run.ledger.seeded else ''}",
            "Taken to be public: the number of records, the number and names of the features, all parameters, and "
            f"{self._bound_in_words(run)}.",
            "Outside the guarantee: errors and warnings about the data, scores on these records, and the choice of "
            "parameters in view of them. Each further fit to these records spends as much again.",
        ]
        return "\n".join([*lines, outside] if outside else lines)

    def _bound_in_words(self, run: Run) -> str:
        bound = self.feature_bound
        if self.ranges_ is not None:
            kept = f"{run.parameters['feature_bound']:.6g}, in units of ranges"
            return f"the norm that every record was clipped to, {kept} that were chosen privately and are released"
        if bound == "estimate":
            kept = f"{run.parameters['feature_bound']:g}, which was chosen privately and is part of what was released"
            return f"no norm of records: they were clipped to {kept}"
        if bound is None:
            bound = f"{run.parameters['feature_bound']:.6g}, from feature_ranges,"
        return f"the feature bound {bound} that every record{' with its intercept' * self.fit_intercept} was clipped to"


class PrivateLinearClassifier(ClassifierMixin, _PrivateLinear):  # type: ignore[misc]
    """A private classifier with linear scores.

    "clipped-gd" minimises a logistic loss (multinomial for three classes and more) by noisy gradient descent with every
    record's gradient clipped, and publishes the mean of the later half of its iterates. Clipping, number of steps and
    step size follow from n, p, ε and δ by rules found on synthetic data, see ``estimators.clipped_descent``. If n is
    large, steps use random batches, accounted with their sampling. The other algorithms are the papers', for two
    classes: they minimise (1/n) Σ 1/(1 + exp(y_i <a_i, x>)) + l1 ‖x‖₁ with the numbers of their theorems, for the worst
    case; "dp-pgd" returns a random iterate, as its theorem has it.

    The guarantee covers ``coef_`` and ``intercept_``: (ε, δ)-differential privacy under the relation, by the certified
    accountant, from the ledger of the noise that was drawn. ``privacy_statement_`` states it in words, with its
    assumptions and limits. Every call of ``fit`` spends the budget again, so that there is no ``partial_fit``. Choosing
    parameters by scores on the same records is not covered.

    Args:
        algorithm: "clipped-gd", or one of ``ALGORITHMS``: "dp-pgd", "dp-spider", "dp-sgd" (all records at each step),
            "dp-fw" (in an l2 ball), "dp-fw-l1".
        epsilon: ε > 0.
        delta: δ in (0, 1), well below 1/n.
        relation: "replace-one", "zero-out-one" or "add-or-remove-one" (where n, the divisor, is public all the same).
        feature_bound: B > 0: every record, with its intercept, is clipped to this l2 norm. It has to be *public*, and
            is best a typical norm, not the largest: clipped records keep their direction. "estimate" chooses a norm
            near the median privately, for a tenth of ε: use it if the features have one scale. None raises an error
            without ``feature_ranges``: a bound computed from the records would be another release.
        l1: Weight of ‖x‖₁, at least 0 (the intercept is regularised, too); 0 for all but "dp-pgd".
        radius: x is kept in a ball of this radius: the l2 ball with "dp-pgd" (None: x is free) and "dp-fw", the l1 ball
            with "dp-fw-l1", which both need one; the others take none.
        steps: T, or None for the rule of the algorithm.
        noise: "gaussian", for experiments, or "secure", for a release (needs the extra of that name).
        classes: The labels, or None to take them from the records. The set of labels is data: with None, it is outside
            the guarantee, and ``privacy_statement_`` states this.
        fit_intercept: Whether scores have a constant term.
        random_state: A seed, a ``numpy.random.RandomState`` (128 bits are drawn from it; its own state may have fewer,
            such as the 32 of a small seed) or None (from the operating system, not kept). With the seed, Gaussian noise
            can be subtracted, and two fits with one seed (two folds, say) add the *same* noise, so that their
            difference has none: use a fixed seed for experiments only. "secure" noise has no seed.
        feature_ranges: Public (low, high) of each feature, shape (p, 2), or one pair for all: features are clipped to
            them and mapped to [-1, 1] before the records are clipped. "estimate" chooses the ranges privately, which
            takes about a quarter of ε and needs some hundreds or thousands of records; they are published as
            ``ranges_``, and used for predictions, too. With "clipped-gd" only.
        weight_bound: A public bound; each ``sample_weight`` is divided by it, and clipped to 1.
        max_gradients: The largest number of gradients of single records in a fit. None: 4e9 entries. If it is below n
            T, "clipped-gd" samples records, and other algorithms raise an error.
        verbose: 1 prints the expected number of gradients and seconds; 2 also prints the progress (on standard error).

    Attributes:
        coef_: Shape (1, p), or (K, p) for K > 2 classes. Private.
        intercept_: Shape (1,), or (K,). Private.
        classes_: The labels, sorted; with two labels, a positive ``decision_function`` means the second.
        n_features_in_: p.
        n_iter_: T.
        ranges_: (low, high) of each feature, shape (p, 2), if they were chosen, else None. Private.
        ledger_: The releases.
        spent_: Certified interval of the ε that the ledger spends at δ; its upper bound is at most ``epsilon``.
        privacy_statement_: The privacy statement, to be published.

    Measurements of the training (gradients, losses, the number of clipped records) are not private, and are not kept.

    >>> X, y = [[0.6, 0.1], [-0.5, 0.2], [0.7, -0.1], [-0.8, 0.0]] * 50, ["yes", "no"] * 100
    >>> model = PrivateLinearClassifier(epsilon=4, feature_bound=1, classes=["no", "yes"]).fit(X, y)
    >>> model.predict([[0.9, 0.0]])
    array(['yes'], dtype='<U3')
    >>> float(model.spent_.upper) <= 4
    True
    """

    def __init__(
        self,
        algorithm: str = CLIPPED,
        epsilon: ExactLike = 1,
        delta: ExactLike = 1e-6,
        relation: str = "replace-one",
        feature_bound: ExactLike | None = None,
        l1: ExactLike = 0,
        radius: ExactLike | None = None,
        steps: int | None = None,
        noise: WhichNoise = "gaussian",
        classes: Sequence[Any] | None = None,
        fit_intercept: bool = True,
        random_state: int | np.random.RandomState | None = None,
        feature_ranges: ArrayLike | str | None = None,
        weight_bound: ExactLike = 1,
        max_gradients: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.algorithm = algorithm
        self.epsilon = epsilon
        self.delta = delta
        self.relation = relation
        self.feature_bound = feature_bound
        self.l1 = l1
        self.radius = radius
        self.steps = steps
        self.noise = noise
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.feature_ranges = feature_ranges
        self.weight_bound = weight_bound
        self.max_gradients = max_gradients
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PrivateLinearClassifier:
        """Fit to records, spending the budget.

        Args:
            X: Features, shape (n, p), finite numbers.
            y: Labels, shape (n,), of two classes or more.
            sample_weight: Shape (n,), at least 0: part of the record, and as private.

        Returns:
            The estimator itself.

        Raises:
            InvalidValue: A parameter is not allowed, nothing public bounds the records, a label is none of ``classes``,
                or the algorithm of a paper would cost more than ``max_gradients``.
            ValueError: scikit-learn does not accept the data.
            BudgetExceeded: The ledger shows more than was planned.
        """
        entry, budget = self._entry(), self._checked()
        # checked as another estimator's, and kept only when all is done: a fit that fails changes nothing
        matrix, labels = validate_data(clone(self), X, y, dtype=np.float64)
        check_classification_targets(labels)
        classes = checked_classes(labels, self.classes, None if entry is None else 2)
        weights = self._weights(sample_weight, matrix)
        if entry is not None:
            run, coefficients, intercepts = self._as_printed(entry, matrix, labels == classes[1], weights, budget)
        elif len(classes) == 2:
            signs = np.where(labels == classes[1], 1.0, -1.0)
            run, coefficients, intercepts = self._descend(matrix, signs, 1, LOGISTIC, weights, budget)
        else:
            places = np.searchsorted(classes, labels).astype(np.int64)
            run, coefficients, intercepts = self._descend(matrix, places, len(classes), MULTINOMIAL, weights, budget)

        outside = (
            "Also outside the guarantee: classes_ was taken from the labels, so that the set of labels is published "
            "without noise. Give classes= to avoid this."
        )
        told = "label" if weights is None else "label, weight"
        self._keep(X, run, budget, len(matrix), told, outside if self.classes is None else "")
        self.classes_, self.coef_, self.intercept_ = classes, coefficients, intercepts
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of every row of ``X``: shape (n,), positive for ``classes_[1]``, or (n, K) for K > 2 classes.

        Rows are not clipped here: decisions are the same, as clipping scales a row together with its intercept.
        """
        found: Array = self._inside(X) @ self.coef_.T + self.intercept_
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of every row of ``X``, shape (n,)."""
        found = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[(found > 0).astype(np.intp) if found.ndim == 1 else found.argmax(axis=1)]
        return labels

    def _entry(self) -> Entry | None:
        if self.algorithm != CLIPPED and self.algorithm not in ALGORITHMS:
            raise InvalidValue("algorithm", repr(self.algorithm), "one of " + ", ".join((CLIPPED, *ALGORITHMS)))
        entry = ALGORITHMS.get(self.algorithm)
        asked = Entry("") if entry is None else entry
        if not asked.l1 and exact(self.l1, "l1") != 0:
            raise InvalidValue("l1", self.l1, f"0 with {self.algorithm}", "it has no step for the regulariser")
        if asked.radius == "refused" and self.radius is not None:
            raise InvalidValue("radius", self.radius, f"None with {self.algorithm}", "it does not keep to a ball")
        if asked.radius == "required" and self.radius is None:
            raise InvalidValue("radius", None, f"greater than 0 with {self.algorithm}", "it works in a set")
        return entry

    def _as_printed(
        self, entry: Entry, matrix: Array, second: NDArray[np.bool_], weights: Array | None, budget: PrivacyBudget
    ) -> tuple[Run, Array, Array]:
        """Return an algorithm of a paper with the numbers of its theorem."""
        for name, given in (("sample_weight", weights), ("feature_ranges", self.feature_ranges)):
            if given is not None:
                raise InvalidValue(name, "given", f"None with {self.algorithm}", f"{CLIPPED} takes it")
        bound = norm_bound(self.feature_bound, False, matrix.shape[1])
        if bound is None:
            raise InvalidValue("feature_bound", "'estimate'", f"a number with {self.algorithm}", f"{CLIPPED} takes it")
        rows = np.column_stack([matrix, np.ones(len(matrix))]) if self.fit_intercept else matrix
        signs = np.where(second, 1.0, -1.0)
        problem = sigmoid_loss(rows, signs, l1=self.l1, feature_bound=bound, radius=self.radius)

        algorithm = entry.load()
        understood = inspect.signature(algorithm.calibrated).parameters
        options: dict[str, Any] = {}
        for name, usual in (("steps", None), ("noise", "gaussian")):
            value = getattr(self, name)
            if name in understood:
                options[name] = value
            elif value != usual:
                raise InvalidValue(name, value, f"{usual} with {self.algorithm}", "it takes no other")
        if entry.constraint is not None:
            assert self.radius is not None  # a set is given by its radius, which such an entry requires
            options["constraint"] = entry.constraint(problem.dimension, self.radius)
        made = algorithm.calibrated(
            problem, epsilon=budget.epsilon, delta=budget.delta, relation=budget.relation, **options
        )
        most, gradients = self._most_gradients(problem.dimension), made.steps * len(matrix)
        if gradients > most:
            allowed = f"at most max_gradients / n = {most // len(matrix)} with {self.algorithm}"
            raise InvalidValue(
                "steps", made.steps, allowed, "give a smaller steps=, or a larger max_gradients=, which takes longer"
            )
        self._say_cost(self.algorithm, made.steps, gradients, problem.dimension)
        run: Run = made.run(problem, seed=self._seed(), repetitions=1)
        solution = run.output[0]
        intercepts = solution[matrix.shape[1] :].copy() if self.fit_intercept else np.zeros(1)
        return run, solution[None, : matrix.shape[1]].copy(), intercepts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.algorithm == CLIPPED
        return tags


class PrivateLinearRegressor(RegressorMixin, _PrivateLinear):  # type: ignore[misc]
    """A private linear regression.

    Clipped gradient descent on the squared loss with clipped slopes (Huber's loss), with targets clipped to a public
    range. See ``PrivateLinearClassifier`` for the guarantee and its limits.

    Args:
        epsilon: As for ``PrivateLinearClassifier``, and so are ``delta``, ``relation``, ``feature_bound``, ``steps``,
            ``noise``, ``fit_intercept``, ``random_state``, ``feature_ranges``, ``weight_bound``, ``max_gradients``
            and ``verbose``.
        target_range: Public (low, high), to which targets are clipped; required.

    Attributes:
        coef_: Shape (p,). Private.
        intercept_: A number. Private.
        privacy_statement_: As for ``PrivateLinearClassifier``, and so are ``n_features_in_``, ``n_iter_``,
            ``ranges_``, ``ledger_`` and ``spent_``.

    >>> X = [[0.6, 0.1], [-0.5, 0.2], [0.7, -0.1], [-0.8, 0.0]] * 100
    >>> model = PrivateLinearRegressor(epsilon=4, feature_bound=1, target_range=(0, 10)).fit(X, [8, 2.5, 8.5, 1] * 100)
    >>> bool(abs(model.predict([[0.6, 0.1]])[0] - 8) < 2)
    True
    """

    _typical = OF_NUMBERS

    def __init__(
        self,
        epsilon: ExactLike = 1,
        delta: ExactLike = 1e-6,
        relation: str = "replace-one",
        feature_bound: ExactLike | None = None,
        target_range: ArrayLike | None = None,
        steps: int | None = None,
        noise: WhichNoise = "gaussian",
        fit_intercept: bool = True,
        random_state: int | np.random.RandomState | None = None,
        feature_ranges: ArrayLike | str | None = None,
        weight_bound: ExactLike = 1,
        max_gradients: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.relation = relation
        self.feature_bound = feature_bound
        self.target_range = target_range
        self.steps = steps
        self.noise = noise
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.feature_ranges = feature_ranges
        self.weight_bound = weight_bound
        self.max_gradients = max_gradients
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PrivateLinearRegressor:
        """Fit to records, spending the budget; arguments and errors as for ``PrivateLinearClassifier``."""
        budget, units = self._checked(), Units.of(self.target_range, 1, "target_range", self.fit_intercept)
        if units is None:
            advice = "noise is in proportion to it, and a range read off the targets would publish one of them"
            raise InvalidValue("target_range", MISSING, "give (low, high), chosen without looking at the data", advice)
        matrix, targets = validate_data(clone(self), X, y, dtype=np.float64, y_numeric=True)
        weights = self._weights(sample_weight, matrix)
        scaled = units.apply(np.asarray(targets, dtype=np.float64)[:, None])[:, 0]
        run, coefficients, intercepts = self._descend(matrix, scaled, 1, HUBER, weights, budget)
        self._keep(X, run, budget, len(matrix), "target" if weights is None else "target, weight", "")
        self.coef_: Array = coefficients[0] * units.half[0]
        self.intercept_ = float(intercepts[0] * units.half[0] + units.middle[0])
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return <a, x> plus the intercept for every row a of ``X``, shape (n,)."""
        found: Array = self._inside(X) @ self.coef_ + self.intercept_
        return found


def _above(number: Fraction) -> str:
    """Return six digits of the number, rounded up, so that the stated value is still a bound."""
    with localcontext(Context(prec=6, rounding=ROUND_CEILING)):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():f}"
