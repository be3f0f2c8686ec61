"""A private linear classifier for scikit-learn: data in, a proven privacy statement out.

It is a thin coat over the algorithms: records are clipped one by one to a public bound, the sigmoid loss is minimised
by an algorithm that writes a ledger, and what may be claimed is said in words by ``privacy_statement_``. Needs
scikit-learn 1.6 or later (extras ``demo`` and ``verify``).
"""

from __future__ import annotations

import importlib
import inspect
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.fields import WhichNoise, demand_one_of
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.problem import Problem, checked_bound
from dpbounds.algorithms.problems.sets import ConstraintSet, L1Ball, L2Ball
from dpbounds.algorithms.problems.sigmoid import sigmoid_loss
from dpbounds.algorithms.run import Run
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.privacy.relations import Relation

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    needed = "PrivateLinearClassifier needs scikit-learn 1.6 or later: pip install 'dpbounds[demo]' 'scikit-learn>=1.6'"
    raise ModuleNotFoundError(needed) from None


_SEEDED = (
    "Whoever knows the seed can subtract this noise; of several fits with one seed, publish one at most: their noise "
    "is the same."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An algorithm that the estimator can use.

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
        """The class."""
        module, _, name = self.home.partition(":")
        return getattr(importlib.import_module(module), name)


# One line per algorithm.
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


class PrivateLinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Binary classification by a linear function, private for the records that it is fitted to.

    Minimises (1/n) Σ 1/(1 + exp(y_i <a_i, x>)) + l1 ‖x‖₁ and publishes x, once. What is guaranteed concerns ``coef_``
    and ``intercept_``: (ε, δ)-differential privacy under the relation, by a certified accountant, from the ledger of
    the noise that was drawn. ``privacy_statement_`` says it in words, with what it rests on and what it leaves out.
    "dp-pgd" returns a random iterate, as its theorem has it: with T steps, the starting point 0 once in T fits.
    Every call of ``fit`` spends the budget again; choosing parameters by looking at scores on the same records is not
    covered by any of them.

    Args:
        algorithm: "dp-pgd", "dp-spider", "dp-sgd", "dp-fw" (in an l2 ball) or "dp-fw-l1"; see ``ALGORITHMS``.
        epsilon: ε > 0.
        delta: δ in (0, 1), well below 1/n.
        relation: "replace-one" or "add-or-remove-one" (where n, the divisor, is public all the same).
        feature_bound: B > 0: every record, with its intercept, is clipped to this l2 norm. It has to be *public*:
            None is refused by ``fit``, because a bound read off the records would be a release of its own.
        l1: Weight of ‖x‖₁, at least 0 (the intercept is regularised, too); 0 for all but "dp-pgd".
        radius: x is kept in a ball of this radius: the l2 ball with "dp-pgd" (None: x is free) and "dp-fw", the l1 ball
            with "dp-fw-l1", which both need one; "dp-spider" and "dp-sgd" take none.
        steps: T, or None for the number that the explicit bound of the algorithm favours.
        noise: "gaussian", for experiments, or "secure", for a release (needs the extra of that name).
        classes: The two labels, or None to read them off the labels of the records. The set of labels that occur is
            data: None is outside the guarantee, and ``privacy_statement_`` says so.
        fit_intercept: Whether every record gets an additional feature 1.
        random_state: A seed, a ``numpy.random.RandomState`` or None (from the operating system). Whoever knows the seed
            can subtract Gaussian noise, and two fits with one seed (two folds, say) add the *same* noise, which their
            difference does not have: a fixed one is for experiments. "secure" noise has no seed.

    Attributes:
        coef_: Shape (1, p). Private.
        intercept_: Shape (1,). Private.
        classes_: The two labels, sorted; a positive ``decision_function`` means the second.
        n_features_in_: p.
        n_iter_: T.
        ledger_: What was released.
        spent_: Proven enclosure of the ε that the ledger spends at δ; its upper end is at most ``epsilon``.
        privacy_statement_: What may be claimed, in words.

    What was measured on the way (gradients, losses, how many records were clipped) is not private and not kept.

    >>> X, y = [[0.6, 0.1], [-0.5, 0.2], [0.7, -0.1], [-0.8, 0.0]] * 50, ["yes", "no"] * 100
    >>> model = PrivateLinearClassifier(epsilon=4, feature_bound=1, steps=50, classes=["no", "yes"]).fit(X, y)
    >>> model.predict([[0.9, 0.0]])
    array(['yes'], dtype='<U3')
    >>> float(model.spent_.upper) <= 4
    True
    """

    def __init__(
        self,
        algorithm: str = "dp-pgd",
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

    def fit(self, X: ArrayLike, y: ArrayLike) -> PrivateLinearClassifier:
        """Fit to records, spending the budget.

        Args:
            X: Features, shape (n, p), finite numbers.
            y: Labels, shape (n,), of two classes.

        Returns:
            The estimator itself.

        Raises:
            InvalidValue: A parameter is not allowed, ``feature_bound`` is None, or a label is none of ``classes``.
            ValueError: scikit-learn does not accept the data.
            BudgetExceeded: The ledger shows more than was planned.
        """
        entry, bound = self._entry(), _demanded_bound(self.feature_bound)
        budget = PrivacyBudget.of(self.epsilon, self.delta, self.relation)
        demand_one_of(self.noise, WhichNoise, "noise")
        # checked as another estimator's, and kept only when all is done: a fit that fails changes nothing
        other = clone(self)
        matrix, labels = validate_data(other, X, y, dtype=np.float64)
        check_classification_targets(labels)
        classes = _two_classes(labels, self.classes)
        signs = np.where(labels == classes[1], 1.0, -1.0)
        problem = sigmoid_loss(self._with_intercept(matrix), signs, l1=self.l1, feature_bound=bound, radius=self.radius)

        run = self._run(entry, problem, budget)
        assert run.spent is not None  # a budget was given
        solution = run.output[0]
        validate_data(self, X, skip_check_array=True)  # the number and names of the features
        self.classes_ = classes
        self.coef_: Array = solution[None, : matrix.shape[1]].copy()
        self.intercept_: Array = solution[matrix.shape[1] :].copy() if self.fit_intercept else np.zeros(1)
        self.n_iter_ = run.steps
        self.ledger_: Ledger = run.ledger
        self.spent_: Enclosure = run.spent
        self.privacy_statement_ = self._statement(run, budget, bound, len(matrix))
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """<a, x> plus the intercept for every row a of ``X``, shape (n,); positive for ``classes_[1]``.

        Rows are not clipped here: the sign is the same, as clipping scales a row together with its intercept.
        """
        check_is_fitted(self)
        matrix = validate_data(self, X, dtype=np.float64, reset=False)
        scores: Array = matrix @ self.coef_[0] + self.intercept_[0]
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of every row of ``X``, shape (n,)."""
        positive = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels

    def _entry(self) -> Entry:
        if self.algorithm not in ALGORITHMS:
            raise InvalidValue("algorithm", repr(self.algorithm), "one of " + ", ".join(ALGORITHMS))
        entry = ALGORITHMS[self.algorithm]
        if not entry.l1 and exact(self.l1, "l1") != 0:
            raise InvalidValue("l1", self.l1, f"0 with {self.algorithm}", "it has no step for the regulariser")
        if entry.radius == "refused" and self.radius is not None:
            raise InvalidValue("radius", self.radius, f"None with {self.algorithm}", "it does not keep to a ball")
        if entry.radius == "required" and self.radius is None:
            raise InvalidValue("radius", None, f"greater than 0 with {self.algorithm}", "it works in a set")
        return entry

    def _run(self, entry: Entry, problem: Problem, budget: PrivacyBudget) -> Run:
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
        run: Run = made.run(problem, seed=self._seed(), repetitions=1)
        return run

    def _seed(self) -> int:
        if self.random_state is None:
            return secrets.randbits(128)
        if isinstance(self.random_state, int | np.integer) and not isinstance(self.random_state, bool):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _with_intercept(self, matrix: Array) -> Array:
        return np.column_stack([matrix, np.ones(len(matrix))]) if self.fit_intercept else matrix

    def _statement(self, run: Run, budget: PrivacyBudget, bound: Fraction, records: int) -> str:
        replaced = budget.relation == Relation.REPLACE_ONE
        seeded, released = "", str(run.ledger).replace("\n", "; ")
        if self.noise == "gaussian":
            source = "came from the operating system and was not kept" if self.random_state is None else "was given"
            seeded = f" The seed {source}. {_SEEDED}"
        lines = [
            f"coef_ and intercept_ are ({_above(budget.epsilon)}, {_above(budget.delta)})-differentially private: "
            f"the ledger spends epsilon in {run.spent} at this delta, by a certified accountant.",
            f"Neighbours: two data sets where one record (features and label) is "
            f"{'replaced by another' if replaced else 'added or removed'} ({budget.relation}).",
            f"Algorithm: {run.algorithm}, {run.steps} steps on {records} records; released: {released}.",
            f"Noise: {run.noise_drawn}.{seeded}",
            f"Taken to be public: the number of records, the number and names of the features, all parameters, and the "
            f"feature bound {bound} that every record{' with its intercept' if self.fit_intercept else ''} was clipped "
            "to.",
            "Outside the guarantee: errors and warnings about the data, scores on these records, and the choice of "
            "parameters in view of them. Each further fit to these records spends as much again.",
        ]
        if self.classes is None:
            lines.append(
                "Outside the guarantee as well: classes_ was read off the labels, so that which labels occur is "
                "published without noise. Give classes= to avoid it."
            )
        return "\n".join(lines)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _above(number: Fraction) -> str:
    """Six digits of the number, rounded up: what is claimed holds."""
    with localcontext(Context(prec=6, rounding=ROUND_CEILING)):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():f}"


def _demanded_bound(feature_bound: ExactLike | None) -> Fraction:
    if feature_bound is None:
        raise InvalidValue(
            "feature_bound",
            None,
            "greater than 0, chosen without looking at the data",
            "noise is in proportion to it, and a bound read off the records (their largest norm, say) would publish "
            "something about one of them: scale features by public ranges and give a norm such as 1; longer records "
            "are clipped",
        )
    return checked_bound(feature_bound)


def _two_classes(labels: NDArray[Any], classes: Sequence[Any] | None) -> NDArray[Any]:
    if classes is None:
        found: NDArray[Any] = np.unique(labels)
        if len(found) > 2:
            kind = type_of_target(labels)
            advice = f"Only binary classification is supported. The type of the target is {kind}."
            raise InvalidValue("number of classes", len(found), "2", advice)
        if len(found) < 2:
            advice = "the labels show 1 class; give classes= with both"
            raise InvalidValue("number of classes", len(found), "2", advice)
        return found
    given: NDArray[Any] = np.unique(np.asarray(classes))
    if given.shape != (2,) or len(classes) != 2:
        raise InvalidValue("classes", list(classes), "two different labels")
    if not np.isin(labels, given).all():
        raise InvalidValue("labels", "one that is none of the classes", f"{given[0]!r} or {given[1]!r}")
    return given
