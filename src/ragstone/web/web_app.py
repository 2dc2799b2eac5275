"""App: which page is at which address, and what is answered when there is none."""

import logging
from collections.abc import Callable, Mapping
from mimetypes import guess_type

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from ragstone.core.errors import (
    DamagedRun,
    InputError,
    RagstoneError,
    RunConflict,
    StoreAway,
    UnknownName,
)

from .auth import LEAVE, SEATS, Refusal, away
from .monitor_pages import alarms_and_drift as monitor_alarm
from .monitor_pages import alarms_and_drift as monitor_drift
from .monitor_pages import answer as monitor_example
from .monitor_pages import answer_list as monitor_annotate
from .monitor_pages import answer_list as monitor_examples
from .monitor_pages import answer_list as monitor_log
from .monitor_pages import answer_list as monitor_session
from .monitor_pages import overview_page as monitor
from .monitor_pages import rules_page as monitor_rules
from .page_request import Asked, Elsewhere, NotThere, WebFile, WebPage, fields_of, queue_path
from .pages import adjudicate_page as adjudicate
from .pages import annotate_page as annotate
from .pages import annotate_page as links
from .pages import annotate_page as queue_said
from .pages import annotate_page as queues
from .pages import compare_view as compare
from .pages import correction_form
from .pages import example_view as example
from .pages import examples_view as examples
from .pages import judge_view as judge
from .pages import new_queue_page as new_queue
from .pages import queue_page as failure_tags
from .pages import queue_page as queue_progress
from .pages import run_view as report
from .pages import run_view as run
from .pages import runs_view as runs
from .pages import suite_view as suite
from .runs_folder import RunsFolder
from .security import Access, SecurityHeaders
from .templating import asset, asset_path, assets, render

Answer = WebPage | WebFile | Elsewhere
Reading = Callable[[RunsFolder, Asked], Answer]
Writing = Callable[[RunsFolder, Asked, Mapping[str, str]], Answer]

READ: Mapping[str, Reading] = {
    new_queue.NEW: new_queue.new_queue_page,
    "/a/{token}": links.come,
    "/annotate/{queue}/{item:int}": annotate.item_page,
    "/annotate/{queue}": annotate.next_page,
    "/annotate/{queue}/progress": queue_progress.progress_page,
    "/annotate/{queue}/said": queue_said.said_page,
    "/annotate": queues.queues_page,
    "/annotate/{queue}/adjudicate/{item:int}": adjudicate.item_page,
    "/annotate/{queue}/adjudicate": adjudicate.list_page,
    "/annotate/{queue}/tags": failure_tags.tags_page,
    "/compare": compare.compare_page,
    "/": runs.runs_page,
    "/monitor": monitor.monitor_page,
    "/monitor/alarms/{number}": monitor_alarm.alarm_page,
    "/monitor/drift": monitor_drift.drift_page,
    "/monitor/examples": monitor_examples.examples_page,
    "/monitor/examples/{id:text}": monitor_example.example_page,
    "/monitor/log": monitor_log.log_page,
    "/monitor/malformed": monitor_log.malformed_page,
    "/monitor/rules": monitor_rules.rules_page,
    "/monitor/sessions/{session:text}": monitor_session.session_page,
    "/runs/{run}/judge": judge.judge_page,
    "/runs/{run}/people": judge.people_page,
    "/runs/{run}/report.html": report.report_page,
    "/runs/{run}/examples/{id:text}": example.example_page,
    "/runs/{run}/suites/{suite}": suite.suite_page,
    "/runs/{run}": run.run_page,
}
"""The page at each address; the most particular first."""

WRITE: Mapping[str, Writing] = {
    new_queue.NEW: new_queue.make,
    LEAVE: links.leave,
    "/monitor/annotate": monitor_annotate.send,
    "/monitor/rules": monitor_rules.change,
    "/annotate/{queue}/{item:int}": annotate.act,
    "/annotate/{queue}": annotate.act,
    "/annotate/{queue}/progress": queue_progress.change,
    "/annotate/{queue}/adjudicate/{item:int}": adjudicate.decide,
    "/annotate/{queue}/adjudicate": adjudicate.decide,
    "/annotate/{queue}/tags": failure_tags.failure_tags_change,
    "/": runs.change,
    "/runs/{run}/examples/{id:text}": correction_form.correct,
    "/runs/{run}": examples.change,
}
"""What a form at each address does."""


class AnyText(PathConvertor):
    """The rest of a path; unlike Starlette's own, with line breaks, which an id may have."""

    regex = r"[\s\S]*"


register_url_convertor("text", AnyText())

LOG = logging.getLogger(__name__)

A_YEAR = "public, max-age=31536000, immutable"
ONE_DAY = 86_400


def make_app(place: RunsFolder, access: Access) -> ASGIApp:
    """The app over the runs of a place."""

    def reading(page: Reading) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            return _answer(place, access, request, lambda asked: page(place, asked))

        return answer

    def writing(action: Writing) -> Callable[[Request], object]:
        async def answer(request: Request) -> Response:
            async with request.form() as form:
                fields = {key: value for key, value in form.items() if isinstance(value, str)}
            return await run_in_threadpool(
                _answer, place, access, request, lambda asked: action(place, asked, fields)
            )

        return answer

    routes = [Route("/static/{name:path}", _static)]
    routes += [Route(path, writing(one), methods=["POST"]) for path, one in WRITE.items()]
    routes += [Route(path, reading(one)) for path, one in READ.items()]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(GZipMiddleware, minimum_size=1000)],
        exception_handlers={
            404: lambda request, _: _nothing(place, access, request),
            405: lambda request, _: _nothing(place, access, request),
        },
    )

    def closed(scope: Scope, why: Refusal) -> Response:
        return _closed(place, access, Asked.of(Request(scope)), why)

    return SecurityHeaders(app, access, place.person, closed)


def _answer(
    place: RunsFolder,
    access: Access,
    request: Request,
    page: Callable[[Asked], Answer],
) -> Response:
    asked = Asked.of(request, access.address(request.url))
    found: Answer
    try:
        # What a form does may ask a model, for which no page should wait.
        # Nor does who labels wait for the owner's pages.
        alone = request.method == "GET" and asked.person is None
        with place.calm.in_turn() if alone else place.calm.busy():
            fields_of(request.url.query)
            found = page(asked)
            answer = _answered(place, access, asked, found)
    except RagstoneError as error:
        if isinstance(error, StoreAway) and not asked.owner:
            return _closed(place, access, asked, away(error))
        found = _refused(error)
        answer = _answered(place, access, asked, found)
    except Exception as error:
        LOG.exception("%s %s", request.method, _logged(asked.path))
        found = _broken(error)
        answer = _answered(place, access, asked, found)
    for name, (value, path) in found.cookies.items():
        kept = ONE_DAY * 365 if value else 0
        answer.set_cookie(name, value, max_age=kept, path=path, httponly=True, samesite="strict")
    return answer


def _answered(place: RunsFolder, access: Access, asked: Asked, page: Answer) -> Response:
    if isinstance(page, Elsewhere):
        return RedirectResponse(page.path, 303)
    if isinstance(page, WebFile):
        return Response(page.content, 200, {"cache-control": "no-store", **page.headers}, page.kind)
    common = {
        "asked": asked,
        "title": page.title,
        "here": page.here,
        "place": place,
        "secret": access.secret,
        "queue_path": queue_path,
        "theme": {"light": "light", "dark": "dark"}.get(asked.cookies.get("theme", "")),
        "alone": False,
    }
    headers = {"cache-control": "no-store"} | ({"etag": page.tag} if page.tag else {})
    return HTMLResponse(render(page.template, {**common, **page.shows}), page.status, headers)


def _refused(error: RagstoneError) -> WebPage:
    title = "Not found" if _status_of(error) == 404 else "This cannot be shown"
    lines = error.text.splitlines() or [title]
    return WebPage("refused.html", title, {"lines": lines}, status=_status_of(error))


def _broken(error: Exception) -> WebPage:
    lines = [
        "This is a mistake of Ragstone's, not yours. The other pages work on.",
        f"{type(error).__name__}; the terminal in which ragstone view runs says where.",
    ]
    return WebPage("refused.html", "This page failed", {"lines": lines}, status=500)


def _closed(place: RunsFolder, access: Access, asked: Asked, why: Refusal) -> Response:
    """The page for somebody who is not let in."""
    page = WebPage("closed.html", why.title, {"why": why, "leave": LEAVE}, status=why.status)
    answer = _answered(place, access, asked, page)
    answer.headers.update(why.headers)
    return answer


def _logged(path: str) -> str:
    """A path without a token."""
    return f"{SEATS}…" if path.startswith(SEATS) else path


def _status_of(error: RagstoneError) -> int:
    match error:
        case NotThere() | UnknownName():
            return 404
        case RunConflict():
            return 409
        case DamagedRun():
            return 500
        case StoreAway():
            # So that a browser keeps what is said, and sends it again.
            return 503
        case InputError():
            return 400
    return 500


def _nothing(place: RunsFolder, access: Access, request: Request) -> Response:
    def refuse(_: Asked) -> WebPage:
        raise NotThere("There is no such page.")

    return _answer(place, access, request, refuse)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in assets():
        return Response("There is no such file.\n", 404)
    kind = "font/woff2" if name.endswith(".woff2") else guess_type(name)[0] or "text/plain"
    versioned = asset_path(name).endswith(f"?{request.url.query}")
    return Response(asset(name), 200, {"cache-control": A_YEAR if versioned else "no-cache"}, kind)
