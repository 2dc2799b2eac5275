"""A queue is made of what a filter of the examples, or a cell of the confusion matrix, finds."""

import shutil
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue, queues
from tests.web.conftest import SECRET, client_of, settled


@pytest.fixture
def folder(runs: Path, tmp_path: Path) -> Path:
    shutil.copytree(runs / "cornwall", tmp_path / "cornwall")
    return tmp_path


def made(folder: Path) -> Queue:
    store = open_labels(folder)
    (form,) = queues(store)
    return Queue(store, form.name)


def post(client: TestClient, address: str, **form: str) -> str:
    answer = client.post(address, data={"secret": SECRET, **form})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def test_the_examples_of_a_run_are_asked_in_random_order(folder: Path) -> None:
    client = client_of(folder)
    page = settled(client, "/annotate/new?run=cornwall")
    assert "in random order" in page
    assert "task grounding" in page
    where = post(
        client,
        "/annotate/new?run=cornwall",
        **{"task grounding": "on", "per_item": "2", "overlap": "50", "n": "5", "name": "mine"},
    )
    assert where == "/annotate/mine/progress"
    form = made(folder).form
    assert form.asked[0].label == "support_present"
    assert (form.per_item, form.overlap, form.most, form.chosen) == (2, 0.5, 5, "")


def test_a_filter_of_the_examples_leads_to_a_queue_of_just_these(folder: Path) -> None:
    client = client_of(folder)
    table = unescape(settled(client, "/runs/cornwall?system=local_search"))
    assert "/annotate/new?run=cornwall&within=system%3Dlocal_search" in table
    address = "/annotate/new?run=cornwall&within=" + quote("system=local_search", safe="")
    page = settled(client, address)
    assert "system is local_search" in page
    assert "chosen, not drawn" in page
    post(client, address, **{"task generation": "on"})
    queue = made(folder)
    assert queue.form.chosen == "system is local_search"
    assert {id.rpartition("-")[2] for id, _ in queue.places().values()} == {"local_search"}
    assert queue.inclusion() is None


def test_a_cell_of_the_confusion_matrix_leads_to_a_queue(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"pier-{n}",
            "question": f"How long is pier {n}?",
            "contexts": [f"Pier {n} is 90 metres long."],
            "answer": f"Pier {n} is {512 if n % 4 == 0 else 90} metres long.",
            "labels": {"answer": {"unsupported_claim_present": n % 4 == 0 and n != 4}},
        }
        for n in range(20)
    ]
    ragstone.evaluate(rows, metrics=["unsupported_claim"], judge="local", out=tmp_path / "piers")
    client = client_of(tmp_path)
    page = unescape(settled(client, "/runs/piers/judge?cell=no-yes"))
    at = page.index("/annotate/new?run=piers&label=")
    address = page[at : page.index('"', at)]
    assert "people and the judge say no-yes of" in settled(client, address)
    post(client, address, labels="helpful")
    queue = made(tmp_path)
    assert queue.form.chosen.startswith("people and the judge say no-yes")
    assert [id for id, _ in queue.places().values()] == ["pier-4"]


def test_what_is_wrong_is_told_and_what_was_typed_stays(folder: Path) -> None:
    client = client_of(folder)
    form = {"secret": SECRET, "name": "mine", "labels": "rating.tone", "overlap": "500"}
    answer = client.post("/annotate/new?run=cornwall", data=form)
    assert answer.status_code == 400
    assert "overlap" in answer.text
    assert 'value="rating.tone"' in answer.text
    nothing = client.post("/annotate/new?run=cornwall", data={"secret": SECRET})
    assert "needs to know what to ask" in nothing.text


def test_a_filter_that_finds_nothing_makes_no_queue(folder: Path) -> None:
    answer = client_of(folder).get("/annotate/new?run=cornwall&within=system%3Dnobody")
    for _ in range(200):
        if "eing computed" not in answer.text:
            break
        answer = client_of(folder).get("/annotate/new?run=cornwall&within=system%3Dnobody")
    assert answer.status_code == 400
    assert "matches: system is nobody" in answer.text
