"""``ragstone annotate`` makes a queue, serves it, and changes it while people label."""

import csv
import json
import re
import signal
import socket
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

import ragstone as package
from ragstone.annotation.queue.form import ItemAnswers
from ragstone.annotation.queue.labels_store import open_labels, person_of
from ragstone.annotation.queue.note_tags import QueueTags
from ragstone.annotation.queue.queue import Queue
from tests.forked import COMMAND, Forked
from tests.waiting import until

Command = Callable[..., Any]


@pytest.fixture(scope="module")
def sea(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> Path:
    run = tmp_path_factory.mktemp("sea") / "sea"
    package.evaluate(rows, metrics=["faithfulness"], out=run)
    return run


@pytest.fixture
def runs(sea: Path, tmp_path: Path) -> Path:
    copytree(sea, tmp_path / "runs" / "sea")
    return tmp_path / "runs"


@pytest.fixture
def serving() -> Iterator[Callable[..., dict[str, Any]]]:
    """Starts the command, and returns what it prints as JSON once it serves."""
    started = []

    def start(*arguments: object) -> dict[str, Any]:
        started.append(served(*arguments))
        return made(started[-1])

    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def served(*arguments: object) -> Forked:
    options = ("--no-browser", "--port", "0", "--json")
    return Forked(COMMAND, "annotate", *arguments, *options, cwd=Path.cwd())


def made(process: Forked) -> dict[str, Any]:
    """What the command prints as JSON once it serves."""
    until(lambda: process.printed().endswith("}\n") or process.returncode is not None)
    return dict(json.loads(process.printed()))


def test_a_queue_is_made_and_everybody_has_a_link_and_the_same_command_goes_on_with_it(
    runs: Path, serving: Callable[..., dict[str, Any]], ragstone: Command
) -> None:
    arguments = (runs / "sea", "--tasks", "grounding", "--annotators", "ann, ben",
                 "--overlap", ".5")  # fmt: skip
    found = serving(*arguments)
    assert found["queue"] == "sea-grounding"
    assert set(found["links"]) == {"ann", "ben"}
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    with browser.open(found["address"].replace("/annotate/sea-grounding/progress", "/")) as page:
        assert page.status == 200
    store = ("--labels", runs)
    (listed,) = ragstone("annotate", "list", *store, "--json").json["queues"]
    assert (listed["items"], listed["labelled"], listed["people"]) == (6, 0, 2)
    assert (listed["per_item"], listed["overlap"]) == (2, 0.5)
    again = serving(*arguments)
    assert (again["queue"], again["links"]) == ("sea-grounding", {})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            "--metric faithfulness --n 2",
            r" \d+ screens to answer, one for each part of 2 examples; --tog",
        ),
        (
            "--metric faithfulness --n 1",
            r" \d+ screens? to answer, one for each part of 1 example; --tog",
        ),
        ("--metric faithfulness --n 2 --together", r" 2 screens to answer\.\n"),
        ("--tasks grounding --n 2", r" 2 screens to answer\.\n"),
        (
            "--metric faithfulness --n 5000",
            r" \d+ screens to answer, one for each part of \d{1,3} examples; ",
        ),
    ],
)
def test_how_much_there_is_to_label_is_said_before_it_begins(
    options: str, words: str, runs: Path, ragstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.web.entry_points.view", lambda *_, **__: None)
    outcome = ragstone("annotate", runs / "sea", *options.split())
    assert re.search(words, outcome.out), outcome.out + outcome.err


def test_a_queue_is_gone_on_with_by_its_name_and_keeps_links(
    runs: Path, serving: Callable[..., dict[str, Any]]
) -> None:
    queue_of(runs).invite("ann")
    again = serving("q", "--labels", runs, "--annotators", "ann,ben")
    assert again["queue"] == "q"
    assert set(again["links"]) == {"ben"}


@pytest.mark.parametrize("people", ["ann,", "ann," + 100 * "x"])
def test_a_wrong_name_of_a_person_leaves_no_queue_behind(
    runs: Path, ragstone: Command, people: str
) -> None:
    outcome = ragstone("annotate", runs / "sea", "--tasks", "grounding", "--annotators", people)
    assert outcome.status == 2
    assert "A name has 1 to 80 characters" in outcome.err
    assert not (runs / "labels.sqlite").exists()


def test_instructions_that_are_no_text_are_refused(
    runs: Path, tmp_path: Path, ragstone: Command
) -> None:
    file = tmp_path / "picture.md"
    file.write_bytes(b"\xff\xfe\x00")
    outcome = ragstone("annotate", runs / "sea", "--label", "helpful", "--instructions", file)
    assert outcome.status == 2
    assert "is no text in UTF-8" in outcome.err
    assert not (runs / "labels.sqlite").exists()


def test_a_label_needs_a_name(runs: Path, ragstone: Command) -> None:
    outcome = ragstone("annotate", runs / "sea", "--label", "")
    assert outcome.status == 2
    assert "Name a label, such as helpful" in outcome.err


def test_making_another_queue_of_the_same_name_says_how_to_go_on(
    runs: Path, ragstone: Command
) -> None:
    queue_of(runs)
    outcome = ragstone("annotate", runs / "sea", "--label", "incomplete", "--name", "q")
    assert outcome.status == 2
    assert "`ragstone annotate q`" in outcome.err


@pytest.mark.parametrize("n", ["0", "-3"])
def test_a_running_queue_gives_out_one_example_or_more(
    runs: Path, ragstone: Command, n: str
) -> None:
    queue = queue_of(runs)
    outcome = ragstone("annotate", "extend", "q", "--n", n, "--labels", runs)
    assert outcome.status == 2
    assert f"--n {n} is not 1 or more" in outcome.err
    assert Queue(open_labels(runs), "q").form.most is None
    assert queue.to_come() == 6


def test_ctrl_c_ends_the_server_as_it_should(runs: Path) -> None:
    process = served(runs / "sea", "--label", "mood", "--name", "moods")
    queue = made(process)
    assert queue["queue"] == "moods"
    with build_opener(HTTPCookieProcessor(CookieJar())).open(queue["address"]):
        process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said) == (0, "")


def test_a_wrong_name_changes_nothing_of_a_running_queue(runs: Path, ragstone: Command) -> None:
    queue = queue_of(runs)
    before = queue.events()
    outcome = ragstone("annotate", "extend", "q", "--n", 2, "--annotators", "ben,",
                       "--labels", runs)  # fmt: skip
    assert outcome.status == 2
    assert queue.events() == before


def queue_of(runs: Path) -> Queue:
    from ragstone.analysis import annotate

    return annotate(runs / "sea", runs, asked=["helpful"], name="q", metric="faithfulness")


def label(queue: Queue, count: int) -> None:
    one = queue.next("ann")
    for _ in range(count):
        assert one is not None
        answers = ItemAnswers({("answer", ""): {"helpful": "yes"}})
        one = queue.save("ann", one.item, answers, str(one.item))


def test_a_running_queue_gets_more_people_labels_and_another_routing(
    runs: Path, ragstone: Command
) -> None:
    queue, store = queue_of(runs), ("--labels", runs)
    queue.invite("ann")
    label(queue, 2)
    changes = ("--n", 4, "--annotators", "ben", "--label", "response_type", "--route", "doubt")
    done = ragstone("annotate", "extend", "q", *changes, "--author", "me", *store, "--json").json
    assert done["asks"] == ["helpful", "response_type"]
    assert (done["examples"], done["route"], done["labelled"]) == (4, "doubt", 2)
    assert set(done["links"]) == {"ben"}
    made = [one["what"] for one in done["events"] if one["person"] == "me"]
    assert made == ["asked", "limited", "routed", "invited"]
    assert ragstone("annotate", "extend", "q", "--all", *store, "--json").json["items"] == 6


def test_a_link_is_ended(runs: Path, ragstone: Command) -> None:
    queue_of(runs).invite("ann")
    outcome = ragstone("annotate", "revoke", "q", "ann", "--labels", runs)
    assert outcome.status == 0
    assert "link ended" in outcome.out
    outcome = ragstone("annotate", "revoke", "q", "zoe", "--labels", runs)
    assert outcome.status == 2
    assert "zoe" in outcome.err


@pytest.fixture
def busy() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def test_a_busy_port_leaves_no_queue_and_no_new_link(
    runs: Path, ragstone: Command, busy: int
) -> None:
    outcome = ragstone("annotate", runs / "sea", "--tasks", "grounding", "--port", busy)
    assert (outcome.status, "cannot be used" in outcome.err) == (2, True)
    assert not (runs / "labels.sqlite").exists()
    queue = queue_of(runs)
    token = queue.invite("ann", "adjudicator")
    decide = ("annotate", "adjudicate", "q", "--name", "ann", "--labels", runs, "--port", busy)
    assert ragstone(*decide).status == 2
    assert person_of(open_labels(runs), token) is not None


def test_a_queue_is_named_with_its_store(runs: Path, tmp_path: Path, ragstone: Command) -> None:
    queue = queue_of(runs)
    queue.invite("ann")
    label(queue, 1)
    out, name = tmp_path / "out.csv", f"{runs / 'labels.sqlite'}#q"
    assert ragstone("annotate", "export", name, "--out", out).status == 0
    assert "helpful" in out.read_text()
    assert ragstone("annotate", "progress", name, "--json").json["labelled"] == 1
    assert ragstone("annotate", "revoke", f"{runs}#q", "ann").status == 0
    outcome = ragstone("annotate", "export", f"{name}2", "--out", tmp_path / "more.csv")
    assert (outcome.status, "'q2'" in outcome.err) == (2, True)


def test_labels_come_in_and_go_out(runs: Path, tmp_path: Path, ragstone: Command) -> None:
    queue_of(runs)
    given = tmp_path / "given.csv"
    given.write_text("id,annotator,helpful\npier-a,ann,1\npier-b,ben,0\nnone,ann,1\n")
    done = ragstone("annotate", "import", "q", given, "--labels", runs)
    assert done.out == "Took over 2 items of ann, ben; left out 1 row that q does not ask for.\n"
    out = tmp_path / "out.jsonl"
    assert ragstone("annotate", "export", "q", "--out", out, "--labels", runs).status == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {(row["id"], row["annotator"], row["helpful"]) for row in rows} == {
        ("pier-a", "ann", True), ("pier-b", "ben", False)
    }  # fmt: skip


def test_decisions_come_in_as_decisions_and_go_out_again(
    runs: Path, tmp_path: Path, ragstone: Command
) -> None:
    queue = queue_of(runs)
    given = tmp_path / "given.csv"
    given.write_text(
        "id,annotator,helpful,discard\npier-a,ann,1,\npier-a,adjudicator:cleo,0,\n"
        "pier-b,adjudicator:cleo,,in Welsh\n"
    )
    assert ragstone("annotate", "import", "q", given, "--labels", runs).status == 0
    assert ragstone("annotate", "import", "q", given, "--labels", runs).status == 0
    assert [(one.person, one.role, one.id) for one in queue.said()] == [
        ("ann", "annotator", "pier-a"),
        ("cleo", "adjudicator", "pier-a"),
        ("cleo", "adjudicator", "pier-b"),
    ]
    out = tmp_path / "out.jsonl"
    assert ragstone("annotate", "export", "q", "--out", out, "--labels", runs).status == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["id"], row["annotator"], row["discard"]) for row in rows] == [
        ("pier-a", "ann", None),
        ("pier-a", "adjudicator:cleo", None),
        ("pier-b", "adjudicator:cleo", "in Welsh"),
    ]


def test_tags_are_written_as_yes_and_no(runs: Path, tmp_path: Path, ragstone: Command) -> None:
    queue = queue_of(runs)
    queue.invite("ann")
    label(queue, 3)
    first, second, third = (one for one in queue.said())
    tags = QueueTags(open_labels(runs), queue)
    tags.add(first.item, "wrong date, =tone")
    tags.add(third.item, "wrong date")
    out = tmp_path / "tags.csv"
    done = ragstone("annotate", "export", "q", "--tags", "--out", out, "--labels", runs)
    assert done.out == f"2 tags of 3 examples: {out}\n"
    with out.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["id", "tag:=tone", "tag:wrong date"]
    assert {row[0]: row[1:] for row in rows} == {
        first.id: ["yes", "yes"], second.id: ["no", "no"], third.id: ["no", "yes"]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--tasks", "grounding"], "There is no nowhere"),
        (["list", "--labels", "nowhere"], "no store of labels nowhere"),
        (["progress", "nothing"], "nothing"),
        (["{runs}/sea"], "needs to know what to ask: --tasks grounding"),
        (["{runs}/sea", "--tasks", "groundin"], "Did you mean grounding"),
    ],
)
def test_what_is_not_there_is_told_with_the_next_step(
    runs: Path, ragstone: Command, arguments: list[str], said: str
) -> None:
    queue_of(runs)
    store = [] if "--labels" in arguments else ["--labels", runs]
    outcome = ragstone("annotate", *(one.format(runs=runs) for one in arguments), *store)
    assert outcome.status == 2
    assert said in outcome.err
