"""Every page by requests: answers, refusals, the same numbers as the command line, and what other sites cannot do."""

import contextlib
import html
import io
import json
import math
import re
from urllib.parse import urlencode

import pytest

import dpbounds as dp
from dpbounds.app import charts, expected, extras, formulas, printed, results, work
from dpbounds.app.jobs import Answer, Jobs
from dpbounds.app.server import _address, _map, application
from dpbounds.app.tables import TABLES
from dpbounds.app.views import VIEWS
from dpbounds.cli import main
from dpbounds.cli.printing import output
from dpbounds.cli.questions.training import samplings
from tests.app.conftest import Client

CALIBRATE = "target-epsilon=1&target-delta=1e-6&sample-rate=0.01&steps=10000"
EPSILON = "delta=1e-6&noise-multiplier=1&steps=2"


def refused(page):
    return html.unescape(re.search('class="refused">(.*?)( <a [^>]*>Go to the field</a>)?</p>', page.text)[1])


def code_of(page, name):
    return html.unescape(re.search(rf"<h3>{name}</h3><pre[^>]*>(.*?)</pre>", page.text, re.DOTALL)[1])


def test_it_begins_with_every_question(ask):
    page = ask.get("/")
    assert page.status_code == 200
    for key, view in VIEWS.items():
        assert f'<a href="{html.escape(_address(*key))}">{view.title}</a>' in page.text.replace("&#39;", "&#x27;")
        assert html.escape(view.about, quote=False) in page.text


def test_a_quick_example_is_answered_at_once(ask):
    page = ask.get(_address("noise", "calibrate"))
    assert page.status_code == 200
    assert "<title>noise multiplier 4.30210646565" in page.text
    assert "proven to suffice; rounded up" in page.text
    assert code_of(page, "Command line") == (
        "dpbounds calibrate --target-epsilon 1 --target-delta 1e-6 --sampling poisson --sample-rate 0.01 --steps 10000"
    )
    assert "noise_multiplier=4.30210646565" in code_of(page, "Opacus")


@pytest.mark.parametrize("key", [key for key, view in VIEWS.items() if view.opens_filled], ids="/".join)
def test_an_example_that_takes_seconds_is_filled_in_and_waits(ask, inline, key):
    page = ask.get(_address(*key))
    assert page.status_code == 200
    assert inline.asked == []
    for name, value in VIEWS[key].example:
        field = rf'id="of-{name}"[^>]*(?: value="{value}"|>\n{value})|<option value="{value}" selected>'
        assert re.search(field, page.text)


@pytest.mark.seconds
@pytest.mark.parametrize("key", VIEWS, ids="/".join)
def test_every_page_opens(ask, key):
    for address in (_address(*key), "/" + "/".join(key)):
        page = ask.get(address)
        assert page.status_code == 200
        assert '<main id="main"' in page.text
        for given in re.findall(r'<(?:input|select)[^>]* id="([^"]+)"', page.text):
            assert f'<label for="{given}"' in page.text
        for helped in re.findall(r'aria-describedby="([^"]+)"', page.text):
            assert f'id="{helped}"' in page.text
        named = re.findall(r' id="([^"]+)"', page.text)
        assert len(named) == len(set(named))


@pytest.mark.seconds_cases("*regimes*")
@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("/noise/calibrate?target-epsilon=1", "“target delta” is missing"),
        ("/noise/calibrate?target-epsilon=-1&target-delta=1e-6", "“target epsilon” must be greater than 0, not -1"),
        ("/noise/epsilon?delta=1e-6&noise-multiplier=1&sampling=dp-ftrl", "“sampling”"),
        ("/noise/epsilon?delta=1e-6&noise-multiplier=<b>", "<b>"),
        ("/noise/epsilon?delta=1e-6&ledger=/etc/passwd", "option must be one of epsilon's"),
        ("/library/statement?name=theirs.py", "no program"),
        ("/library/statement?name=none/such", "id must be"),
        ("/compare/regimes?metric=gradient-norm&at.n=0&at.d=2&at.epsilon=1", "greater than 0"),
        ("/compare/regimes?metric=gradient-norm&at.n=9&at.d=2&at.epsilon=2", "at most 1"),
    ],
)
def test_refusals_are_those_of_the_command_line(ask, address, told):
    page = ask.get(address)
    assert page.status_code == 422 or "refused" in page.text
    assert told in refused(page)
    assert "<b>" not in page.text.split("<main")[1]


def test_a_refusal_is_that_of_the_command_line_in_the_words_of_the_form(ask):
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert main(["epsilon", "--delta", "2", "--noise-multiplier", "1"]) == 2
    told = refused(ask.get("/noise/epsilon?delta=2&noise-multiplier=1"))
    assert told.replace("“delta”", "--delta") == err.getvalue().removeprefix("dpbounds: ").strip()


@pytest.mark.parametrize(
    ("address", "field", "told"),
    [
        ("/noise/calibrate?target-epsilon=-1&target-delta=1e-6&steps=1", "target-epsilon", "must be greater than 0"),
        (
            "/noise/epsilon?delta=1e-5&noise-multiplier=4&sampling=shuffled&epochs=2",
            "batches",
            "is missing: fill in “batch",
        ),
        (
            "/noise/epsilon?delta=1e-5&noise-multiplier=4&sampling=shuffled&steps=2",
            "sampling",
            "“steps” 2 does not fit",
        ),
        (
            "/noise/epsilon?delta=1e-5&noise-multiplier=4&sampling=poisson&sample-rate=0.1&release=last-iterate",
            "release",
            "“sampling” poisson does not fit “release” last-iterate",
        ),
        ("/noise/epsilon?delta=1e-5&noise-multiplier=4&steps=2&group-size=x", "group-size", "must be"),
        ("/check/certificate?file=none", "file", "“certificate” must be"),
    ],
)
def test_an_error_stands_at_its_field(ask, address, field, told):
    page = ask.get(address)
    assert page.status_code == 422
    wrong = re.search(r'<p class="wrong" id="of-([a-z-]+)-wrong">(.*?)</p>', page.text)
    assert wrong[1] == field
    assert told in html.unescape(wrong[2])
    assert page.text.count('class="wrong"') == page.text.count("aria-invalid") == 1
    assert re.search(rf'id="of-{field}"[^>]*aria-describedby="of-{field}-wrong[^>]*aria-invalid="true"', page.text)
    assert f'href="#of-{field}"' in page.text
    assert "--" not in refused(page)


def fields_of(page):
    """Return the names of the fields that a form shows and sends."""
    form = re.search('<form id="question".*?</form>', page.text, re.DOTALL)[0]
    shown = re.sub('<fieldset id="gone".*?</fieldset>', "", form, flags=re.DOTALL)
    return set(re.findall('<(?:input|select|textarea)[^>]* name="([^"]+)"', shown))


def test_a_form_follows_the_sampling_scheme_and_keeps_what_was_filled_in(ask, inline):
    poisson = fields_of(ask.get("/noise/epsilon"))
    assert {"sampling", "sample-rate", "steps", "batch-size"} <= poisson
    assert not {"batches", "redraw", "smoothness-step", "participation", "bound"} & poisson
    assert '<option value="poisson" selected>' in ask.get("/noise/epsilon").text
    page = ask.get("/noise/epsilon/form?sampling=shuffled&sample-rate=0.01&steps=100&delta=1e-6")
    assert inline.asked == []
    assert {"sampling", "batches", "epochs", "batch-size"} <= fields_of(page)
    assert not {"sample-rate", "steps", "participations", "max-batch-size"} & fields_of(page)
    assert '<input type="hidden" name="sample-rate" value="0.01">' in page.text
    hidden = fields_of(ask.get("/noise/epsilon/form?release=last-iterate"))
    assert {"batches", "epochs", "smoothness-step", "release"} <= hidden
    assert not {"sampling", "sample-rate", "matrix"} & hidden
    correlated = fields_of(ask.get("/noise/epsilon/form?tree=yes"))
    assert {"tree", "participation", "steps"} <= correlated
    assert "sampling" not in correlated


def test_a_form_has_no_field_for_what_is_found(ask):
    assert "noise-multiplier" not in fields_of(ask.get("/noise/calibrate"))
    found = fields_of(ask.get("/noise/calibrate/form?solve=steps"))
    assert "noise-multiplier" in found
    assert not {"steps", "epochs"} & found


LEDGER = dict(VIEWS["noise", "remaining"].example)["ledger"]


@pytest.mark.seconds_cases("kept", "not kept")
@pytest.mark.parametrize(
    ("ledger", "budget", "status"),
    [
        (LEDGER, ("4", "1e-6"), 0),
        (LEDGER, ("2", "1e-6"), 1),
        (LEDGER.replace("1/100", "3"), ("4", "1e-6"), 2),
        (LEDGER[:-1], ("4", "1e-6"), 2),
        ("/etc/passwd", ("4", "1e-6"), 2),
        (LEDGER, ("4", "2"), 2),
        (LEDGER.replace('"gaussian"', '"<b>"'), ("4", "1e-6"), 2),
    ],
    ids=["kept", "not kept", "no rate", "cut short", "a path", "no budget", "no mechanism"],
)
def test_a_ledger_in_the_address_is_told_what_the_command_line_tells(
    ask, tmp_path, monkeypatch, ledger, budget, status
):
    """Numbers and refusals, word for word, of a file with that text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ledger.json").write_text(ledger, "utf-8")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
        given = ["--target-epsilon", budget[0], "--target-delta", budget[1]]
        assert main(["remaining", "--ledger", "ledger.json", *given]) == status
    query = urlencode({"ledger": ledger, "target-epsilon": budget[0], "target-delta": budget[1]})
    page = ask.get(f"/noise/remaining?{query}")
    assert html.escape(ledger, quote=False).replace('"', "&#34;") in page.text.replace("&quot;", "&#34;")
    assert "<b>" not in page.text
    if status == 2:
        told = refused(page).replace("“ledger”", "--ledger").replace("“target delta”", "--target-delta")
        assert told == err.getvalue().removeprefix("dpbounds: ").strip()
        return
    values = [html.unescape(value) for value in re.findall('<span class="value">(.*?)</span>', page.text)]
    assert values
    assert all(value in out.getvalue() for value in values)
    report = ask.get(f"/noise/remaining/file/report?{query}")
    assert ("is NOT kept" if status else "is kept") in html.unescape(report.text)


@pytest.mark.seconds
def test_the_python_of_a_ledger_tells_the_same(ask):
    page = ask.get(_address("noise", "remaining"))
    shown = re.search('<h2 class="headline">.*?<strong>(.*?)</strong>', page.text)[1]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code_of(page, "Python"), {})  # noqa: S102 (ours)
    assert shown[:8] in out.getvalue()


@pytest.mark.seconds_cases("*group-size*", "*sample-rate&*")
@pytest.mark.parametrize(
    ("view", "query"),
    [
        ("epsilon", "delta=1e-6&noise-multiplier=1&sample-rate=0.01&steps=100"),
        ("delta", "epsilon=1&noise-multiplier=2&steps=3&relation=replace-one"),
        ("calibrate", "target-epsilon=1&target-delta=1e-6&steps=5"),
        ("calibrate", "target-epsilon=1&target-delta=1e-6&solve=steps&noise-multiplier=20"),
        ("calibrate", "target-epsilon=1&target-delta=1e-6&solve=sample-rate&noise-multiplier=2&steps=9"),
        ("calibrate", "target-epsilon=1&target-delta=1e-6&steps=9&tree=yes&participation=single&groups=content"),
        ("calibrate", "target-epsilon=1&target-delta=1e-6&steps=2&group-size=2"),
        ("calibrate", "target-advantage=0.1&steps=2"),
        ("calibrate", "target-advantage=0.1&noise-multiplier=99&solve=steps"),
        ("calibrate", "target-tpr=0.1&at-fpr=0.01&steps=1"),
        ("calibrate", "target-mu=1&least-rate=1e-3&steps=4"),
    ],
)
def test_the_python_computes_the_same(ask, view, query):
    page = ask.get(f"/noise/{view}?{query}")
    shown = re.search('<h2 class="headline">.*?<strong>(.*?)</strong>', page.text)[1]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code_of(page, "Python"), {})  # noqa: S102 (ours)
    said = out.getvalue()
    if view == "calibrate":
        from fractions import Fraction

        value = float(Fraction(said.split()[0]))
    else:
        value = float(said.strip("[]\n").split(", ")[1])
    assert value == pytest.approx(float(shown), rel=1e-8)


@pytest.mark.parametrize(
    ("more", "made"),
    [
        ("--steps 2 --noise discrete-gaussian --bound 3", "dp.DiscreteGaussian(value * 3, bound=3) ** 2"),
        ("--steps 2 --noise laplace", "dp.Laplace(value) ** 2"),
        (
            "--sampling shuffled --batches 9 --epochs 2 --relation replace-one",
            "dp.Shuffled(dp.Gaussian(value), batches=9, rest=0) ** 2",
        ),
        (
            "--sampling shuffled --solve batches --epochs 2 --noise-multiplier 3 --relation replace-one",
            "dp.Shuffled(dp.Gaussian(3), batches=int(value), rest=0) ** 2",
        ),
        (
            "--sampling shuffled --solve epochs --batches 9 --noise-multiplier 3 --relation replace-one",
            "dp.Shuffled(dp.Gaussian(3), batches=9, rest=0) ** int(value)",
        ),
    ],
)
def test_a_factory_in_python(more, made):
    argv = ["calibrate", "--target-epsilon", "1", "--target-delta", "1e-6", *more.split()]
    assert f"lambda value: {made}," in extras.code(argv, [("it", "4", "proven")])["Python"]


@pytest.mark.seconds
def test_the_jax_lines_compute_the_same(ask):
    pytest.importorskip("dp_accounting")
    page = ask.get("/noise/epsilon?delta=1e-6&noise-multiplier=1&sample-rate=0.01&steps=100&relation=zero-out-one")
    shown = float(re.search('<h2 class="headline">.*?<strong>(.*?)</strong>', page.text)[1])
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code_of(page, "JAX-privacy"), {})  # noqa: S102 (ours)
    assert float(out.getvalue()) == pytest.approx(shown, rel=1e-8)


@pytest.mark.seconds
def test_what_is_taken_away_is_what_the_command_writes(ask):
    statement = ask.get(f"/noise/calibrate/file/statement?{CALIBRATE}")
    assert statement.text.startswith("The sequence of releases is (1, 1e-06)-differentially private")
    certificate = ask.get(f"/noise/calibrate/file/certificate?{CALIBRATE}")
    assert "attachment" in certificate.headers["content-disposition"]
    assert certificate.json()["format"] == "dpbounds privacy certificate"
    answer = ask.get(f"/noise/calibrate/file/json?{CALIBRATE}").json()
    assert answer["verb"] == "calibrate"
    assert ask.get(f"/noise/calibrate/file/text?{CALIBRATE}").text.startswith("noise multiplier  4.30210646565")
    assert ask.get("/noise/calibrate/file/none?" + CALIBRATE).status_code == 404
    assert ask.get("/noise/calibrate/file/json?target-epsilon=1").status_code == 422
    assert "Laplace" in ask.get(f"/noise/epsilon/file/statement?{EPSILON}&noise=laplace").text


@pytest.mark.seconds
def test_the_report_and_the_curve(ask):
    pytest.importorskip("matplotlib")
    report = ask.get(f"/noise/epsilon/file/report?{EPSILON}")
    assert report.text.startswith("<!doctype html>")
    assert "sandbox" in report.headers["content-security-policy"]
    page = ask.get(f"/noise/epsilon/details?{EPSILON}")
    assert "Who is protected, from whom?" in page.text
    assert "of the cases at most; blind guessing is right in 50 %" in page.text
    assert page.text.count('class="chart"') == 2
    assert " style=" not in page.text  # which the content policy would forbid
    assert "zcdp" in ask.get(f"/noise/epsilon/accountants?{EPSILON}").text
    told = refused(ask.get(f"/noise/epsilon/details?{EPSILON}&group-size=2"))
    assert "“group size”" in told


def test_a_part_that_takes_long_waits_for_a_click(ask, inline, monkeypatch):
    monkeypatch.setattr("dpbounds.app.server._BY_ITSELF_SECONDS", 0)
    monkeypatch.setattr("dpbounds.app.server._SHORT", 0)
    inline.stuck = True
    address = f"/noise/epsilon/details?{EPSILON}"
    page = ask.get(f"{address}&by-itself=yes")
    assert "This takes more than a few seconds." in page.text
    assert f'<a href="{html.escape(address)}" data-takes="details">Compute it</a>' in page.text
    assert len(inline.stopped) == 1
    assert "data-running" in ask.get(address).text
    assert len(inline.stopped) == 1


def test_a_calibration_leads_to_the_curve_of_what_it_found(ask):
    page = ask.get(f"/noise/calibrate?{CALIBRATE}")
    href = html.unescape(re.search('data-src="([^"]*details[^"]*)"', page.text)[1])
    assert href == "/noise/epsilon/details?delta=1e-6&noise-multiplier=4.30210646565&sample-rate=0.01&steps=10000"
    page = ask.get("/noise/calibrate?target-epsilon=1&target-delta=1e-6&solve=steps&noise-multiplier=20")
    assert "&amp;steps=" in re.search('data-src="([^"]*)"', page.text)[1]
    page = ask.get("/noise/calibrate?target-advantage=0.1&steps=2")
    assert 'data-src="/noise/delta/details?epsilon=0&amp;noise-multiplier=' in page.text
    page = ask.get("/noise/calibrate?target-tpr=0.1&at-fpr=0.01&steps=1")
    assert "data-src" not in page.text
    assert '<a href="/noise/attacker?noise-multiplier=0.957124361918&amp;steps=1">' in page.text


def test_a_statement_is_evaluated_with_its_conditions(ask):
    values = {"lipschitz": 1, "smoothness": 1, "initial_gap": "1/2", "dimension": 50, "dataset_size": "1e5", "rho": 0.1}
    query = urlencode(
        {"name": "wang-xu-2019/theorem-2/explicit", "part": "tuned", **{f"value.{key}": v for key, v in values.items()}}
    )
    page = ask.get(f"/library/statement?{query}")
    assert "[0.029041476822725478, 0.029041476822725479]" in page.text
    assert "<math" in page.text
    assert "$" not in re.search('<div class="document">(.*?)</section>', page.text, re.DOTALL)[1].split("<h2")[0]
    assert "dpbounds evaluate --part tuned wang-xu-2019/theorem-2/explicit lipschitz=1" in page.text
    told = refused(ask.get("/library/statement?name=wang-xu-2019/theorem-2/explicit&value.rho=1"))
    assert "dimension" in told
    page = ask.get("/library/statement?name=wang-xu-2019/theorem-2/explicit&value.rho=-1")
    assert '<p class="wrong" id="of-value.rho-wrong">rho must be greater than 0, not -1</p>' in page.text


def rows_of(page):
    table = re.search("<table[^>]*>(.*?)</table>", page.text.split('id="answer"')[1], re.DOTALL)[1]
    lines = re.findall("<tr[^>]*>(.*?)</tr>", table, re.DOTALL)
    return [[re.sub("<[^>]+>", "", cell) for cell in re.findall("<t[hd][^>]*>(.*?)</t[hd]>", line)] for line in lines]


@pytest.mark.seconds
def test_the_attackers_error_rates_are_those_of_the_command_line(ask):
    query = "noise-multiplier=1&sampling=poisson&sample-rate=0.01&steps=100"
    page = ask.get(f"/noise/attacker?{query}")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        given = ["--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "100"]
        assert main(["attacker", *given]) == 0
    values = [html.unescape(value) for value in re.findall('<span class="value">(.*?)</span>', page.text)]
    assert len(values) == 7
    assert all(value in out.getvalue() for value in values)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code_of(page, "Python"), {})  # noqa: S102 (ours)
    assert out.getvalue().split()[1][:8] in values[0] + values[0].replace("at most ", "")
    curve = ask.get(html.unescape(re.search('data-src="([^"]*)"', page.text)[1]))
    assert "true positive rate ≤" in curve.text
    spent = ask.get(f"/noise/epsilon?delta=1e-6&{query}").text
    href = html.unescape(
        re.search('<a href="/noise/attacker[?]([^"]*)">What can an attacker find out[?]</a> shows', spent)[1]
    )
    assert sorted(href.split("&")) == sorted(query.split("&"))


def test_a_certificate_is_checked(ask):
    certificate = ask.get(f"/noise/epsilon/file/certificate?{EPSILON}").text
    page = ask.get("/check/certificate?" + urlencode({"file": certificate}))
    assert '<strong class="good">The certificate holds</strong>' in page.text
    assert "epsilon at most 7.28608" in page.text
    assert "Each release is a sum of per-record terms" in page.text
    other = LEDGER.replace('"1"', '"7"')
    page = ask.get("/check/certificate?" + urlencode({"file": certificate, "ledger": other}))
    assert '<strong class="bad">The certificate is about other releases than the ledger</strong>' in page.text
    assert "does NOT have this digest" in page.text
    document = json.loads(certificate)
    claim = document["accounts"][0]["claim"]
    claim["upper"] = claim["lower"] = "1"
    page = ask.get("/check/certificate?" + urlencode({"file": json.dumps(document)}))
    assert '<strong class="bad">' in page.text
    assert "certificate holds" not in page.text


def test_the_library_is_grouped_by_paper_and_a_search_opens_its_papers(ask):
    every = ask.get("/library/statements").text
    assert every.count("<details><summary>") > 30
    assert "<summary>Arora et al. 2023, Faster Rates" in every
    found = ask.get("/library/statements?search=frank-wolfe").text
    assert "<details open><summary>Wang &amp; Xu, Differentially Private ERM" in found
    assert "<summary>Arora" not in found
    errata = ask.get("/library/errata").text
    assert "<details><summary>Wang &amp; Xu, Differentially Private ERM" in errata
    assert ">Algorithm 1, step 3</a>" in errata
    assert "No statement fits." in ask.get("/library/statements?search=there-is-none").text


@pytest.mark.seconds
def test_cheaper_samples_are_a_link_to_the_answer_that_was_promised(ask):
    page = ask.get("/noise/epsilon?delta=1e-5&noise-multiplier=4&sampling=shuffled&batches=100&epochs=2")
    promised = re.search("<p>Cheaper: epsilon ([0-9.]+) with Poisson samples", page.text)[1]
    assert "loader = opacus.data_loader.DPDataLoader(dataset, sample_rate=0.01)" in page.text
    other = ask.get(html.unescape(re.search('<a href="([^"]*)">Show that answer</a>', page.text)[1]))
    shown = re.search('<h2 class="headline">epsilon <strong>(.*?)</strong>', other.text)[1]
    assert float(shown) == pytest.approx(float(promised), rel=1e-5)
    assert "Cheaper:" not in other.text


def test_scores_of_canaries_are_audited_in_a_form(ask):
    query = urlencode(VIEWS["evidence", "scores"].example)
    page = ask.get(f"/evidence/scores?{query}")
    coins = [True, False] * 20
    known = dp.audit_scores([2.5 if coin else 0.5 for coin in coins], coins, design="one-run", delta="1e-5")
    shown = re.search(r'data-name="">ε at least</td><td role="cell" data-name="">([0-9.]+) at δ', page.text)[1]
    assert float(known.epsilon) * (1 - 1e-3) <= float(shown) <= known.epsilon
    assert "The claim is refuted" in page.text
    for name in ("runs", "jobs", "name"):
        assert f'id="of-{name}"' not in page.text
    for name in ("scores", "threshold", "claim"):
        assert f'id="of-{name}"' not in ask.get("/evidence/audit").text
    neither = ask.get(f"/evidence/scores?{urlencode({'scores': 'score,in'})}")
    assert neither.status_code == 422
    assert "“scores” needs one of “one run”" in refused(neither)


class Timed:
    """Starts every question, and answers those with a time limit."""

    def __init__(self, inline):
        self._inline, self.asked = inline, []

    def __call__(self, folder):
        self.asked.append(json.loads((folder / "task.json").read_text())["argv"])
        if "--time-limit" in self.asked[-1]:
            work.perform(folder)

    def stop(self, folder):
        pass

    def gone(self, folder):
        return (folder / "status").exists()

    def close(self):
        pass


def test_a_long_question_has_a_first_answer(inline):
    start = Timed(inline)
    jobs = Jobs(start, 4)
    page = Client(application(jobs)).get(f"/noise/epsilon?{EPSILON}")
    assert [("--time-limit" in argv) for argv in start.asked] == [False, True]
    assert "A better one is being computed" in page.text
    assert 'class="both answered"' in page.text
    assert "answered" not in Client(application(jobs)).get("/noise/epsilon").text
    assert re.search('<h2 class="headline">epsilon <strong>7.28608', page.text)
    assert "data-running" in page.text
    stop = re.search('action="(/jobs/[^"]+)"', page.text)[1]
    Client(application(jobs)).post(stop, content="action=stop&back=/")
    stopped = Client(application(jobs)).get(f"/noise/epsilon?{EPSILON}")
    assert "Stopped. The answer below is proven" in stopped.text
    assert re.search('<h2 class="headline">epsilon <strong>7.28608', stopped.text)
    assert len(start.asked) == 2  # and nothing starts again
    refusal = Client(application(jobs)).get("/noise/epsilon?delta=2&noise-multiplier=1")
    assert [("--time-limit" in argv) for argv in start.asked[2:]] == [False, True]
    assert "A better one" not in refusal.text
    assert "data-running" in refusal.text
    jobs.close()


def test_the_attacker_form_has_a_first_answer(inline):
    start = Timed(inline)
    jobs = Jobs(start, 4)
    page = Client(application(jobs)).get("/noise/attacker?noise-multiplier=2&sampling=full-batch&steps=3")
    assert [("--time-limit" in argv) for argv in start.asked] == [False, True]
    assert "The answer below is proven. A better one is being computed." in page.text
    assert re.search('<h2 class="headline">true positives at 0.001 <strong>at most 0.0', page.text)
    jobs.close()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (
            "noise/calibrate?target-epsilon=1&target-delta=1e-6&sampling=shuffled&batches=9&epochs=2",
            "about 22 s for a run",
        ),
        ("noise/epsilon?delta=1e-6&noise-multiplier=1&sampling=poisson&sample-rate=0.1&steps=9", "about 1 s for a run"),
        ("noise/attacker?noise-multiplier=1&sampling=shuffled&batches=9&epochs=2", "more than 120 s for a run"),
        ("evidence/audit?name=dp-pgd&seconds=7", "at most 7 s"),
        ("plan/plan", "about 10 s"),
    ],
)
def test_expected_times_are_numbers(inline, address, told):
    inline.stuck = True
    jobs = Jobs(inline, 4)
    assert told in Client(application(jobs)).get("/" + address).text
    jobs.close()


def test_times_are_known_of_schemes_and_questions_that_exist():
    schemes = {one for one in expected._SECONDS if one in samplings()}
    assert schemes == set(expected._SECONDS)
    assert {verb for verbs in expected._SECONDS.values() for verb in verbs} <= {view.verb for view in VIEWS.values()}


@pytest.mark.seconds
def test_a_verification_is_a_table_with_links(ask):
    query = "names=tholeti-kalyani-2020/equation-6"
    ask.post("/evidence/verify", content=query)
    page = ask.get(f"/evidence/verify?{query}")
    head, *rows = rows_of(page)
    assert head[:4] == ["statement", "check", "verdict", "claimed"]
    assert len(rows) == 6
    assert {row[2] for row in rows} == {"holds"}
    assert 'href="/library/statement?name=tholeti-kalyani-2020/equation-6"' in page.text
    assert "Report to sign" in page.text
    source = html.unescape(re.search('<img class="picture" src="([^"]*)"', page.text)[1])
    drawn = ask.get(source)
    assert drawn.headers["content-type"].startswith("image/svg")
    assert "Bounds and formulas" not in page.text
    assert "<svg" in drawn.text


@pytest.mark.seconds
def test_an_audit_is_a_table(ask):
    query = "name=dp-pgd&runs=200"
    ask.post("/evidence/audit", content=query)
    head, row = rows_of(ask.get(f"/evidence/audit?{query}"))
    shown = dict(zip(head, row, strict=True))
    assert (shown["algorithm"], shown["verdict"], shown["claimed ε"]) == ("dp-pgd", "agrees", "1")
    assert float(shown["ε at least"]) < float(shown["certified ε, at most"]) <= 1


AUDITED = {
    "algorithm": "one",
    "runs": 5,
    "ended": "runs",
    "unassuming": 0.5,
    "certified": "inf",
    "sound": True,
    "lower": {"epsilon": 2.0, "delta": 1e-5, "confidence": 0.9, "attack": "a", "method": "m"},
    "claim": {"epsilon": 1.0, "delta": 1e-5},
    "claim_refuted": True,
}
COPY = {**AUDITED, "name": "copy", "flaw": "none", "broken": False, "caught": True}


@pytest.mark.parametrize(
    ("verb", "found", "told"),
    [
        ("audit", AUDITED, {"claim refuted", "inf"}),
        ("audit", {**AUDITED, "certified": 0.70000001}, {"0.700001"}),
        ("audit", {"findings": [{**AUDITED, "sound": False}], "confidence": 0.9}, {"ledger or code is wrong"}),
        ("audit", {"copies": [COPY], "all_as_expected": False, "confidence": 0.9}, {"NOT all as expected", "NO"}),
    ],
)
def test_bad_news_is_told(verb, found, told):
    (shown,) = TABLES[verb](found)
    assert all(word in f"{shown.caption} {shown.rows}" for word in told)


def test_what_fails_stands_first():
    one = {"theorem": "a", "name": "b", "predicted": 1.0, "reason": "", "verdict": "holds"}
    one["measured"] = {"mean": 2.0, "low": "-inf", "high": 3.0}
    checks = [one, {**one, "verdict": "fails"}, {**one, "verdict": "undecided"}]
    shown, again = TABLES["verify"](
        {"checks": checks, "experiments": [{"theorem": "a", "name": "b", "findings": ["so", "it is"]}]}
    )
    assert shown.caption.endswith("1 fail, 1 are undecided, 0 are compatible, 1 hold")
    assert [row[2] for row in shown.rows] == ["fails", "undecided", "holds"]
    assert shown.rows[0][3:6] == ("1", "2", "[-inf, 3]")
    assert again.rows[0][2] == "so it is"


@pytest.mark.parametrize("name", results.RESULTS)
def test_what_was_found_is_there_to_be_read(ask, name):
    page = ask.get(f"/evidence/results/{name}")
    assert page.status_code == 200
    assert "<table>" in page.text
    assert f'<a href="/evidence/results/{name}" aria-current="page">' in page.text
    for picture in re.findall('<img src="([^"]+)"', page.text):
        shown = ask.get(f"/evidence/results/{picture}")
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")


def test_the_rows_of_a_long_page_are_folded_by_paper_and_none_is_lost():
    rest = results.markdown("verification").partition("\n")[2]
    rows = re.findall(r"^\|.*$", rest, re.MULTILINE)
    found = results.parts(rest)
    shown = [row for part in found for row in part.text.splitlines() if row.startswith("|") and row not in rows[:2]]
    assert sorted(shown) == sorted(rows[2:])
    assert max(len(part.text.splitlines()) for part in found if not part.title) < 20
    titles = [part.title for part in found if part.title]
    assert len(set(titles)) == len(titles)
    (title,) = [one for one in titles if one.startswith("Wang & Xu 2019 ")]
    counts = [int(number) for number in re.findall(r": (\d+)", title)]
    assert sum(counts) == sum(row.startswith("| Wang & Xu 2019, ") for row in rows)
    assert "## " not in "".join(part.text for part in found).replace("###", "")


@pytest.mark.seconds
def test_names_of_statements_in_a_table_are_links(ask):
    page = ask.get("/compare/table?name=gradient-norm")
    address = "/library/statement?name=cited/arora-et-al-2023/theorem-4.2"
    assert f'<td><a href="{address}">Arora et al. 2023, Theorem 4.2</a></td>' in page.text
    part = "/library/statement?name=lowy-ullman-wright-2024/corollary-4.3"
    assert f'<td><a href="{part}">Lowy et al. 2024, Corollary 4.3: combined</a></td>' in page.text


def test_pictures_are_of_that_folder_only(ask):
    for name in ("none.png", "..%2f..%2fverification.md", "%2e%2e/verification.png"):
        assert ask.get(f"/evidence/results/figures/{name}").status_code == 404
    assert ask.get("/evidence/results/none").status_code == 404


def test_an_installation_without_results_says_where_they_are(ask, monkeypatch, tmp_path):
    monkeypatch.setattr(results, "_PLACES", (tmp_path,))
    page = ask.get("/evidence/results/audits")
    assert page.status_code == 404
    assert "tables/ of the source code has them" in refused(page)
    assert ask.get("/evidence/results/figures/wang-xu-2019-figure-1.png").status_code == 404


def test_long_work_is_not_started_by_a_link(ask, inline):
    query = "names=tholeti-kalyani-2020/equation-6"
    page = ask.get(f"/evidence/verify?{query}")
    assert page.status_code == 200
    assert "Run it" in page.text
    assert inline.asked == []
    inline.stuck = True
    begun = ask.post("/evidence/verify", content=query)
    assert begun.status_code == 303
    page = ask.get(begun.headers["location"])
    assert "data-running" in page.text
    job = re.search('action="(/jobs/[^"]+)"', page.text)[1]
    back = ask.post(job, content=urlencode({"action": "stop", "back": begun.headers["location"]}))
    assert back.headers["location"] == begun.headers["location"]
    assert len(inline.stopped) == 1
    assert "Stopped." in ask.get(begun.headers["location"]).text
    assert ask.post(job, content="action=stop&back=//elsewhere").headers["location"] == "/"
    assert ask.post("/jobs/none", content="action=start").headers["location"] == "/"
    assert ask.post("/evidence/none", content="").status_code == 404


@pytest.mark.parametrize("key", [key for key, view in VIEWS.items() if view.long], ids="/".join)
@pytest.mark.parametrize("content", ["", "names=", "names=+&statements=%20", "unknown"])
def test_a_form_in_which_nothing_is_chosen_runs_nothing(ask, inline, key, content):
    """It is an empty question, sent or followed as a link; where it is sent, the page says what to do."""
    address = "/" + "/".join(key)
    inline.stuck = True
    page = ask.post(address, content=content)
    assert page.status_code == 422
    assert "Nothing was chosen" in refused(page)
    assert "Run it" in page.text
    assert ask.get(f"{address}?{content}").status_code == 200
    assert ask.get(f"{address}/file/json?{content}").status_code in (404, 422)
    assert inline.asked == []


@pytest.mark.parametrize("size", [100_001, 200_000])
def test_a_form_that_is_too_large_is_refused_and_runs_nothing(ask, inline, size):
    inline.stuck = True
    for address in ("/evidence/verify", "/noise/calibrate", "/jobs/none"):
        page = ask.post(address, content="names=" + "x" * (size - 6))
        assert page.status_code == 413
        assert "at most 100000 bytes" in page.text
    for text, status in (("x" * 50_000, 413), ("%C3%A9" * 9_000, 413), ("x" * 40_000, 303)):  # as long as its answer's
        assert ask.post("/evidence/verify", content=f"names={text}").status_code == status
    assert len(inline.asked) <= 1


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", {"host": "127.0.0.1:8710"}, 200),
        ("GET", {"host": "elsewhere.example"}, 400),
        ("GET", {"host": "127.0.0.1.elsewhere.example"}, 400),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ("POST", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
        ("POST", {"origin": "http://elsewhere.example"}, 403),
        ("POST", {"origin": "null"}, 403),
        ("POST", {"origin": "http://127.0.0.1"}, 422),  # nothing is chosen
        ("PUT", {}, 405),
    ],
)
def test_other_sites_cannot_ask(ask, method, headers, status):
    answered = ask.request(method, "/evidence/audit", headers=headers)
    assert answered.status_code == status
    if status != 400:  # refused before anything is looked at
        assert "default-src 'none'" in answered.headers["content-security-policy"]
        assert answered.headers["referrer-policy"] == "same-origin"


def test_nothing_is_elsewhere(ask):
    page = ask.get("/noise/calibrate?" + CALIBRATE).text
    assert re.findall(r'(?:src|href|action)="(?!/|#|data:,)([^"]*)"', page) == []
    for path in ("/static/app.js", "/static/app.css"):
        assert "http" not in ask.get(path).text
    for path in ("/none", "/noise/none", "/noise/calibrate/details", "/static/../server.py"):
        assert ask.get(path).status_code in (404, 303)
    assert ask.get("/plan").headers["location"] == "/plan/plan"
    assert ask.get("/compare").headers["location"].startswith("/compare/regimes?metric=")


@pytest.mark.seconds
def test_every_statement_has_formulas_that_a_browser_sets():
    from dpbounds.theorems import wording
    from dpbounds.theorems.registry import library

    for one in library():
        page = formulas.page(wording.as_markdown(one))
        shown = re.sub(r"<annotation.*?</annotation>|<[^>]+>", "", page)
        assert "\\" not in shown, one.id
        assert "math error" not in page
        assert "<script" not in page


def test_what_is_printed_is_kept_in_pieces(capsys):
    with output.kept_in_pieces() as kept:
        output.print_rows({"epsilon": "1.5  (proven)", "delta": "1e-06"})
        output.print_table([("method", "ratio"), ("pld", "1"), ("rdp", "")])
        output.print_rows({"other": "rows"})  # which are text
    assert kept.rows == [("epsilon", "1.5", "proven"), ("delta", "1e-06", "")]
    assert kept.table == [("method", "ratio"), ("pld", "1"), ("rdp", "")]
    rows, table = "epsilon  1.5  (proven)\ndelta    1e-06\n", "method  ratio\npld     1\nrdp\n"
    assert kept.printed == [rows, table]
    output.print_rows({"not": "kept"})
    assert capsys.readouterr().out == f"{rows}{table}other  rows\nnot  kept\n"


def test_an_answer_becomes_a_page(tmp_path):
    rows = (("epsilon", "1.5", "proven"), ("delta", "1e-06", ""))
    answer = Answer(0, "{}", "note: a\nwrote c.json\n", tmp_path, rows=rows, text="The run is private.")
    found = printed.read("epsilon", answer)
    assert (found.rows, found.headline, found.text) == (rows, "epsilon 1.5", "The run is private.")
    assert (found.notes, found.error) == (("note: a",), "")
    as_json = printed.read("epsilon", answer, as_json=True)
    assert (as_json.rows, as_json.headline, as_json.text, as_json.notes) == ((), "", "", ("note: a",))
    assert printed.read("epsilon", Answer(2, "", "dpbounds: no\n", tmp_path)).error == "no"
    assert printed.read("epsilon", Answer(3, "", "", tmp_path)).error
    assert printed.read("epsilon", Answer(3, "", "Traceback\nKeyError: 1\n", tmp_path)).error == "KeyError: 1"


def test_tables_and_charts_round_ends_outwards():
    third = 1 / 3
    (table,) = TABLES["audit"](
        {
            "algorithm": "a",
            "sound": True,
            "claim_refuted": False,
            "runs": 1,
            "ended": "",
            "unassuming": third,
            "certified": 2 / 3,
            "claim": {"epsilon": 1.0, "delta": 1e-5},
            "confidence": 0.95,
            "lower": {"epsilon": 2 / 3, "attack": "", "method": "", "confidence": 0.95},
        }
    )
    assert table.rows[0][2:5] == ("0.6666", "0.3333", "0.666667")
    check = {"theorem": "t", "name": "n", "verdict": "holds", "reason": ""}
    found = {"predicted": {"lower": third, "upper": third}, "measured": {"mean": 0.5, "low": third, "high": 2 * third}}
    (table,) = TABLES["verify"]({"checks": [{**check, **found}], "experiments": []})
    assert table.rows[0][3:6] == ("0.3334", "0.5", "[0.3333, 0.6667]")
    curve = charts.curve({"epsilon": [0, 1], "delta_lower": ["0.16666666666666666", 0], "delta_upper": [third, third]})
    assert "δ ≤ 0.333334, proven" in curve
    assert "δ ≥ 0.166666, proven" in curve
    least = charts.trade_off({"type_one_error": [0, 0.5], "type_two_error_lower_bound": [1, 2 / 3]})
    assert "false negative rate ≥ 0.6666" in least
    rates = [{"false_positive_rate": "0.01", "true_positive_rate": {"lower": third, "upper": third}}]
    assert "true positive rate ≤ 0.3334" in charts.rates(rates)
    assert charts.rates_in_rows(rates) == [("0.01", "0.333333", "0.333334")]
    claim = {"given": "delta", "target": "1/4", "lower": "1/3", "upper": "1/3", "role": "account", "digest": ""}
    claim |= {"relation": "", "relation_in_words": "", "releases": []}
    (one, two, *_) = TABLES["check"]({"claims": [claim, {**claim, "upper": "inf"}], "assumptions": [], "lines": []})
    assert one.rows[0][1] == "epsilon at most 0.3333333334, at least 0.3333333333, at delta = 0.25"
    assert two.rows[0][1].startswith("epsilon at most inf")


def test_charts_show_their_numbers():
    columns = {"epsilon": [0, 1], "delta_lower": [0.4, "1e-400"], "delta_upper": [0.5, "1e-7"]}
    curve = charts.curve(columns)
    assert "ε = 1, δ ≤ 1e-07, proven" in curve
    assert "nan" not in curve
    everything = charts.curve({"epsilon": [0, 1], "delta_lower": [0, 0], "delta_upper": [0, 0]})
    assert "circle" not in everything
    region = {"best": ["<a>"], "value": "1/n", "corners": [[0, 0], [4, 0], [0, 2]]}
    shown = charts.regime_map([region, {**region, "corners": []}], (99.0, 1.0))
    assert "&lt;a&gt;" in shown
    assert charts.lettered([region]) == [("A", 0, "1/n", ["<a>"])]
    assert "number of records n, in powers of d<" in shown
    assert "for d = 100<" in (known := charts.regime_map([region], (1.0, 1.0), math.log(100)))
    assert all(f">{label}</text>" in known for label in ("d", "d²", "1e4", "1/d", "0.01"))


def test_a_point_on_the_map_may_be_of_any_size():
    facets = [[0, 1, 0]]  # d at least 1
    orders = [
        {"id": "a/b", "status": "proven", "value": "1/n", "powers": [-1.0, 0.0, 0.0], "facets": facets},
        {"id": "c/d", "status": "proven", "value": "d/n", "powers": [-1.0, 1.0, 0.0], "facets": facets},
    ]
    shown = _map({"regions": [], "orders": orders}, {"at.n": "1e600", "at.d": "1e400", "at.epsilon": "1e-400"})
    assert [(one["id"], one["value"], one["ratio"]) for one in shown["orders"]] == [
        ("a/b", "1.000e-600", "1"),
        ("c/d", "1e-200", "1.000e+400"),
    ]


@pytest.mark.seconds
def test_the_winner_at_a_point_is_that_of_its_region(ask):
    found = ask.get("/compare/regimes/file/json?metric=gradient-norm").text
    regions = json.loads(found)["regions"]
    page = ask.get("/compare/regimes?metric=gradient-norm&at.n=1e6&at.d=100&at.epsilon=1").text
    link = r'<tbody><tr><td><a [^>]*title="([^"]+)">[^<]+</a></td>'
    first = re.search(link + r"<td>(.*?)</td><td>([^<]+)</td><td>1</td>", page)
    here = {"a": 3, "b": 0}  # n = d^a, ε = d^b
    winners = {
        name
        for region in regions
        if all(eval(re.sub(r"(\d)([ab])", r"\1*\2", condition), here) for condition in region["where"])  # noqa: S307
        for name in [region["winner"], *region["ties"]]
    }
    assert first[1] in winners
    assert float(first[3]) == pytest.approx(100 ** (2 / 3) / 1e6, rel=1e-3)
