"""The pages that hold the judge against people, and people against each other."""

import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from time import perf_counter, sleep
from typing import Any

import pytest

import ragstone
from ragstone.analysis import annotate
from ragstone.annotation.queue.form import ItemAnswers
from tests.web.conftest import client_of, settled

Get = Callable[[str], str]
WRONG = range(0, 40, 4)


def pier(number: int) -> dict[str, Any]:
    """The local judge finds fault with every fourth; people not with 4, but with 5."""
    length = 512 if number in WRONG else 90
    fault = (number in WRONG and number != 4) or number == 5
    return {
        "id": f"pier-{number}",
        "question_id": f"q{number}",
        "system": "a",
        "question": f"How long is pier {number}?",
        "contexts": [f"Pier {number} is 90 metres long.", "Gulls are loud."],
        "answer": f"Pier {number} is {length} metres long.",
        "labels": {
            "answer": {"unsupported_claim_present": fault},
            "tone": {"ann": 1 + number % 4, "ben": 1 + number % 3},
        },
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judged")
    rows = [pier(number) for number in range(40)]
    ragstone.evaluate(rows, metrics=["unsupported_claim"], judge="local", out=out / "piers")
    bare = [{**row, "labels": {}} for row in rows]
    ragstone.evaluate(bare, metrics=["unsupported_claim"], judge="local", out=out / "bare")
    copytree(out / "bare", out / "passport")
    ragstone.calibrate(ragstone.Run(out / "piers")).passport.write(out / "passport")
    copytree(out / "piers", out / "checked")
    ragstone.calibrate(ragstone.Run(out / "checked")).passport.write(out / "checked")
    return out


@pytest.fixture(scope="module")
def page(folder: Path) -> Get:
    client = client_of(folder)

    def get(path: str) -> str:
        end = perf_counter() + 60
        while "being computed" in (text := client.get(path).text) and perf_counter() < end:
            sleep(0.05)
        return text

    return get


def test_the_answer_comes_first_then_three_means_and_the_matrix(page: Get) -> None:
    text = page("/runs/piers/judge")
    assert "people to 25 %" in text
    assert text.index('id="verdict"') < text.index('id="corrected"') < text.index('class="cm"')
    assert 'aria-label="people no, judge yes: 1"' in text
    assert 'aria-label="people yes, judge yes: 9"' in text
    assert "<b>0.95</b>" in text  # 38 of 40 are the same word.
    assert "good for ranking, to be calibrated" in text


def test_a_cell_opens_its_answers(page: Get) -> None:
    text = page("/runs/piers/judge?cell=no-yes").partition('id="items"')[2]
    assert "/runs/piers/examples/pier-4" in text
    assert "/runs/piers/examples/pier-5" not in text


def test_without_a_cell_the_answers_that_differ_are_listed(page: Get) -> None:
    text = page("/runs/piers/judge").partition('id="items"')[2]
    assert "examples/pier-4" in text
    assert "examples/pier-5" in text
    assert "examples/pier-6" not in text


def test_without_labels_the_page_says_how_to_get_some(page: Get) -> None:
    text = page("/runs/bare/judge")
    assert "Not checked yet" in text
    assert "ragstone sample" in text
    assert "ragstone calibrate" in text


def test_a_run_that_labels_check_shows_the_badge_and_the_corrected_mean(page: Get) -> None:
    text = page("/runs/checked")
    assert "checked against people on unsupported_claim</a>" in text
    # The judge faults ten of forty, people nine of these and one other: 10 of 40 as well.
    assert re.search(r"<b>0\.250 \(0\.\d+ – 0\.\d+\) corrected by people</b>", text)
    assert "corrected by people</b>" not in page("/runs/piers")
    assert ">not checked against people</a>" in page("/runs/piers")
    assert "its judge_passport.json is for another judge or other data" in page("/runs/passport")


def test_a_passport_is_shown_where_the_labels_are_not(page: Get) -> None:
    text = page("/runs/passport/judge")
    assert "Its passport tells" in text
    assert "40 labelled answers" in text
    assert 'class="cm"' in text
    assert "cell=" not in text
    assert "holds" in text


def test_a_label_that_nobody_gave_is_not_there(page: Get) -> None:
    assert "There are: grounding.unsupported_claim_present" in page(
        "/runs/piers/judge?label=metric.mrr"
    )


def test_people_are_held_against_each_other(page: Get) -> None:
    text = page("/runs/piers/people")
    assert "Two or more people labelled 40 items" in text
    assert "<bdi>ann</bdi>" in text
    assert "<bdi>ben</bdi>" in text
    assert "Given by one annotator only" in text


def test_divided_items_are_listed_with_who_said_what(page: Get) -> None:
    text = page("/runs/piers/people?label=tone&divided=1").partition('id="divided"')[2]
    assert "examples/pier-3" in text  # 4 and 1.
    assert "examples/pier-1&" not in text
    assert 'examples/pier-1"' not in text  # 2 and 2.


def test_people_who_labelled_nothing_are_told_how_to(page: Get) -> None:
    assert "--annotators ann,ben" in page("/runs/bare/people")


def test_more_labels_than_fit_into_memory_are_left_to_the_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.web.pages.judge_view.MOST_LABELLED", 39)
    client = client_of(folder)
    while "being computed" in (text := client.get("/runs/piers/judge").text):
        sleep(0.05)
    assert "40 answers carry labels, more than this page measures" in text
    assert "ragstone calibrate" in text


def test_what_people_say_in_a_queue_counts_as_it_comes(folder: Path, tmp_path: Path) -> None:
    copytree(folder / "bare", tmp_path / "bare")
    client = client_of(tmp_path)
    assert "Let people label" in settled(client, "/runs/bare/judge")
    queue = annotate(
        tmp_path / "bare", tmp_path, asked=["unsupported_claim_present"], name="q", seed=1
    )
    queue.invite("ann")
    item = queue.next("ann")
    counts = []
    for at in range(24):
        assert item is not None
        said = "yes" if int(item.id.partition("-")[2]) in WRONG else "no"
        answers = ItemAnswers({("answer", ""): {"unsupported_claim_present": said}})
        item = queue.save("ann", item.item, answers, str(at))
        if at in (19, 23):
            text = settled(client, "/runs/bare/judge")
            counts.append((f"{at + 1} labels" in text, "labels in the queue q" in text))
    assert counts == [(True, True), (True, True)]
    assert "items still to label" in text


def test_of_queues_that_drew_apart_the_largest_counts(folder: Path, tmp_path: Path) -> None:
    copytree(folder / "bare", tmp_path / "bare")
    for name, size, n_labels in (("few", 30, 4), ("many", 36, 24), ("whole", 40, 1)):
        queue = annotate(
            tmp_path / "bare", tmp_path, asked=["unsupported_claim_present"], name=name, n=size
        )
        queue.invite("ann")
        item = queue.next("ann")
        for at in range(n_labels):
            assert item is not None
            said = "yes" if int(item.id.partition("-")[2]) in WRONG else "no"
            answers = ItemAnswers({("answer", ""): {"unsupported_claim_present": said}})
            item = queue.save("ann", item.item, answers, str(at))
    text = settled(client_of(tmp_path), "/runs/bare/judge")
    assert "labels in the queue many," in text
    assert "of the queue many alone: it and few and whole drew the same answers" in text
