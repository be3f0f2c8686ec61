"""Random actions in the app, always the same for the same seed.

python -m tests.app.monkey --count 5000 --seed 1
"""

import argparse
import random
import sys

from dpbounds.app.server import _address
from dpbounds.app.views import VIEWS
from tests.app import browsing

TEXTS = (
    *("1", "0", "-1", "1e-6", "0.01", "1/3", "2**-20", "1e400", "1e-400", "nan", "abc", "ε", "<b>&\"'", "a b", "1,1/2"),
    *(
        "9" * 300,
        "theirs.py",
        "--json",
        "n=1 d=",
        "'",
        "\\",
        "%",
        "10",
        "100",
        "gradient-norm",
        "wang-xu-2019",
        "*",
        "🙂",
    ),
    *(
        text
        for _, text in VIEWS["noise", "remaining"].example[:1]
        for text in (text, text[:-1], text.replace("1000", "9"))
    ),
)
KEYS = ("Tab", "Enter", "Escape", "ArrowRight", "ArrowDown", "Shift+Tab", "Space", "Home")
_REACHABLE = "a[href]:visible, button:visible, input:visible, select:visible, summary:visible, .mark:visible"


def play(watched, draw, count):
    """Act so often; return what went wrong, with the number of the action."""
    page, wrong, told = watched.page, [], 0
    for number in range(count):
        did = "began"
        try:
            did = _act(page, draw, start=number % 100 == 0)
        except Exception as error:  # an element that has gone since it was found
            gone = ("detached", "not attached", "context was destroyed", "Cannot find context")
            if "Timeout" not in type(error).__name__ and not any(words in str(error) for words in gone):
                wrong.append(f"{number} {did}: {type(error).__name__}: {error}")
        try:
            page.locator("main").wait_for(
                state="attached", timeout=120_000
            )  # where a page is being left, on a busy machine
        except Exception:
            wrong.append(f"{number} {did}: no page at {page.url}")
            page.goto("/")
        wrong += [f"{number} {did}: {one}" for one in watched.wrong]
        watched.wrong.clear()
        if len(wrong) > told:
            print(*wrong[told:], sep="\n", file=sys.stderr, flush=True)
            told = len(wrong)
        if number % 500 == 499:
            print(number + 1, len(wrong), page.url, file=sys.stderr, flush=True)
    return wrong


def _act(page, draw, *, start):
    what = draw.random()
    if start or what < 0.05:
        key = draw.choice(list(VIEWS))
        page.goto(_address(*key))
        return f"opened {key}"
    if what < 0.1:
        key = draw.choice(KEYS)
        page.keyboard.press(key)
        return f"pressed {key}"
    if what < 0.13:
        page.go_back()
        return "went back"
    stop = page.get_by_role("button", name="Stop")
    if stop.count() and draw.random() < 0.5:
        stop.first.click(timeout=2000)
        return "stopped"
    found = page.locator(_REACHABLE)
    if not found.count():
        return "found nothing"
    one = found.nth(draw.randrange(found.count())).element_handle(timeout=2000)  # this one, whatever follows it there
    kind = one.evaluate("one => one.type || one.tagName.toLowerCase()")
    if kind == "select-one":
        choices = one.evaluate("one => [...one.options].map(each => each.value)")
        one.select_option(draw.choice(choices), timeout=2000)
    elif kind == "file":
        file = {"name": "ledger.json", "mimeType": "application/json", "buffer": draw.choice(TEXTS).encode()}
        one.set_input_files([file], timeout=2000)
    elif kind in ("text", "textarea", "range"):
        if kind == "range":
            one.press(draw.choice(("ArrowLeft", "ArrowRight", "PageUp", "End")), timeout=2000)
        else:
            one.fill(draw.choice(TEXTS), timeout=2000)
            if draw.random() < 0.5:
                one.press("Enter", timeout=2000)
    else:
        one.click(timeout=2000)
    page.wait_for_timeout(20)
    return f"used {kind} at {page.url}"


def main():
    """From the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with browsing.server() as address, browsing.browser() as made:
        watched = browsing.Watched(made, address)
        wrong = play(watched, random.Random(given.seed), given.count)
    print(*wrong, f"{given.count} actions, {len(wrong)} wrong", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
