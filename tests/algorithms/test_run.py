"""A run's record: measurements by name, what is refused, how a run ends."""

from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms.ledger import Ledger, OpenLedger, PrivacyBudget
from dpbounds.algorithms.run import Recorder, Run, Trace, settled
from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms import Gaussian, Laplace


def recorded():
    recorders = {name: Recorder(repetitions=2) for name in ("objective", "gap")}
    for k in range(3):
        recorders["objective"].add(np.array([k, k + 1.0]))
        recorders["gap"].add(np.array([1.0, 3.0]))
    return Trace(**{name: recorder.series() for name, recorder in recorders.items()})


def run(**changes):
    arguments = {
        "algorithm": "a method",
        "output": np.zeros((2, 4)),
        "trace": recorded(),
        "metric": "gap",
        "ledger": Ledger(),
        "steps": 3,
        "seed": 0,
        "timings": {"descent": 0.5},
    }
    return Run(**{**arguments, **changes})


def test_series_average_over_steps_and_over_repetitions():
    trace = recorded()
    assert list(trace) == ["objective", "gap"]
    assert len(trace) == 2
    assert trace.objective is trace["objective"]
    assert trace.objective.per_step.tolist() == [0.5, 1.5, 2.5]
    assert trace.objective.per_repetition.tolist() == [1, 2]
    assert trace.gap.mean == 2
    assert "gap" in dir(trace)
    with pytest.raises(AttributeError, match="nothing called 'noise'"):
        _ = trace.noise
    with pytest.raises(ValueError, match="read-only"):
        trace.gap.per_step[0] = 1


def test_a_run_knows_what_its_theorem_bounds():
    assert run().samples.tolist() == [1, 3]
    at_output = np.array([7.0, 8.0])
    finished = run(
        metric="gradient norm", measured={"gradient norm": at_output}, outputs={"stage": np.array([[1], [2]])}
    )
    assert (finished.samples == at_output).all()
    assert finished.repetitions == 2
    assert not finished.output.flags.writeable
    assert not finished.outputs["stage"].flags.writeable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "gradient norm"}, "metric must be one of objective, gap"),
        ({"outputs": {"stage": np.zeros((3, 1))}}, "repetitions"),
        ({"measured": {"x": np.zeros(1)}}, "repetitions"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        run(**changes)


def test_a_step_size_is_asked_for_by_name():
    assert run(parameters={"step_size": 0.25, "radius": 2.0}).step_size == 0.25
    with pytest.raises(InvalidValue, match="a step size, which a method has not"):
        _ = run(parameters={"radius": 2.0}).step_size


def test_a_run_prints_every_measurement():
    made = run(parameters={"step_size": 0.25}, measured={"gradient norm": np.ones(2)}, noise_drawn="of this kind")
    text, shown = str(made), made._repr_html_()
    for words in ("gradient norm 1", "not private", "no releases", "of this kind", "no budget was given"):
        assert words in shown
    for words in ("2 repetitions of 3 steps", "step size 0.25", "gradient norm 1", "objective 1.5 (0.5 -> 2.5)"):
        assert words in text
    for words in ("gap 2", "not private", "no releases", "of this kind", "no budget was given"):
        assert words in text


def test_a_run_is_settled_against_its_plan_and_its_budget():
    def pen():
        opened = OpenLedger()
        opened.gaussian(noise_stddev=Fraction(20), per_record_bound=Fraction(1))
        return opened

    ledger, spent = settled(pen(), Gaussian(20), None)
    assert (ledger.releases[0].count, spent) == (1, None)
    _, spent = settled(pen(), Gaussian(20), PrivacyBudget.of(1, "1e-6"))
    assert spent.upper <= 1
    with pytest.raises(BudgetExceeded, match="planned"):
        settled(pen(), Gaussian("20.2"), None)  # one per cent
    with pytest.raises(BudgetExceeded, match="spends epsilon"):
        settled(pen(), Gaussian(20), PrivacyBudget.of("0.1", "1e-6"))
    with pytest.raises(UnsupportedMechanism, match="nothing like"):
        settled(pen(), Laplace(20), None)
