"""Web app: which page is at which address, and what is answered when there is none."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
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

from .auth import LEAVE, PERSON, READING, SEATS, Refusal, away, from_own_page, with_port
from .monitor_pages import alarms_and_drift, answer_list, answer_page, overview_page, rules_page
from .page_request import (
    THEME,
    Asked,
    Elsewhere,
    NotThere,
    WebPage,
    fields_of,
    queue_path,
    run_path,
)
from .pages import (
    adjudicate_page,
    annotate_page,
    compare_view,
    example_view,
    examples_view,
    judge_view,
    new_queue_page,
    queue_page,
    run_view,
    runs_view,
    suite_view,
)
from .parts.answers import monitor_path
from .parts.choices_and_tabs import MONITOR_TABS, run_tabs
from .runs_folder import RunsFolder
from .security import FIELD, Access, SecurityHeaders
from .templating import asset, asset_path, assets, render

Answer = WebPage | Response | Elsewhere
Reading = Callable[[RunsFolder, Asked], Answer]
Writing = Callable[[RunsFolder, Asked, Mapping[str, str]], Answer]

# The page at each address; the most particular first.
READ: Mapping[str, Reading] = {
    new_queue_page.NEW: new_queue_page.new_queue_page,
    "/a/{token}": annotate_page.come,
    "/annotate/{queue}/{item:int}": annotate_page.item_page,
    "/annotate/{queue}": annotate_page.next_page,
    "/annotate/{queue}/progress": queue_page.progress_page,
    "/annotate/{queue}/said": annotate_page.said_page,
    "/annotate": annotate_page.queues_page,
    "/annotate/{queue}/adjudicate/{item:int}": adjudicate_page.item_page,
    "/annotate/{queue}/adjudicate": adjudicate_page.list_page,
    "/annotate/{queue}/tags": queue_page.tags_page,
    "/compare": compare_view.compare_page,
    "/": runs_view.runs_page,
    "/monitor": overview_page.monitor_page,
    "/monitor/alarms/{number}": alarms_and_drift.alarm_page,
    "/monitor/drift": alarms_and_drift.drift_page,
    "/monitor/examples": answer_list.examples_page,
    "/monitor/examples/{id:text}": answer_page.answer_page,
    "/monitor/log": answer_list.log_page,
    "/monitor/malformed": answer_list.malformed_page,
    "/monitor/rules": rules_page.rules_page,
    "/monitor/sessions/{session:text}": answer_list.session_page,
    "/runs/{run}/judge": judge_view.judge_page,
    "/runs/{run}/people": judge_view.people_page,
    "/runs/{run}/report.html": run_view.report_page,
    "/runs/{run}/examples/{id:text}": example_view.run_example_page,
    "/runs/{run}/suites/{suite}": suite_view.suite_page,
    "/runs/{run}": run_view.run_page,
}

# What a form at each address does.
WRITE: Mapping[str, Writing] = {
    new_queue_page.NEW: new_queue_page.make,
    LEAVE: annotate_page.leave,
    "/monitor/annotate": answer_list.send,
    "/monitor/rules": rules_page.change,
    "/annotate/{queue}/{item:int}": annotate_page.act,
    "/annotate/{queue}": annotate_page.act,
    "/annotate/{queue}/progress": queue_page.change_queue,
    "/annotate/{queue}/adjudicate/{item:int}": adjudicate_page.decide,
    "/annotate/{queue}/adjudicate": adjudicate_page.decide,
    "/annotate/{queue}/tags": queue_page.change_tags,
    "/": runs_view.change,
    "/runs/{run}/examples/{id:text}": example_view.correct_judgement,
    "/runs/{run}": examples_view.change,
}


class AnyText(PathConvertor):
    """The rest of a path; unlike Starlette's own, with line breaks, which an id may have."""

    regex = r"[\s\S]*"


register_url_convertor("text", AnyText())

LOG = logging.getLogger(__name__)

A_YEAR = "public, max-age=31536000, immutable"
ONE_DAY = 86_400


def make_app(folder: RunsFolder, access: Access) -> ASGIApp:
    """Return the app over the runs of a folder."""

    def nothing(request: Request, _: Exception) -> Response:
        return _answer(folder, access, _no_page, request)

    routes = [Route("/static/{name:path}", _static)]
    routes += [Route(path, partial(_written, folder, access, action), methods=["POST"])
               for path, action in WRITE.items()]  # fmt: skip
    routes += [Route(path, partial(_answer, folder, access, page)) for path, page in READ.items()]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(GZipMiddleware, minimum_size=1000)],
        exception_handlers={404: nothing, 405: nothing},
    )

    def closed(scope: Scope, why: Refusal) -> Response:
        return _closed(folder, access, Asked.of(Request(scope)), why)

    return SecurityHeaders(app, access, folder.person, closed)


async def _written(
    folder: RunsFolder, access: Access, action: Writing, request: Request
) -> Response:
    async with request.form() as form:
        fields = {key: value for key, value in form.items() if isinstance(value, str)}

    def page(folder: RunsFolder, page_request: Asked) -> Answer:
        return action(folder, page_request, fields)

    return await run_in_threadpool(_answer, folder, access, page, request)


def _answer(folder: RunsFolder, access: Access, page: Reading, request: Request) -> Response:
    page_request = Asked.of(request, access.address(request.url))
    result: Answer
    try:
        # What a form does may ask a model, for which no page should wait.
        # Nor does who labels wait for the owner's pages.
        alone = request.method == "GET" and page_request.person is None
        with folder.calm.in_turn() if alone else folder.calm.busy():
            fields_of(request.url.query)
            result = page(folder, page_request)
            answer = _answered(folder, access, page_request, result)
    except RagstoneError as error:
        if isinstance(error, StoreAway) and not page_request.owner:
            return _closed(folder, access, page_request, away(error))
        result = _refused(error)
        answer = _answered(folder, access, page_request, result)
    except Exception as error:
        path = page_request.path
        LOG.exception("%s %s", request.method, f"{SEATS}…" if path.startswith(SEATS) else path)
        lines = [
            "This is a mistake of Ragstone's, not yours. The other pages work on.",
            f"{type(error).__name__}; the terminal in which ragstone view runs says where.",
        ]
        result = WebPage("refused.html", "This page failed", {"lines": lines}, status=500)
        answer = _answered(folder, access, page_request, result)
    port, secure = with_port(request.headers), request.url.scheme == "https"
    cookies = {} if isinstance(result, Response) else result.cookies
    for name, (value, path) in cookies.items():
        # A link on a page elsewhere must not choose what our pages show; a person's is secret.
        if request.method in READING and name != PERSON and not from_own_page(request.headers):
            continue
        answer.set_cookie(
            f"{name}{port}",
            value,
            max_age=ONE_DAY * 365 if value else 0,
            path=path,
            httponly=True,
            samesite="strict",
            secure=secure,
        )
    return answer


def _answered(folder: RunsFolder, access: Access, request: Asked, page: Answer) -> Response:
    if isinstance(page, Elsewhere):
        return RedirectResponse(page.path, 303)
    if isinstance(page, Response):
        page.headers["cache-control"] = "no-store"
        return page
    headers = {"cache-control": "no-store"} | ({"etag": page.tag} if page.tag else {})
    return HTMLResponse(html_of(folder, access, request, page), page.status, headers)


def html_of(folder: RunsFolder, access: Access, request: Asked, page: WebPage) -> str:
    """Write a page."""
    common = {
        "asked": request,
        "title": page.title,
        "here": page.here,
        "place": folder,
        "secret": access.secret,
        # Its body is not read, for who has a wrong link may send it too.
        "leave": f"{LEAVE}?{FIELD}={access.secret}",
        "queue_path": queue_path,
        "run_path": run_path,
        "monitor_path": monitor_path,
        "run_tabs": run_tabs,
        "MONITOR_TABS": MONITOR_TABS,
        "theme": {"light": "light", "dark": "dark"}.get(request.cookies.get(THEME, "")),
        "alone": False,
    }
    return render(page.template, {**common, **page.shows})


def _refused(error: RagstoneError) -> WebPage:
    title = "Not found" if _status_of(error) == 404 else "This cannot be shown"
    lines = error.text.splitlines() or [title]
    return WebPage("refused.html", title, {"lines": lines}, status=_status_of(error))


def _closed(folder: RunsFolder, access: Access, request: Asked, why: Refusal) -> Response:
    page = WebPage("closed.html", why.title, {"why": why}, status=why.status)
    answer = _answered(folder, access, request, page)
    answer.headers.update(why.headers)
    return answer


# What a page is answered with for each error, the most particular first. With 503 a browser keeps
# what is said, and sends it again.
STATUSES: Sequence[tuple[type[RagstoneError], int]] = (
    (NotThere, 404), (UnknownName, 404), (RunConflict, 409), (DamagedRun, 500), (StoreAway, 503),
    (InputError, 400),
)  # fmt: skip


def _status_of(error: RagstoneError) -> int:
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def _no_page(_folder: RunsFolder, _asked: Asked) -> Answer:
    raise NotThere("There is no such page.")


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in assets():
        return Response("There is no such file.\n", 404)
    kind = "font/woff2" if name.endswith(".woff2") else guess_type(name)[0] or "text/plain"
    versioned = asset_path(name).endswith(f"?{request.url.query}")
    return Response(asset(name), 200, {"cache-control": A_YEAR if versioned else "no-cache"}, kind)
