"""The monitor serves intake and pages on one port, and keeps its worker running."""

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from ragstone.core.errors import InputError
from ragstone.monitor.intake.send_tokens import new_send_token, revoke_send_token
from ragstone.monitor.settings import read_settings
from ragstone.monitor.settings.monitor_settings import check_start
from ragstone.monitor.store.rows import last_lines
from ragstone.monitor.store.store import open_store
from ragstone.web.monitor_server import WorkerProcess, serve_monitor
from ragstone.web.security import ServerAddress
from tests.forked import COMMAND, Forked
from tests.waiting import until

EXAMPLE = json.dumps({"question": "Who?", "contexts": ["Ann did."], "answer": "Ann."}).encode()


@contextmanager
def started(store: Path, *arguments: str) -> Iterator[tuple[str, Forked]]:
    served = ("monitor", "serve", "--store", store, "--port", 0)
    process = Forked(COMMAND, *served, *arguments, cwd=Path.cwd())
    try:
        yield process.address(), process
    finally:
        process.kill()
        process.communicate()


def asked(address: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urlopen(Request(address, body, named)) as answer:
            return int(answer.status), answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def received(store: Path) -> int:
    opened = open_store(store)
    with opened.database.reading() as run:
        ((n,),) = run("SELECT count(*) FROM received")
    opened.close()
    return int(n)


def test_traces_and_screens_have_one_port_and_the_end_is_in_order(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with started(store, "--no-token") as (address, process):
        server = address.removesuffix("/monitor")
        assert asked(f"{server}/health")[0] == 200
        assert asked(f"{server}/v1/examples", EXAMPLE, content_type="application/json")[0] == 200
        assert asked(f"{server}/v1/examples", EXAMPLE, content_type="text/plain")[0] == 415
        assert "Monitor" in asked(address)[1]
        assert asked(f"{server}/v1/traces", b"", host="evil.example")[0] == 421
        assert asked(address, host="evil.example")[0] == 421
        assert asked(f"{server}/health", host="evil.example")[0] == 200
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate()
        assert process.returncode == 0
        assert len(out.splitlines()) == 1
    assert received(store) == 1
    opened = open_store(store)
    with opened.database.reading() as run:
        lines = [text for _, _, text in last_lines(run)]
    opened.close()
    assert lines[0] == "ragstone monitor serve ended."
    assert not [one for one in lines if "died" in one]


SENT = {"content_type": "application/json"}


def sends(server: str, token: str) -> int:
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    return asked(f"{server}/v1/examples", EXAMPLE, **SENT, **bearer)[0]


def test_the_owners_token_opens_screens_and_another_the_intake(tmp_path: Path) -> None:
    tokens = ("--token", "of-ours", "--send-token", "of-apps")
    with started(tmp_path, "--host", "0.0.0.0", *tokens) as (address, process):
        assert address.endswith("/monitor?token=of-ours")
        server, port = address.partition("/monitor")[0], urlsplit(address).port
        assert asked(f"{server}/monitor")[0] == 401
        assert asked(f"{server}/monitor", cookie=f"ragstone-token-{port}=of-ours")[0] == 200
        assert asked(f"{server}/monitor", cookie=f"ragstone-token-{port}=of-apps")[0] == 401
        assert [sends(server, one) for one in ("", "of-ours", "of-apps")] == [401, 401, 200]
        figures = [asked(f"{server}/metrics", authorization=f"Bearer {one}")[0]
                   for one in ("", "of-apps", "of-ours")]  # fmt: skip
        assert figures == [401, 401, 200]
        process.kill()
        out, err = process.communicate()
    assert out.splitlines()[1].endswith(" with the token of-apps")
    assert err.count("not encrypted") == 1


def test_other_machines_are_asked_for_tokens_that_are_made_and_printed(tmp_path: Path) -> None:
    with started(tmp_path, "--host", "0.0.0.0") as (address, process):
        server, _, owner = address.partition("/monitor?token=")
        process.kill()
        first, second = process.communicate()[0].splitlines()
    apps = second.rpartition(" ")[2]
    assert first.endswith(owner)
    assert min(len(owner), len(apps)) > 20
    assert owner != apps
    assert second.startswith("Apps send to http://")
    assert not server.endswith("/")


def test_on_this_machine_alone_apps_need_no_token_and_pages_do(tmp_path: Path) -> None:
    with started(tmp_path) as (address, _):
        server, _, owner = address.partition("/monitor?token=")
        assert len(owner) > 20
        assert asked(f"{server}/monitor")[0] == 401
        assert sends(server, "") == 200
        assert asked(f"{server}/metrics")[0] == 200


def test_who_wants_no_token_says_so(tmp_path: Path) -> None:
    with started(tmp_path, "--no-token") as (address, _):
        assert address.endswith("/monitor")
        assert asked(address)[0] == 200


def test_the_token_of_an_app_is_revoked_while_the_server_runs(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    shop, chat = (new_send_token(file, app) for app in ("shop", "chat"))
    with started(tmp_path / "store", "--send-tokens", str(file)) as (address, _):
        server = address.partition("/monitor")[0]
        assert [sends(server, one) for one in (shop, chat, "", "shop")] == [200, 200, 401, 401]
        revoke_send_token(file, "shop")
        assert [sends(server, one) for one in (shop, chat)] == [401, 200]
        again = new_send_token(file, "chat")
        assert [sends(server, one) for one in (chat, again)] == [401, 200]
        file.write_text("nonsense")
        assert sends(server, again) == 401
        file.unlink()
        assert [sends(server, one) for one in (again, "")] == [401, 401]


def test_faults_of_the_settings_are_told_before_anything_is_made(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[judging]\nmetrics = 3\n")
    with pytest.raises(InputError, match=r"rules\.toml:2"):
        serve_monitor(str(tmp_path / "store"), rules=rules)
    assert not (tmp_path / "store").exists()


def test_all_faults_of_the_options_are_told_at_once_and_nothing_is_made(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[judging]\nmetrics = 3\n")
    store = tmp_path / "store"
    with pytest.raises(InputError) as raised:
        serve_monitor(
            str(store),
            at=ServerAddress(70_000),
            send_tokens=tmp_path / "none",
            rules=rules,
            judge=["nosuch"],
            sample=2.0,
            tail=[tmp_path],
        )
    said = str(raised.value)
    for fault in (
        "rules.toml:2",
        "No judge is called 'nosuch'",
        "sample=2.0 is no probability from 0.05 to 1",
        f'tail="{tmp_path}" is a folder: name a file',
        f"{tmp_path / 'none'}: No such file or directory",
        "A port is from 0 to 65535, got 70000",
    ):
        assert said.count(fault) == 1
    assert not store.exists()


@pytest.mark.parametrize("sample", [2.0, float("nan"), -1.0, 0.01, float("inf")])
def test_a_sample_that_is_no_probability_is_refused(tmp_path: Path, sample: float) -> None:
    with pytest.raises(InputError, match=r"is no probability from 0\.05 to 1"):
        serve_monitor(str(tmp_path / "store"), at=ServerAddress(0), sample=sample)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("judge", ["nosuch", "", "nli:", "openai:gpt-x,lokal", "human:none.csv"])
def test_a_judge_that_there_is_not_is_refused(tmp_path: Path, judge: str) -> None:
    with pytest.raises(InputError, match=r"judge"):
        serve_monitor(str(tmp_path / "store"), at=ServerAddress(0), judge=[judge])


def test_a_model_whose_key_is_not_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    rules = tmp_path / "rules.toml"
    rules.write_text('[judging]\njudge = "anthropic:claude-x"\n')
    with pytest.raises(InputError, match="anthropic:claude-x needs a key: set ANTHROPIC_API_KEY"):
        serve_monitor(str(tmp_path / "store"), at=ServerAddress(0), rules=rules)


def test_a_port_that_is_taken_is_told_before_a_store_is_made(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(InputError, match=r"Name another port, or 0 for a free one\.$"),
    ):
        serve_monitor(str(tmp_path / "store"), at=ServerAddress(taken.getsockname()[1]))
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("host", ["nohost.invalid", "192.0.2.1", "a..b", ""])
def test_of_a_host_that_cannot_be_listened_on_another_host_is_asked_for(
    tmp_path: Path, host: str
) -> None:
    with pytest.raises(InputError, match=r"127\.0\.0\.1 for this machine alone") as raised:
        serve_monitor(str(tmp_path / "store"), at=ServerAddress(0, host))
    assert "port" not in str(raised.value)


def test_it_does_not_begin_without_the_secrets_that_the_settings_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SET", "s")
    monkeypatch.setenv("EMPTY", "")
    rules = tmp_path / "rules.toml"
    rules.write_text(
        """
        [write_back]
        url = "https://example.org/v1/logs"
        headers_from = { authorization = "SENT_BACK", other = "SET" }

        [[tell]]
        kind = "webhook"
        url_from = "WHERE_TO"
        secret_from = "EMPTY"
        headers_from = { authorization = "HEADER" }

        [[tell]]
        kind = "email"
        to = "a@example.org"
        from = "b@example.org"
        server = "example.org"
        user = "b"
        password_from = "LETTERS"
        """
    )
    with pytest.raises(
        InputError,
        match=r"rules\.toml: Not set .* SENT_BACK, WHERE_TO, EMPTY, HEADER, LETTERS\. Set",
    ):
        serve_monitor(str(tmp_path / "store"), rules=rules)
    assert not (tmp_path / "store").exists()


def test_a_budget_in_dollars_is_refused_while_nobody_knows_what_the_judge_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    rules = tmp_path / "rules.toml"
    model = "openai:of-our-own"
    budget = f'[judging]\nusd_an_hour = 1\njudge = ["local", "{model},openai:another"]\n'
    rules.write_text(budget)
    with pytest.raises(InputError, match=r"openai:of-our-own, openai:another costs") as refused:
        serve_monitor(str(tmp_path / "store"), rules=rules)
    assert f'["{model}"]' in str(refused.value)
    assert not (tmp_path / "store").exists()
    check_start(read_settings(rules).with_options(judges=("local",)))
    prices = "".join(f'["{one}"]\ninput = 1\noutput = 1\n' for one in (model, "openai:another"))
    (tmp_path / "prices.toml").write_text(prices)
    rules.write_text(budget + 'prices = "prices.toml"\n')
    check_start(read_settings(rules))


def test_prices_that_cannot_be_read_are_told_with_all_else_that_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("WHERE_TO", raising=False)
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[judging]\nusd_an_hour = 1\njudge = ["openai:of-our-own"]\nprices = "prices.toml"\n'
        '[[tell]]\nkind = "webhook"\nurl_from = "WHERE_TO"\n'
    )
    (tmp_path / "prices.toml").write_text("no table")
    with pytest.raises(InputError) as refused:
        check_start(read_settings(rules))
    said = str(refused.value)
    assert "OPENAI_API_KEY" in said
    assert "WHERE_TO" in said
    assert "prices.toml" in said


def test_a_file_that_is_named_to_be_followed_is_taken_in(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_bytes(EXAMPLE + b"\n")
    rules = tmp_path / "rules.toml"
    rules.write_text('[tail]\nfiles = ["answers.jsonl"]\n')
    store = tmp_path / "store"
    with started(store, "--rules", str(rules)):
        until(lambda: received(store))
        assert received(store) == 1


SLEEPS = [sys.executable, "-c", "import time\nwhile True: time.sleep(1)"]


def test_a_worker_that_dies_is_started_again_each_time_later() -> None:
    deaths: Queue[tuple[str, float, str]] = Queue()
    dies = [sys.executable, "-c", "import sys; sys.exit('what it wrote last')"]
    worker = WorkerProcess(dies, lambda *death: deaths.put(death), first=0.01)
    worker.start()
    first, second = deaths.get(timeout=60), deaths.get(timeout=60)
    worker.stop()
    assert first == ("it ended with status 1", 0.01, "what it wrote last")
    assert second[1] == 0.02


@pytest.mark.kill
def test_a_worker_that_is_killed_is_replaced() -> None:
    deaths: Queue[tuple[str, float, str]] = Queue()
    worker = WorkerProcess(SLEEPS, lambda *death: deaths.put(death), first=0.01)
    worker.start()
    until(lambda: worker.pid is not None)
    first = worker.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert deaths.get(timeout=60)[0] == "it was ended by SIGKILL"
    until(lambda: worker.pid not in (None, first))
    worker.stop()


def test_stopping_ends_the_worker_and_tells_of_no_death() -> None:
    deaths: Queue[tuple[str, float, str]] = Queue()
    worker = WorkerProcess(SLEEPS, lambda *death: deaths.put(death))
    worker.start()
    until(lambda: worker.pid is not None)
    worker.stop()
    assert worker.pid is None
    assert deaths.empty()


def test_a_worker_that_does_not_end_is_ended() -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    deaf += "print('deaf', flush=True)\nwhile True: time.sleep(1)"
    worker = WorkerProcess([sys.executable, "-c", deaf], lambda *_: None)
    worker.start()
    until(lambda: worker.pid is not None)
    worker.stop(patience=0.2)
    until(lambda: worker.pid is None)
