"""What somebody reaches who came by a link of their own: their queue, and nothing else."""

import asyncio
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import URL
from starlette.testclient import TestClient

from ragstone.analysis.label_sampling.make_queue import annotate
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.queue.form import (
    AskedLabel,
    ItemAnswers,
    ItemPart,
    QueueForm,
    QueueItem,
    Role,
)
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError, StoreAway
from ragstone.web.auth import MOST, PAUSE, WITHIN, WrongTries
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import READ, WRITE, make_app

from .conftest import HOST, SECRET

OWNER = "the owner's t0ken"


def queues_in(place: RunsFolder) -> None:
    """Make the queues ``one`` and ``two``, of five items each."""
    for name in ("one", "two"):
        asked = (AskedLabel("helpful", "answer", ("yes", "no")),)
        items = [
            (QueueItem(n, f"e{n}", {"answer": f"text {n}"}, (ItemPart("answer"),)), n, 1)
            for n in range(1, 6)
        ]
        Queue.make(place.labels(), QueueForm(name, asked), items)


class Place:
    """A folder with two queues, the app over it, a clock, and the pauses after wrong tokens."""

    def __init__(self, folder: Path, token: str) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []
        self.place = RunsFolder(folder)

        async def pause(seconds: float) -> None:
            self.pauses.append(seconds)

        tries = WrongTries(lambda: self.seconds, pause)
        self.app = make_app(self.place, Access(frozenset({HOST}), token, SECRET, tries))
        queues_in(self.place)

    def client(self, *, at: str = "10.0.0.1", **cookies: str) -> TestClient:
        made = TestClient(self.app, follow_redirects=False, client=(at, 1))
        for name, value in cookies.items():
            made.cookies.set(name.replace("_", "-"), value)
        return made

    def person(self, name: str, queue: str = "one", *, adjudicates: bool = False) -> TestClient:
        """The browser of somebody who opened their link."""
        role: Role = "adjudicator" if adjudicates else "annotator"
        client = self.client()
        token = self.place.queue(queue).invite(name, role)
        answer = client.get(f"/a/{token}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/annotate/{queue}")
        return client


@pytest.fixture(params=[OWNER, ""], ids=["with an owner's token", "without"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    return Place(tmp_path, request.param)


@pytest.fixture
def guarded(tmp_path: Path) -> Place:
    return Place(tmp_path, OWNER)


PARTS = {"queue": ("one", "two"), "run": ("r",), "suite": ("s",), "item": ("1",), "id": ("e1",),
         "number": ("1",), "session": ("s1",)}  # fmt: skip
OWN = {"/annotate/one", "/annotate/one/1", "/a/leave"}
TO_ADJUDICATE = {"/annotate/one/adjudicate", "/annotate/one/adjudicate/1"}


def addresses() -> Iterator[tuple[str, str]]:
    """Each method and address of the app, with names put in for each part; links aside."""
    for method, paths in (("GET", READ), ("POST", WRITE)):
        for pattern in paths:
            found = [re.sub(r":\w+", "", pattern)]
            for part, names in PARTS.items():
                found = [one.replace(f"{{{part}}}", name) for one in found for name in names]
            yield from ((method, one) for one in dict.fromkeys(found) if one != "/a/{token}")


def asked(client: TestClient, method: str, path: str) -> int:
    data = {"secret": SECRET} if method == "POST" else None
    query = data if path == "/a/leave" else None
    return int(client.request(method, path, data=data, params=query).status_code)


@pytest.mark.parametrize("adjudicates", [False, True], ids=["annotator", "adjudicator"])
def test_a_person_reaches_nothing_but_their_own_queue(place: Place, adjudicates: bool) -> None:
    client = place.person("Ann", adjudicates=adjudicates)
    own = OWN | TO_ADJUDICATE if adjudicates else OWN
    for method, path in addresses():
        if path in own:
            continue
        assert "{" not in path, f"name what stands for the part of {path} in PARTS"
        assert asked(client, method, path) == 403, (method, path)


@pytest.mark.parametrize(
    "path",
    ["/annotate/one/", "/annotate/one/progress", "/annotate/one/1/", "/annotate/one/-1",
     "/annotate/one/%D9%A1", "/annotate/one/1%0A", "/annotate/one%2F1", "/annotate/one/../two",
     "/annotate//one", "//annotate/one", "/annotate/ONE", "/annotate/one%00", "/runs", "/nowhere",
     "/annotate/one/tags", "/annotate/one/adjudicate", "/a", "/annotate"],
)  # fmt: skip
def test_no_other_spelling_leads_elsewhere(place: Place, path: str) -> None:
    client = place.person("Ann")
    inside = path == "/annotate/one%2F1"
    status = client.get(path).status_code
    assert status == 403 or (inside and status in (200, 303, 404))


def test_no_queue_is_called_like_a_page(tmp_path: Path) -> None:
    pages = {path.split("/")[2] for path in (*READ, *WRITE) if path.startswith("/annotate/")}
    names = {one for one in pages if "{" not in one}
    assert names
    for name in names:
        with pytest.raises(InputError, match="cannot be the name"):
            Queue.make(open_labels(tmp_path), QueueForm(name, ()), [])


def test_a_person_is_told_where_they_may_go_on(place: Place) -> None:
    answer = place.person("Ann").get("/")
    assert 'href="/annotate/one"' in answer.text
    assert "Your link does not open this page" in answer.text
    assert str(place.place.folder) not in answer.text


def test_what_pages_load_is_open_to_everybody(guarded: Place) -> None:
    assert guarded.client().get("/static/style.css").status_code == 200


def test_a_revoked_link_is_out_at_once(place: Place) -> None:
    client = place.person("Ann")
    place.place.queue("one").revoke("Ann")
    for method, path in addresses():
        if path != "/a/leave":
            assert asked(client, method, path) == 403, path
    assert "no longer works" in place.client(ragstone_person="x", at="10.0.0.2").get("/").text


def test_a_new_link_ends_the_one_before(place: Place) -> None:
    client = place.person("Ann")
    place.person("Ann")
    assert client.get("/annotate/one").status_code == 403


def test_a_link_that_nobody_has_says_whom_to_ask(place: Place) -> None:
    queue = place.place.queue("one")
    old = queue.invite("Ann")
    queue.revoke("Ann")
    for token in (old, "guess", "leave", "%00", "%F0%9F%98%80"):
        answer = place.client().get(f"/a/{token}")
        assert answer.status_code == 404
        assert "Ask whoever sent it to you" in answer.text
        assert f"/{token}" not in answer.text
        assert "set-cookie" not in answer.headers


def test_the_cookie_of_a_link_is_kept_from_scripts_and_from_other_sites(place: Place) -> None:
    token = place.place.queue("one").invite("Ann")
    cookie = place.client().get(f"/a/{token}").headers["set-cookie"].lower()
    for part in ("ragstone-person=", "httponly", "samesite=strict", "path=/", "max-age=31536000"):
        assert part in cookie


def test_a_token_is_told_to_no_page_that_follows(place: Place) -> None:
    token = place.place.queue("one").invite("Ann")
    for path in (f"/a/{token}", "/a/guess"):
        assert place.client().get(path).headers["referrer-policy"] == "no-referrer"


def test_a_token_is_not_logged(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    token = place.place.queue("one").invite("Ann")
    client = place.client()

    def mistake(*_: object) -> str:
        raise AssertionError("of ours")

    monkeypatch.setattr("ragstone.web.pages.annotate_page.queue_path", mistake)
    with caplog.at_level(0, logger="ragstone"):
        assert client.get(f"/a/{token}").status_code == 500
    assert "/a/…" in caplog.text
    assert token not in caplog.text


def test_who_leaves_is_no_longer_known(guarded: Place) -> None:
    client = guarded.person("Ann")
    page = unescape(client.get("/").text)
    answer = client.post(re.findall(r'action="(/a/leave[^"]*)"', page)[0])
    assert answer.status_code == 200
    assert "ragstone-person" not in client.cookies
    assert client.get("/annotate/one").status_code == 401


def test_leaving_needs_the_secret_of_the_pages(place: Place) -> None:
    client = place.person("Ann")
    own = {"secret": SECRET}
    assert client.post("/a/leave").status_code == 403
    assert client.post("/a/leave", data=own).status_code == 403
    elsewhere = {"origin": "http://evil.example"}
    assert client.post("/a/leave", params=own, headers=elsewhere).status_code == 403
    assert "ragstone-person" in client.cookies


def test_a_person_writes_only_with_the_secret_and_from_our_pages(place: Place) -> None:
    client = place.person("Ann")
    for path in ("/annotate/one", "/annotate/one/1"):
        assert client.post(path, data={"action": "skip"}).status_code == 403
        form = {"action": "skip", "secret": SECRET}
        elsewhere = {"origin": "http://evil.example"}
        assert client.post(path, data=form, headers=elsewhere).status_code == 403


def test_the_owner_stays_the_owner_who_tried_a_link(guarded: Place) -> None:
    client = guarded.person("Ann")
    assert client.get("/").status_code == 403
    client.cookies.set("ragstone-token", OWNER)
    assert client.get("/").status_code == 200


def test_a_link_needs_no_owner_token(guarded: Place) -> None:
    assert guarded.client().get("/").status_code == 401
    assert guarded.person("Ann").get("/annotate/one").status_code not in (401, 403)


def test_a_store_that_cannot_be_used_lets_nobody_in(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = place.person("Ann")

    def down(*_: object) -> None:
        raise InputError("postgresql://secret-host: the database cannot be used")

    monkeypatch.setattr("ragstone.web.runs_folder.person_of", down)
    answer = client.get("/annotate/one")
    assert answer.status_code == 503
    assert "What you saved is kept" in answer.text
    assert "secret-host" not in answer.text


def test_a_save_that_the_store_did_not_take_is_to_be_sent_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = place.person("Ann")
    item = client.get("/annotate/one")
    assert item.status_code == 200

    def down(*_: object, **__: object) -> None:
        raise StoreAway("postgresql://secret-host: the database cannot be used")

    monkeypatch.setattr(Queue, "skip", down)
    skip = {"secret": SECRET, "action": "skip", "item": "1"}
    answer = client.post("/annotate/one", data=skip)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "secret-host" not in answer.text


WAYS = {
    "a link": ({}, "/a/guess"),
    "a person's cookie": ({"ragstone_person": "guess"}, "/annotate/one"),
    "the owner's cookie": ({"ragstone_token": "guess"}, "/"),
    "the owner's address": ({}, "/?token=guess"),
}


@pytest.mark.parametrize("way", list(WAYS))
def test_many_wrong_tokens_are_answered_slowly(guarded: Place, way: str) -> None:
    cookies, path = WAYS[way]
    client = guarded.client(**cookies)
    for _ in range(MOST):
        assert client.get(path).status_code in (401, 403, 404)
    assert guarded.pauses == []
    assert client.get(path).status_code in (401, 403, 404)
    assert client.get(path).status_code in (401, 403, 404)
    assert guarded.pauses == [PAUSE, PAUSE]
    guarded.client(at="10.0.0.2", **cookies).get(path)
    guarded.seconds = WITHIN
    client.get(path)
    assert guarded.pauses == [PAUSE, PAUSE]


def test_a_right_token_passes_at_once_whatever_a_stranger_tried(guarded: Place) -> None:
    person, owner = guarded.person("Ann"), guarded.client(ragstone_token=OWNER)
    token = guarded.place.queue("one").invite("Ben")
    for _ in range(2 * MOST):
        guarded.client().get("/a/guess")
    guarded.pauses.clear()
    assert person.get("/annotate/one").status_code == 200
    assert owner.get("/").status_code == 200
    assert guarded.client().get(f"/a/{token}").status_code == 303
    assert guarded.client().get(f"/?token={OWNER}").status_code == 303
    # As a browser does that kept the cookie of a server that was there before.
    assert guarded.client(ragstone_token="old").get(f"/?token={OWNER}").status_code == 303
    assert guarded.client(ragstone_person="old").get(f"/a/{token}").status_code == 303
    assert guarded.pauses == []


def many_wrong(*clients: str) -> list[int]:
    """How often each had to wait that shows a wrong token after the one before."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def waits() -> list[int]:
        tries = WrongTries(lambda: 0.0, pause)
        counts = []
        for client in clients:
            await tries.slow(client)
            counts.append(len(pauses))
        return counts

    return asyncio.run(waits())


def test_wrong_tokens_that_wait_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.web.auth.MOST_SLOW", 3)

    async def attack() -> int:
        on, waiting = asyncio.Event(), list[float]()

        async def pause(seconds: float) -> None:
            waiting.append(seconds)
            await on.wait()

        tries = WrongTries(lambda: 0.0, pause)
        for _ in range(MOST):
            await tries.slow("a")
        wrong = [asyncio.create_task(tries.slow("a")) for _ in range(10)]
        await asyncio.wait(wrong, return_when=asyncio.FIRST_COMPLETED)
        on.set()
        await asyncio.gather(*wrong)
        return len(waiting)

    assert asyncio.run(attack()) == 3


def test_a_network_of_ipv6_is_one_client() -> None:
    one = [f"2001:db8::{n:x}" for n in range(MOST)]
    assert many_wrong(*one, "2001:db8:0:1::1", "::ffff:10.0.0.1")[-1] == 0
    assert many_wrong(*one, "2001:db8::ffff")[-1] == 1


def test_clients_without_end_need_no_memory_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.web.auth.KNOWN", 3)
    assert many_wrong(*"a" * MOST, "b", "c", "d", "a")[-1] == 0


def test_two_servers_on_a_host_keep_their_own_cookies(tmp_path: Path) -> None:
    """For which a browser has one jar, whatever their ports are."""
    hosts = frozenset({"localhost:8421", "localhost:8431", "localhost"})
    jar: Any = None
    for number, host in enumerate(sorted(hosts)):
        (tmp_path / host).mkdir()
        place = RunsFolder(tmp_path / host)
        queue = Queue.make(place.labels(), QueueForm("q", ()), [])
        client = TestClient(
            make_app(place, Access(hosts, f"t{number}", SECRET)),
            base_url=f"http://{host}",
            cookies=jar,
            follow_redirects=False,
        )
        assert client.get(f"/?token=t{number}").status_code == 303
        assert client.get(f"/a/{queue.invite(f'Ann {number}')}").status_code == 303
        jar = client.cookies
    for number, host in enumerate(sorted(hosts)):
        app = make_app(RunsFolder(tmp_path / host), Access(hosts, f"t{number}", SECRET))
        client = TestClient(app, base_url=f"http://{host}", cookies=jar)
        assert client.get("/").status_code == 200
        assert f"Ann {number}" in client.get("/annotate/q").text


def test_cookies_of_an_encrypted_address_are_not_sent_without_encryption(guarded: Place) -> None:
    token = guarded.place.queue("one").invite("Ann")
    client = TestClient(guarded.app, base_url=f"https://{HOST}", follow_redirects=False)
    for path in (f"/?token={OWNER}", f"/a/{token}"):
        assert "secure" in client.get(path).headers["set-cookie"].lower()


def test_a_link_does_not_take_the_place_of_another_persons(place: Place) -> None:
    """A page elsewhere, or a colleague, would choose in whose name somebody labels."""
    ben = place.person("Ben")
    ann = place.place.queue("one").invite("Ann")
    answer = ben.get(f"/a/{ann}")
    assert answer.status_code == 403
    assert "This browser has the link of Ben" in answer.text
    assert "set-cookie" not in answer.headers
    assert ben.get(f"/a/{place.place.queue('one').invite('Ben')}").status_code == 303
    ben.post(f"/a/leave?secret={SECRET}")
    assert ben.get(f"/a/{ann}").status_code == 303


@pytest.mark.parametrize(
    ("shown", "words"),
    [("", "This page asks for a token"), ("?token=guess", "This token is wrong")],
)
def test_who_has_no_token_may_enter_it_and_is_shown_the_page(
    guarded: Place, shown: str, words: str
) -> None:
    answer = guarded.client().get(f"/annotate{shown}{'&' if shown else '?'}page=2")
    assert answer.status_code == 401
    assert words in answer.text
    assert '<form class="ways" action="/annotate">' in answer.text
    assert '<input type="hidden" name="page" value="2">' in answer.text
    assert "guess" not in answer.text
    assert 'action="/evil.example/"' in guarded.client().get(f"http://{HOST}//evil.example/").text


def test_others_are_sent_to_an_address_that_is_theirs_too() -> None:
    access = Access(frozenset(), others="http://192.168.1.7:8421")
    assert access.address(URL("http://127.0.0.1:8421/annotate")) == "http://192.168.1.7:8421"
    assert access.address(URL("https://labels.example/annotate")) == "https://labels.example"
    assert Access(frozenset()).address(URL("http://[::1]:8421/")) == "http://[::1]:8421"


FROM_A_MAIL = {
    "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"
}  # fmt: skip


def test_who_follows_a_link_on_another_site_is_asked_to_come_again_from_here(
    guarded: Place,
) -> None:
    answer = guarded.client().get("/annotate/one?a=1&token=x", headers=FROM_A_MAIL)
    assert 'content="0; url=/annotate/one?a=1"' in answer.text
    assert "nav" not in answer.text
    there = f"http://{HOST}//evil.example/'><script>"
    away = guarded.client().get(there, headers=FROM_A_MAIL).text
    assert 'content="0; url=/evil.example/&#x27;' in away
    assert "<script>" not in away


def test_a_person_sees_nothing_of_the_others_of_the_judge_or_of_systems(
    runs: Path, tmp_path: Path
) -> None:
    store = tmp_path / "labels.sqlite"
    place = RunsFolder(runs, str(store))
    queue = annotate(runs / "cornwall", store, name="one", asked=["helpful", "tone"], per_item=3)
    annotate(runs / "cornwall", store, name="another queue", asked=["helpful"])
    for person in ("Benedikta", "Cemile"):
        queue.invite(person)
        for _ in range(30):
            if one := queue.next(person):
                said = {"helpful": "no", "tone": f"sounds {person}ish"}
                answers = ItemAnswers({("answer", ""): said}, f"noted by {person}")
                queue.save(person, one.item, answers, f"{person} {one.item}")
        queue.undo(person)
    queue.invite("Dorothea", "adjudicator")
    queue.decide("Dorothea", 1, ItemAnswers({("answer", ""): {"tone": "decided so"}}), "1")
    queue.extend([])
    token = queue.invite("Ann")
    app = make_app(place, Access(frozenset({HOST}), OWNER, SECRET))
    client = TestClient(app, follow_redirects=True)
    pages = [client.get(f"/a/{token}").text, client.get("/").text]
    for _ in range(3):
        found = re.search(r'name="item" value="(\d+)"', pages[0])
        number = found[1] if found else "1"
        pages.append(client.get(f"/annotate/one/{number}").text)
        pages.append(client.get("/annotate/one?items=1").text)
        skip = {"secret": SECRET, "action": "skip", "item": number}
        pages.insert(0, client.post("/annotate/one", data=skip).text)
    run = place.run("cornwall")
    hidden = {"Benedikta", "Cemile", "Dorothea", "noted by", "sounds", "decided so"}
    hidden |= {"another queue", str(runs), token, OWNER}
    hidden |= set(Scored(run).systems) | set(Scored(run).metrics)
    assert sum('id="sheet"' in page for page in pages) > 3
    for page in pages:
        words = re.sub(r"\s+", " ", unescape(page))
        assert [one for one in sorted(hidden) if one in words] == []
