"""`dpbounds new`: what it writes begins as an addition does, says what is missing, and works when it is filled in."""

import ast
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpbounds.cli.answers.stubs import KINDS
from dpbounds.theorems.checking import defects
from dpbounds.theorems.index import file_of
from dpbounds.theorems.registry import theorem

VERB = ("new",)
ROOT = Path(__file__).parents[2]
MARK = "TO FILL IN"
NAMES = [
    ("theorem", "their-paper-2026/theorem-2"),
    ("theorem", "their-paper-2026/lemma-a.4/explicit"),
    ("theorem", "cited/their-paper-2026/main-result"),
    ("theorem", "dpbounds/a-walk/of-two"),
    ("algorithm", "heavy-ball"),
    ("algorithm", "spider/slow-spider"),
    ("noise", "student-t"),
    ("scheme", "every-third"),
]
PACKAGES = {
    "dpbounds/papers": "dpbounds.papers",
    "dpbounds/papers/cited": "dpbounds.papers.cited",
    "dpbounds/papers/ours": "dpbounds.papers.ours",
    "dpbounds/privacy/mechanisms/noises": "dpbounds.privacy.mechanisms.noises",
    "dpbounds/privacy/mechanisms/schemes": "dpbounds.privacy.mechanisms.schemes",
    "algorithms/descents": "dpbounds.algorithms.descents",
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with nothing in it but what is written: the package finds its files there, besides its own."""
    (tmp_path / "CONTRIBUTING.md").write_text("as in a checkout")
    (tmp_path / "dpbounds" / "papers").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    for folder, name in PACKAGES.items():
        package = importlib.import_module(name)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / folder)])
    importlib.invalidate_caches()
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def the_test_in(checkout, path):
    """The module of a test that was written."""
    specification = importlib.util.spec_from_file_location("a_new_test", checkout / path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def fill_in(path, *changes):
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        assert len(re.findall(before, text)) == 1, before
        text = re.sub(before, lambda _, after=after: after, text)
    path.write_text(text, encoding="utf-8")


# --- what is written ---


def test_it_is_refused_outside_of_a_checkout(tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    refused("noise", "student-t", told=["in a checkout of dpbounds", "clone the repository", "docs/my_theorem.py"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_every_kind_is_written_in_files_that_are_named(kind, name, checkout, data):
    found = data(kind, name)
    assert found["kept"] == []
    assert {path for path in found["files"] if not (checkout / path).is_file()} == set()
    written = {str(path.relative_to(checkout)) for path in checkout.rglob("*") if path.is_file()}
    assert written == {*found["files"], "CONTRIBUTING.md"}
    texts = {path: (checkout / path).read_text(encoding="utf-8") for path in found["files"]}
    for path, text in texts.items():
        assert not re.search("@[A-Z]+@", text), path
        assert not path.endswith(".py") or ast.parse(text)
    main, test = (next(path for path in texts if path.startswith(start)) for start in (("dpbounds", "algo"), "tests/"))
    assert MARK in texts[main]
    assert any(MARK in text for path, text in texts.items() if "/test_" in path), test
    steps = "\n".join(found["steps"])
    assert f'CONTRIBUTING.md, "Adding {"an" if kind == "algorithm" else "a"}' in steps
    assert all(path in steps for path in texts if not path.endswith("__init__.py"))
    named = set(re.findall(r"\b(?:dpbounds|algorithms|docs|tests)/[\w/]+\.\w+", steps)) - set(texts)
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_a_theorem_stands_where_its_id_says(checkout, data):
    for kind, name in NAMES:
        if kind == "theorem":
            assert file_of(name).as_posix() in data(kind, name)["files"]
            assert theorem(name).id == name


def test_what_is_written_is_told_with_what_is_left_to_do(checkout, said):
    out = said("scheme", "every-third")
    assert "wrote dpbounds/privacy/mechanisms/schemes/every_third.py\n" in out
    assert "What is left to do:\n  1. " in out
    said("theorem", "their-paper-2026/theorem-1")
    assert "kept dpbounds/papers/their_paper_2026/__init__.py, which exists already" in said(
        "theorem", "their-paper-2026/theorem-2"
    )


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_nothing_is_overwritten(kind, name, checkout, data, refused):
    files = data(kind, name)["files"]
    for path in files:
        (checkout / path).write_text("mine")
    refused(kind, name, told=["one whose files do not exist", "nothing was written"])
    assert {(checkout / path).read_text() for path in files} == {"mine"}


@pytest.mark.parametrize(("kind", "place"), [("noise", "tests/privacy/pairs/test_student_t.py"), ("scheme", "")])
def test_one_file_that_exists_is_enough(kind, place, checkout, refused):
    place = checkout / (place or "dpbounds/privacy/mechanisms/schemes/student_t.md")
    place.parent.mkdir(parents=True)
    place.write_text("mine")
    refused(kind, "student-t", told=[f"{place.relative_to(checkout)} does"])
    assert [path for path in checkout.rglob("*student*") if path != place] == []


def test_statements_of_one_paper_share_files(checkout, data):
    data("theorem", "their-paper-2026/theorem-2")
    shared = checkout / "dpbounds/papers/their_paper_2026/__init__.py"
    fill_in(shared, ('read="abstract only"', 'read="full text"'))
    found = data("theorem", "their-paper-2026/theorem-2/explicit")
    assert found["files"] == ["dpbounds/papers/their_paper_2026/theorem_2_explicit.py"]
    assert "tests/papers/their_paper_2026/test_theorem_2.py" in found["kept"]
    assert 'read="full text"' in shared.read_text()


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("lemma", "x/y", "one of theorem, algorithm, noise, scheme"),
        ("theorem", "theorem-2", "an id, such as"),
        ("theorem", "cited/theorem-2", "an id, such as"),
        ("theorem", "Paper/theorem-2", "an id, such as"),
        ("theorem", "2026-paper/theorem-2", "an id, such as"),
        ("theorem", "paper/../theorem-2", "an id, such as"),
        ("theorem", "ours/x", "dpbounds/... is our own"),
        ("noise", "StudentT", "lower case words"),
        ("noise", "student_t", "lower case words"),
        ("noise", "../t", "lower case words"),
        ("scheme", "class", "lower case words"),
        ("noise", "laplace", "Laplace exists already"),
        ("noise", "discrete-gaussian", "DiscreteGaussian exists already"),
        ("algorithm", "projected-gradient-descent", "ProjectedGradientDescent exists already"),
        ("algorithm", "oracles/x", "one of descents, frank_wolfe"),
    ],
)
def test_a_name_that_cannot_be_is_refused(kind, name, told, checkout, refused):
    refused(kind, name, told=[told])
    assert [path for path in checkout.rglob("*") if path.is_file()] == [checkout / "CONTRIBUTING.md"]


@pytest.mark.seconds
def test_what_is_written_is_formatted(checkout, data):
    ruff = shutil.which("ruff", path=Path(sys.executable).parent)
    if ruff is None:
        pytest.skip("Ruff is not installed")
    shutil.copy(ROOT / "pyproject.toml", checkout)
    for kind, name in NAMES:
        data(kind, name)
    own = ["--config", 'lint.isort.known-first-party = ["dpbounds", "tests"]']  # their files are not here
    for command in (["format", "--check"], ["check", *own]):
        done = subprocess.run(
            [ruff, *command, "--no-cache", "."],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


# --- a stub says what is missing, and works when it is filled in ---


def test_a_statement(checkout, data):
    name = "their-paper-2026/theorem-2"
    data("theorem", name)
    assert defects(theorem(name)) == ()
    module = the_test_in(checkout, "tests/papers/their_paper_2026/test_theorem_2.py")
    with pytest.raises(AssertionError, match="fill in what is marked in dpbounds/papers/their_pa"):
        module.test_the_record_is_complete_and_sound()
    with pytest.raises(pytest.fail.Exception, match=MARK):
        module.test_what_the_paper_says()


def test_a_statement_that_is_filled_in(checkout, data):
    name = "cited/their-paper-2026/main-result"
    data("theorem", name)
    fill_in(
        checkout / file_of(name),
        (f"{MARK}: the claim.*stands\\.", "The gradient is of order $G$."),
        (f"{MARK}: a few words", "a bound"),
        (f"{MARK}: section, page or equation", "Theorem 2"),
        (r'    # bounds="', '    bounds="'),
        (r"    notes=.*\n", "    parts=Rate(sqrt(q.d) / (q.n * q.epsilon), hides='G'),\n"),
        ("# from dpbounds.theorems.language", "from dpbounds.theorems.language"),
    )
    the_test_in(checkout, "tests/papers/cited/test_their_paper_2026.py").test_the_record_is_complete_and_sound()
    assert theorem(name).evaluate(n=100, d=4, epsilon=1).value.contains("0.02")


def test_a_noise(checkout, data):
    data("noise", "student-t")
    module = the_test_in(checkout, "tests/privacy/pairs/test_student_t.py")
    with pytest.raises(NotImplementedError, match=r"StudentT\.dominated_by: the pair of one release"):
        module.test_one_release_spends_what_the_densities_say("replace-one", 2, 0.5, 1)
    with pytest.raises(NotImplementedError, match=f"{MARK}: the density"):
        module.profile(1, 1, 0)


def test_a_noise_that_is_filled_in(checkout, data):
    data("noise", "second-laplace")
    test = checkout / "tests/privacy/pairs/test_second_laplace.py"
    fill_in(test, (r"    raise NotImpl.*", "    return np.exp(-abs(x / scale)) / (2 * scale)"))
    pair = "pairs.ShiftedLaplaces(self._distance(order) / (self.noise_multiplier or self.noise_scale))"
    attained = f"        return pairs.StepBound.attained({pair})"
    fill_in(checkout / "dpbounds/privacy/mechanisms/noises/second_laplace.py", (r"        raise NotImpl.*", attained))
    module = the_test_in(checkout, test)
    for relation, distance in (("add-or-remove-one", 1), ("replace-one", 2)):
        module.test_one_release_spends_what_the_densities_say(relation, distance, 2, 0.25)
    module.density = lambda x, scale, density=module.density: density(x, 0.9 * scale)
    with pytest.raises(AssertionError):
        module.test_one_release_spends_what_the_densities_say("replace-one", 2, 2, 0.25)


def test_a_scheme(checkout, data):
    data("scheme", "every-third")
    module = the_test_in(checkout, "tests/privacy/pairs/test_every_third.py")
    with pytest.raises(NotImplementedError, match=r"EveryThird\.dominated_by: the pair of one release"):
        module.test_no_two_datasets_spend_more_than_is_proven((), 0.5, 0)
    with pytest.raises(NotImplementedError, match=f"{MARK}: pairs of a probability"):
        module.spent((1.0,), (), 0.5, 0)
    scheme = module.EveryThird(module.Gaussian(1), "0.5")
    for asked, name in ((scheme.draws, "draws"), (scheme.assumptions, "assumptions"), (scheme.divisor, "divisor")):
        with pytest.raises(NotImplementedError, match=rf"EveryThird\.{name}: "):
            asked(3)


def test_a_scheme_that_is_filled_in(checkout, data):
    data("scheme", "second-poisson")
    test = checkout / "tests/privacy/pairs/test_second_poisson.py"
    every = (
        "    for drawn in np.ndindex(*(2,) * records):\n"
        "        chance = np.prod([rate if each else 1 - rate for each in drawn])\n"
        "        yield chance, [place for place, each in enumerate(drawn) if each]"
    )
    fill_in(test, (r"    raise NotImpl.*", every))
    home = "dpbounds.privacy.mechanisms.schemes.poisson"
    pair = f"import_module('{home}').PoissonSampled(self.mechanism, self.sample_rate).dominated_by(order)"
    fill_in(
        checkout / "dpbounds/privacy/mechanisms/schemes/second_poisson.py",
        (r'        raise NotImpl[^"]*"SecondPoisson.dominated_by.*', f"        return {pair}"),
        ("from fractions import Fraction\n", "from fractions import Fraction\nfrom importlib import import_module\n"),
    )
    module = the_test_in(checkout, test)
    for others in ((), (0.0, 1.0)):
        module.test_no_two_datasets_spend_more_than_is_proven(others, 0.5, 0.25)
    module.batches = lambda records, rate, batches=module.batches: batches(records, 1.2 * rate)
    with pytest.raises(AssertionError):
        module.test_no_two_datasets_spend_more_than_is_proven((), 0.5, 0.25)


def test_an_algorithm(checkout, data):
    data("algorithm", "heavy-ball")
    module = the_test_in(checkout, "tests/algorithms/descents/test_heavy_ball.py")
    for test in (
        module.test_it_is_the_algorithm_of_the_paper_step_by_step,
        module.test_a_budget_is_kept_and_hardly_more,
    ):
        with pytest.raises(NotImplementedError, match=r"HeavyBall\.walk: the pseudo-code"):
            test()
    with pytest.raises(NotImplementedError, match=r"HeavyBall\.bound: "):
        module.HeavyBall.calibrated(module.PROBLEM).bound(module.PROBLEM)


def test_an_algorithm_that_is_filled_in(checkout, data):
    data("algorithm", "slow-walk")
    test = checkout / "tests/algorithms/descents/test_slow_walk.py"
    plain = (
        "    x = np.zeros(3)\n"
        "    for _ in range(STEPS):\n"
        "        x = x - STEP_SIZE * (plain_sigmoid(PROBLEM, x)[1] + sigma * generator.standard_normal(3))\n"
        "    return x"
    )
    fill_in(
        test,
        (r"    raise NotImpl.*", plain),
        ("import smooth", "import plain_sigmoid, smooth"),
        ("import pytest\n", "import numpy as np\nimport pytest\n"),
    )
    walk = (
        "        gradient, x = run.gradients(self.noise_multiplier), run.repeated(problem.initial_point)\n"
        "        for _ in run.steps(self.steps):\n"
        "            g = gradient(x)\n"
        "            run.measure(gradient=squared_norms(g.exact))\n"
        "            x = x - self.step_size * g.noisy\n"
        "        return Outcome(x)"
    )
    fill_in(
        checkout / "algorithms/descents/slow_walk.py",
        (r'        raise NotImpl[^"]*"SlowWalk.walk.*', walk),
        (
            "from dpbounds.algorithms.method",
            "from dpbounds.algorithms.iterates import squared_norms\nfrom dpbounds.algorithms.method",
        ),
    )
    module = the_test_in(checkout, test)
    module.test_it_is_the_algorithm_of_the_paper_step_by_step()
    module.test_a_budget_is_kept_and_hardly_more()
    module.plain_walk = lambda generator, sigma, plain=module.plain_walk: plain(generator, 0.99 * sigma)
    with pytest.raises(AssertionError):
        module.test_it_is_the_algorithm_of_the_paper_step_by_step()


def test_each_kind_is_tried():
    assert {kind for kind, _ in NAMES} == set(KINDS)
