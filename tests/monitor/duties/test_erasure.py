"""What is known of a session or a user goes, down to the bytes of the files."""

import json
from pathlib import Path

import pytest

from ragstone.annotation.queue.form import AskedLabel, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import FILE as LABELS
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError
from ragstone.data.traces.redaction import hashed_id
from ragstone.models.chat import ChatFailure
from ragstone.monitor.duties.draw_answers import draw_answers
from ragstone.monitor.duties.erasure import Erasure, erase
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.judge_answers import ANCHORS, Judging
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.batches import current_batch
from ragstone.monitor.store.rows import HEARTBEAT, keep, remembered
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.testing import ScriptedModel
from tests.clock import Clock
from tests.monitor.duties.arriving import receive, receive_answers, rows, spans_of_answer

SECRET = "the zebra crossing of Ouagadougou"
OTHER = "the lighthouse of Alexandria"
TABLES = (
    *("received", "traces", "examples", "facets", "assessed", "draws", "scores", "judged"),
    *("to_do", "anchors", "anchor_scores"),
)


def put(store: MonitorStore, clock: Clock, *, person: str = "u1") -> None:
    """A session of one user with a secret, and another one."""
    for number, text, session, user in (
        (1, SECRET, "s1", person),
        (2, SECRET, "s1", person),
        (3, OTHER, "s2", "u2"),
    ):
        about = {"session.id": session, "user.id": user}
        spans = spans_of_answer(
            number, answer=f"It is {text}.", question=f"Where is {text}?",
            passage=f"Here is {text}, which is large. " * 50, attributes=about,
        )  # fmt: skip
        receive(store, clock.at, *spans)


def follow(store: MonitorStore, clock: Clock, judge: ScriptedModel | None = None) -> None:
    Folding(store, now=clock).fold_all()
    check_answers(store, usual_guard(), clock)
    draw_answers(store, SamplingSettings(1.0), JudgingSettings(), clock)
    settings = JudgingSettings(("on_topic",) if judge else ("faithfulness",), ("local:strings",))
    Judging(store, settings, clock, judge).step()


def files_with(folder: Path, text: str) -> list[str]:
    """The files in which a text stands, as it is or in JSON."""
    wanted = text.encode()
    return [
        one.name
        for one in sorted(folder.rglob("*"))
        if one.is_file() and wanted in one.read_bytes()
    ]


@pytest.mark.parametrize("by", ["session", "user"])
def test_all_of_a_session_or_a_user_goes_and_nothing_else(store: MonitorStore, by: str) -> None:
    clock = Clock()
    put(store, clock)
    follow(store, clock)
    with store.database.transaction() as run:
        linked = [one for (one,) in run("SELECT example FROM examples ORDER BY example")]
        run(
            "INSERT INTO alarms (rule, slice, kind, state, since, fired_at, facts) VALUES "
            "('r', '', 'quality', 'firing', 0, 0, ?)",
            json.dumps({"examples": linked, "n": 3}),
        )
        run("INSERT INTO anchors SELECT example, record FROM examples")
        run.many(
            "INSERT INTO malformed (at, why, body) VALUES (0, 'x', ?)",
            [(b"of u1 in s1",), (b"of another",)],
        )
    gone = erase(store, session="s1" if by == "session" else None,
                  user="u1" if by == "user" else None, now=clock)  # fmt: skip
    assert (gone.traces, gone.examples, gone.malformed, gone.in_work) == (2, 2, 1, False)
    left = {table: rows(store, f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}
    assert left["received"] == left["traces"] == left["examples"] == left["judged"] == 1
    assert rows(store, "SELECT session FROM examples") == [("s2",)]
    assert rows(store, "SELECT count(DISTINCT example) FROM scores") == [(1,)]
    assert rows(store, "SELECT count(*) FROM anchors") == [(1,)]
    ((facts,),) = rows(store, "SELECT facts FROM alarms")
    ((kept,),) = rows(store, "SELECT example FROM examples")
    assert json.loads(facts) == {"examples": [kept], "n": 3}
    assert erase(store, session="s1", now=clock).traces == 0


def test_the_bytes_are_gone_from_every_file(tmp_path: Path) -> None:
    clock = Clock()
    store = open_store(tmp_path / "store")
    put(store, clock)
    follow(store, clock)
    put_to_people(store, OTHER, SECRET)
    half = store.folder / ANCHORS
    half.mkdir()
    (half / "examples.jsonl").write_text(SECRET, "utf-8")
    assert {LABELS, "monitor.sqlite"} <= {
        name.removesuffix("-wal") for name in files_with(store.folder, SECRET)
    }
    gone = erase(store, session="s1", now=clock)
    assert gone.labelled == 1
    assert files_with(store.folder, SECRET) == []
    assert {LABELS, "monitor.sqlite"} <= {
        name.removesuffix("-wal") for name in files_with(store.folder, OTHER)
    }
    store.close()


def put_to_people(store: MonitorStore, *texts: str) -> None:
    """A queue that shows an answer of each session."""
    ids = [one for (one,) in rows(store, "SELECT example FROM examples ORDER BY session DESC")]
    labels = open_labels(Path(store.place) / LABELS)
    part = ItemPart("answer")
    items = [
        (QueueItem(n, ids[n], {"question": "?", "answer": text}, (part,)), float(n), 1)
        for n, text in enumerate(texts)
    ]
    Queue.make(labels, QueueForm("q", (AskedLabel("helpful", "answer"),)), items)
    labels.close()


def test_a_half_judged_batch_goes_with_its_replies_unless_a_worker_has_it(
    store: MonitorStore,
) -> None:
    clock = Clock()
    put(store, clock)
    follow(store, clock, ScriptedModel(lambda _: ChatFailure("unreachable", "away")))
    with store.database.reading() as run:
        assert current_batch(run) is not None
    assert files_with(store.folder / "judging", SECRET)
    with store.database.transaction() as run:
        keep(run, HEARTBEAT, {"at": clock.at, "pid": 1})
    assert erase(store, user="nobody", now=clock).in_work is False
    with store.database.transaction() as run:
        keep(run, HEARTBEAT, {"at": clock.at - 120, "pid": 1})
    assert erase(store, user="u1", now=clock).in_work is False
    assert files_with(store.folder / "judging", SECRET) == []
    with store.database.reading() as run:
        assert current_batch(run) is None


def test_what_a_worker_has_at_this_moment_is_told_and_never_comes_back(store: MonitorStore) -> None:
    clock = Clock()
    put(store, clock)
    Folding(store, now=clock).fold_all()
    check_answers(store, usual_guard(), clock)
    draw_answers(store, SamplingSettings(1.0), JudgingSettings(), clock)
    with store.database.transaction() as run:
        keep(run, HEARTBEAT, {"at": clock.at, "pid": 1})
    found: list[Erasure] = []

    def script(_: object) -> str:
        if not found:
            found.append(erase(store, user="u1", now=clock))
        return "no JSON"

    Judging(store, JudgingSettings(("on_topic",)), clock, ScriptedModel(script)).step()
    assert found[0].in_work
    assert rows(store, "SELECT DISTINCT person FROM examples") == [("u2",)]
    clock.wait(61)
    Judging(store, JudgingSettings(("abstention",), ("local:strings",)), clock).step()
    assert rows(store, "SELECT count(DISTINCT example) FROM scores") == [(1,)]
    assert files_with(store.folder / "judging", SECRET) == []


def test_scores_that_come_after_are_not_passed_over_by_who_reads_them_by_number(
    store: MonitorStore,
) -> None:
    clock = Clock()
    put(store, clock)
    follow(store, clock)
    ((last,),) = rows(store, "SELECT max(number) FROM scores")
    with store.database.transaction() as run:
        run("INSERT INTO detectors VALUES ('r', '', '', '{}', ?, 'answers')", last)
        keep(run, "written_back", last)
    for user in ("u1", "u2"):
        erase(store, user=user, now=clock)
    receive_answers(store, clock.at, [7])
    follow(store, clock)
    ((through,),) = rows(store, "SELECT through FROM detectors")
    with store.database.reading() as run:
        sent = remembered(run, "written_back")
    new = rows(store, "SELECT number FROM scores WHERE example = "
               "(SELECT example FROM examples WHERE session IS NULL)")  # fmt: skip
    assert new
    assert min(number for (number,) in new) > max(through, sent)


def test_a_session_or_a_user_has_to_be_named(store: MonitorStore) -> None:
    with pytest.raises(InputError, match="session"):
        erase(store)


def test_a_user_whose_address_is_kept_as_a_hash_is_forgotten_by_the_address(
    store: MonitorStore,
) -> None:
    clock = Clock()
    put(store, clock, person=hashed_id("ann@example.org"))
    assert erase(store, user="ben@example.org", now=clock).examples == 0
    assert erase(store, user="ann@example.org", now=clock).examples == 2
    assert len(rows(store, "SELECT example FROM examples")) == 1
