"""Judging batches: examples judged together and their results, and the anchors' rounds."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter

from ragstone.core.database import Sql

from .rows import count, counted, keep, remembered, rows_of, upsert
from .scores import NewScore, ScoredExample, ScoreSource, missing_score, write_scores

BATCH = "judging_batch"
HOUR = 3_600
MILLION = 1_000_000
JUDGED: tuple[ScoreSource, ...] = ("sample", "backfill")
MOST_TRIES = 3
# Seconds until an example that failed is judged again, and how much longer it is each time.
FIRST_WAIT, LONGER = 60.0, 10.0


@dataclass(frozen=True, slots=True)
class JudgingBatch:
    """Examples that are judged together."""

    id: str
    examples: Mapping[str, str]
    tries: int
    usd: float | None
    how: str


def spent(run: Sql, now: float) -> tuple[int, float]:
    """Return the answers that were judged within the last hour, and their cost in US dollars."""
    counts = counted(run, now - HOUR)
    answers = sum(counts.get(name, 0) for name in ("judged", "retried", "set_aside"))
    return answers, counts.get("micro_usd", 0) / MILLION


def current_batch(run: Sql) -> JudgingBatch | None:
    """Read the batch that is being judged."""
    batch = remembered(run, BATCH)
    return None if batch is None else JudgingBatch(**batch)


def keep_batch(run: Sql, batch: JudgingBatch | None) -> None:
    """Remember the batch that is being judged; None: there is none."""
    keep(run, BATCH, None if batch is None else asdict(batch))


def next_due(run: Sql, now: float, most: int) -> dict[str, str]:
    """Return examples to be judged next, with the hashes of their texts.

    Those at which a judge failed are judged among themselves, so that they hold up nobody.
    """
    oldest = "state = 'due' AND due_at <= ? ORDER BY due_at, example LIMIT 1"
    first = run(f"SELECT tries FROM draws WHERE {oldest}", now)
    if not first:
        return {}
    failed = "tries > 0" if first[0][0] else "tries = 0"
    rows = run(
        "SELECT d.example, d.text_hash FROM draws d JOIN examples e ON e.example = d.example "
        "AND e.text_hash = d.text_hash AND e.settled = 1 "
        f"WHERE d.state = 'due' AND d.due_at <= ? AND {failed} "
        "ORDER BY d.due_at, d.example LIMIT ?",
        now, most,
    )  # fmt: skip
    return dict(rows)


def records_of(run: Sql, examples: Mapping[str, str]) -> list[str]:
    """Return the records of examples whose texts have these hashes, as JSON."""
    which = "SELECT example, record, text_hash FROM examples WHERE example IN (...)"
    rows = rows_of(run, which, examples)
    records = {id: record for id, record, text_hash in rows if examples[id] == text_hash}
    return [records[id] for id in examples if id in records]


def write_judged(
    run: Sql,
    now: float,
    batch: JudgingBatch,
    scores: Sequence[NewScore],
    judgements: Mapping[str, str],
    failed: Collection[str],
    judge: str,
    usd: float | None,
    *,
    last: bool = False,
) -> None:
    """Keep what came of a batch, and that it is done.

    What was erased meanwhile stays so; what has another text by now goes on being due.

    Args:
        judgements: By example, as JSON.
        failed: Examples at which a judge failed, so that they are worth another try.
    """
    rows = rows_of(
        run,
        "SELECT d.example, d.text_hash, d.source, e.at, e.version, d.probability FROM draws d "
        "JOIN examples e ON e.example = d.example AND e.text_hash = d.text_hash "
        "WHERE d.example IN (...) AND d.state = 'due'",
        batch.examples,
    )
    sources, scored = dict[str, ScoreSource](), dict[str, ScoredExample]()
    for example, text_hash, source, at, version, probability in rows:
        if batch.examples[example] == text_hash:
            sources[example], scored[example] = source, (at, version, probability)
    judged = [
        (example, now, batch.examples[example], judge, judgements[example])
        for example in scored
        if example in judgements
    ]
    upsert(run, "judged", "example", "at, text_hash, judge, judgements", judged)
    for source in JUDGED:
        examples = {example: scored[example] for example, of in sources.items() if of == source}
        of_source = [score for score in scores if score.example in examples]
        write_scores(run, now, source, of_source, examples, JUDGED)
    done = [example for example in sources if example not in failed]
    rows_of(run, "UPDATE draws SET state = 'judged' WHERE example IN (...)", done)
    again = [example for example in sources if example in failed]
    set_aside = try_again(run, now, again, 1 if last else MOST_TRIES)
    counts = {"judged": len(done), "retried": len(again) - set_aside, "set_aside": set_aside}
    count(run, now, {**counts, "micro_usd": round((usd or 0.0) * MILLION)})
    keep_batch(run, None)


def try_again(run: Sql, now: float, examples: Collection[str], most: int = MOST_TRIES) -> int:
    """Let examples at which a judge failed wait for another try; gives how many had their last."""
    run.many(
        "UPDATE draws SET tries = tries + 1, due_at = ? + ? * (CASE tries WHEN 0 THEN 1.0 ELSE ? "
        "END), state = CASE WHEN tries + 1 >= ? THEN 'failed' ELSE 'due' END WHERE example = ?",
        [(now, FIRST_WAIT, LONGER, most, example) for example in examples],
    )
    failed = "SELECT 1 FROM draws WHERE example IN (...) AND state = 'failed'"
    return len(rows_of(run, failed, examples))


def tried_before(run: Sql) -> bool:
    """Tell whether something is due at which a judge failed before."""
    return bool(run("SELECT 1 FROM draws WHERE state = 'due' AND tries > 0 LIMIT 1"))


def shed(run: Sql, now: float, before: float, metrics: Sequence[str], why: str, most: int) -> int:
    """Give up what has been due since before a time: it is counted, and its scores are missing."""
    late = run(
        "SELECT d.example, d.source, e.at, e.version, d.probability FROM draws d "
        "JOIN examples e ON e.example = d.example WHERE d.state = 'due' AND d.due_at < ? "
        "ORDER BY d.due_at, d.example LIMIT ?",
        before, most,
    )  # fmt: skip
    for source in JUDGED:
        examples = {
            id: (at, version, probability)
            for id, drawn_for, at, version, probability in late
            if drawn_for == source
        }
        scores = [missing_score(id, metric, why) for id in examples for metric in metrics]
        write_scores(run, now, source, scores, examples, JUDGED)
    run.many("UPDATE draws SET state = 'shed' WHERE example = ?", [(id,) for id, *_ in late])
    count(run, now, {"shed": len(late)})
    return len(late)


def anchors(run: Sql) -> dict[str, str]:
    """Return the records of the set by their ids, as JSON."""
    return dict(run("SELECT example, record FROM anchors ORDER BY example"))


def draw_anchors(run: Sql, least: int, most: int, order: Callable[[str], float]) -> int:
    """Draw the set among what is judged, if that is enough; gives how many were drawn."""
    ids = [example for (example,) in run("SELECT example FROM judged")]
    if len(ids) < least:
        return 0
    drawn = sorted(ids, key=order)[:most]
    for id in drawn:
        run("INSERT INTO anchors SELECT example, record FROM examples WHERE example = ?", id)
    return len(drawn)


def last_round(run: Sql, now: float) -> float | None:
    """When the set was last judged; rounds of a clock that ran ahead do not count."""
    ((at,),) = run("SELECT max(at) FROM anchor_scores WHERE at <= ?", now)
    return None if at is None else float(at)


def write_round(
    run: Sql, now: float, values: Iterable[tuple[str, str, float | None]], judge: str
) -> None:
    """Keep what a judge says now of examples that are still in the set, by metric."""
    known = anchors(run)
    rows = [(example, metric, now, value, judge) for example, metric, value in values]
    rows = [row for row in rows if row[0] in known]
    run.many("INSERT INTO anchor_scores VALUES (?, ?, ?, ?, ?)", rows)


def anchor_scores(run: Sql) -> dict[str, list[list[float]]]:
    """Return for each metric the scores of each anchor that was judged more than once, in order."""
    rows = run(
        "SELECT metric, example, value FROM anchor_scores WHERE value IS NOT NULL "
        "ORDER BY metric, example, at"
    )
    by_metric: dict[str, list[list[float]]] = {}
    for (metric, _), scores in groupby(rows, itemgetter(0, 1)):
        values = [float(value) for *_, value in scores]
        if len(values) > 1:
            by_metric.setdefault(metric, []).append(values)
    return by_metric


def last_judgement_at(run: Sql) -> float | None:
    """Return when something was last judged."""
    ((at,),) = run("SELECT max(at) FROM judged")
    return None if at is None else float(at)
