"""A window of what was seen becomes a data set that is evaluated."""

import json
from importlib import import_module
from pathlib import Path

import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.monitor import export
from ragstone.monitor.store import stored_examples
from ragstone.monitor.store.store import MonitorStore

from .stored import put_example


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_window_is_written_in_order_with_what_is_known(
    store: MonitorStore, tmp_path: Path
) -> None:
    put_example(
        store,
        "b",
        86_401.5,
        session="s",
        trace="t",
        span="x",
        facets={"version": "v42"},
        slices={"topic": "piers"},
        contexts=[{"id": "d1", "text": "It is 90 m.", "score": 0.5}],
    )
    put_example(store, "a", 86_400.0)
    put_example(store, "late", 90_000.0)
    put_example(store, "early", 1.0)
    n = export(store, tmp_path / "window.jsonl", since=86_400, until=90_000)
    first, second = lines(tmp_path / "window.jsonl")
    assert n == 2
    assert (first["id"], second["id"]) == ("a", "b")
    assert "session" not in first
    assert second["session"] == "s"
    assert second["slices"] == {"version": "v42", "topic": "piers"}
    assert second["meta"] == {"at": "1970-01-02T00:00:01.500000+00:00", "trace": "t", "span": "x"}
    (example,) = (one for one in ragstone.read(tmp_path / "window.jsonl") if one.id == "b")
    assert example.contexts is not None
    assert (example.contexts[0].id, example.contexts[0].score) == ("d1", 0.5)


def test_a_window_is_evaluated(store: MonitorStore, tmp_path: Path) -> None:
    put_example(store, "a", 1.0, contexts=["The pier is 90 m long."], answer="It is 90 m long.")
    put_example(store, "b", 2.0, contexts=["The pier is 90 m long."], answer="Tea grows in Assam.")
    export(store, tmp_path / "window.jsonl")
    folder = tmp_path / "runs" / "run"
    run = ragstone.evaluate(tmp_path / "window.jsonl", metrics="faithfulness", out=folder)
    modes = [one.stat().st_mode & 0o777 for one in (tmp_path / "window.jsonl", folder)]
    assert modes == [0o600, 0o700], "the texts of production are this user's alone"
    assert set(run.estimates()["n"]) == {2}


def test_many_are_read_page_by_page(
    store: MonitorStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_examples, "PAGE", 2)
    for at, id in enumerate("abcdefg"):
        put_example(store, id, float(at // 3))
    assert export(store, tmp_path / "all.jsonl") == 7
    assert "".join(str(one["id"]) for one in lines(tmp_path / "all.jsonl")) == "abcdefg"


def test_a_file_of_another_kind_and_a_window_without_time_are_refused(
    store: MonitorStore, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"window\.jsonl"):
        export(store, tmp_path / "window.csv")
    with pytest.raises(InputError, match="ends before it begins"):
        export(store, tmp_path / "window.jsonl", since=2, until=2)
    assert list(tmp_path.glob("window*")) == []


def test_the_function_is_offered_also_after_its_module_was_imported() -> None:
    import_module("ragstone.monitor.exports")
    assert ragstone.monitor.export is export
