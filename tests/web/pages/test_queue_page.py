"""The owner's pages of queues: how far they are, who has a link, and nothing of who said what."""

import re
import time
from collections.abc import Iterator
from html import unescape
from itertools import count as count_from
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ragstone.analysis.label_sampling.make_queue import annotate
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.web.conftest import HOST, SECRET

ASKED = (AskedLabel("mood", "answer", ("cheerful", "gloomy")),)
HOSTILE = "<script>alert('x')</script>"
PAGE = "/annotate/one/progress"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[LabelDatabase]:
    found = open_labels(tmp_path)
    yield found
    found.close()


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return client_of(RunsFolder(tmp_path))


def client_of(place: RunsFolder) -> TestClient:
    access = Access(frozenset({HOST}), "", SECRET)
    return TestClient(make_app(place, access), follow_redirects=False)


def made(database: LabelDatabase, count: int = 4, wanted: int = 2, name: str = "one") -> Queue:
    items = [
        (QueueItem(n, f"e{n}", {"answer": f"text {n}"}, (ItemPart("answer"),)), float(n), wanted)
        for n in range(1, count + 1)
    ]
    later = count_from(time.time(), 0.01)
    form = QueueForm(name, ASKED, "runs/mtrag", per_item=wanted)
    return Queue.make(database, form, items, now=lambda: next(later))


def label(queue: Queue, person: str, *moods: str, note: str = "") -> None:
    for place, mood in enumerate(moods):
        one = queue.next(person)
        assert one is not None
        answers = ItemAnswers({("answer", ""): {"mood": mood}}, note)
        queue.save(person, one.item, answers, f"{person} {place}")


def text(page: str) -> str:
    """What a page shows."""
    words = re.sub(r"<title>.*?</title>", "", page)
    words = re.sub(r"<[^>]*>", " ", re.sub(r"</?(b|bdi)>", "", words))
    return " ".join(unescape(words).split())


def page_of(client: TestClient, address: str = PAGE) -> str:
    """A page once its numbers are there."""
    for _ in range(400):
        answer = client.get(address)
        assert answer.status_code == 200, answer.text
        if 'id="soon"' not in answer.text:
            return answer.text
    raise AssertionError(f"{address} is never made")


def write(client: TestClient, **form: str) -> str:
    answer = client.post(PAGE, data={"secret": SECRET, **form})
    assert answer.status_code in (200, 303), answer.text
    return answer.text


def test_without_a_queue_it_says_how_to_make_one_and_makes_no_store(
    client: TestClient, tmp_path: Path
) -> None:
    page = text(client.get("/annotate").text)
    assert "No queue yet." in page
    assert "ragstone annotate DATA.jsonl --tasks grounding" in page
    assert list(tmp_path.glob("labels*")) == []


def test_every_queue_is_there_with_how_far_it_is(
    client: TestClient, database: LabelDatabase
) -> None:
    queue = made(database, wanted=1)
    made(database, 2, name=HOSTILE.replace("/", "-"))
    queue.invite("Ann")
    label(queue, "Ann", "gloomy", "cheerful", "gloomy")
    page = client.get("/annotate").text
    assert "<script>alert" not in page
    assert "2 of 2 queues wait for 5 more labels." in text(page)
    assert "3 of 4 answers mtrag 1" in text(page)
    assert "0 of 2 answers mtrag 0" in text(page)
    for address in re.findall(r'href="(/annotate/[^"]+)"', page):
        assert client.get(address).status_code == 200


def test_the_page_of_a_queue_answers_first(client: TestClient, database: LabelDatabase) -> None:
    queue = made(database)
    assert "Nobody has a link yet: 4 answers wait." in text(page_of(client))
    queue.invite("Ann")
    queue.invite(HOSTILE)
    page = page_of(client)
    assert f"Nothing is labelled yet: 4 answers wait for Ann and {HOSTILE}." in text(page)
    assert "<script>alert" not in page
    label(queue, "Ann", *["gloomy"] * 3)
    label(queue, HOSTILE, "gloomy")
    said = f"Ann and {HOSTILE} have labelled 3 of 4 answers, 1 of them as often as wanted."
    assert said in text(page_of(client))


def test_it_shows_how_far_people_agree_and_not_what_they_said(
    client: TestClient, database: LabelDatabase
) -> None:
    queue = made(database)
    for person in ("Ann", "Ben"):
        queue.invite(person)
    label(queue, "Ann", "cheerful", "cheerful", "gloomy", "gloomy", note="a remark of hers")
    label(queue, "Ben", "cheerful", "gloomy", "gloomy", "gloomy")
    page = text(page_of(client))
    # 3 of 4 alike; by chance 1/2 · 1/4 + 1/2 · 3/4 = 1/2, so κ is (.75 - .5) / (1 - .5).
    assert "mood 4 75 %" in page
    assert "0.50" in page
    assert "Ann 75 % of 4" in page
    for word in ("cheerful", "gloomy", "a remark of hers"):
        assert word not in page


def test_who_said_what_shows_once_it_is_opened(client: TestClient, database: LabelDatabase) -> None:
    queue = made(database)
    queue.invite("Ann")
    label(queue, "Ann", "cheerful", note=HOSTILE)
    assert client.get("/annotate/one/said").status_code == 400
    write(client, action="open")
    page = client.get("/annotate/one/said").text
    assert "mood cheerful" in text(page)
    assert "<script>alert" not in page
    assert "opened who said what" in text(page_of(client))


def test_a_link_is_shown_once_and_opens_the_queue(
    client: TestClient, database: LabelDatabase
) -> None:
    made(database)
    page = write(client, action="invite", person=" Ann ", role="annotator")
    found = re.search(rf"http://{HOST}(/a/[\w-]+)", page)
    assert found is not None
    assert client.get(found[1]).headers["location"] == "/annotate/one"
    client.cookies.clear()
    assert "/a/" not in page_of(client)
    again = write(client, action="invite", person="Ann", role="annotator")
    assert "Their older link no longer works." in text(again)
    assert client.get(found[1]).status_code == 404
    assert "the owner gave a link Ann as annotator" in text(page_of(client))


def test_a_link_that_is_taken_back_is_out_and_noted(
    client: TestClient, database: LabelDatabase
) -> None:
    token = made(database).invite("Ann")
    write(client, action="revoke", person="Ann")
    assert client.get(f"/a/{token}").status_code == 404
    page = text(page_of(client))
    assert "the owner took a link back Ann" in page
    assert "Ann annotator, no link since" in page


@pytest.mark.parametrize(
    ("form", "status", "said"),
    [
        ({"action": "invite", "person": "", "role": "annotator"}, 400, "1 to 80 characters"),
        ({"action": "invite", "person": "a\nb", "role": "annotator"}, 400, "can be printed"),
        ({"action": "invite", "person": "Ann", "role": "owner"}, 400, "annotators or adjudicators"),
        ({"action": "revoke", "person": "nobody"}, 404, "No person is called"),
        ({"action": "other"}, 400, "no action"),
        ({}, 400, "no action"),
    ],
)
def test_what_cannot_be_done_is_told(
    client: TestClient, database: LabelDatabase, form: dict[str, str], status: int, said: str
) -> None:
    made(database)
    answer = client.post(PAGE, data={"secret": SECRET, **form})
    assert answer.status_code == status
    assert said in text(answer.text)


@pytest.mark.parametrize("address", ["/annotate/none/progress", "/annotate/none/said"])
@pytest.mark.parametrize("store", [True, False], ids=["with a store", "without"])
def test_a_queue_that_is_not_there_is_not_found(
    client: TestClient, tmp_path: Path, address: str, store: bool
) -> None:
    if store:
        made(open_labels(tmp_path))
    assert client.get(address).status_code == 404
    assert client.post(address, data={"secret": SECRET}).status_code in (404, 405)


def test_the_log_is_in_pages_and_leaves_work_out_until_asked(
    client: TestClient, database: LabelDatabase
) -> None:
    queue = made(database, count=3)
    for n in range(60):
        queue.invite(f"person {n}")
    queue.next("person 0")
    queue.skip("person 0", 1)
    page = page_of(client)
    assert "page 1 of 2" in text(page)
    assert "made the queue" not in text(page)
    assert "made the queue" in text(page_of(client, f"{PAGE}?log=2"))
    assert "with 1 change by people at work" in text(page)
    assert "skipped 1" in text(page_of(client, f"{PAGE}?every=1"))


def test_what_people_say_on_average_is_shown_with_intervals_for_every_look(
    client: TestClient, database: LabelDatabase
) -> None:
    queue = made(database, count=90, wanted=1)
    queue.ask(AskedLabel("helpful", "answer", ("yes", "no")))
    queue.ask(AskedLabel("tone", "answer", ("1", "2", "3", "4", "5")))
    queue.invite("Ann")
    for n in range(60):
        one = queue.next("Ann")
        assert one is not None
        said = {"mood": "cheerful", "helpful": "no" if n % 4 else "yes", "tone": str(1 + n % 4)}
        queue.save("Ann", one.item, ItemAnswers({("answer", ""): said}), str(n))
    page = text(page_of(client))
    assert "mood cheerful 60 100 % helpful yes 60 25 % tone 1 to 5 60 2.50" in page
    assert "The intervals hold however often you look while labels come." in page


def test_before_fifty_labels_a_mean_says_that_its_interval_is_for_one_look(
    client: TestClient, database: LabelDatabase
) -> None:
    queue = made(database, count=30, wanted=1)
    queue.invite("Ann")
    label(queue, "Ann", *["cheerful", "gloomy"] * 10)
    page = text(page_of(client))
    assert "mood cheerful 20 50 % mood gloomy 20 50 %" in page
    assert "Labels are still coming: do not stop because this interval looks good" in page


def test_from_too_few_labels_none_are_planned(client: TestClient, database: LabelDatabase) -> None:
    queue = made(database, count=8, wanted=1)
    queue.invite("Ann")
    label(queue, "Ann", *["cheerful", "gloomy"] * 3)
    assert "What do they say?" not in page_of(client)
    assert "mood 6 – – – 6 labels so far; planning takes 10" in text(page_of(client))


def test_labels_still_needed_are_those_that_a_rate_needs(
    client: TestClient, database: LabelDatabase
) -> None:
    queue = made(database, count=14, wanted=1)
    queue.invite("Ann")
    label(queue, "Ann", *["cheerful", "gloomy"] * 6)
    # Wilson at a half: n = (1.96 / (2 · .03))² - 1.96² = 1,063.2
    assert "mood 12 1,064 1,052" in text(page_of(client))


def test_a_run_tells_how_many_labels_its_metrics_need_with_its_judge(
    runs: Path, tmp_path: Path
) -> None:
    store = tmp_path / "labels.sqlite"
    queue = annotate(runs / "cornwall", store, name="one", metric="unsupported_claim")
    queue.invite("Ann")
    while (one := queue.next("Ann")) is not None:
        yes = {"unsupported_claim_present": "yes" if one.item % 3 else "no"}
        queue.save("Ann", one.item, ItemAnswers({("answer", ""): yes}), str(one.item))
    page = text(page_of(client_of(RunsFolder(runs, str(store)))))
    assert "All 24 answers are labelled by Ann." in page
    assert re.search(r"unsupported_claim \d+ ", page)
    assert "The mean is the judge's over the whole run, corrected by the labels." in page


def test_people_who_are_wanted_are_told(client: TestClient, database: LabelDatabase) -> None:
    queue = made(database, count=3, wanted=2)
    queue.invite("Ann")
    assert "3 more labels are wanted than the people in the queue can give" in text(page_of(client))


def test_the_way_to_queues_is_on_every_page_of_the_owner(
    client: TestClient, tmp_path: Path
) -> None:
    assert 'href="/annotate"' in client.get("/").text
    assert tmp_path.is_dir()
