"""The server: pages and answers, for this machine only.

It listens on the loopback interface, answers to that interface's names only (a foreign page whose name is made to point
here is refused), contacts no other host, and lets a browser load nothing from elsewhere. A link shows a question, and
its answer if that is quick; long work is started and stopped by a form of our own page.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpbounds import __version__
from dpbounds.app import charts, formulas, printed
from dpbounds.app.controls import VALUE, Pairs, controls, documents, typed, words
from dpbounds.app.expected import expected
from dpbounds.app.faults import Fault, fault, in_words
from dpbounds.app.jobs import Answer, Job, Jobs
from dpbounds.app.layout import CHOOSERS, layout, scheme_in_use
from dpbounds.app.results import RESULTS, markdown, parts, picture
from dpbounds.app.tables import TABLES
from dpbounds.app.views import PAGES, VIEWS, View, files, views_of
from dpbounds.cli.questions.training import options_without_use
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact
from dpbounds.theorems.references import cited_as, without_versions

HOSTS = ("127.0.0.1", "localhost")
_HOME = Path(__file__).parent
_SHORT, _LONG = 1.0, 240.0  # seconds that a page, and that a download, waits before it says so
_LARGEST_BODY = 100_000
_LONGEST_ADDRESS = 50_000  # the server reads 65 536 bytes of an address and its headers
_TIME_LIMIT, _FIRST_ANSWER = "time-limit", "2"  # seconds of the first answer
_STOPPED = "the time limit ended the search"  # the note on an answer that may improve
_BY_ITSELF, _BY_ITSELF_SECONDS = "by-itself", 8  # a part that a page loads by itself is given up after this time
_NOTHING_CHOSEN = "Nothing was chosen: fill in the form."
_IN_DOUBLES = 700.0  # logarithms of what a double holds
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_OF_A_REPORT = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_ASKED = (
    *("target-epsilon", "target-delta", "target-advantage", "target-tpr", "at-fpr", "target-mu", "least-rate"),
    *("solve", "error", "explain", "time-limit"),
)  # options of a calibration that a run does not have
_PARTS = {"epsilon": ("details", "accountants"), "delta": ("details", "accountants"), "attacker": ("rates",)}
_RATES = "0.0001,0.001,0.01,0.1,0.5"  # false positive rates of a curve
_SECTIONS = ("Who is protected, from whom?", "What could the best attacker do?", "What is not covered?")


class _Guard:
    """Headers for every answer; requests from other sites are refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                added = [
                    (name.encode(), value.encode()) for name, value in _HEADERS.items() if name.encode() not in known
                ]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        if not _from_here(scope["method"], sent):
            await PlainTextResponse("refused: this was sent by a page of another site", 403)(
                scope, receive, with_headers
            )
        else:
            await self._app(scope, receive, with_headers)


def _from_here(method: str, sent: Mapping[str, str]) -> bool:
    """Return whether a person or a page of ours asks; a link that a person follows may come from anywhere."""
    ours = sent.get("sec-fetch-site", "none") in ("none", "same-origin")
    if method in ("GET", "HEAD"):
        return ours or sent.get("sec-fetch-mode") == "navigate"
    return ours and sent.get("origin") in (None, f"http://{sent.get('host')}")


class App:
    """The pages over a set of jobs."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._templates = Environment(
            loader=FileSystemLoader(_HOME / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"powers": formulas.powers, "cited": cited_as}

    def routes(self) -> list[Route | Mount]:
        """Every address."""
        return [
            Route("/", self.start),
            Mount("/static", StaticFiles(directory=_HOME / "static")),
            Route("/jobs/{name}", self.job, methods=["POST"]),
            Route("/evidence/results/figures/{name}", self.picture),
            Route("/evidence/results/{name}", self.results),
            Route("/{page}", self.page),
            Route("/{page}/{view}", self.view, methods=["GET", "POST"]),
            Route("/{page}/{view}/file/{kind}", self.file),
            Route("/{page}/{view}/{part}", self.part),
        ]

    async def start(self, request: Request) -> Response:
        """The first page: the questions that can be asked."""
        return self._page("start.html", status=200)

    async def page(self, request: Request) -> Response:
        """The first question of a page."""
        page = request.path_params["page"]
        found = views_of(page)
        if not found:
            return self._nothing()
        return RedirectResponse(_address(page, next(iter(found))), 303)

    async def view(self, request: Request) -> Response:
        """A question with its answer; POST begins what takes long."""
        key = request.path_params["page"], request.path_params["view"]
        view = VIEWS.get(key)
        if view is None:
            return self._nothing()
        if request.method != "POST":
            return await self._answered(key, view, _pairs(request), request.url.path)
        body = await _body(request)
        if body is None:
            return self._too_large()
        pairs = [pair for pair in parse_qsl(body) if pair[1].strip()]
        address = f"/{'/'.join(key)}?{urlencode(pairs)}"
        if len(address) > _LONGEST_ADDRESS:
            return self._too_large()
        with contextlib.suppress(InvalidValue):  # the page that follows says what is wrong
            question = _question(view, pairs)
            if question is None:
                return await self._answered(key, view, pairs, request.url.path, nothing_chosen=True)
            self._jobs.begin(self._jobs.of(*question), kept=True)
        return RedirectResponse(address, 303)

    async def _answered(
        self,
        key: tuple[str, str],
        view: View,
        pairs: Pairs,
        path: str,
        *,
        nothing_chosen: bool = False,
        form_only: bool = False,
    ) -> Response:
        given = dict(pairs)
        form = layout(view, given or (dict(view.example) if view.opens_filled else {}))
        shown: dict[str, Any] = {
            "key": key,
            "view": view,
            "given": form.values,
            "form": form,
            "choosers": CHOOSERS,
            "here": f"{path}?{urlencode(pairs)}",
            "fault": Fault("", _NOTHING_CHOSEN) if nothing_chosen else None,
            "job": None,
            "answer": None,
            "first_answer": None,
            "statement": None,
            "wrong_value": None,
            "takes": expected(view, form.values),
        }
        try:
            question = None if form_only else _question(view, pairs)
            if question is not None:
                job = self._jobs.of(*question)
                shown["command"] = typed(words(view.verb, _without_values(view, _own(view, pairs))))
                if not view.long and job.state != "stopped":
                    self._jobs.begin(job)
                if job.state != "new":
                    await self._jobs.wait(job, _SHORT)
                shown["job"] = job
                if job.answer is not None and job.state == "done":
                    shown |= await self._shown(view, job, pairs)
                elif job.state in ("running", "stopped"):
                    shown["first_answer"] = await self._first(view, pairs, job)
        except InvalidValue as error:
            shown["fault"] = fault(view.verb, str(error), pairs, form.gone)
        return self._page("view.html", **shown, status=422 if shown["fault"] else 200)

    async def _first(self, view: View, pairs: Pairs, better: Job) -> printed.Printed | None:
        """Return a proven answer that is found within seconds, while a better one is computed; None before it is."""
        if _TIME_LIMIT not in {one.name for one in controls(view.verb)} or _TIME_LIMIT in dict(pairs) or view.as_json:
            return None
        question = _question(view, [*pairs, (_TIME_LIMIT, _FIRST_ANSWER)])
        assert question is not None
        argv, _, given_documents = question
        job = self._jobs.of(argv, documents=given_documents)
        if better.state == "running":
            self._jobs.begin(job)
            await self._jobs.wait(job, 0)
        if job.answer is None or job.answer.status != 0:
            return None
        told = printed.read(view.verb, job.answer)
        return replace(told, notes=tuple(note for note in told.notes if _STOPPED not in note))

    async def _shown(self, view: View, job: Job, pairs: Pairs) -> dict[str, Any]:
        """Return the text of the page about an answer."""
        assert job.answer is not None
        answer = job.answer
        out = "" if view.as_json and answer.status not in (0, 1) else answer.out  # (1: it does not hold)
        told = printed.read(view.verb, answer, as_json=view.as_json)
        found: dict[str, Any] = {"answer": told, "tables": (), "html": "", "code": {}, "files": {}, "parts": {}}
        found |= {"verdict": None, "cheaper": None, "attacker": ""}
        if told.error and answer.status != 0 and not told.rows and not told.text and not out:
            given = dict(pairs)
            return {**found, "fault": fault(view.verb, told.message, pairs, layout(view, given).gone)}
        if view.as_json and out:
            document = json.loads(out)
            found["tables"] = TABLES[view.verb](document)
            if view.verb == "check":
                verdict = str(document["verdict"])
                found["verdict"] = {"holds": document["holds"], "text": verdict[:1].upper() + verdict[1:]}
            elif view.verb == "audit" and "design" in document and document["claim"] is not None:
                refuted = document["claim_refuted"]
                found["verdict"] = {"holds": not refuted, "text": f"The claim is {'' if refuted else 'not '}refuted"}
        elif view.verb == "show" or (view.verb == "table" and dict(pairs).get("format", "md") == "md"):
            found["html"] = formulas.page(out)
        found["files"] = {kind: words for kind, (*_, words) in files(view.verb).items()}
        if view.long:
            found["files"] = {
                kind: words
                for kind, words in found["files"].items()
                if (answer.folder / (files(view.verb)[kind][1] or "none")).exists()
            }
        if view.extra in ("code", "attacker"):
            found["code"] = answer.extra or {}
            found["cheaper"] = _cheaper(view, told, dict(pairs))
        if view.verb == "attacker":
            found["parts"] = {"rates": f"/noise/attacker/rates?{urlencode(pairs)}"}
        elif view.extra == "code" and view.verb != "remaining":
            found["attacker"] = _attacker(view, pairs, told)
            if (spent := _spending(view, pairs, told)) is not None:
                found["parts"] = {
                    name: f"/noise/{spent[0]}/{name}?{urlencode(spent[1])}" for name in ("details", "accountants")
                }
        elif view.extra == "regimes" and answer.extra:
            found |= _map(answer.extra, dict(pairs))
        elif view.extra == "statement" and answer.extra:
            found["statement"] = answer.extra
            found |= await self._evaluated(dict(pairs))
        return found

    async def _evaluated(self, given: Mapping[str, str]) -> dict[str, Any]:
        """A part of a statement at the values that were filled in."""
        pairs = [(name, text) for name, text in given.items() if name.startswith(VALUE) and text.strip()]
        pairs += [(name, given[name]) for name in ("name", "part", "digits") if given.get(name)]
        if not any(name.startswith(VALUE) for name, _ in pairs):
            return {"evaluated": None}
        argv = words("evaluate", pairs)
        job = self._jobs.of(argv)
        self._jobs.begin(job)
        await self._jobs.wait(job, _LONG)
        if job.answer is None:
            return {"evaluated": None}
        told = printed.read("evaluate", job.answer)
        wrong = fault("evaluate", told.message, pairs) if told.error else None
        return {"evaluated": told, "evaluated_command": typed(argv), "wrong_value": wrong}

    async def results(self, request: Request) -> Response:
        """A page of what was found when everything was run."""
        name = request.path_params["name"]
        if name not in RESULTS:
            return self._nothing()
        text = markdown(name)
        heading, _, rest = (text or "").partition("\n")
        return self._page(
            "results.html",
            status=200 if text else 404,
            key=("evidence", "results"),
            part=name,
            results=RESULTS,
            title=heading.removeprefix("# ") or RESULTS[name].title,
            parts=[(one.title, formulas.page(one.text)) for one in parts(rest)] if text else (),
            again="The other questions of this page run it again.",
        )

    async def picture(self, request: Request) -> Response:
        """A picture of such a page."""
        found = picture(request.path_params["name"])
        return self._nothing() if found is None else FileResponse(found)

    async def part(self, request: Request) -> Response:
        """A part of a page that is asked for by itself: its form, the curve, error rates, or other accountants."""
        key, name = (request.path_params["page"], request.path_params["view"]), request.path_params["part"]
        view = VIEWS.get(key)
        if view is not None and name == "form":
            return await self._answered(key, view, _pairs(request), request.url.path, form_only=True)
        if view is None or name not in _PARTS.get(view.verb, ()):
            return self._nothing()
        asked = _pairs(request)
        pairs = [pair for pair in asked if pair[0] != _BY_ITSELF]
        shown: dict[str, Any] = {
            "part": name,
            "job": None,
            "too_long": "",
            "refused": "",
            "here": f"{request.url.path}?{urlencode(asked)}",
            "back": f"/{'/'.join(key)}?{urlencode(pairs)}",
        }
        try:
            job = self._jobs.of(_argv_of_part(view, name, pairs))
            self._jobs.begin(job)
            await self._jobs.wait(job, _SHORT)
            shown["job"] = job
            if len(asked) > len(pairs) and job.state == "running" and job.seconds >= _BY_ITSELF_SECONDS:
                self._jobs.stop(job)
                shown["too_long"] = f"{request.url.path}?{urlencode(pairs)}"
            if job.answer is not None:
                shown["refused"] = printed.read(view.verb, job.answer, as_json=name == "rates").error
                if not shown["refused"]:
                    shown |= _of_part(name, job.answer)
        except InvalidValue as error:
            shown["refused"] = in_words(view.verb, str(error))
        return self._page("part.html", **shown, status=422 if shown["refused"] else 200)

    async def file(self, request: Request) -> Response:
        """Something to take away."""
        view = VIEWS.get((request.path_params["page"], request.path_params["view"]))
        kind = request.path_params["kind"]
        if view is None or kind not in files(view.verb):
            return self._nothing()
        option, name, _ = files(view.verb)[kind]
        try:
            own = _own(view, _pairs(request))
            question = _question(view, own)
            if question is None:
                return self._page("message.html", title="Refused", text=_NOTHING_CHOSEN, status=422)
            if view.long:
                job = self._jobs.of(*question)  # made already, or not at all
            else:
                argv = [*words(view.verb, own), *filter(None, (option, name))]
                job = self._jobs.of(argv, documents=documents(view.verb, own))
                self._jobs.begin(job)
            if job.state != "new":
                await self._jobs.wait(job, _LONG)
        except InvalidValue as error:
            text = in_words(view.verb, str(error))
            return self._page("message.html", title="Refused", text=text, status=422)
        if job.answer is None:
            return self._page("message.html", title="Not there yet", text="It is not finished: try again.", status=503)
        if not name and job.answer.status in (0, 1):
            text = job.answer.out.partition("\n\n")[2] if kind == "statement" else job.answer.out
            ending = "json" if kind == "json" else "txt"
            return PlainTextResponse(text, headers=_attached(f"dpbounds-{kind}.{ending}"))
        if name and (job.answer.folder / name).exists():
            headers = _attached(f"dpbounds-{name}")
            if kind == "report":
                headers["content-security-policy"] = _OF_A_REPORT
            return FileResponse(job.answer.folder / name, headers=headers)
        text = printed.read(view.verb, job.answer).error
        return self._page("message.html", title="Refused", text=text, status=422)

    async def job(self, request: Request) -> Response:
        """Stop a job, or begin it again."""
        body = await _body(request)
        if body is None:
            return self._too_large()
        sent = dict(parse_qsl(body))
        job = self._jobs.get(request.path_params["name"])
        if job is not None:
            if sent.get("action") == "stop":
                self._jobs.stop(job)
            else:
                self._jobs.begin(job, kept=job.kept)
        back = sent.get("back", "/")
        return RedirectResponse(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/", 303)

    def _too_large(self) -> Response:
        text = (
            f"A form has at most {_LARGEST_BODY} bytes, and its answer an address of at most {_LONGEST_ADDRESS}. "
            "This form has more, and nothing was run: shorten it."
        )
        return self._page("message.html", title="Too large", text=text, status=413)

    def _nothing(self) -> Response:
        return self._page("message.html", title="Not found", text="There is no such page.", status=404)

    def _page(self, template: str, *, status: int, **shown: Any) -> HTMLResponse:
        text = self._templates.get_template(template).render(
            **{
                "version": __version__,
                "pages": PAGES,
                "views_of": views_of,
                "views": VIEWS,
                "address": _address,
                "key": ("", ""),
                **shown,
            }
        )
        return HTMLResponse(text, status)


def _pairs(request: Request) -> Pairs:
    return [(name, text) for name, text in request.query_params.multi_items() if text.strip()]


async def _body(request: Request) -> str | None:
    """Return the body of a request; None where it is too large to read."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_BODY:
            return None
    return body.decode("utf-8", "replace")


def _address(page: str, view: str) -> str:
    """Return the address of a new page: with its example, unless that waits for a button."""
    found = VIEWS[page, view]
    example = "" if found.opens_filled else urlencode(found.example)
    return f"/{page}/{view}" + (f"?{example}" if example else "")


def _needs_something(view: View) -> bool:
    return any(one.required for one in controls(view.verb)) or view.verb in ("calibrate", "attacker", "verify", "audit")


def _without_values(view: View, pairs: Pairs) -> Pairs:
    """A statement is shown by its name; its part, digits and values are for `evaluate`."""
    return [pair for pair in pairs if pair[0] == "name"] if view.verb == "show" else pairs


def _own(view: View, pairs: Pairs) -> Pairs:
    """Return the fields that are options of the verb."""
    return [(name, text) for name, text in pairs if name not in view.places]


def _question(view: View, pairs: Pairs) -> tuple[Sequence[str], str, tuple[tuple[str, str], ...]] | None:
    """Return the words to run with the page's own additions, the parts of the answer, and their files.

    None where nothing was filled in and the verb needs something: then nothing is run, by whatever request.
    """
    own = _own(view, pairs)
    if not own and _needs_something(view):
        return None
    argv = words(view.verb, _without_values(view, own))
    if view.as_json:
        argv.insert(1, "--json")
    if view.verb == "show":
        argv.insert(1, "--markdown")
    if view.long:  # it runs once: what is shown or taken away is made at once
        for kind in ("report", "picture"):
            option, name, _ = files(view.verb).get(kind, ("", "", ""))
            argv[1:1] = [option, name] if name else []
    return argv, view.extra, documents(view.verb, own)


def _solved(view: View, pairs: Pairs, told: printed.Printed) -> Pairs:
    """Return the options of the training run of an answer, with the value that a calibration found."""
    if view.verb != "calibrate":
        return pairs
    name, value, _ = told.rows[0]
    return [(name.replace(" ", "-"), value), *((key, text) for key, text in pairs if key not in _ASKED)]


def _spending(view: View, pairs: Pairs, told: printed.Printed) -> tuple[str, Pairs] | None:
    """Return the verb and the options that account for the result; None where the question has no δ."""
    given = dict(pairs)
    if view.verb in ("epsilon", "delta"):
        return view.verb, pairs
    if view.verb != "calibrate" or "target-tpr" in given or "target-mu" in given:
        return None
    if "target-advantage" in given:
        return "delta", [("epsilon", "0"), *_solved(view, pairs, told)]
    return "epsilon", [("delta", given["target-delta"]), *_solved(view, pairs, told)]


def _attacker(view: View, pairs: Pairs, told: printed.Printed) -> str:
    """Return the address of the error rates of an attacker for the training run of an answer."""
    known = {one.name for one in controls("attacker")}
    return f"/noise/attacker?{urlencode([pair for pair in _solved(view, pairs, told) if pair[0] in known])}"


def _cheaper(view: View, told: printed.Printed, given: Mapping[str, str]) -> dict[str, str] | None:
    """Return the advice to draw Poisson samples, with the address of that question, where an answer has one."""
    if told.cheaper is None:
        return None
    words, options, line = told.cheaper
    changed = dict(zip(options[::2], options[1::2], strict=True))
    without = options_without_use(scheme_in_use(changed)) | {"batch-size", "dataset-size"}
    kept = {name: text for name, text in given.items() if name not in without}
    page = next("/".join(key) for key, one in VIEWS.items() if one is view)
    return {"text": words, "href": f"/{page}?{urlencode({**kept, **changed})}", "line": line}


def _argv_of_part(view: View, name: str, pairs: Pairs) -> list[str]:
    if name == "rates":
        asked = [pair for pair in pairs if pair[0] not in ("false-positive-rate", "prior", "baseline")]
        return [*words(view.verb, asked), "--false-positive-rate", _RATES, "--json"]
    if name == "accountants":
        return [*words(view.verb, pairs), "--method", "all"]
    files_of_it = ("--curve", "curve.json", "--trade-off", "trade-off.json", "--report", "report.html")
    return [*words(view.verb, pairs), *files_of_it]


def _of_part(name: str, answer: Answer) -> dict[str, Any]:
    if name == "accountants":
        return {"rows": answer.table}
    if name == "rates":
        rates = json.loads(answer.out, parse_float=str)["rates"]
        return {"rates": charts.rates(rates), "numbers": charts.rates_in_rows(rates)}
    return _details(answer.folder)


def _details(folder: Path) -> dict[str, Any]:
    from markupsafe import Markup

    from dpbounds.render.report import sections

    columns = {  # decimals as written, rounded to the safe side
        name: json.loads((folder / f"{name}.json").read_text("utf-8"), parse_float=str)
        for name in ("curve", "trade-off")
    }
    found = sections((folder / "report.html").read_text("utf-8"))
    rows = list(zip(*columns["curve"].values(), strict=True))
    return {
        "curve": charts.curve(columns["curve"]),
        "numbers": rows,
        "trade_off": charts.trade_off(columns["trade-off"]),
        "sections": {name: Markup(in_words("epsilon", found[name])) for name in _SECTIONS},  # noqa: S704 (escaped)
    }


def _map(extra: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the map with the reader's position, and the value of each order of growth there."""
    place = [_positive(given[f"at.{name}"], name) for name in ("n", "d", "epsilon") if given.get(f"at.{name}")]
    legend = [
        (letter, tint, value, [_named(name) for name in without_versions(best)])
        for letter, tint, value, best in charts.lettered(extra["regions"])
    ]
    shown: dict[str, Any] = {"legend": legend, "orders": ()}
    point = log_d = None
    if len(place) == 3:
        # numbers of any size
        n, d, epsilon = (math.log(value.numerator) - math.log(value.denominator) for value in place)
        if n < 0 or d <= 0 or epsilon > 0:
            raise InvalidValue("at", ", ".join(map(str, place)), "n at least 1, d above 1 and ε at most 1, for a map")
        point, log_d = (n / d, -epsilon / d), d
        here = [Fraction(value) for value in (n, d, epsilon)]
        inside = [
            (sum(power * float(x) for power, x in zip(one["powers"], here, strict=True)), one)
            for one in extra["orders"]
            if all(sum(entry * x for entry, x in zip(facet, here, strict=True)) >= 0 for facet in one["facets"])
        ]
        once = {one["id"]: (value, one) for value, one in sorted(inside, key=lambda pair: -pair[0])}
        ranked = sorted(once.values(), key=lambda pair: (pair[0], pair[1]["id"]))
        shown["orders"] = [
            {
                **_named(one["id"]),
                "order": one["value"],
                "value": _exponential(value),
                "status": one["status"],
                "ratio": _exponential(value - ranked[0][0]),
            }
            for value, one in ranked
        ]
    return {**shown, "map": charts.regime_map(extra["regions"], point, log_d)}


def _named(name: str) -> dict[str, str]:
    """Return a statement's name in a text, with the address of its page; "" for other text."""
    (text,) = charts.named([name])
    href = formulas.address(name).replace("&amp;", "&") if "/" in name else ""
    return {"id": name, "text": text, "href": href}


def _exponential(exponent: float) -> str:
    """Four digits of e^x, also where no double holds it.

    >>> _exponential(0.0), _exponential(-2000.0)
    ('1', '2.577e-869')
    """
    if abs(exponent) < _IN_DOUBLES:
        return f"{math.exp(exponent):.4g}"
    return f"{Decimal(exponent).exp():.4g}"


def _positive(text: str, name: str) -> Fraction:
    value = exact(text, name)
    if value <= 0:
        raise InvalidValue(name, text, "greater than 0")
    return value


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def application(jobs: Jobs) -> Starlette:
    """Return the app; ``jobs`` are closed with it."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        ticking = asyncio.create_task(_tick(jobs))
        try:
            yield
        finally:
            ticking.cancel()
            jobs.close()

    guards = [Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False), Middleware(_Guard)]
    return Starlette(routes=App(jobs).routes(), middleware=guards, lifespan=lifespan)


async def _tick(jobs: Jobs) -> None:
    """Cancel abandoned questions every second, whether or not requests come."""
    while True:
        await asyncio.sleep(1)
        jobs.look()
