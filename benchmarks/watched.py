"""A monitor watches the app of examples/watched: is anything lost, and when does the alarm come?

    python benchmarks/watched.py --data ../shared/data/rag_quality_mtrag/answers.jsonl.gz

Starts ``ragstone monitor serve``, sends answers to it by OpenTelemetry's own exporters in every way
(as protobuf and JSON, texts in spans and in logs alone, logs before their spans and after, spans
over two requests), half way with a bad deploy, waits until all are folded, checked and judged, and
prints what came of them. With ``--simulate 100 --n 5000`` no monitor is started: of so many runs,
seeded, with the example's own questions, scores and rules, it counts which deploys the first alarm
of each rule names, where those two versions are all and where there is another one every hour.
"""

import argparse
import importlib.util
import json
import random
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

from ragstone import evaluate
from ragstone.data import read
from ragstone.monitor.alarms.watch import watch
from ragstone.monitor.duties.periodic_steps import usual_guard
from ragstone.monitor.settings import MonitorSettings, read_settings
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.store.stored_alarms import WORSE, raised_alarms

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


Scored = dict[tuple[int, int], tuple[float | None, float]]


def pairs_scored(asked: list[Any]) -> Scored:
    """Faithfulness, and whether the guard lets it pass, of each question with each answer."""
    guard = usual_guard()
    records = [
        {"id": f"{at} {other}", "question": one.question, "answer": asked[other].answer,
         "contexts": [{"id": id, "text": text} for id, text in one.contexts]}
        for at, one in enumerate(asked) for other in range(len(asked))
    ]  # fmt: skip
    run = evaluate(records, metrics=["faithfulness"], judge="local")
    values = dict(run.scores().select("example_id", "value").iter_rows())
    return {
        (int(one.id.split()[0]), int(one.id.split()[1])): (
            values[one.id],
            float(guard.assess(one.question, one.answer or "", one.contexts).ok is True),
        )
        for one in read(records)
    }


def simulated(
    settings: MonitorSettings, scored: Scored, n: int, seed: int, every: float
) -> list[tuple[str, set[str]]]:
    """The versions that the first alarm of each rule names in one run."""
    rng = random.Random(seed)
    questions = max(at for at, _ in scored) + 1
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store")
        watch(store, settings, 0.0)
        rows, day = [], 24 * 3600.0
        for at in range(n):
            asked = other = rng.randrange(questions)
            if at >= n / 2 and rng.random() < 0.4:
                other = rng.randrange(questions)
            faithful, ok = scored[asked, other]
            when = day * at / n
            rows.append((f"e{at}", "guard_ok", when, when, ok, "value", "guard", 1.0, "guard"))
            drawn = settings.sampling.least
            if rng.random() < drawn and faithful is not None:
                rows.append((f"e{at}", "faithfulness", when, when, faithful, "value", "local",
                             drawn, "sample"))  # fmt: skip
        versions = [("v41", 0.0), ("v42", day / 2)]
        # Not at the hour, so that none goes out at the same time as v42.
        others = (every * (at + 0.5) for at in range(int(day / every))) if every else ()
        versions += [(f"other {at}", at) for at in others]
        with store.database.transaction() as run:
            run.many("INSERT INTO versions VALUES (?, ?)", versions)
            run.many(
                "INSERT INTO scores (example, metric, at, judged_at, value, status, judge, "
                "probability, source, reason, again) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0)",
                rows,
            )
        watch(store, settings, day)
        with store.database.reading() as run:
            alarms = sorted(raised_alarms(run, 100), key=lambda one: one.number)
        store.close()
    first = {one.rule: one for one in reversed(alarms) if one.kind == WORSE}
    return [(rule, {version for version, _ in one.facts["deploys"]}) for rule, one in first.items()]


def simulate(runs: int, n: int, asked: list[Any], rules: Path) -> None:
    """Print how often the deploy that went wrong is named, and how many are."""
    scored, settings = pairs_scored(asked), read_settings(rules)
    for what, every in (("two versions", 0.0), ("and one an hour", 3600.0)):
        named: dict[str, list[set[str]]] = {}
        for seed in range(runs):
            for rule, versions in simulated(settings, scored, n, seed, every):
                named.setdefault(rule, []).append(versions)
        for rule, sets in named.items():
            right = sum("v42" in one for one in sets)
            mean = sum(map(len, sets)) / len(sets)
            print(f"{what}: {rule} fired in {len(sets)} of {runs} runs, named v42 in {right}, "
                  f"{mean:.2f} deploys on average")  # fmt: skip


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--drop", type=float, default=0.4)
    parser.add_argument("--keep", type=Path, help="Store that stays, to be looked at.")
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--simulate", type=int, metavar="RUNS", help="So many runs on paper.")
    given = parser.parse_args()
    emit = emitting()
    asked = emit.asked_in(given.data or emit.CORNWALL)
    folder = Path(tempfile.mkdtemp(prefix="watched"))
    store_folder = given.keep or folder / "store"
    shutil.copy(EXAMPLE / "rules.toml", folder / "rules.toml")
    emit.write_corpus(asked, folder / "corpus.jsonl")
    if given.simulate:
        simulate(given.simulate, given.n, asked, folder / "rules.toml")
        return
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
