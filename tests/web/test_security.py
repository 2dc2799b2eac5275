"""Who may see the app and write through it."""

import asyncio
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.types import Message

from ragstone.web.security import LARGEST_FORM
from ragstone.web.web_app import WRITE
from tests.web.conftest import SECRET, client_of


@pytest.mark.parametrize("path", ["/", "/nowhere", "/static/style.css", "/static/../app.py"])
def test_every_answer_forbids_what_is_not_ours(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert set(answer.headers["content-security-policy"].split("; ")) == {
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    }
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_another_name_of_this_server_is_refused(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/", headers={"host": "TestServer"}).status_code == 200


@pytest.mark.parametrize("path", [path.replace("{", "").replace("}", "") for path in WRITE])
def test_every_write_needs_the_secret_of_the_pages(client: TestClient, path: str) -> None:
    assert client.post(path, data={"pin": ""}).status_code == 403
    assert client.post(path, data={"pin": "", "secret": "other"}).status_code == 403


def test_a_write_from_elsewhere_is_refused(client: TestClient) -> None:
    form = {"pin": "", "secret": SECRET}
    origin = {"origin": "http://evil.example"}
    assert client.post("/", data=form, headers=origin).status_code == 403
    assert client.post("/", data=form, headers={"origin": "null"}).status_code == 403
    port = {"origin": "http://testserver:8080"}
    assert client.post("/", data=form, headers=port).status_code == 403
    assert client.post("/", data=form, headers={"origin": "http://["}).status_code == 403
    own = client.post("/", data=form, headers={"origin": "http://testserver"})
    assert own.status_code == 303


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_whatever_does_not_read_is_a_write(client: TestClient, method: str) -> None:
    assert client.request(method, "/").status_code == 403


def test_a_secret_in_what_is_no_form_counts_for_nothing(client: TestClient) -> None:
    kind = {"content-type": "text/plain"}
    assert client.post("/", content=f"pin=&secret={SECRET}", headers=kind).status_code == 403


def test_the_secret_may_be_in_a_header(client: TestClient) -> None:
    answer = client.post("/", data={"pin": ""}, headers={"x-secret": SECRET})
    assert answer.status_code == 303


def test_a_form_that_is_too_large_is_refused(client: TestClient) -> None:
    assert client.post("/", content=b"x" * (LARGEST_FORM + 1)).status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "/", {}, 401),
        ("POST", "/nowhere", {"x-secret": SECRET}, 401),
        ("PUT", "/static/style.css", {"x-secret": SECRET}, 401),
        ("POST", "/static/style.css", {}, 401),
        ("POST", "/a/guess", {}, 401),
        ("POST", "/a/leave", {}, 403),
        ("POST", f"/a/leave?secret={SECRET}", {}, 200),
        ("POST", "/", {"cookie": "ragstone-person=guess"}, 403),
        ("POST", "/", {"host": "evil.example"}, 421),
        ("POST", "/", {"cookie": "ragstone-token=t0ken"}, 403),
        ("POST", "/", {"cookie": "ragstone-token=t0ken", "origin": "http://evil.example"}, 403),
        ("POST", "/", {"cookie": "ragstone-token=t0ken", "x-secret": SECRET,
                       "content-length": "1000001"}, 413),
    ],
)  # fmt: skip
def test_no_body_is_read_that_is_refused_by_its_head(
    runs: Path, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    """No time passes, for nobody waits for what a stranger sends."""
    app, statuses = client_of(runs, "t0ken").app, list[int]()

    async def receive() -> Message:
        raise AssertionError("the body is read")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    place, _, query = path.partition("?")
    sent = {"host": "testserver", "content-type": "text/plain", **headers}
    if "secret" not in str(sent) and "cookie" not in sent:
        sent["content-type"] = "application/x-www-form-urlencoded"
    scope = {
        "type": "http", "method": method, "path": place, "raw_path": place.encode(),
        "query_string": query.encode(), "scheme": "http", "server": ("testserver", 80),
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    }  # fmt: skip

    async def ask() -> None:
        await app(scope, receive, send)

    asyncio.run(ask())
    assert statuses == [status]


def test_pages_that_are_made_at_a_time_are_limited(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(runs)
    assert client.get("/").status_code == 200
    monkeypatch.setattr("ragstone.web.security.PAGES", 0)
    answer = client.get("/")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


def test_a_token_moves_from_the_address_into_a_cookie(runs: Path) -> None:
    client = client_of(runs, "t0ken")
    assert client.get("/").status_code == 401
    assert client.get("/?token=other").status_code == 401
    answer = client.get("/?q=a&token=t0ken")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=a")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status_code == 200


def test_a_cookie_with_another_token_is_refused(runs: Path) -> None:
    client = client_of(runs, "t0ken")
    assert client.get("/", headers={"cookie": "ragstone-token=other"}).status_code == 401
    assert client.get("/", headers={"cookie": "ragstone-token=t0ken"}).status_code == 200


def test_a_token_does_not_lead_to_another_server(runs: Path) -> None:
    answer = client_of(runs, "t0ken").get("//evil.example/?token=t0ken")
    assert not answer.headers.get("location", "/").startswith("//")


def test_a_run_name_does_not_leave_the_folder(client: TestClient) -> None:
    assert client.get("/runs/..%2F..%2Fetc").status_code == 404
    answer = client.post("/", data={"pin": "../x", "secret": SECRET})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "path",
    ["//etc/passwd", "/%2Fetc%2Fpasswd", "/..%2Fapp.py", "/fonts/..%2F..%2Fapp.py", "/fonts/",
     "/fonts%00.css", "/C:%5Cwindows", "/.hidden"],
)  # fmt: skip
def test_no_other_file_is_served(client: TestClient, path: str) -> None:
    answer = client.get(f"/static{path}")
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_what_pages_load_is_served(client: TestClient) -> None:
    for name in ("style.css", "app.js", "htmx.min.js", "icon.svg"):
        assert client.get(f"/static/{name}").status_code == 200
    assert client.get("/static/fonts/inter-latin-wght-normal.woff2").status_code == 200


MANY = "&".join(["where=mrr:0..1"] * 101)


@pytest.mark.parametrize("query", [MANY, f"q={'x' * 4_000}"])
@pytest.mark.parametrize("path", ["/", "/runs/cornwall", "/compare"])
def test_an_address_longer_than_its_links_can_be_is_refused(
    client: TestClient, path: str, query: str
) -> None:
    answer = client.get(f"{path}?{query}")
    assert answer.status_code == 400
    assert "take some conditions away" in answer.text
    assert len(answer.content) < 20_000


@pytest.mark.parametrize(
    ("path", "field"),
    [("/runs/cornwall", "query"), ("/runs/cornwall/examples/lizard-point-local_search", "say")],
)
def test_a_form_with_too_many_conditions_is_refused(
    client: TestClient, path: str, field: str
) -> None:
    answer = client.post(path, data={"secret": SECRET, "save": "n", field: MANY})
    assert answer.status_code == 400
    assert "take some conditions away" in answer.text


@pytest.mark.parametrize("path", [f"/runs/{'x' * 300}", f"/compare?runs={'é' * 200}"])
def test_a_name_that_no_folder_can_have_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/runs/shut", "/compare?runs=shut"])
def test_a_run_that_may_not_be_read_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def shut(file: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(file))

    client = client_of(tmp_path)
    monkeypatch.setattr(Path, "is_file", shut)
    answer = client.get(path)
    assert answer.status_code == 400
    assert "permission denied" in answer.text
