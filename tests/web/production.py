"""Production: a store with a day of answers, a bad deploy in it, and an alarm."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.core.database import Sql
from ragstone.core.messages import reason
from ragstone.data import as_record, cornwall, read
from ragstone.guard import Assessment, Checks, Guard
from ragstone.monitor.store.incoming import insert_malformed
from ragstone.monitor.store.rows import count, log
from ragstone.monitor.store.store import open_store

DAY, HOUR = 86_400.0, 3_600.0
DEPLOYED, WORSE, FIRED = 3.2 * HOUR, 2.6 * HOUR, 1.4 * HOUR
"""Seconds before now."""

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e"


def put(run: Sql, table: str, **values: object) -> None:
    """Insert a row."""
    marks = ", ".join("?" * len(values))
    run(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", *values.values())


def a_day(folder: Path, now: float, answers: int = 240, *, hostile: bool = False) -> None:
    """Fill a store with the answers of the bundled data, given within the day before ``now``.

    Args:
        folder: Of the store.
        now: Seconds since the epoch.
        answers: How many.
        hostile: Whether ids, names and texts try to be more than text.
    """
    rng = random.Random(1)
    guard = Guard(Checks(citations=False), deadline=60)
    known = [
        (one, guard.assess(one.question, one.answer, one.contexts)) for one in read(cornwall())
    ]
    bad = [one for one in known if one[1].ok is False]
    good = [one for one in known if one[1].ok is not False]
    store = open_store(folder)
    with store.database.transaction() as run:
        for at in range(answers):
            when = now - DAY + DAY * (at + rng.random()) / answers - 4
            fallen = when > now - DEPLOYED
            example, found = rng.choice(bad if rng.random() < (0.55 if fallen else 0.2) else good)
            names = {
                "id": f"{at:05d}",
                "version": "v42" if fallen else "v41",
                "session": f"chat-{at // 3}" if at % 5 < 3 else None,
            }
            facets = {"language": "de" if at % 3 else "en", "version": str(names["version"])}
            record = {**as_record(example), "id": names["id"], "system": "helpdesk"}
            if hostile:
                names = {key: f"{MARKUP}/?#%\n{value}" for key, value in names.items()}
                facets = {MARKUP: MARKUP, "version": str(names["version"])}
                record |= {"id": names["id"], "question": MARKUP + "W" * 300, "system": MARKUP}
                record["answer"] = MARKUP + str(record["answer"])
            answer(run, names, when, record, facets)
            assess(run, names, when, found)
            judge(run, names, when, found, rng, fallen=fallen)
        house(run, now, hostile=hostile)
    store.close()


def answer(
    run: Sql,
    names: Mapping[str, Any],
    at: float,
    record: Mapping[str, object],
    facets: Mapping[str, str],
) -> None:
    put(
        run,
        "examples",
        example=names["id"],
        trace=f"trace-{names['id']}",
        span="5a",
        at=at,
        folded_at=at + 11,
        settled=1,
        session=names["session"],
        person=None,
        version=names["version"],
        system=str(record["system"]),
        record=json.dumps(record),
        text_hash="",
        facts=json.dumps(
            {
                "model": "gpt-5-mini",
                "latency": 1.3999998569488525,
                "ended": 1795901694.1223073,
                "input_tokens": 812,
            }
        ),
    )
    for name, value in facets.items():
        put(run, "facets", example=names["id"], name=name, value=value)


def assess(run: Sql, names: Mapping[str, Any], at: float, found: Assessment) -> None:
    put(
        run,
        "assessed",
        example=names["id"],
        at=at + 12,
        text_hash="",
        ok=None if found.ok is None else int(found.ok),
        confidence=found.confidence,
        assessment=json.dumps(found.to_dict()),
    )
    if found.ok is not None:
        score(run, names, at, "guard_ok", float(found.ok), source="guard")
    if found.confidence is not None:
        score(run, names, at, "guard_confidence", found.confidence, source="guard")
    for one in found.checks:
        if one.status in ("passed", "failed"):
            passed = float(one.status == "passed")
            score(run, names, at, f"guard_{one.check}", passed, source="guard")


def judge(
    run: Sql,
    names: Mapping[str, Any],
    at: float,
    found: Assessment,
    rng: random.Random,
    *,
    fallen: bool,
) -> None:
    probability = 0.85 if (found.confidence or 1) < 0.5 else 0.25
    drawn = rng.random() < probability
    run(
        "INSERT INTO draws (example, at, probability, state, due_at, text_hash, source, tries) "
        "VALUES (?, ?, ?, ?, ?, '', 'sample', 0)",
        names["id"], at, probability, "judged" if drawn else "out", at,
    )  # fmt: skip
    if drawn:
        verdicts = [float(one.verdict == "supported") for one in found.judged] or [1.0]
        faithful = sum(verdicts) / len(verdicts) if fallen or rng.random() < 0.4 else 1.0
        score(run, names, at, "faithfulness", faithful, probability=probability)
        precise = min(1.0, max(0.0, rng.gauss(0.72, 0.2)))
        score(run, names, at, "context_precision", precise, probability=probability)


def score(
    run: Sql,
    names: Mapping[str, Any],
    at: float,
    metric: str,
    value: float,
    *,
    probability: float = 1.0,
    source: str = "sample",
) -> None:
    put(
        run,
        "scores",
        example=names["id"],
        metric=metric,
        at=at,
        judged_at=at + 15,
        value=value,
        status="value",
        reason="",
        label=None,
        judge="local",
        probability=probability,
        version=names["version"],
        source=source,
        again=0,
    )


def house(run: Sql, now: float, *, hostile: bool) -> None:
    """Counts, deploys, alarms, the log and what could not be read."""
    name = MARKUP if hostile else "faithfulness"
    put(run, "traces", trace="t", first_at=now - DAY, last_at=now - 4, rooted=1, waiting=0,
        through=1, content="there")  # fmt: skip
    for minute in range(0, 1440, 10):
        came = {"received": 40, "kept": 40, "spans": 40, "answers": 10}
        count(run, now - 60 * minute, {**came, "due": 3, "judged": 3, "content_there": 10})
    count(run, now - HOUR, {"refused": 2, "malformed": 3})
    put(run, "versions", version=MARKUP if hostile else "v41", first_at=now - 16 * HOUR)
    put(run, "versions", version="v42", first_at=now - DEPLOYED)
    said = MARKUP.encode() if hostile else b'{"name": "chat"}'
    insert_malformed(run, now - HOUR, [(reason("bad_span_id"), said)])
    put(
        run,
        "alarms",
        rule=name,
        slice=f"{name}={name}" if hostile else "",
        kind="worse",
        state="firing",
        since=now - WORSE,
        fired_at=now - FIRED,
        resolved_at=None,
        facts=json.dumps(
            {
                "metric": "faithfulness",
                "better": "+",
                "answers": 117,
                "bar": 0.75,
                "mean": 0.58,
                "deploys": [(name, now - DEPLOYED)],
            }
        ),
    )
    put(
        run,
        "alarms",
        rule="traffic",
        slice="",
        kind="no_data",
        state="resolved",
        since=now - 11 * HOUR,
        fired_at=now - 10.5 * HOUR,
        resolved_at=now - 10 * HOUR,
        facts="{}",
    )
    put(run, "told", alarm=1, channel=name, event="fired", at=now - FIRED, tries=1, state="done",
        error="")  # fmt: skip
    log(run, now - DAY, "info", "ragstone monitor serve began.")
    log(run, now - HOUR, "error", f"The worker died: {name}.")
