"""A monitor watches the app of examples/watched: is anything lost, and when does the alarm come?

    python benchmarks/watched.py --data ../shared/data/rag_quality_mtrag/answers.jsonl.gz

Starts ``ragstone monitor serve``, sends answers to it by OpenTelemetry's own exporters in every way
(as protobuf and JSON, texts in spans and in logs alone, logs before their spans and after, spans
over two requests), half way with a bad deploy, waits until all are folded, checked and judged, and
prints what came of them.
"""

import argparse
import importlib.util
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragstone.monitor.store.store import MonitorStore, open_store

EXAMPLE = Path(__file__).parents[1] / "examples" / "watched"
FOLLOWED = """
SELECT (SELECT count(DISTINCT trace) FROM received), (SELECT count(*) FROM examples),
       (SELECT count(*) FROM examples WHERE settled = 1), (SELECT count(*) FROM assessed),
       (SELECT count(*) FROM draws WHERE state = 'due'),
       (SELECT count(*) FROM draws WHERE state = 'judged')
"""
NAMES = ("traces", "examples", "settled", "assessed", "due", "judged")


def emitting() -> Any:
    """The module of the example that sends."""
    found = importlib.util.spec_from_file_location("watched_emit", EXAMPLE / "emit.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


def served(store: Path, rules: Path) -> tuple["subprocess.Popen[str]", str]:
    """A monitor, and its address."""
    command = [sys.executable, "-m", "ragstone", "monitor", "serve", "--store", str(store),
               "--port", "0", "--rules", str(rules)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    url = next(word for word in line.split() if word.startswith("http"))
    return process, url.partition("/monitor")[0]


def followed(store: MonitorStore) -> dict[str, int]:
    """How far the worker is."""
    with store.database.reading() as run:
        (row,) = run(FOLLOWED)
    return dict(zip(NAMES, row, strict=True))


def wait(store: MonitorStore, n: int, patience: float) -> dict[str, int]:
    """Until all is followed, or nothing has moved for so many seconds."""
    last, moved = followed(store), time.monotonic()
    while time.monotonic() - moved < patience:
        time.sleep(1)
        now = followed(store)
        if now != last:
            last, moved = now, time.monotonic()
            print(f"\r{now}", end="", flush=True)
        if now["assessed"] >= n and not now["due"] and now["judged"]:
            time.sleep(15)  # The alarms follow the last score.
            break
    print()
    return followed(store)


def alarms(store: MonitorStore) -> list[tuple[Any, ...]]:
    """Rule, slice, kind, state, since, fired_at and facts of each."""
    with store.database.reading() as run:
        return run("SELECT rule, slice, kind, state, since, fired_at, facts FROM alarms "
                   "ORDER BY number")  # fmt: skip


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--drop", type=float, default=0.4)
    parser.add_argument("--keep", type=Path, help="Store that stays, to be looked at.")
    parser.add_argument("--patience", type=float, default=60.0)
    given = parser.parse_args()
    emit = emitting()
    asked = emit.asked_in(given.data or emit.CORNWALL)
    folder = Path(tempfile.mkdtemp(prefix="watched"))
    store_folder = given.keep or folder / "store"
    shutil.copy(EXAMPLE / "rules.toml", folder / "rules.toml")
    emit.write_corpus(asked, folder / "corpus.jsonl")
    process, url = served(store_folder, folder / "rules.toml")
    store = open_store(store_folder)
    try:
        begun, end = time.monotonic(), time.time()
        for sent in emit.emit(asked, url, n=given.n, ways=emit.EVERY_WAY, drop=given.drop,
                              until=end):  # fmt: skip
            print(f"\r{sent:,} sent", end="", flush=True)
        took = time.monotonic() - begun
        print(f"\nacknowledged: {given.n:,} answers in {took:.0f} s, in {len(emit.EVERY_WAY)} ways")
        found = wait(store, given.n, given.patience)
        print(json.dumps(found))
        print(f"lost: {given.n - found['traces']}, without an example: "
              f"{found['traces'] - found['examples']}")  # fmt: skip
        dropped = end - 12 * 3600
        with store.database.reading() as run:
            texts = Counter(
                (bool(json.loads(record)["question"]), bool(json.loads(record)["answer"]),
                 bool((json.loads(record)["contexts"] or [{}])[0].get("text")))
                for (record,) in run("SELECT record FROM examples")
            )  # fmt: skip
            print("with question, answer, text of passages:", dict(texts))
            for metric in ("faithfulness", "guard_ok"):
                for name, low, high in (("before", 0.0, dropped), ("after", dropped, end)):
                    ((mean, n),) = run(
                        "SELECT avg(value), count(value) FROM scores WHERE metric = ? "
                        "AND at >= ? AND at < ?", metric, low, high,
                    )  # fmt: skip
                    print(f"{metric} {name} the deploy: {mean or 0:.3f} ({n:,} scores)")
        print(f"deploy: {_clock(dropped)}")
        for rule, slice, kind, state, since, fired, facts in alarms(store):
            print(rule, slice, kind, state, f"since {_clock(since)}, fired {_clock(fired)}", facts)
    finally:
        process.send_signal(signal.SIGTERM)
        print("exit status of the monitor:", process.wait(60))
        store.close()
        shutil.rmtree(folder, ignore_errors=True)


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


if __name__ == "__main__":
    main()
