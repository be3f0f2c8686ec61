"""`dpbounds plan`: a table for people, one object for programs, kind refusals."""

import pytest

from dpbounds.cli.verbs.plan import releases
from dpbounds.privacy.mechanisms import Gaussian, InParallel
from dpbounds.rates.plan import plan

NUMBERS = (
    *("--metric", "gradient-norm", "--n", "1e6", "--d", "100", "--epsilon", "1", "--delta", "1e-6"),
    *("--lipschitz", "1", "--smoothness", "1", "--initial-gap", "1"),
)
SPIDER = "lowy-ullman-wright-2024/lemma-3.1/explicit"

QUICK = ("--metric", "population-gradient-norm", *NUMBERS[2:])  # few statements: a plan in a fifth of a second

VERB = ("plan",)


@pytest.mark.seconds
def test_for_programs(data):
    found = data(*NUMBERS)
    assert found["metric"] == "gradient-norm"
    assert found["relation"] == "replace-one"
    first = found["ranking"][0]
    assert {"id", "bound", "rate", "parameters", "gradient_evaluations", "status", "why"} <= set(first)
    assert first["id"] == "dpbounds/storm/batches"
    assert first["rate"] is None
    same = plan("gradient-norm", n=10**6, d=100, epsilon=1, delta="1e-6", lipschitz=1, smoothness=1, initial_gap=1)
    assert first["bound"]["lower"] <= float(same.ranking[0].value) <= first["bound"]["upper"]
    assert first["parameters"]["steps"]["value"] == 10**7
    assert found["ranking"][1]["id"] == "dpbounds/storm"
    spider = next(one for one in found["ranking"] if one["id"] == SPIDER)
    assert spider["parameters"]["steps"]["value"] == 269713
    assert [one["count"] for one in spider["releases"]] == [519, 269713 - 519]
    assert spider["meaningful_from"]["monotone"] is True
    assert (first["kind"], first["place"], first["like"]) == ("bound", 1, "proven bounds")
    last = found["ranking"][-1]
    assert last["bound"] is None
    assert last["kind"] == "order"
    assert last["rate"]["value"] > 0
    apart = {one["id"]: one for one in found["not_ranked"]}
    assert apart["cited/gao-wright-2023/main-result"]["place"] is None
    assert "epsilon" in apart["cited/gao-wright-2023/main-result"]["why"]
    assert found["all_vacuous"] is False
    assert {"id": "lowy-ullman-wright-2024/corollary-4.3/explicit", "needs": ["diameter"]} in found["missing"]


@pytest.mark.minutes
def test_for_people(said):
    out = said(*NUMBERS, "diameter=1", "loss_range=1", "--failure-probability", "0.05", "radius=20")
    assert max(map(len, out.splitlines())) <= 110
    assert "1 Lowy et al. 2024, Corollary 4.3, explicit <= 0.001135" in " ".join(out.split())
    assert out.index("proven bounds\n") < out.index("orders of growth\n") < out.index("not ranked\n")
    assert "Gao & Wright 2023: the published order hides how it depends on epsilon, delta" in " ".join(out.split())
    assert "without any algorithm: at most 1: no gradient is longer than lipschitz" in out
    assert "not ranked: a value is missing\n" in out
    assert "needs batch_size" in out
    assert "left out: " in out
    assert "\n~1. " not in out
    assert "assumes quasar-convex" not in out
    everything = said(*NUMBERS, "--top", "99")
    assert "\n~1. " in everything
    assert "assumes quasar-convex" in everything


def test_batches_that_are_never_used_twice():
    twice = InParallel((Gaussian(3), Gaussian(3)))
    wanted = "2 disjoint parts of the data, each record in one release: Gaussian, noise multiplier 3"
    assert releases(twice) == [(1, wanted)]


@pytest.mark.seconds
def test_few_records(said):
    out = said(*(word.replace("1e6", "50") for word in NUMBERS), "--top", "9")
    assert "EVERY BOUND IS VACUOUS" in out
    assert "meaningful from n = 120" in " ".join(out.split())


def test_words_and_options_say_the_same(data):
    options = data(*QUICK)
    given = ("n=1e6", "d=100", "epsilon=1", "delta=1e-6", "lipschitz=1", "smoothness=1", "initial_gap=1")
    words = data(*QUICK[:2], *given)
    assert options["ranking"]
    assert options == words


@pytest.mark.minutes
def test_a_relation_classes_statuses_and_a_limit(said):
    out = said(
        *NUMBERS, "--relation", "add-or-remove-one", "--assuming", "quasar-convex", "--diameter", "1",
        "quasar_convexity=0.5", "--status", "proved here", "--steps-limit", "1e7",
    )  # fmt: skip
    assert "(add-or-remove-one)" in out
    assert "Lowy et al. 2024, Corollary 5.3, explicit" in " ".join(out.split("not ranked")[0].split())
