"""Commands with a judge behind a server: what is printed, and what outlives an end."""

import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.forked import Forked
from tests.waiting import until

Process = Callable[..., Forked]


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))


def scores(run: Path) -> list[Any]:
    return pl.read_parquet(run / "scores" / "000000.parquet").drop("shard").rows()


def test_a_run_prints_numbers_and_show_prints_how_they_came_about(
    ragstone: Any, server: Any, data: Path, metrics: Sequence[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    done = ragstone("evaluate", data, "--judge", server.judge, *metrics, "--out", run)
    assert done.status == 0, done.err
    assert f"judged by  {server.judge}" in done.out
    assert Counter(server.asked) == {
        "claims": 6, "agreement": 6, "statements": 3, "relevance": 3, "support": 6,
    }, "equal questions are asked once"  # fmt: skip
    shown = ragstone("show", run, "pier-a").out
    for words in ("Questions to models", "claims", "support", "1,000 tokens sent, 100 received"):
        assert words in shown
    assert "supported" in shown
    assert "==== " not in shown
    with_prompts = ragstone("show", run, "pier-a", "--with-prompts").out
    assert "# Task support" in with_prompts
    assert "==== " in with_prompts
    record = ragstone("show", run, "pier-a", "--json").json
    assert {call["task"] for call in record["calls"]} == {
        "claims", "statements", "relevance", "support", "agreement",
    }  # fmt: skip


def test_json_tells_what_the_calls_took(
    ragstone: Any, server: Any, data: Path, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(f'["{server.judge}"]\ninput = 1.0\noutput = 10.0\n')
    run = tmp_path / "run"
    ragstone(
        "evaluate", data, "--judge", server.judge, "-m", "mrr", "--prices", prices, "--out", run
    )
    manifest = ragstone("show", run, "--json").json
    assert manifest["signature"].count("plan:isolated") == 1
    with closing(sqlite3.connect(run / "journal.sqlite")) as journal:
        ((calls, usd),) = journal.execute("SELECT count(*), sum(usd) FROM attempts")
    assert calls == 3
    assert usd == pytest.approx(3 * (1_000 * 1.0 + 100 * 10.0) / 1e6)


def test_a_dry_run_sends_nothing(
    ragstone: Any, server: Any, data: Path, metrics: Sequence[str], tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(f'["{server.judge}"]\ninput = 1.0\noutput = 10.0\n')
    given = ("evaluate", data, "--judge", server.judge, *metrics, "--prices", prices, "--dry-run")
    told = ragstone(*given)
    assert told.status == 0
    assert server.asked == []
    assert "Nothing was sent" in told.out
    found = ragstone(*given, "--json").json
    assert found["total"]["calls"] == 21
    assert found["total"]["usd"] > 0
    assert {one["task"] for one in found["tasks"]} == {
        "claims", "statements", "relevance", "support", "agreement",
    }  # fmt: skip


def test_debug_prints_each_example_as_it_is_judged(
    process: Process, server: Any, data: Path, tmp_path: Path
) -> None:
    run = process(
        "evaluate", data, "--judge", server.judge, "-m", "faithfulness", "--debug",
        "--out", tmp_path / "run",
    )  # fmt: skip
    _, err = run.communicate()
    assert run.returncode == 0
    assert err.count("Questions to models") == 6
    assert "supported" in err


def test_a_key_in_the_environment_goes_to_its_server_alone(
    ragstone: Any, server: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    run = tmp_path / "run"
    ragstone("evaluate", data, "--judge", server.judge, "-m", "mrr", "--out", run)
    assert server.keys == {""}
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    ragstone(
        "evaluate",
        data,
        "--judge",
        "openai:m",
        "-m",
        "mrr",
        "--no-cache",
        "--out",
        tmp_path / "two",
    )
    assert server.keys == {"", "Bearer sk-secret-of-mine"}
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"sk-secret-of-mine" not in kept


def test_ctrl_c_waits_for_no_model_that_hangs_and_the_same_command_goes_on(
    process: Process, server: Any, data: Path, metrics: Sequence[str], tmp_path: Path
) -> None:
    given = ("evaluate", data, "--judge", server.judge, *metrics, "--out", tmp_path / "run")
    server.hang = True
    run = process(*given)
    until(lambda: server.open > 3)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate()
    assert run.returncode == 130
    assert "run the same command again" in err
    assert "Traceback" not in err
    server.hang = False
    again = process(*given)
    _, err = again.communicate()
    assert again.returncode == 0, err


@pytest.mark.kill
def test_after_kill_9_only_what_was_in_flight_is_sent_again(
    process: Process, server: Any, data: Path, metrics: Sequence[str], tmp_path: Path
) -> None:
    whole = process(
        "evaluate", data, "--judge", server.judge, *metrics, "--out", tmp_path / "whole",
        "--no-cache",
    )  # fmt: skip
    whole.communicate()
    calls = len(server.asked)
    server.asked.clear()
    server.wait = 0.05
    given = (
        "evaluate", data, "--judge", server.judge, *metrics, "--out", tmp_path / "run",
        "--concurrency", "2", "--no-cache",
    )  # fmt: skip
    for half in (calls // 3, 2 * calls // 3):
        run = process(*given)
        until(lambda half=half: len(server.asked) >= half)  # type: ignore[misc]
        run.kill()
        run.communicate()
    last = process(*given)
    _, err = last.communicate()
    assert last.returncode == 0, err
    assert len(server.asked) <= calls + 2 * 2
    assert scores(tmp_path / "run") == scores(tmp_path / "whole")


def test_a_run_that_fails_at_the_start_leaves_no_folder(
    ragstone: Any, data: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    done = ragstone(
        "evaluate", data, "--judge", "http://127.0.0.1:1/v1#m", "-m", "mrr", "--out", run
    )
    assert done.status == 2
    assert "Is it running?" in done.err
    assert not run.exists()


def test_new_metrics_are_scored_on_what_the_model_said(
    ragstone: Any, server: Any, data: Path, metrics: Sequence[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    ragstone("evaluate", data, "--judge", server.judge, *metrics, "--out", run)
    calls = len(server.asked)
    scored = ragstone(
        "score", run, "--metric", "hallucination", "--metric", "precision(k=2)", "--json"
    )
    assert scored.status == 0, scored.err
    assert len(server.asked) == calls
    found = {one["metric"]: one for one in scored.json["estimates"] if one["group"] == {}}
    assert found["hallucination"]["value"] == 0
    assert "prompts:claims@" in found["hallucination"]["signature"]


def test_a_criterion_in_a_sentence_is_an_option(
    ragstone: Any, server: Any, data: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    done = ragstone("evaluate", data, "--judge", server.judge, "--criterion", "Is it kind?",
                    "--yes-no", "Does it name a source?", "--out", run, "--json")  # fmt: skip
    assert done.status == 0, done.err
    assert {one["metric"] for one in done.json["estimates"]} == {
        'rating(criterion="is_it_kind", definition="Is it kind?")',
        'critique(aspect="does_it_name_a_source", definition="Does it name a source?")',
    }
    assert set(server.asked) == {"rating", "critique"}
