"""A monitor watches the app of examples/watched: is anything lost, and when does the alarm come?

    python benchmarks/watched.py [--n 20000]

Starts ``ragstone monitor serve``, sends answers to it by OpenTelemetry's own exporters in every way
(as protobuf and JSON, texts in spans and in logs alone, logs before their spans and after, spans
over two requests), half way with a bad deploy, waits until all are folded, checked and judged, and
prints what came of them. The questions are MTRAG's where it lies beside the repository, else the
bundled demo's.
"""

import json
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from forks import COMMAND, Forked
from labelled import file_of
from measure import ROOT, run

from ragstone.monitor.store.store import MonitorStore, open_store

sys.path.append(str(ROOT))
from examples.watched import emit

RULES = ROOT / "examples" / "watched" / "rules.toml"
FOLLOWED = """
SELECT (SELECT count(DISTINCT trace) FROM received), (SELECT count(*) FROM examples),
       (SELECT count(*) FROM examples WHERE settled = 1), (SELECT count(*) FROM assessed),
       (SELECT count(*) FROM draws WHERE state = 'due'),
       (SELECT count(*) FROM draws WHERE state = 'judged')
"""
NAMES = ("traces", "examples", "settled", "assessed", "due", "judged")
DROP, PATIENCE = 0.4, 60.0
"""The share of wrong answers after the deploy; seconds without any change until it is given up."""


def served(folder: Path) -> tuple[Forked, str]:
    """A monitor with the rules and the store of a folder, and its address."""
    process = Forked(COMMAND, "monitor", "serve", "--store", folder / "store", "--port", 0,
                     "--rules", folder / "rules.toml", cwd=folder)  # fmt: skip
    return process, process.address().partition("/monitor")[0]


def followed(store: MonitorStore) -> dict[str, int]:
    """How far the worker is."""
    with store.database.reading() as query:
        (row,) = query(FOLLOWED)
    return dict(zip(NAMES, row, strict=True))


def wait(store: MonitorStore, n: int) -> Mapping[str, int]:
    """Until all is followed, or nothing has moved for a while."""
    last, moved = followed(store), time.monotonic()
    while time.monotonic() - moved < PATIENCE:
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


def main(n: int = 20_000) -> None:
    mtrag = file_of("MTRAG")
    asked = emit.asked_in(mtrag if mtrag.is_file() else emit.CORNWALL)
    with tempfile.TemporaryDirectory(prefix="watched") as temporary:
        folder = Path(temporary)
        shutil.copy(RULES, folder)
        emit.write_corpus(asked, folder / "corpus.jsonl")
        process, url = served(folder)
        store = open_store(folder / "store")
        try:
            begun, end = time.monotonic(), time.time()
            for sent in emit.emit(asked, url, n=n, ways=emit.EVERY_WAY, drop=DROP, until=end):
                print(f"\r{sent:,} sent", end="", flush=True)
            took = time.monotonic() - begun
            print(f"\nacknowledged: {n:,} answers in {took:.0f} s, in {len(emit.EVERY_WAY)} ways")
            counts = wait(store, n)
            print(json.dumps(counts))
            print(f"lost: {n - counts['traces']}, without an example: "
                  f"{counts['traces'] - counts['examples']}")  # fmt: skip
            report(store, end)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()
            print("exit status of the monitor:", process.returncode)
            store.close()


def report(store: MonitorStore, end: float) -> None:
    """Print what was stored, scores before and after the deploy, and the alarms."""
    dropped = end - 12 * 3600
    with store.database.reading() as query:
        records = [json.loads(record) for (record,) in query("SELECT record FROM examples")]
        texts = Counter(
            (bool(record["question"]), bool(record["answer"]),
             bool((record["contexts"] or [{}])[0].get("text")))
            for record in records
        )  # fmt: skip
        print("with question, answer, text of passages:", dict(texts))
        for metric in ("faithfulness", "guard_ok"):
            for name, low, high in (("before", 0.0, dropped), ("after", dropped, end)):
                ((mean, n),) = query(
                    "SELECT avg(value), count(value) FROM scores WHERE metric = ? "
                    "AND at >= ? AND at < ?", metric, low, high,
                )  # fmt: skip
                print(f"{metric} {name} the deploy: {mean or 0:.3f} ({n:,} scores)")
        print(f"deploy: {_clock(dropped)}")
        alarms = query("SELECT rule, slice, kind, state, since, fired_at, facts FROM alarms "
                       "ORDER BY number")  # fmt: skip
    for rule, slice, kind, state, since, fired, facts in alarms:
        print(rule, slice, kind, state, f"since {_clock(since)}, fired {_clock(fired)}", facts)


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


if __name__ == "__main__":
    run(main)
