"""The app in a real Chromium: pages, keys, sliders, stopping, narrow screens; and that nothing leaves the machine."""

import random

import pytest

from tests.app import browsing, monkey

pytest.importorskip("playwright")
pytestmark = [
    pytest.mark.minutes,
    pytest.mark.skipif(browsing.CHROMIUM is None, reason="there is no Chromium here"),
]

EPSILON = "/noise/epsilon?delta=1e-6&noise-multiplier=1&steps=2"


@pytest.fixture(scope="module")
def address():
    with browsing.server() as found:
        yield found


@pytest.fixture(scope="module")
def chromium():
    with browsing.browser() as made:
        yield made


@pytest.fixture
def watched(chromium, address, request):
    made = browsing.Watched(chromium, address, **getattr(request, "param", {}))
    yield made
    wrong = made.wrong
    made.close()
    assert wrong == []


@pytest.mark.parametrize(
    "watched",
    [
        {"viewport": {"width": 400, "height": 800}, "color_scheme": "dark"},
        {"viewport": {"width": 1200, "height": 800}, "color_scheme": "light"},
    ],
    indirect=True,
    ids=["narrow", "wide"],
)
def test_every_page_fits_and_is_labelled(watched):
    from dpbounds.app.server import _address
    from dpbounds.app.views import VIEWS

    assert watched.open("/").evaluate("document.documentElement.scrollWidth <= innerWidth")
    for key in VIEWS:
        page = watched.open(_address(*key))
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), key
        unnamed = page.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden]), select, button, a, progress')].filter("
            "one => !one.labels?.length && !one.ariaLabel && !one.textContent.trim()).map(one => one.outerHTML)"
        )
        assert unnamed == [], key
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.querySelectorAll('[aria-current=page]').length") == 1


def test_keys_alone_are_enough(watched):
    page = watched.open("/noise/epsilon")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.locator("#main:focus").wait_for()
    reached, filled = set(), {"delta": "1e-6", "noise-multiplier": "1", "sample-rate": "0.1", "steps": "2"}
    for _ in range(60):
        page.keyboard.press("Tab")
        here = page.evaluate("document.activeElement.name || document.activeElement.textContent")
        reached.add(here)
        if here in filled:
            page.keyboard.type(filled[here])
        if here == "Answer":
            page.keyboard.press("Enter")
            break
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", here
    watched.settle()
    assert {"sampling", "relation", "More options"} <= reached
    assert page.locator(".headline").inner_text().startswith("epsilon ")
    assert page.locator("#said").inner_text().startswith("epsilon ")
    assert "delta=1e-6&noise-multiplier=1" in page.url
    page.locator(".mark").first.focus()
    assert page.evaluate("getComputedStyle(document.activeElement.querySelector('.tip')).visibility") == "visible"


def test_keys_reach_every_control_of_every_page(watched):
    """And what has the focus shows it; nothing keeps it."""
    from dpbounds.app.server import _address
    from dpbounds.app.views import VIEWS

    can = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
    for key in VIEWS:
        if key == ("library", "statements"):  # hundreds of links alike
            continue
        page = watched.open(_address(*key))
        count = page.evaluate(
            f"""() => {{
                window.waiting = new Set([...document.querySelectorAll("{can}")].filter(one => one.checkVisibility()));
                window.unseen = [];
                addEventListener("focusin", event => {{
                    const one = event.target;
                    window.waiting.delete(one);
                    if (getComputedStyle(one).outlineStyle === "none" && one.id !== "main" && !one.closest("svg"))
                        window.unseen.push(one.outerHTML);
                }});
                return window.waiting.size;
            }}"""
        )
        for _ in range(count + 1):
            page.keyboard.press("Tab")
        assert page.evaluate("[...window.waiting].map(one => one.outerHTML)") == [], key
        assert page.evaluate("window.unseen") == [], key


def test_a_refusal_is_said_and_the_way_back_works(watched):
    page = watched.open(EPSILON)
    page.get_by_label("noise multiplier", exact=True).fill("-1")
    page.get_by_role("button", name="Answer").click()
    watched.settle()
    told = "“noise multiplier” must be greater than 0, not -1"
    assert page.get_by_role("alert").inner_text().removesuffix(" Go to the field") == told
    assert page.locator(".wrong").inner_text() == told
    assert page.evaluate("document.activeElement.name") == "noise-multiplier"
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')").startswith(
        "of-noise-multiplier-wrong"
    )
    page.get_by_label("noise multiplier", exact=True).fill("2")
    page.get_by_role("button", name="Answer").click()
    watched.settle()
    assert page.locator(".wrong, [aria-invalid]").count() == 0
    page.go_back()
    watched.settle()
    page.go_back()
    watched.settle()
    assert page.get_by_role("alert").count() == 0
    assert page.locator(".headline").count() == 1


@pytest.mark.parametrize("watched", [{"viewport": {"width": 400, "height": 800}}], indirect=True)
def test_a_form_follows_the_sampling_scheme(watched):
    """Its fields come and go, values are kept, an error is in view, and the answer comes first on a narrow screen."""
    page = watched.open(EPSILON + "&sample-rate=0.25&sampling=poisson")
    top = "document.querySelector('#answer').getBoundingClientRect().top"
    assert page.evaluate(f"{top} < document.querySelector('#question').getBoundingClientRect().top")
    assert page.evaluate(f"{top} < 400")
    page.get_by_label("sampling", exact=True).select_option("shuffled")
    page.get_by_label("batches", exact=True).wait_for()
    assert page.get_by_label("sample rate", exact=True).count() == 0
    assert page.evaluate("document.activeElement.name") == "sampling"
    assert page.locator("#answer.old").count() == 1
    page.get_by_role("button", name="Answer").click()
    watched.settle()
    place = page.locator(".wrong").bounding_box()
    assert 0 <= place["y"] < 800
    assert "“batches” is missing" in page.locator(".wrong").inner_text()
    page.get_by_label("sampling", exact=True).select_option("poisson")
    page.get_by_label("sample rate", exact=True).wait_for()
    assert page.get_by_label("sample rate", exact=True).input_value() == "0.25"
    page.get_by_role("button", name="Answer").click()
    watched.settle()
    assert page.locator(".headline").is_visible()


def test_a_certificate_that_was_downloaded_is_checked(watched, tmp_path):
    page = watched.open(EPSILON)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Certificate", exact=True).last.click()
    waiting.value.save_as(tmp_path / "certificate.json")
    watched.open("/check/certificate")
    page.get_by_label("or its file").first.set_input_files(tmp_path / "certificate.json")
    page.wait_for_function("document.getElementById('of-file').value !== ''")
    page.get_by_role("button", name="Answer").click()
    page.locator(".headline").wait_for()
    assert page.locator(".headline").inner_text() == "The certificate holds"


def test_a_ledger_is_chosen_and_stands_in_the_address(watched, tmp_path):
    from dpbounds.app.views import VIEWS

    ledger = dict(VIEWS["noise", "remaining"].example)["ledger"]
    (tmp_path / "mine.json").write_text(ledger.replace("1000", "10"), "utf-8")
    page = watched.open("/noise/remaining")
    page.get_by_label("or its file").set_input_files(tmp_path / "mine.json")
    page.get_by_label("target epsilon").fill("4")
    page.get_by_label("target delta").fill("1e-6")
    page.get_by_role("button", name="Answer").click()
    page.locator(".headline").wait_for()
    assert "count%22%3A+10%7D" in page.url
    assert "fits on the full batch" in page.locator("#answer").inner_text()
    told = page.locator(".headline").inner_text()
    watched.open(page.url)  # a link is enough
    assert page.locator(".headline").inner_text() == told
    page.get_by_label("ledger").fill("no ledger")
    page.get_by_role("button", name="Answer").click()
    page.get_by_role("alert").wait_for()
    assert "a ledger that dpbounds wrote" in page.get_by_role("alert").inner_text()


def test_a_choice_asks_again_and_stands_in_the_address(watched):
    page = watched.open(EPSILON)
    before = page.locator(".headline").inner_text()
    page.get_by_label("relation").select_option("replace-one")
    page.wait_for_url("**relation=replace-one**")
    watched.settle()
    after = page.locator(".headline").inner_text()
    assert after != before
    page.reload()
    watched.settle()
    assert page.locator(".headline").inner_text() == after


def test_a_slider_moves_by_keys(watched):
    page = watched.open("/compare/regimes?metric=gradient-norm&at.n=1e6&at.d=100&at.epsilon=1")
    slider = page.get_by_role("slider", name="n, as a power of ten", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**at.n=1.3e6**")
    watched.settle()
    assert page.get_by_label("your n", exact=True).input_value() == "1.3e6"
    assert page.get_by_role("cell", name="1", exact=True).count() >= 1


def test_long_work_is_started_and_stopped(watched):
    page = watched.open("/evidence/audit?name=dp-pgd&enough=0.9999&runs=100000")
    assert page.locator("[data-running]").count() == 0
    page.locator("#question").get_by_role("button", name="Run it").click()
    page.get_by_role("button", name="Stop").click()
    watched.settle()
    assert page.locator("#answer").inner_text().startswith("Stopped.")
    shuffled = "sampling=shuffled&batches=234&epochs=10&relation=replace-one"
    page.goto(f"/noise/calibrate?target-epsilon=1&target-delta=1e-6&{shuffled}")
    page.get_by_text("A better one is being computed").wait_for()
    page.get_by_role("button", name="Stop").click()
    watched.settle()
    assert "Stopped. The answer below is proven" in page.locator("#answer").inner_text()
    assert page.locator(".headline").inner_text().startswith("noise multiplier ")


@pytest.mark.parametrize("watched", [{"java_script_enabled": False}], indirect=True)
def test_it_works_without_scripts(watched):
    page = watched.page
    page.goto(EPSILON)
    page.locator(".headline").wait_for()
    page.locator("#accountants a").click()
    page.get_by_role("cell", name="zcdp", exact=True).wait_for()
    page.get_by_role("link", name="Back to the question").click()
    assert page.locator(".headline").inner_text().startswith("epsilon ")


def test_a_report_is_taken_away(watched):
    page = watched.open(EPSILON)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Report to sign").click()
    assert waiting.value.suggested_filename == "dpbounds-report.html"


def test_a_monkey_finds_nothing(watched):
    assert monkey.play(watched, random.Random(7), 60) == []
