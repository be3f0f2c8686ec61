"""What the mechanisms of statements spend, certified: against their promises, and against what is known of them."""

from pathlib import Path

import pytest

from dpbounds.errors import UnsupportedMechanism
from dpbounds.theorems.registry import library, theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import file_of_tests

ROOT = Path(__file__).parents[2]

ADDED = "add-or-remove-one"
REPLACED = "replace-one"


def row(values, relation=None, *, kept=True, spent=None, above=None, below=None):
    """Values as on the command line; whether the promise is kept; what is spent, or what lies below and above it."""
    return dict(one.split("=") for one in values.split()), relation, kept, spent, above, below


def rows(values, pairs, **expected):
    """One row for each pair of ε and δ."""
    return [row(f"epsilon={epsilon} delta={delta} {values}", **expected) for epsilon, delta in pairs]


SPENT = {
    "cited/abadi-et-al-2016/theorem-1": [
        row("epsilon=1 delta=1e-6 steps=10000 sample_rate=0.01 noise_constant=1.1575"),
        row("epsilon=1 delta=1e-6 steps=10000 sample_rate=0.01 noise_constant=1.1574", kept=False),
    ],
    "cited/dwork-roth-2014/theorem-3.10": [row("epsilon=0.7", one, spent=0.7) for one in (REPLACED, ADDED)],
    "cited/dwork-roth-2014/theorem-3.23": [row("epsilon=0.3", spent=0.3), row("epsilon=2", spent=2)],
    "cited/dwork-roth-2014/theorem-a.1": [row("epsilon=0.9 delta=1e-5", below=0.8)],
    "dpbounds/langevin-under-pl": [row("rho=0.1 steps=60", spent=0.1)],
    "dpbounds/negative-curvature-descent": [row("rho=0.2 steps=40 searches=9", spent=0.2)],
    "dpbounds/population-tree-spider/explicit": [row("rho=0.3", spent=0.3)],
    "dpbounds/storm": [row("rho=0.2 steps=40 first_share=0.1", spent=0.2)],
    "dpbounds/storm/batches": [row("rho=0.2 steps=40 sample_rate=0.1 first_ratio=0.3", below=0.2001)],
    "dpbounds/noisy-descent-batches": [
        row("rho=0.2 steps=40 sample_rate=0.1", below=0.2001),
        row("rho=0.2 steps=40 sample_rate=0.1", ADDED, below=0.0501),
    ],
    "dpbounds/geometric-noise-under-pl": [row("rho=0.2", spent=0.2)],
    "dpbounds/noisy-descent-local-pl": [row("rho=0.2 steps=40", spent=0.2)],
    "dpbounds/noisy-descent-exact": [row("rho=0.2 steps=40", spent=0.2)],
    "dpbounds/second-order-path-noise": [row("rho=0.2", spent=0.2)],
    "dpbounds/second-order-path-noise/iterative": [row("rho=0.2", spent=0.2)],
    "dpbounds/second-order-path-noise/population": [row("rho=0.2", spent=0.2), row("rho=0.2", ADDED, spent=0.05)],
    "dpbounds/second-order-path-noise/population/iterative": [row("rho=0.2", spent=0.2), row("rho=30", spent=30)],
    "dpbounds/second-order-path-noise/warm-start": [row("rho=0.2", spent=0.2), row("rho=0.2", ADDED, spent=0.05)],
    "dpbounds/second-order-path-noise/warm-start/iterative": [
        *(row("rho=0.2", spent=0.2), row("rho=0.2", ADDED, spent=0.05)),
        row("rho=30", spent=30),  # too much for choices to count as Gaussian noise
    ],
    "dpbounds/population-path-noise": [row("rho=0.2", spent=0.2)],
    "dpbounds/population-path-noise/warm-start": [row("rho=0.2", spent=0.2), row("rho=0.2", ADDED, spent=0.05)],
    "dpbounds/polyak-lojasiewicz-restarted-spider": [
        row("rho=0.4 steps=4 stages=3", spent=0.4),
        row("rho=0.4 steps=1024 stages=5", spent=0.4),
    ],
    "dpbounds/polyak-lojasiewicz-restarted-spider/stage-shares": [row("rho=0.4", spent=0.4)],
    "ganesh-liu-oh-thakurta-2023/algorithm-2": [
        row("epsilon=0.5", ADDED, spent=0.5),
        row("epsilon=0.5", REPLACED, kept=False, spent=1),
    ],
    "ganesh-liu-oh-thakurta-2023/lemma-4.1": [
        row("epsilon=0.5", ADDED, spent=0.5),
        row("epsilon=0.5", REPLACED, kept=False, spent=1),
    ],
    "ganesh-liu-oh-thakurta-2023/lemma-4.1/explicit": [
        row("epsilon=0.7", spent=0.7),
        row("epsilon=0.7", ADDED, below=0.36),
    ],
    "ganesh-liu-oh-thakurta-2023/section-5.2": [
        row("epsilon=0.5 n=100 lipschitz=2 diameter=3", REPLACED, kept=False, spent=1),
        row("epsilon=0.5 n=100 lipschitz=2 diameter=3", ADDED, spent=0.5),
    ],
    "ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit": [
        row("rho=0.3 fresh_estimates=7 steps=300", spent=0.3),
        row("rho=0.3 fresh_estimates=7 steps=300", ADDED, spent=0.075),
    ],
    "ganesh-liu-oh-thakurta-2023/theorem-4.6/explicit": [row("rho=0.3", spent=0.3)],
    "ganesh-liu-oh-thakurta-2023/theorem-5.1": [
        row("epsilon=0.4 delta=1e-5", REPLACED, below=0.41),
        row("epsilon=0.4 delta=1e-5", ADDED, below=0.21),
        row("epsilon=40 delta=0.1", kept=False),  # far outside of the range
    ],
    "ganesh-liu-oh-thakurta-2023/theorem-5.1/explicit": [
        row("rho=0.02 n=100 lipschitz=3 log_sobolev=0.5", REPLACED, spent=0.02),
        row("rho=0.02 n=100 lipschitz=3 log_sobolev=0.5", ADDED, spent=0.005),
    ],
    "ganesh-liu-oh-thakurta-2023/theorem-5.6": [
        row("epsilon=0.4 delta=1e-5 n=1000 d=4 temperature_constant=0.3", REPLACED, below=0.001),
        row("epsilon=0.4 delta=1e-5 n=1000 d=4 temperature_constant=0.3", ADDED, below=0.0005),
    ],
    "ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit": [
        row("epsilon=0.2 n=100 d=5", REPLACED, spent=0.2),
        row("epsilon=0.2 n=100 d=5", ADDED, spent=0.1),
        row("epsilon=5 n=100 d=5", REPLACED, below=0.9),  # √(dℓ/n) binds
        row("epsilon=5 n=100 d=5", ADDED, below=0.45),
    ],
    "ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit": [
        row("epsilon=0.3", REPLACED, spent=0.3),
        row("epsilon=0.3", ADDED, spent=0.15),
    ],
    "lowy-ullman-wright-2024/algorithm-2": [
        row("epsilon=1 delta=1e-6", above=0.99),
        row("epsilon=0.1 delta=0.2", above=0.05),  # what is left is δ²/4
    ],
    "lowy-ullman-wright-2024/algorithm-4": [row("epsilon=0.8 delta=1e-6", above=0.79)],
    "lowy-ullman-wright-2024/corollary-4.3": [row("epsilon=1 delta=1e-3", above=0.5, below=0.75 * (1 + 1e-9))],
    "lowy-ullman-wright-2024/corollary-4.3/explicit": [
        row("lipschitz=1 diameter=1 d=1 n=400 rho=0.5 smoothness=2", spent=0.5),
        row("lipschitz=1 diameter=1 d=1 n=400 rho=0.5 smoothness=2", ADDED, spent=0.125),
    ],
    "lowy-ullman-wright-2024/corollary-5.3/explicit": [
        row("lipschitz=1 diameter=2 quasar_convexity=0.5 d=4 n=200 rho=0.1 smoothness=2", spent=0.1),
        row("lipschitz=1 diameter=2 quasar_convexity=0.5 d=4 n=200 rho=0.1 smoothness=2", ADDED, spent=0.025),
    ],
    "lowy-ullman-wright-2024/definition-4.1": [row("epsilon=1", spent=0.5), row("epsilon=1", ADDED, spent=0.25)],
    "lowy-ullman-wright-2024/lemma-4.2/explicit": [row("epsilon=1", spent=1), row("epsilon=1", ADDED, spent=0.5)],
    "lowy-ullman-wright-2024/lemma-e.3": [row("epsilon=0.7", spent=0.7)],
    "lowy-ullman-wright-2024/lemma-e.3/explicit": [row("epsilon=0.7", spent=0.7)],
    "lowy-ullman-wright-2024/proposition-5.2": [
        # z is √(1000/d) b: with the printed b = √(dε) it does not depend on d, and vanishes with ε
        row("epsilon=1e-4 delta=1e-8 n=4291000 d=10000 batch_size=1", kept=False),
        row("epsilon=1 delta=1e-5 n=300 d=20 batch_size=5", below=0.1),
        row("epsilon=0.1 delta=1e-5 n=10000 d=1000 batch_size=10", below=0.01),
        row("epsilon=8 delta=1e-5 n=100 d=50 batch_size=4", below=0.8),
    ],
    "lowy-ullman-wright-2024/proposition-5.2/explicit": [row("rho=0.3 steps=70", spent=0.3)],
    "lowy-ullman-wright-2024/theorem-3.2/explicit": [
        row("excess_risk=0.04 lipschitz=0.65 smoothness=2 n=200 d=2 rho=0.5", spent=0.5)
    ],
    "wang-chen-xu-2019/algorithm-1": [
        # the noise variance is 2c₂²·G²T ln(1/δ)/(nε)²: c₂ = 2 gives 8, which is enough for small ε
        row("epsilon=1 delta=1e-5 steps=500 noise_constant=2"),
        row("epsilon=1 delta=1e-5 steps=500 noise_constant=2.42"),
        row("epsilon=1 delta=1e-5 steps=500 noise_constant=0.8", kept=False),
    ],
    "wang-chen-xu-2019/algorithm-3": [
        row("epsilon=2 delta=1e-5 steps=150", REPLACED, below=0.6),
        row("epsilon=2 delta=1e-5 steps=150", ADDED, below=0.3),
    ],
    "wang-chen-xu-2019/algorithm-4/explicit": [row("rho=0.2 steps=30", spent=0.2)],
    "wang-chen-xu-2019/algorithm-5": [
        # by zCDP: ε²/(2c ln(2/δ)) for the descent and 4(T + 1)/T ε²/(c ln(1/δ)) for the tests, about 4.5ε²/(c ln(1/δ)),
        # of which ε²/(4 ln(1/δ)) may be spent
        row("epsilon=1 delta=1e-5 steps=300 noise_constant=19"),
        row("epsilon=1 delta=1e-5 steps=300 noise_constant=8", kept=False),
    ],
    "wang-chen-xu-2019/lemma-1": [
        row("epsilon=2 delta=1e-5 steps=2500 sample_rate=0.02 noise_constant=2"),
        row("epsilon=2 delta=1e-5 steps=2500 sample_rate=0.02 noise_constant=1", kept=False),
    ],
    "wang-chen-xu-2019/theorem-1": rows(
        "steps=200 noise_constant=2.4143", [("0.5", "1e-5"), (11, "1e-5"), (3, "0.05")]
    ),
    "wang-chen-xu-2019/theorem-1/explicit": rows(
        "steps=100", [("0.1", "1e-3"), (5, "1e-5"), (200, "1e-2"), (1, "0.999")]
    ),
    "wang-chen-xu-2019/theorem-4/explicit": [row("epsilon=2", spent=2), row("epsilon=2", ADDED, spent=1)],
    "wang-chen-xu-2019/theorem-5": rows("steps=300 noise_constant=46.63", [("0.5", "1e-5"), (11, "1e-5")]),
    "wang-chen-xu-2019/theorem-5/explicit": [row("rho=0.1 steps=50", spent=0.1)],
    "wang-chen-xu-2019/theorem-6": [  # the printed budget overspends far out
        row("epsilon=30 delta=0.5 steps=2000"),
        row("epsilon=60 delta=0.5 steps=2000", kept=False),
    ],
    "wang-chen-xu-2019/theorem-6/explicit": [row("rho=0.05 steps=100", spent=0.05)],
    "wang-chen-xu-2019/theorem-7": rows(
        "steps=100 noise_constant=11.657", [("0.5", "1e-5"), (11, "1e-5"), (3, "0.04")]
    ),
    "wang-chen-xu-2019/theorem-8": [row("epsilon=1 delta=1e-5 steps=100 noise_constant=8", kept=False)],
    "wang-chen-xu-2019/theorem-8/explicit": [row("rho=0.2 candidates=40", spent=0.2)],
    "wang-chen-xu-2019/theorem-9": rows("steps=100 noise_constant=23.314", [("0.5", "1e-5"), (11, "1e-5")]),
    "wang-chen-xu-2019/theorem-9/explicit": [row("rho=0.2 steps=25", spent=0.2)],
    "wang-xu-2019/algorithm-4": [  # the printed budget is four times smaller than needed
        row("epsilon=1 delta=1e-6 steps=200", REPLACED, below=0.3),
        row("epsilon=1 delta=1e-6 steps=200", ADDED, below=0.15),
    ],
    "wang-xu-2019/lemma-1": [row("epsilon=0.9 delta=1e-5 steps=1000")],
    "wang-xu-2019/lemma-2": [
        row("epsilon=1 delta=1e-6 steps=10000 sample_rate=0.01 noise_constant=1.1575"),
        row("epsilon=1 delta=1e-6 steps=10000 sample_rate=0.01 noise_constant=1.1574", kept=False),
    ],
    "wang-xu-2019/theorem-1": rows("steps=300 noise_constant=11.657", [("0.5", "1e-5"), (11, "1e-5"), (3, "0.05")]),
    "wang-xu-2019/theorem-1/explicit": [
        row(f"epsilon={epsilon} delta={delta} steps=50", above=0.1 * epsilon)  # and is not absurdly much
        for epsilon, delta in ((0.1, "1e-3"), (1, "1e-5"), (8, "1e-6"), (60, "1e-5"), (2, "0.3"))
    ],
    "wang-xu-2019/theorem-2/explicit": [row("rho=0.1 steps=50", spent=0.1)],
    "wang-xu-2019/theorem-4/explicit": [row("rho=0.1 steps=50", spent=0.1)],
    "wang-xu-2019/theorem-5/explicit": [row("rho=0.1 steps=50", spent=0.1)],
    "wang-xu-2019/theorem-6/explicit": [row("rho=0.05 steps=100", spent=0.05)],
}
CASES = [(name, *each) for name, each_of in SPENT.items() for each in each_of]


@pytest.mark.seconds_cases(
    "*/proposition-5.2 * 1e-5 *",
    "*/theorem-6 ?0 *",
    "*/corollary-4.3 1 1e-3 *",
    "*/algorithm-[34] [12] *",
    "*/theorem-5.1 0.4 *",
)
@pytest.mark.parametrize(
    ("name", "values", "relation", "kept", "spent", "above", "below"),
    CASES,
    ids=[f"{name} {' '.join(values.values())} {relation}" for name, values, relation, *_ in CASES],
)
def test_what_is_spent(name, values, relation, kept, spent, above, below):
    found = spending(theorem(name), values, relation)
    assert found.kept is kept
    if spent is not None:
        assert found.spent.upper == pytest.approx(spent)
    if above is not None:
        assert found.spent.lower > above
    if below is not None:
        assert found.spent.upper <= below


def test_where_a_left_out_record_may_move_the_gradient_by_any_amount_nothing_is_spent():
    restarted = theorem("dpbounds/polyak-lojasiewicz-restarted-spider")
    with pytest.raises(UnsupportedMechanism, match="not what one record contributes"):
        spending(restarted, {"rho": "0.4", "steps": 4, "stages": 3}, ADDED)


def test_statements_beside_the_table_are_accounted_for_in_their_own_tests():
    missing = []
    for statement in library():
        if statement.privacy and statement.id not in SPENT:
            file = ROOT / file_of_tests(statement.id)
            if not file.is_file() or "spending(" not in file.read_text(encoding="utf-8"):
                missing.append(
                    f"{statement.id}: test what it spends, by spending(...), in {file_of_tests(statement.id)}"
                )
    assert missing == []
