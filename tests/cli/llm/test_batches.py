"""Runs in batches from the command line, each a process that may be killed."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.cli.runs import typed
from ragstone.core.files import RunEntry
from ragstone.data import cornwall
from tests.batch_provider import BatchProvider, long_ago, provider
from tests.forked import Forked
from tests.waiting import until

Process = Callable[..., Forked]
RunHere = Callable[..., tuple[int, str, str]]
Command = Callable[..., Any]


@pytest.fixture(params=["openai", "anthropic", "gemini"])
def there(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchProvider]:
    with provider(request.param) as made:
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made


@pytest.fixture
def evaluation(data: Path, metrics: Sequence[str], tmp_path: Path) -> Callable[..., list[object]]:
    """The words of the command."""

    def words(provider: BatchProvider, *more: object) -> list[object]:
        given = ("--judge", provider.judge, "--out", tmp_path / "run", "--batch", *more)
        return ["evaluate", data, *metrics, *given]

    return words


def ended(process: Forked) -> tuple[int | None, str, str]:
    out, err = process.communicate()
    return process.returncode, out, err


def test_a_run_goes_on_the_next_day(
    there: BatchProvider,
    process: Process,
    command: RunHere,
    evaluation: Callable[..., list[object]],
    tmp_path: Path,
) -> None:
    there.ready = False
    # Its own process, for the command line that it was typed with is kept.
    status, out, err = ended(process(*evaluation(there)))
    assert status == 5, err
    (name,) = there.made
    assert name in out
    assert "waits for 1 batch with" in err
    assert "is sent; no price is known" in err
    assert "--out" in out
    status, out, _ = command("batches", tmp_path / "run", "--json")
    assert status == 0
    told = json.loads(out)
    assert told["waiting"]
    assert [one["id"] for one in told["batches"]] == [name]
    assert told["next"].endswith("--batch")
    assert told["batches"][0]["questions"] == len(there.made[name].requests)
    there.ready = True
    status, out, err = command(*evaluation(there))
    assert status == 0, err
    assert set(there.paid.values()) == {1}
    assert there.creations == 2
    status, out, _ = command("batches", tmp_path / "run")
    assert "Nothing is waited for" in out


@pytest.mark.kill
def test_killed_between_the_upload_and_the_id_it_finds_its_batch(
    there: BatchProvider,
    process: Process,
    command: RunHere,
    evaluation: Callable[..., list[object]],
    tmp_path: Path,
) -> None:
    there.hang, there.ready = True, False
    killed = process(*evaluation(there))
    until(lambda: len(there.made) == 1)
    killed.kill()
    ended(killed)
    there.hang = False
    assert (tmp_path / "run" / RunEntry.BATCHES).exists()
    status, _, err = command(*evaluation(there))
    assert (status, there.creations) == (5, 1), err
    there.ready = True
    # A provider that tells no names is believed when its results are there.
    status, _out, err = command(*evaluation(there))
    assert status == 0, err
    assert there.creations == 2
    assert set(there.paid.values()) == {1}, "nothing is paid twice"


@pytest.mark.kill
def test_killed_before_the_batch_was_created_it_is_sent_again(
    there: BatchProvider,
    process: Process,
    command: RunHere,
    evaluation: Callable[..., list[object]],
    tmp_path: Path,
) -> None:
    there.hang_before = True
    killed = process(*evaluation(there))
    until(lambda: there.creations == 1)
    killed.kill()
    ended(killed)
    there.hang_before = False
    status, _, err = command(*evaluation(there))
    assert (status, there.creations) == (5, 1), err
    assert "looked for again" in err
    long_ago(tmp_path / "run")
    status, _out, err = command(*evaluation(there))
    assert status == 0, err
    assert set(there.paid.values()) == {1}


@pytest.mark.kill
def test_killed_while_it_polls_it_goes_on(
    there: BatchProvider,
    process: Process,
    command: RunHere,
    evaluation: Callable[..., list[object]],
) -> None:
    there.ready = False
    killed = process(*evaluation(there, "--batch-wait", 600))
    until(lambda: bool(there.made) and there.looks > 0)
    killed.kill()
    ended(killed)
    there.ready = True
    status, _, err = command(*evaluation(there))
    assert status == 0, err
    assert there.creations == 2
    assert set(there.paid.values()) == {1}


def calls_or_end(process: Forked, there: BatchProvider, count: int) -> None:
    """Wait until the provider has had so many calls, or the process has ended."""
    until(lambda: process.returncode is not None or len(there.calls) >= count)


@pytest.mark.kill
@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment_nothing_is_paid_twice(
    seed: int, process: Process, evaluation: Callable[..., list[object]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with provider(("openai", "anthropic", "gemini")[seed % 3]) as there:
        for name, value in there.environment.items():
            monkeypatch.setenv(name, value)
        for number in range(40):
            going = process(*evaluation(there))
            if number < 6:
                seen = len(there.calls) + (seed * 7 + number * 3) % 5
                calls_or_end(going, there, seen)
                going.kill()
                ended(going)
                if (tmp_path / "run" / RunEntry.BATCHES).exists():
                    long_ago(tmp_path / "run")
                continue
            status, _, err = ended(going)
            assert status in (0, 5), err
            if status == 0:
                break
            long_ago(tmp_path / "run")
        assert status == 0
        # A single question in flight when its process is killed may be asked again.
        assert sum(there.paid.values()) <= len(there.paid) + 6
        in_batches = [custom for one in there.made.values() for custom, _ in one.requests]
        keys = [custom.split("-")[0] for custom in in_batches]
        assert len(keys) == len(set(keys)), "no question is in two batches"


def test_a_signature_is_not_in_the_command_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["evaluate", "https://host/a.jsonl?sig=secret", "--judge", "http://host/v1#m?seed=2"]
    monkeypatch.setattr("sys.argv", ["ragstone", *words, "--qrels=s3://b/q?sig=secret"])
    said = typed()
    assert "secret" not in said
    assert "'http://host/v1#m?seed=2'" in said


def test_a_wrong_value_is_refused(
    ragstone: Command, evaluation: Callable[..., list[object]], tmp_path: Path
) -> None:
    outcome = ragstone("batches", tmp_path / "nosuch")
    assert outcome.status == 2
    assert "There is no run in" in outcome.err
    evaluate(cornwall(), metrics="token_f1", out=tmp_path / "other")
    outcome = ragstone("batches", tmp_path / "other")
    assert outcome.status == 2
    assert "has no batches" in outcome.err
    with provider("openai") as there:
        outcome = ragstone(*evaluation(there, "--batch-rest", "later"))
        assert outcome.status == 2
        assert "expected batch or alone" in outcome.err
        assert not there.calls


def test_the_expected_price_is_printed_before_it_is_sent(
    ragstone: Command, evaluation: Callable[..., list[object]], tmp_path: Path
) -> None:
    with provider("openai") as there:
        file = tmp_path / "prices.toml"
        file.write_text(f'["{there.judge}"]\ninput = 10\noutput = 100\n')
        there.ready = False
        outcome = ragstone(*evaluation(there, "--prices", file, "--no-cache"))
        assert outcome.status == 5
        assert "a batch of" in outcome.err
        assert "half the price of single questions" in outcome.err
        assert outcome.err.index("half the price") < outcome.err.index("waits for")
        shown = ragstone("batches", tmp_path / "run", "--as-known").out
        assert "$" in shown
        assert os.environ.get("OPENAI_API_KEY", "no key") not in shown
