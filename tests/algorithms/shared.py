"""What tests of several algorithms share: problems, and what must not depend on how many repetitions there are."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy import stats

from dpbounds.algorithms import problems, secure_noise
from dpbounds.algorithms.oracles import BATCH_WIDTH
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, WAVY, Profile, landscape
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.catalogue import example_names
from dpbounds.errors import InvalidValue

# Examples by their names: parametrising tests by these imports no study.
EVERY = example_names()
SOUND = tuple(name for name in EVERY if not name.endswith(("-as-printed", "-as-quoted")))


# h(w) = w²/2: a quadratic, of which all moments are known.
BOWL = Profile(
    name="w²/2",
    derivatives=lambda w: (w * w / 2, w, np.ones_like(w)),
    largest_slope=lambda radius: radius,
    largest_curvature=lambda radius: sympy.Integer(1),
    largest_third_derivative=lambda radius: sympy.Integer(0),
    minimum=sympy.Integer(0),
    minimisers=(0.0,),
    pl_constant=sympy.Integer(1),
)


def minutes_unless(name, *kept):
    """The name as a case of a test: in the layer `minutes`, unless it is one of those that are kept."""
    return name if name in kept else pytest.param(name, marks=pytest.mark.minutes)


def smooth(n=300, p=4, **options):
    """The sigmoid loss on Wang & Xu's design, without a regulariser."""
    data = problems.wang_xu_design(n, p, seed=0, feature_bound=4)
    return problems.sigmoid_loss(data.features, data.labels, **{"l1": 0, "feature_bound": 4, **options})


def exact_square(vector):
    """The sum of the squares of doubles that are multiples of 2^-1074, exactly."""
    mantissas, exponents = np.frexp(np.asarray(vector, dtype=np.float64))
    whole = [int(each) << int(at) + 1074 for each, at in zip(np.ldexp(mantissas, 53).tolist(), exponents, strict=True)]
    return Fraction(sum(each * each for each in whole), 1 << 2 * (53 + 1074))


def plain_sigmoid(problem, x):
    """F without a regulariser, and its gradient, at one point, written again."""
    s = 1 / (1 + np.exp(problem.signed_features @ x))
    return s.mean(), -(problem.signed_features * (s * (1 - s))[:, None]).mean(axis=0)


def wavy(n, p=2, start=1.0, radius=3):
    """A landscape with the PL inequality that is not convex."""
    return landscape(WAVY, n, np.broadcast_to(start, p), radius)


def well(records=200, dimension=1, radius="1.5", start=0.0):
    """A landscape with two minima."""
    return landscape(DOUBLE_WELL, records, [start] * dimension, radius)


def bounded_regression(loss, n=400, p=3, **options):
    """Linear regression without noise, features of norm at most 2."""
    features = np.random.default_rng(3).standard_normal((n, p))
    return loss(features, features @ np.array([0.5, -0.3, 0.2]), feature_bound=2, **options)


def follows(seen, chances, alarm=1e-9):
    """Whether counts of outcomes follow exact probabilities: none that cannot be, and chi-square."""
    if not set(seen) <= set(chances):
        return False
    if len(chances) == 1:
        return True
    expected = {each: seen.total() * share for each, share in chances.items()}
    assert min(expected.values()) >= 5
    statistic = sum((seen[each] - count) ** 2 / count for each, count in expected.items())
    return bool(stats.chi2.sf(statistic, len(chances) - 1) > alarm)


def at_the_records_needed(method, posed, repetitions):
    """A run at the fewest records that its guarantee is about, in which nothing fails; with fewer there is none."""
    needed = math.ceil(method.records_needed(posed(2)).exact_upper)
    refused("records", method.bound, posed(needed - 2))
    run = method.run(posed(needed), seed=4, repetitions=repetitions)
    assert method.bound(posed(needed)).contains(method.failure_probability)
    assert not run.samples.any()
    return run


def holds(samples, bound):
    """Whether their mean is below the bound with all but certainty."""
    return bound_check("x", samples, bound).verdict is Verdict.HOLDS


def refused(match, ask, *arguments, **options):
    """Asking so is ``InvalidValue``, in words that match."""
    with pytest.raises(InvalidValue, match=match):
        ask(*arguments, **options)


def pretend(monkeypatch, seed=0):
    """Secure noise by a sampler of nearly the right law, so that no extra is needed; returns what it was asked for."""
    rng, asked = np.random.default_rng(seed), []

    def sampler(scale, dimension):
        asked.append((scale, dimension))
        return lambda row: [v + round(scale * rng.standard_normal()) for v in row]

    def chooser(scale):
        asked.append((scale, None))
        return lambda scores: int((scores + scale * rng.gumbel(size=len(scores))).argmax())

    def laplace(scale, dimension):
        asked.append((scale, dimension))
        return lambda row: [v + round(scale * rng.laplace()) for v in row]

    monkeypatch.setattr(secure_noise, "_sampler", sampler)
    monkeypatch.setattr(secure_noise, "_chooser", chooser)
    monkeypatch.setattr(secure_noise, "_laplace", laplace)
    monkeypatch.setattr(secure_noise, "library", lambda: None)
    return asked


def assert_independent_repetitions(method, problem, counts=(1, 3, BATCH_WIDTH), most=BATCH_WIDTH + 5, **options):
    """A repetition's numbers are the same, bit for bit, whatever the number of others; returns the largest run."""
    full = method.run(problem, seed=1, repetitions=most, **options)
    for count in counts:
        few = method.run(problem, seed=1, repetitions=count, **options)
        for ours, theirs in zip(_numbers(few), _numbers(full), strict=True):
            assert np.array_equal(ours, theirs[:count], equal_nan=ours.dtype.kind == "f")
        assert few.ledger == full.ledger
    return full


def _numbers(run):
    steps = [] if run.output_step is None else [run.output_step]
    traced = [series.per_repetition for series in run.trace.values()]
    return [run.output, *steps, *run.outputs.values(), *run.measured.values(), *traced]
