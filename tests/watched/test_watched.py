"""The app of examples/watched is watched by a real monitor, in every way of sending."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.watched import emit
from ragstone.monitor.store.store import MonitorStore, open_store
from tests.availability import import_or_skip
from tests.forked import COMMAND, Forked
from tests.project import ROOT

import_or_skip("opentelemetry.exporter.otlp.proto.http")
FOLLOWED = """
SELECT (SELECT count(DISTINCT trace) FROM received), (SELECT count(*) FROM examples),
       (SELECT count(*) FROM examples WHERE settled = 1), (SELECT count(*) FROM assessed)
"""
PATIENCE = 120
"""Seconds; a busy machine is far below it."""
OF_EACH_WAY = 5


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[tuple[str, MonitorStore, Forked]]:
    rules, watched = tmp_path / "rules.toml", ROOT / "examples" / "watched" / "rules.toml"
    text = watched.read_text(encoding="utf-8")
    rules.write_text(text.replace("[judging]", '[judging]\nsettle = "1s"'), encoding="utf-8")
    emit.write_corpus(emit.asked_in(emit.CORNWALL), tmp_path / "corpus.jsonl")
    process = Forked(COMMAND, "monitor", "serve", "--store", tmp_path / "store", "--port", 0,
                     "--rules", rules, cwd=tmp_path)  # fmt: skip
    url = process.address().partition("/monitor")[0]
    store = open_store(tmp_path / "store")
    yield url, store, process
    store.close()
    process.kill()
    process.communicate()


def until_followed(store: MonitorStore, n: int) -> tuple[int, int]:
    """The traces and examples that are there, once the worker has assessed so many."""
    end = time.monotonic() + PATIENCE
    while True:
        with store.database.reading() as run:
            ((traces, examples, settled, assessed),) = run(FOLLOWED)
        if min(examples, settled, assessed) >= n:
            return traces, examples
        assert time.monotonic() < end, (traces, examples, settled, assessed)
        time.sleep(0.2)


def test_nothing_is_lost_however_it_is_sent(
    monitor: tuple[str, MonitorStore, Forked], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, store, process = monitor
    monkeypatch.setattr(emit, "BATCH", OF_EACH_WAY)
    asked = emit.asked_in(emit.CORNWALL)
    n = OF_EACH_WAY * len(emit.EVERY_WAY)
    assert [*emit.emit(asked, url, n=n, ways=emit.EVERY_WAY, drop=0.0)][-1] == n
    assert until_followed(store, n) == (n, n)
    sent = {(one.question, one.answer, one.contexts) for one in asked}
    with store.database.reading() as run:
        rows = run("SELECT record, session, version FROM examples")
    for text, session, version in rows:
        record = json.loads(text)
        contexts = tuple((one["id"], one["text"]) for one in record["contexts"])
        assert (record["question"], record["answer"], contexts) in sent
        assert session.startswith("session-")
        assert version in ("v41", "v42")
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 0
