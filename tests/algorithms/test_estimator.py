"""The scikit-learn estimators: they obey scikit-learn, their budget and their statement."""

import importlib
import pickle
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpbounds.algorithms import ProjectedGradientDescent, estimator as module, problems
from dpbounds.algorithms.estimator import ALGORITHMS, CLIPPED, Entry, PrivateLinearClassifier, PrivateLinearRegressor
from dpbounds.algorithms.estimators import clipped_descent, costs
from dpbounds.algorithms.estimators.clipped_descent import SCALES, ClippedDescent, RangesChoice, ScaleChoice
from dpbounds.algorithms.estimators.inputs import Units
from dpbounds.algorithms.estimators.scores import HUBER, LOGISTIC, MULTINOMIAL, Records
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.noise import streams
from dpbounds.algorithms.oracles import PaidTogether, choose
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.privacy.mechanisms import ZCDP
from dpbounds.privacy.relations import Relation

RNG = np.random.default_rng(0)
X = RNG.uniform(-0.5, 0.5, (400, 3))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.1 > 0, "up", "down")

# What scikit-learn asks for and these estimators do not do, with reasons.
EXCEPTIONS: dict[str, str] = {
    "check_sample_weight_equivalence_on_dense_data": "noise is in proportion to 1/n, so that a weight of 2 is not a "
    "record twice, and one of 0 not a record less; weights above the public bound count as that bound",
}


# a generous budget: the checks are about the interface, on as few as 20 records
CHECKED = {
    "classifier": PrivateLinearClassifier(epsilon=200, delta=0.1, feature_bound=1, steps=150),
    "regressor": PrivateLinearRegressor(epsilon=200, delta=0.1, feature_bound=5, target_range=(-3, 3), steps=150),
}


@pytest.mark.seconds
@pytest.mark.parametrize("name", CHECKED)
def test_scikit_learn_checks(name):
    from sklearn.utils.estimator_checks import check_estimator  # takes a second to import

    found = check_estimator(CHECKED[name], expected_failed_checks=EXCEPTIONS, on_skip=None)
    failed = {each["check_name"] for each in found if each["status"] == "xfail"}
    assert failed == set(EXCEPTIONS)
    assert sum(each["status"] == "passed" for each in found) > 40


@pytest.fixture(scope="module")
def fitted():
    return PrivateLinearClassifier(epsilon=2, feature_bound=1, classes=["down", "up"], random_state=0).fit(X, Y)


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_it_is_the_algorithm_of_the_paper_and_keeps_its_budget(relation):
    model = PrivateLinearClassifier(
        "dp-pgd", "3/2", "1e-5", relation, feature_bound=1, radius=3, l1="0.01", steps=20, random_state=7
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


def test_it_is_clipped_descent_step_by_step():
    """Against plain NumPy with the same streams: clipping, noise, steps and the mean of the later half."""
    weights = np.random.default_rng(1).uniform(0, 3, 400)
    model = PrivateLinearClassifier(
        epsilon=2, delta="1e-5", feature_bound="1/2", steps=5, random_state=7, weight_bound=2
    )
    model.fit(X, Y, sample_weight=weights)
    (release,) = model.ledger_.gaussian_releases
    assert release.count == 5
    rows, signs = np.column_stack([X, np.full(400, 0.25)]), np.where(Y == "up", 1, -1)
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True) / 0.5)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(7).spawn(1)[0]))
    signal = 400 / (float(release.noise_multiplier) / 5**0.5 * 2)
    step = min(480 * signal**0.75 / 5, 80) * 4
    w, iterates = np.zeros(4), []
    for _ in range(5):
        pull = np.minimum(weights / 2, 1) * signs * np.minimum(1 / (1 + np.exp(signs * (rows @ w))), 1 / 8)
        w = w + step * (pull @ rows / 400 - float(release.noise_stddev) * generator.standard_normal(4))
        iterates.append(w)
    mean = np.mean(iterates[2:], axis=0)
    assert np.allclose(np.append(model.coef_[0], model.intercept_), mean * [1, 1, 1, 0.25], rtol=1e-9)


def gradients_of_one(records, points):
    """Clipped gradients of each record by itself, shape (n, R, K p)."""
    singles = [
        Records(
            records.features[i : i + 1],
            records.targets[i : i + 1],
            records.outputs,
            records.loss,
            None if records.weights is None else records.weights[i : i + 1],
            records.intercept,
        )
        for i in range(records.records)
    ]
    return np.array([each.clipped_to(Fraction(3, 2)).objective_and_gradient(points)[1] for each in singles])


@pytest.mark.parametrize("loss", [LOGISTIC, MULTINOMIAL, HUBER], ids=lambda loss: loss.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_record_moves_a_gradient_by_more_than_its_bound(loss, weighted):
    """Whatever the record, its weight and the point: exactly, up to the rounding of one product."""
    rng = np.random.default_rng(5)
    outputs = 4 if loss is MULTINOMIAL else 1
    features = rng.standard_normal((60, 3)) * 10.0 ** rng.integers(-3, 150, (60, 1))
    targets = rng.integers(0, 4, 60) if outputs > 1 else rng.choice([-1.0, 1.0], 60)
    weights = 10.0 ** rng.integers(-3, 9, 60) if weighted else None
    records = Records(features, targets, outputs, loss, weights, intercept=True)
    problem = records.clipped_to(Fraction(3, 2))
    points = rng.standard_normal((5, problem.dimension)) * 10.0 ** np.arange(-2, 3)[:, None]
    alone = gradients_of_one(records, points)
    lengths = np.linalg.norm(alone, axis=2)
    bound = float(loss.clip * Fraction(3, 2))
    assert problem.lipschitz == loss.clip * Fraction(3, 2)
    assert bound * 0.999 < lengths.max() <= bound * (1 + 1e-14)  # it is attained, and not exceeded
    assert np.allclose(problem.objective_and_gradient(points)[1], alone.mean(axis=0), atol=1e-15)
    rows = np.array([[1, 5, 5], [2, 3, 4], [0, 0, 0], [7, 8, 9], [59, 1, 2]])
    means = [alone[own, r].mean(axis=0) for r, own in enumerate(rows)]
    assert np.allclose(problem.batch_gradient(points, rows), means, atol=1e-15)


def test_where_nothing_is_clipped_it_is_the_gradient_of_the_loss():
    rng = np.random.default_rng(6)
    for loss, outputs, targets in (
        (LOGISTIC, 1, rng.choice([-1.0, 1.0], 50)),
        (MULTINOMIAL, 3, rng.integers(0, 3, 50)),
        (HUBER, 1, rng.uniform(-1, 1, 50)),
    ):
        wide = type(loss)(loss.name, loss.value_and_slope, Fraction(10))
        problem = Records(rng.uniform(-1, 1, (50, 4)), targets, outputs, wide).clipped_to(Fraction(2))
        x = rng.standard_normal((1, problem.dimension))
        steps = 1e-6 * np.eye(problem.dimension)
        up, down = (problem.objective_and_gradient(x + sign * steps)[0] for sign in (1, -1))
        assert np.allclose((up - down) / 2e-6, problem.objective_and_gradient(x)[1][0], atol=1e-8)


def test_clipped_records_do_not_move_what_numbers_are_predicted():
    """The gradient still vanishes at a linear function that fits all records, however short they were made."""
    rng = np.random.default_rng(7)
    features = rng.uniform(-1, 1, (40, 3)) * 10.0 ** rng.integers(-2, 3, (40, 1))
    solution = np.array([[0.3, -0.2, 0.1]])
    problem = Records(features, features @ solution[0], 1, HUBER).clipped_to(Fraction(1, 2))
    assert (np.linalg.norm(problem.features, axis=1) <= 0.5).all()
    assert np.abs(problem.objective_and_gradient(solution)[1]).max() < 1e-12
    assert np.abs(problem.objective_and_gradient(2 * solution)[1]).max() > 1e-3


def test_unclipped_records_answer_nothing():
    records = Records(X, np.ones(400), 1, LOGISTIC)
    assert records.lipschitz is None
    for ask in (lambda: records.objective_and_gradient(np.zeros((1, 3))), lambda: records.gradient(np.zeros((1, 3)))):
        with pytest.raises(InvalidValue, match="records must be clipped"):
            ask()
    for made in (ClippedDescent(5, 2, 1.0), ClippedDescent(5, 2, 1.0, scale=ScaleChoice("1/10"))):
        with pytest.raises(InvalidValue, match="one repetition whose scale is chosen"):
            made.run(records, repetitions=2)


@pytest.mark.seconds_cases("estimate-replace-one", "estimate-add-or-remove-one")
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
@pytest.mark.parametrize(
    "changes", [{}, {"feature_bound": "estimate"}, {"max_gradients": 30_000}], ids=["bound", "estimate", "sampled"]
)
def test_every_way_to_fit_keeps_its_budget(relation, changes):
    model = PrivateLinearClassifier(
        epsilon="3/2", delta="1e-5", relation=relation, **{"feature_bound": 1, **changes}, steps=100
    ).fit(X, Y)
    assert 1.45 < model.spent_.lower <= model.spent_.upper <= 1.5
    assert model.ledger_.check(PrivacyBudget.of("3/2", "1e-5", relation)).upper <= 1.5
    assert model.n_iter_ == 100
    (release,) = (each for each in model.ledger_.releases if hasattr(each, "noise_stddev"))
    assert (release.sample_rate is None) == ("max_gradients" not in changes)
    assert len(model.ledger_.releases) == 1 + ("estimate" in changes.values())


@pytest.mark.seconds
@pytest.mark.parametrize(
    "changes",
    [{}, {"max_gradients": 3000}, {"clipped": False}, {"clipped": False, "ranges": RangesChoice("1/10", 3, 1)}],
    ids=["all", "sampled", "estimate", "ranges"],
)
def test_a_shadow_that_sees_releases_alone_walks_the_same_way(changes):
    records = Records(X, np.where(Y == "up", 1.0, -1.0), 1, LOGISTIC, None, True)
    problem = records.clipped_to(Fraction(1)) if changes.get("clipped", True) else records
    made = ClippedDescent.calibrated(
        problem,
        clipped_descent.LOGISTIC,
        steps=10,
        max_gradients=changes.get("max_gradients"),
        ranges=changes.get("ranges"),
    )
    assert made.run(problem, seed=1, repetitions=1, guarded=True).steps == 10


def test_a_cap_samples_records_or_leaves_out_steps():
    problem = Records(X, np.ones(400), 1, LOGISTIC).clipped_to(Fraction(1))
    for most in (1, 100, 5000, 30_000, 10**9):
        made = ClippedDescent.calibrated(problem, clipped_descent.LOGISTIC, steps=100, max_gradients=most)
        assert made.gradients(problem) <= max(most, 400)
        assert made.steps == min(100, max(1, most // 256))
        assert (made.sampling is None) == (most == 10**9)


@pytest.mark.seconds
def test_a_scale_is_chosen_privately():
    """The scores move by 1 at most with a record, and the choice is near the median where there are enough records."""
    found = []

    class Asked:
        def choose(self, scores, epsilon, sensitivity):
            found.append((scores[0], epsilon, sensitivity))
            return scores.argmax(axis=1)

    for first in (0.0, 1e-9, 5.0, 1e300):
        other = X.copy()
        other[0] = first
        scale = ScaleChoice("1/5").made(Records(other, np.ones(400), 1, LOGISTIC), Asked())
        assert 0.8 < float(scale) / np.median(np.linalg.norm(X, axis=1)) < 1.5
    assert max(np.abs(a[0] - b[0]).max() for a in found for b in found) == 1
    assert {each[1:] for each in found} == {(Fraction(1, 5), 1)}
    model = PrivateLinearClassifier(epsilon=20, feature_bound="estimate", steps=50, random_state=0).fit(1000 * X, Y)
    assert model.score(1000 * X, Y) > 0.85
    assert "was chosen privately" in model.privacy_statement_
    assert any(f"{float(scale):g}" in model.privacy_statement_ for scale in SCALES)


# --- Ranges that are chosen


def table(n, seed=0):
    """Six columns as of patients: an age, an income, a year, an index, a dose, a rare yes; and a diagnosis."""
    draw = np.random.default_rng(seed)
    age, index = draw.normal(45, 14, n).clip(18, 90), draw.normal(27, 5, n)
    income, dose = np.exp(draw.normal(10.3, 0.6, n)), draw.gamma(2, 0.003, n)
    year, rare = draw.integers(1990, 2024, n), draw.random(n) < 0.05
    columns = np.column_stack([age, income, year, index, dose, rare])
    told = (age - 45) / 14 - (np.log(income) - 10.3) / 0.6 + (index - 27) / 5 + (dose - 0.006) / 0.004 + 2 * rare
    return columns, told + draw.logistic(size=n) > 0


@pytest.mark.seconds
def test_a_table_of_different_units_is_learned_without_public_ranges():
    """A norm alone leaves the column of the largest unit; ranges that are chosen find what known ones find."""
    features, labels = table(4000)
    usual = {"epsilon": 1, "delta": "1e-5", "classes": [False, True], "random_state": 0}
    chosen = PrivateLinearClassifier(feature_ranges="estimate", **usual).fit(features[:3000], labels[:3000])
    norm = PrivateLinearClassifier(feature_bound="estimate", **usual).fit(features[:3000], labels[:3000])
    assert chosen.score(features[3000:], labels[3000:]) > 0.75
    assert norm.score(features[3000:], labels[3000:]) < 0.7
    assert chosen.spent_.upper <= 1
    low, high = chosen.ranges_.T
    held = ((features >= low) & (features <= high)).mean(axis=0)
    assert (held[:5] > 0.5).all()
    assert (high[:5] - low[:5] < 20 * features[:, :5].std(axis=0)).all()
    assert "coef_, intercept_ and ranges_ are (1, " in chosen.privacy_statement_
    assert "ranges that were chosen privately" in chosen.privacy_statement_
    assert norm.ranges_ is None
    beyond, most = features[:1].copy(), features[:1].copy()
    beyond[0, 1], most[0, 1] = 1e12, high[1]
    assert chosen.decision_function(beyond) == chosen.decision_function(most)


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one", "zero-out-one"])
def test_what_ranges_cost_is_in_the_ledger_and_in_the_budget(relation):
    model = PrivateLinearClassifier(epsilon="3/2", delta="1e-5", relation=relation, feature_ranges="estimate", steps=50)
    features, labels = table(3000)
    model.fit(features[:, :3], labels)
    assert 1.35 < model.spent_.upper <= 1.5
    assert model.ledger_.check(PrivacyBudget.of("3/2", "1e-5", relation)).upper <= 1.5
    ranges, walk = model.ledger_.releases
    each = RangesChoice.within(Fraction(3, 8), 3, Fraction(1), True)
    assert ranges.described == ZCDP(3 * each.epsilon**2 / 8, relation=relation)
    assert 3 * each.epsilon**2 <= Fraction(3, 8) ** 2
    assert walk.count == 50


def test_no_score_of_a_range_moves_by_more_than_one_with_a_record():
    found = []

    class Asked:
        relation, ledger = Relation.REPLACE_ONE, OpenLedger()

        def choose(self, scores, epsilon, sensitivity, method, ledger):
            found[-1].append(scores[0])
            assert (epsilon, sensitivity, method) == (Fraction(1, 5), 1, "concentrated")
            return scores.argmax(axis=1)

    features = table(400)[0]
    for first in (0.0, 1e-9, -5.0, 1e300, -1e300):
        found.append([])
        other = features.copy()
        other[0] = first
        clipped, told = RangesChoice("1/5", 6, 1).clipped(Records(other, np.ones(400), 1, LOGISTIC), Asked())
        assert np.isfinite(clipped.features).all()
        inside = np.abs(other - told["middle"]) <= told["half"] / 3
        assert (np.abs(inside.mean(axis=0) - 0.5)[:5] < 0.1).all()
    assert max(np.abs(a - b).max() for one in found for two in found for a, b in zip(one, two, strict=True)) == 1


@pytest.mark.seconds
def test_ranges_around_zero_where_there_is_no_intercept():
    features, labels = table(3000)
    model = PrivateLinearClassifier(epsilon=4, feature_ranges="estimate", fit_intercept=False, steps=20)
    low, high = model.fit(features, labels).ranges_.T
    assert (low == -high).all()


def test_choices_paid_together_are_those_and_no_more():
    ledger, streams_of = OpenLedger(), streams(0, 1)
    paid = PaidTogether(Fraction(1, 10), 2, Relation.REPLACE_ONE, ledger)
    asked = partial(
        choose,
        np.zeros((1, 5)),
        records=9,
        sensitivity=1,
        relation=Relation.REPLACE_ONE,
        generators=streams_of,
        ledger=paid,
    )
    for refused in (
        lambda: asked(epsilon="1/9", method="concentrated"),
        lambda: asked(epsilon="1/10"),
        lambda: paid.gaussian(noise_stddev=Fraction(1), per_record_bound=Fraction(1)),
    ):
        with pytest.raises(BudgetExceeded, match="paid for"):
            refused()
    for _ in range(2):
        asked(epsilon="1/10", method="concentrated")
    with pytest.raises(BudgetExceeded, match="beyond the 2 choices"):
        asked(epsilon="1/10", method="concentrated")
    assert paid.taken == 2
    assert [release.mechanism() for release in ledger.close().releases] == [ZCDP("1/400", relation="replace-one")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "feature_ranges must be public with fewer than 530 records of 3 features"),
        ({"epsilon": 9, "feature_bound": "estimate"}, "None or a number with feature_ranges='estimate'"),
        ({"epsilon": 9, "noise": "secure"}, "feature_ranges must be public with secure noise"),
        ({"algorithm": "dp-pgd", "feature_bound": 1}, "feature_ranges must be None with dp-pgd"),
    ],
)
def test_ranges_are_not_chosen_where_that_would_fail(changes, said):
    with pytest.raises(InvalidValue, match=said):
        PrivateLinearClassifier(feature_ranges="estimate", **changes).fit(X, Y)


def test_ranges_are_units():
    """Features in other units with the ranges in them give the same decisions; beyond its range a feature is cut."""
    scale, shift = np.array([1e-3, 5, 1e6]), np.array([3, -7, 0.1])
    ranges = np.array([shift - 0.5 * scale, shift + 0.5 * scale]).T
    usual = {"epsilon": 5, "steps": 50, "random_state": 1}
    one = PrivateLinearClassifier(feature_ranges=(-0.5, 0.5), **usual).fit(X, Y)
    other = PrivateLinearClassifier(feature_ranges=ranges, **usual).fit(X * scale + shift, Y)
    assert np.allclose(one.decision_function(X), other.decision_function(X * scale + shift))
    far = X.copy()
    far[0] = 0.5, -0.5, 0.5
    cut = PrivateLinearClassifier(feature_ranges=(-0.5, 0.5), **usual).fit(far, Y)
    far[0] = 40, -1e9, 0.5
    assert np.allclose(PrivateLinearClassifier(feature_ranges=(-0.5, 0.5), **usual).fit(far, Y).coef_, cut.coef_)
    assert (Units.of((0, 4), 2, "x", centred=False).apply(np.array([[-8.0, 2.0]])) == [[-1, 0.5]]).all()


def test_several_classes():
    centres = [[-0.6, 0.0], [0.6, 0.0], [0.0, 0.7], [0.0, -0.7]]
    features, labels = make_blobs(1000, centers=centres, cluster_std=0.15, random_state=1)
    names = np.array(["a", "b", "c", "d"])[labels]
    model = PrivateLinearClassifier(epsilon=4, feature_bound=1, steps=60, classes=["d", "a", "b", "c"], random_state=0)
    assert model.fit(features, names).score(features, names) > 0.95
    assert model.coef_.shape == (4, 2)
    assert model.decision_function(features).shape == (1000, 4)
    assert model.spent_.upper <= 4


def test_the_regressor_learns_and_keeps_its_budget():
    target = 30 + 8 * X[:, 0] - 4 * X[:, 1]
    usual = {"epsilon": 8, "delta": "1e-5", "target_range": (20, 40), "random_state": 3, "steps": 150}
    model = PrivateLinearRegressor(feature_ranges=(-0.5, 0.5), **usual).fit(X, target)
    assert model.score(X, target) > 0.8
    assert model.spent_.upper <= 8
    assert "(features, target)" in model.privacy_statement_
    beyond = target.copy()
    beyond[0] = 1e9
    top = target.copy()
    top[0] = 40
    fits = [PrivateLinearRegressor(feature_bound=1, **usual).fit(X, each).predict(X) for each in (beyond, top)]
    assert (fits[0] == fits[1]).all()
    with pytest.raises(InvalidValue, match=r"target_range is missing: give \(low, high\), chosen without looking"):
        PrivateLinearRegressor(feature_bound=1).fit(X, target)


def test_the_cost_is_said_before_and_the_way_shown(capsys, monkeypatch):
    monkeypatch.setattr(costs, "expected_seconds", lambda gradients, features, outputs=1: 0.25)
    PrivateLinearClassifier(feature_bound=1, steps=20, verbose=2).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "clipped gradient descent: 20 steps, 8000 gradients of single records, about 0.2 s"
    assert lines[1:] == [f"step {k} of 20" for k in range(2, 21, 2)]
    PrivateLinearClassifier("dp-pgd", feature_bound=1, steps=20, verbose=1).fit(X, Y)
    assert "8000 gradients" in capsys.readouterr().err
    PrivateLinearClassifier(feature_bound=1, steps=2).fit(X, Y)
    assert not capsys.readouterr().err


def test_it_learns():
    features, labels = make_blobs(1000, centers=[[-0.5, 0.3], [0.5, -0.3]], cluster_std=0.2, random_state=1)
    model = PrivateLinearClassifier(epsilon=1, feature_bound=1, random_state=1, steps=100)
    assert model.fit(features, labels).score(features, labels) > 0.95
    assert np.array_equal(model.predict(features) == 1, model.decision_function(features) > 0)


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_it_is_of_use_on_real_records(relation):
    """What theory's steps and a random iterate of a paper's algorithm make of them is 0.65."""
    data = problems.breast_cancer()
    usual = {"epsilon": 1, "delta": "1e-5", "relation": relation, "feature_bound": 1, "classes": [-1, 1]}
    found = [PrivateLinearClassifier(random_state=seed, **usual).fit(data.features, data.labels) for seed in range(3)]
    assert np.mean([model.score(data.features, data.labels) for model in found]) > 0.88


def test_it_works_with_what_scikit_learn_offers():
    model = PrivateLinearClassifier(epsilon=50, feature_bound=1, steps=50, classes=["down", "up"], random_state=2)
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
    assert release.per_record_bound == Fraction(1, 2) / 8 / 400
    assert np.isfinite(model.coef_).all()
    # the sign of a decision is that of the clipped record with its clipped intercept
    rows = np.column_stack([far, np.full(400, 0.25)])
    clipped, _ = problems.problem.clip_rows(rows, Fraction(1, 2))
    solution = np.append(model.coef_[0], model.intercept_ / 0.25)
    assert (np.sign(clipped @ solution) == np.sign(model.decision_function(far))).all()


def test_the_statement_says_what_holds_and_what_does_not(fitted):
    statement = fitted.privacy_statement_
    for part in (
        "(2, 0.000001)-differentially private",
        str(fitted.spent_),
        "replace-one",
        "feature bound 1",
        "for experiments",
        "a seed that was given: conditional on the seed being secret and never used again. With the seed",
        "with one seed, publish at most one",
        "Each further fit",
        "the number of records",
    ):
        assert part in statement
    assert "classes_ was taken" not in statement
    read = PrivateLinearClassifier(feature_bound=1, steps=2, relation="add-or-remove-one", random_state=None)
    read.fit(X, Y, sample_weight=np.ones(400))
    assert "one record (features, label, weight) is added or removed" in read.privacy_statement_
    assert "classes_ was taken from the labels" in read.privacy_statement_
    assert "with a seed from the operating system, not kept." in read.privacy_statement_
    assert "conditional" not in read.privacy_statement_


def test_a_random_state_gives_128_bits_and_none_is_left_to_the_system():
    draw, given = np.random.RandomState(5), np.random.RandomState(5)
    assert PrivateLinearClassifier(random_state=given)._seed() == int.from_bytes(draw.bytes(16), "little") > 2**100
    assert PrivateLinearClassifier()._seed() is None


def test_claims_are_rounded_up():
    claims = [module._above(Fraction(x)) for x in ("10/3", "1/1000000000", "1000", 1e-6, "2.0000001")]
    assert claims == ["3.33334", "0.000000001", "1000", "0.000001", "2.00001"]


def test_nothing_that_is_not_private_is_kept(fitted):
    allowed = {"coef_", "intercept_", "classes_", "n_features_in_", "n_iter_", "ledger_", "spent_", "ranges_"}
    assert set(vars(fitted)) - set(fitted.get_params()) == allowed | {"privacy_statement_"}
    assert fitted.ranges_ is None


@pytest.mark.minutes
def test_secure_noise():
    pytest.importorskip("opendp")
    model = PrivateLinearClassifier(epsilon=5, feature_bound=1, steps=3, noise="secure").fit(X, Y)
    assert model.spent_.upper <= 5
    assert "operating system's randomness" in model.privacy_statement_
    assert "With the seed, this noise" not in model.privacy_statement_


@pytest.mark.one_in(4)
def test_seeds():
    def coefficients(state):
        return PrivateLinearClassifier(feature_bound=1, steps=4, random_state=state).fit(X, Y).coef_

    assert (coefficients(3) == coefficients(3)).all()
    assert (coefficients(np.random.RandomState(2)) == coefficients(np.random.RandomState(2))).all()
    assert len({coefficients(None).tobytes() for _ in range(3)}) == 3
    assert len({coefficients(seed).tobytes() for seed in range(3)}) == 3


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
        ({"feature_bound": None}, "feature_bound is missing: .*without looking at the data.*publish"),
        ({"feature_bound": 0}, "feature_bound must be .*, not 0"),
        ({"feature_bound": np.nan}, "feature_bound must be .*, not nan"),
        ({"algorithm": "sgd"}, "algorithm must be .*dp-pgd.*, not 'sgd'"),
        ({"epsilon": 0}, "epsilon must be .*, not 0"),
        ({"delta": 1}, "delta must be .*, not 1"),
        ({"relation": "some"}, "some"),
        ({"l1": -1}, "l1 must be .*, not -1"),
        ({"algorithm": "dp-pgd", "radius": 0}, "radius must be .*, not 0"),
        ({"radius": 1}, "radius must be None with clipped-gd"),
        ({"feature_ranges": (1, 1)}, "feature_ranges must be low < high"),
        ({"feature_ranges": (0, np.inf)}, "feature_ranges must be low < high"),
        ({"feature_ranges": [(0, 1)]}, "feature_ranges.shape must be .3, 2."),
        ({"algorithm": "dp-pgd", "feature_ranges": (0, 1)}, "feature_ranges must be None with dp-pgd"),
        ({"algorithm": "dp-pgd", "feature_bound": "estimate"}, "feature_bound must be a number with dp-pgd"),
        ({"algorithm": "dp-pgd", "steps": 200, "max_gradients": 40_000}, "steps must be at most .* = 100 .*, not 200"),
        ({"feature_bound": "estimate", "noise": "secure"}, "feature_bound must be a number with secure noise"),
        ({"max_gradients": 0}, "max_gradients must be .*, not 0"),
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
    with pytest.raises(InvalidValue, match="Only binary classification is supported"):
        clone(model).fit(X[:4], [0, 1, 2, 1])
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


@pytest.mark.minutes
def test_every_entry_of_the_table_fits():
    for name, entry in {CLIPPED: Entry(""), **ALGORITHMS}.items():
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
    [({"radius": 1}, (X[:, :2], np.where(Y == "up", "zebra", "ape"))), ({"steps": 0}, (X[:, :2], Y))],
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
