"""The scikit-learn estimator: it obeys scikit-learn, its budget and its statement."""

import importlib
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpbounds.algorithms import ProjectedGradientDescent, problems
from dpbounds.algorithms import estimator as module
from dpbounds.algorithms.estimator import ALGORITHMS, Entry, PrivateLinearClassifier
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.errors import InvalidValue

RNG = np.random.default_rng(0)
X = RNG.uniform(-0.5, 0.5, (400, 3))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.1 > 0, "up", "down")

# What scikit-learn asks for and this estimator does not do, with reasons.
EXCEPTIONS: dict[str, str] = {}


# a generous budget: the checks are about the interface, on as few as 20 records
@pytest.mark.rotating(4)
@parametrize_with_checks(
    [PrivateLinearClassifier(epsilon=200, delta=0.1, feature_bound=1, steps=150)],
    expected_failed_checks=lambda estimator: EXCEPTIONS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    return PrivateLinearClassifier(epsilon=2, feature_bound=1, classes=["down", "up"], random_state=0).fit(X, Y)


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_it_is_the_algorithm_and_keeps_its_budget(relation):
    model = PrivateLinearClassifier(
        epsilon="3/2", delta="1e-5", relation=relation, feature_bound=1, radius=3, l1="0.01", steps=20, random_state=7
    ).fit(X, Y)
    problem = problems.sigmoid_loss(
        np.column_stack([X, np.ones(400)]), np.where(Y == "up", 1, -1), l1="0.01", feature_bound=1, radius=3
    )
    method = ProjectedGradientDescent.calibrated(problem, "3/2", "1e-5", 20, relation)
    run = method.run(problem, seed=7, repetitions=1)
    assert (model.coef_ == run.output[:, :3]).all()
    assert model.intercept_ == run.output[0, 3]
    assert model.ledger_ == run.ledger
    assert model.spent_.upper <= 1.5
    assert model.ledger_.spent("1e-5", relation).upper <= 1.5
    assert model.n_iter_ == 20


def test_it_learns():
    features, labels = make_blobs(4000, centers=[[-0.5, 0.3], [0.5, -0.3]], cluster_std=0.2, random_state=1)
    model = PrivateLinearClassifier(epsilon=5, feature_bound=1, steps=200, random_state=1)
    assert model.fit(features, labels).score(features, labels) > 0.95
    assert np.array_equal(model.predict(features) == 1, model.decision_function(features) > 0)


def test_it_works_with_what_scikit_learn_offers():
    model = PrivateLinearClassifier(epsilon=50, feature_bound=1, steps=50, classes=["down", "up"])
    scores = cross_val_score(make_pipeline(FunctionTransformer(lambda a: a / 2), model), X, Y, cv=3, scoring="roc_auc")
    assert scores.min() > 0.5
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(epsilon=2).epsilon == 2
    fitted = clone(model).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 (our own pickle)
    assert (again.predict(X) == fitted.predict(X)).all()
    assert again.ledger_ == fitted.ledger_
    assert again.spent_.upper == fitted.spent_.upper


def test_outliers_are_clipped_to_the_public_bound():
    """One record moves the sum of gradients by no more than the bound that the ledger rests on, however long it is."""
    far = X.copy()
    far[0] = 1e200, -1e200, 3.0
    model = PrivateLinearClassifier(feature_bound="1/2", steps=3).fit(far, Y)
    (release,) = model.ledger_.gaussian_releases
    assert float(release.per_record_bound) == pytest.approx(0.5 / 4 / 400)
    assert np.isfinite(model.coef_).all()
    # the sign of a decision is that of the clipped record with its clipped intercept
    rows = np.column_stack([far, np.ones(400)])
    clipped, _ = problems.problem.clip_rows(rows, module.checked_bound("1/2"))
    solution = np.append(model.coef_[0], model.intercept_)
    assert (np.sign(clipped @ solution) == np.sign(model.decision_function(far))).all()


def test_the_statement_says_what_holds_and_what_does_not(fitted):
    statement = fitted.privacy_statement_
    for part in (
        "(2, 0.000001)-differentially private",
        str(fitted.spent_),
        "replace-one",
        "feature bound 1",
        "for experiments",
        "The seed was given. Whoever knows the seed",
        "with one seed, publish one at most",
        "Each further fit",
        "the number of records",
    ):
        assert part in statement
    assert "classes_ was read off" not in statement
    read = PrivateLinearClassifier(feature_bound=1, steps=2, relation="add-or-remove-one", random_state=None).fit(X, Y)
    assert "classes_ was read off the labels" in read.privacy_statement_
    assert "added or removed" in read.privacy_statement_
    assert "The seed came from the operating system" in read.privacy_statement_


def test_claims_are_rounded_up():
    claims = [module._above(Fraction(x)) for x in ("10/3", "1/1000000000", "1000", 1e-6, "2.0000001")]
    assert claims == ["3.33334", "0.000000001", "1000", "0.000001", "2.00001"]


def test_nothing_that_is_not_private_is_kept(fitted):
    allowed = {"coef_", "intercept_", "classes_", "n_features_in_", "n_iter_", "ledger_", "spent_"}
    assert set(vars(fitted)) - set(fitted.get_params()) == allowed | {"privacy_statement_"}


@pytest.mark.slow
def test_secure_noise():
    pytest.importorskip("opendp")
    model = PrivateLinearClassifier(epsilon=5, feature_bound=1, steps=3, noise="secure").fit(X, Y)
    assert model.spent_.upper <= 5
    assert "operating system's randomness" in model.privacy_statement_
    assert "Whoever knows the seed" not in model.privacy_statement_


@pytest.mark.rotating(4)
def test_seeds():
    def coefficients(state):
        return PrivateLinearClassifier(feature_bound=1, steps=4, random_state=state).fit(X, Y).coef_

    # (a run may return its starting point, 0: a quarter of them does here)
    assert (coefficients(3) == coefficients(3)).all()
    assert (coefficients(np.random.RandomState(2)) == coefficients(np.random.RandomState(2))).all()
    assert len({coefficients(None).tobytes() for _ in range(12)}) > 1  # a false alarm has probability 4^-12
    assert len({coefficients(seed).tobytes() for seed in range(8)}) > 2


def test_one_seed_means_one_noise():
    """What the statement warns of: fits to neighbours with one seed differ by what one record changes, exactly."""
    other = X.copy()
    other[0] = 0.5, 0.5, -0.5
    same = [PrivateLinearClassifier(feature_bound=1, steps=6, random_state=2).fit(data, Y) for data in (X, other)]
    assert 0 < np.abs(same[0].coef_ - same[1].coef_).max() < 1e-2 * np.abs(same[0].coef_).max()
    assert "their noise is the same" in same[0].privacy_statement_


def test_public_classes_need_not_both_occur():
    model = PrivateLinearClassifier(feature_bound=1, steps=2, classes=["up", "down"]).fit(X, ["up"] * 400)
    assert model.classes_.tolist() == ["down", "up"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature_bound": None}, "chosen without looking at the data, not None; .*publish"),
        ({"feature_bound": 0}, "feature_bound must be .*, not 0"),
        ({"feature_bound": np.nan}, "feature_bound must be .*, not nan"),
        ({"algorithm": "sgd"}, "algorithm must be .*dp-pgd.*, not 'sgd'"),
        ({"epsilon": 0}, "epsilon must be .*, not 0"),
        ({"delta": 1}, "delta must be .*, not 1"),
        ({"relation": "some"}, "some"),
        ({"l1": -1}, "l1 must be .*, not -1"),
        ({"radius": 0}, "radius must be .*, not 0"),
        ({"steps": 0}, "steps must be .*, not 0"),
        ({"noise": "laplace"}, "noise must be .*, not 'laplace'"),
        ({"classes": ["up"]}, "classes"),
        ({"classes": ["up", "up"]}, "classes"),
        ({"classes": ["up", "left"]}, "labels"),
        ({"random_state": -1}, "seed must be .*, not -1"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        PrivateLinearClassifier(**{"feature_bound": 1, "steps": 2, **changes}).fit(X, Y)


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (np.full((4, 2), np.nan), [0, 1, 0, 1], "NaN"),
        (np.full((4, 2), np.inf), [0, 1, 0, 1], "infinity"),
        (np.zeros((4, 2)), [0, 1, 0], "inconsistent"),
        (np.zeros((4, 2)), [0, 1, 2, 1], "Only binary classification is supported"),
        (np.zeros((4, 2)), [1, 1, 1, 1], "1 class"),
        (np.zeros((4, 2)), [0.1, 0.7, 1.3, 2.2], "Unknown label type"),
        (np.zeros(4), [0, 1, 0, 1], "1D array"),
    ],
)
def test_bad_data_are_refused(features, labels, message):
    with pytest.raises(ValueError, match=message):
        PrivateLinearClassifier(feature_bound=1, steps=2).fit(features, labels)


class Recording:
    """Stands in for an algorithm that has no ``steps`` or ``noise`` and works in a set."""

    @classmethod
    def calibrated(cls, problem, constraint, epsilon=1, delta="1e-6", relation="replace-one"):
        assert (constraint.dimension, constraint.radius) == (problem.dimension, 2)
        return ProjectedGradientDescent.calibrated(problem, epsilon, delta, 2, relation)


def test_the_table_takes_other_algorithms(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "in-a-set", Entry(f"{__name__}:Recording", radius="required", constraint=L2Ball))
    monkeypatch.setitem(ALGORITHMS, "free", Entry(f"{__name__}:Recording"))
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or importlib.import_module(__name__))
    model = PrivateLinearClassifier("in-a-set", feature_bound=1, radius=2)
    assert model.fit(X, Y).n_iter_ == 2
    for changes, message in (
        ({"radius": None}, "radius must be .*, not None; it works in a set"),
        ({"l1": 0.1}, "no step for the regulariser"),
        ({"steps": 3}, "steps must be .*, not 3; it takes no other"),
        ({"noise": "secure"}, "noise must be .*, not secure; it takes no other"),
        ({"algorithm": "free"}, "does not keep to a ball"),
    ):
        with pytest.raises(InvalidValue, match=message):
            clone(model).set_params(**changes).fit(X, Y)


@pytest.mark.slow
def test_every_entry_of_the_table_fits():
    for name, entry in ALGORITHMS.items():
        radius = 2 if entry.radius == "required" else None
        model = PrivateLinearClassifier(name, epsilon=5, feature_bound=1, radius=radius, steps=10).fit(X, Y)
        assert model.spent_.upper <= 5, name


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "dpbounds.algorithms.estimator")
    with pytest.raises(ModuleNotFoundError, match=r"dpbounds\[demo\]"):
        importlib.import_module("dpbounds.algorithms.estimator")


@pytest.mark.parametrize(
    ("changes", "data"),
    [({"radius": 0}, (X[:, :2], np.where(Y == "up", "zebra", "ape"))), ({"steps": 0}, (X[:, :2], Y))],
)
def test_a_fit_that_fails_changes_nothing(changes, data):
    model = PrivateLinearClassifier(epsilon=5, feature_bound=1, steps=20, random_state=1).fit(X, Y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    predicted = model.predict(X)
    with pytest.raises(InvalidValue):
        model.set_params(**changes).fit(*data)
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert (model.predict(X) == predicted).all()
