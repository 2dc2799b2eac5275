"""Evaluate: examples in, judged and scored block by block, a run out."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import reduce
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from ragstone.errors import InputError, UnknownName
from ragstone.examples import Example, LabelRows, from_frame, read, read_labels, with_labels
from ragstone.judgements import ASKS, KINDS, MISSING, UNDEFINED, VALUE, Tables
from ragstone.judges import JUDGES, LEDGER, Judge, parse_judges
from ragstone.judges.local.judge import PARTS as LOCAL_PARTS
from ragstone.metrics import (
    QUICK,
    QUICK_METRICS,
    SUITES,
    Composite,
    Metric,
    needed_asks,
    parse_metric,
    score,
)

from .estimates import Provenance, estimate_metric
from .folder import Folder, write_json
from .judging import Judged, judge_block, resolve
from .quick import candidates, choose
from .run import Run

VERSION = version("ragstone")

FIRST_BLOCK = 1_000
LARGEST_BLOCK = 20_000
QUICK_BLOCK_SECONDS = 2.0
"""A block that took less than this is followed by one of twice its size."""

LEVEL = 0.95
STATUS_NAMES = {VALUE: "value", UNDEFINED: "undefined", MISSING: "missing"}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``fraction`` from 0 to 1, None where the whole is not known."""

    stage: str
    examples: int
    fraction: float | None


Report = Callable[[Progress], None]


@dataclass(slots=True)
class _Tally:
    """What is counted while blocks go by."""

    examples: int = 0
    said: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, size: int, ledger: pl.DataFrame) -> None:
        self.examples += size
        counted = ledger.group_by("ask", "judge", "status").len()
        for ask, judge, status, count in counted.iter_rows():
            self.said[ask, judge, status] += count


def evaluate(
    data: Any,
    *,
    metrics: Sequence[str | Metric] = (),
    suites: Sequence[str] = (),
    judges: Sequence[str] = (),
    by: Sequence[str] = (),
    cluster: str = "question_id",
    out: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    qrels: str | Path | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    progress: Report | None = None,
) -> Run:
    """Judge examples, score them, and keep everything in a run folder.

    Args:
        data: A path, an iterable of mappings or examples, or a pandas, Polars or
            Arrow table; see ``ragstone.read``.
        metrics: Metrics or their text forms, such as ``precision(k=5)``.
        suites: Names of suites. With neither, ``quick``: what the data and the
            judges allow.
        judges: Who judges, in order: ``local``, ``human``, ``human:FILE``. None:
            the labels in the data, and ``local`` for the rest.
        by: Fields to group by; ``system`` always is one.
        cluster: The field whose equal values share their fate in every interval.
        out: The run folder. It goes on if it holds a run of the same data and
            settings. None: a temporary folder.
        columns: Ragstone's field names to the data's.
        qrels: Judged ids for a TREC run.
        skip_bad: Leave bad records out and keep them beside the run.
        limit: Read so many examples at the most.
        progress: Called after each block.

    Raises:
        DataError: Records that cannot be read, all of them.
        InputError: Unknown metrics, judges, suites or fields; a run folder that
            holds something else.
    """
    panel = parse_judges(judges)
    asked = _asked(metrics, suites)
    examples = read(
        data,
        columns=columns or {},
        skip_bad=skip_bad,
        limit=limit,
        qrels=None if qrels is None else Path(qrels),
    )
    label_files = [read_labels(path) for path in panel.label_files]
    settings = {
        "ragstone": VERSION,
        "data": examples.fingerprint(),
        "labels": [str(path) for path in panel.label_files],
        "metrics": [str(metric) for metric in asked.metrics],
        "suites": list(asked.suites),
        "judges": [judge.name for judge in panel.judges],
        "by": list(by),
        "cluster": cluster,
        "columns": dict(columns or {}),
        "limit": limit,
        "skip_bad": skip_bad,
    }
    temporary = TemporaryDirectory(prefix="ragstone-") if out is None else None
    folder = Folder(Path(temporary.name) / "run" if temporary else Path(out or ""))
    existed = folder.path.exists()
    held = folder.prepare(settings)
    if held.get("finished"):
        return Run(folder.path, temporary)
    started = time.perf_counter()
    work = _Work(folder, settings, asked, panel.judges, by, cluster)
    try:
        work.go_on(held)
        stream = _labelled(iter(examples), label_files)
        for _ in work.blocks(stream, lambda: _fraction(examples), progress):
            pass
    except InputError:
        if not existed:
            folder.drop()
        raise
    data_facts = {
        "source": examples.source,
        "format": examples.format,
        "fingerprint": settings["data"],
        "rejected": len(examples.rejected),
        "label_violations": len(examples.label_violations),
    }
    _write_lines(folder.path / "rejected.jsonl", [
        {"line": one.line, "record": one.record, "faults": [str(fault) for fault in one.faults]}
        for one in examples.rejected
    ])  # fmt: skip
    _write_lines(folder.path / "label_violations.jsonl", [
        {"example_id": one.id, "rule": one.rule, "severity": one.severity, "where": one.where}
        for one in examples.label_violations
    ])  # fmt: skip
    work.finish(data_facts, started, progress)
    return Run(folder.path, temporary)


def rescore(
    run: str | Path,
    *,
    metrics: Sequence[str | Metric] = (),
    suites: Sequence[str] = (),
    by: Sequence[str] | None = None,
    cluster: str | None = None,
    progress: Report | None = None,
) -> Run:
    """Score new metrics on the judgements of a finished run; no judge is asked.

    The new scores and estimates are added to the run's. Without metrics and
    suites the run's own are estimated again, as for another ``by``.

    Raises:
        InputError: Not a finished run, or unknown metrics, suites or fields.
    """
    opened = Run.open(run)
    settings = dict(opened.manifest["settings"])
    asked = _asked(metrics, suites, default=())
    old = [parse_metric(name) for name in opened.manifest["metrics"]]
    wanted = list({str(metric): metric for metric in [*old, *asked.metrics]}.values())
    settings["by"] = list(settings["by"] if by is None else dict.fromkeys([*settings["by"], *by]))
    settings["cluster"] = cluster or settings["cluster"]
    started = time.perf_counter()
    folder = Folder(Path(run))
    fresh = Folder(folder.path / "rescored")
    fresh.drop()
    (fresh.path / "parts").mkdir(parents=True)
    suites_of_all = list(dict.fromkeys([*settings["suites"], *asked.suites]))
    work = _Work(
        fresh,
        settings | {"suites": suites_of_all},
        Asked(wanted, tuple(suites_of_all)),
        JUDGES,
        settings["by"],
        settings["cluster"],
    )
    work.chosen = wanted
    work.tally.said.update(
        {(ask, judge, status): count for ask, judge, status, count in opened.manifest["judged"]}
    )
    try:
        for number, (examples, judged) in enumerate(_stored_blocks(folder)):
            work.keep(number, examples, judged, stored=True)
            if progress:
                total = int(opened.manifest["data"]["examples"])
                progress(Progress("scoring", work.tally.examples, work.tally.examples / total))
        work.finish(dict(opened.manifest["data"]), started, progress)
        for name in ("scores.parquet", "estimates.json", "run.json"):
            (fresh.path / name).replace(folder.path / name)
    finally:
        fresh.drop()
    return Run(folder.path)


@dataclass(frozen=True, slots=True)
class Asked:
    """The metrics that were asked for by name, and the suites."""

    metrics: list[Metric]
    suites: tuple[str, ...]


def _asked(
    metrics: Sequence[str | Metric], suites: Sequence[str], default: tuple[str, ...] = (QUICK,)
) -> Asked:
    chosen = [one if isinstance(one, Metric) else parse_metric(one) for one in metrics]
    names = tuple(suites) or (() if chosen else default)
    for name in names:
        if name == QUICK:
            continue
        if name not in SUITES:
            raise UnknownName("suite", name, [QUICK, *SUITES], hint="ragstone metrics --suite")
        chosen += SUITES[name].metrics()
    return Asked(list({str(metric): metric for metric in chosen}.values()), names)


class _Work:
    """One pass over the blocks of a run."""

    def __init__(
        self,
        folder: Folder,
        settings: Mapping[str, Any],
        asked: Asked,
        judges: Sequence[Judge],
        by: Sequence[str],
        cluster: str,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.asked = asked
        self.judges = judges
        self.by = [name for name in dict.fromkeys(by) if name != "system"]
        self.cluster = cluster
        self.chosen: list[Metric] | None = None
        self.tally = _Tally()

    def go_on(self, held: Mapping[str, Any]) -> None:
        """Take up a run where it was stopped, or begin one."""
        if held.get("metrics"):
            self.chosen = [parse_metric(name) for name in held["metrics"]]
        if not held:
            self._write(finished=False)

    def blocks(
        self,
        examples: Iterator[Example],
        fraction: Callable[[], float | None],
        progress: Report | None,
    ) -> Iterable[int]:
        """Judge and score what has not been, block by block."""
        done = [pl.read_parquet(part / "ledger.parquet") for part in self.folder.parts()]
        sizes = [
            pl.scan_parquet(part / "facets.parquet").select(pl.len()).collect().item()
            for part in self.folder.parts()
        ]
        for size, ledger in zip(sizes, done, strict=True):
            self.tally.add(size, ledger)
            for _ in islice(examples, size):
                pass
        number, size = len(sizes), FIRST_BLOCK
        while block := list(islice(examples, size)):
            began = time.perf_counter()
            self._check_fields(block)
            self.keep(number, block, judge_block(block, self.judges, self._asks()))
            if time.perf_counter() - began < QUICK_BLOCK_SECONDS:
                size = min(2 * size, LARGEST_BLOCK)
            if progress:
                progress(Progress("judging", self.tally.examples, fraction()))
            number += 1
            yield number

    def keep(
        self, number: int, examples: Sequence[Example], judged: Judged, *, stored: bool = False
    ) -> None:
        """Score a judged block and keep it."""
        scores = score(judged.tables, self._metrics(judged))
        requested = [str(metric) for metric in self.chosen or ()]
        block = pl.lit(number, pl.UInt32).alias("block")
        keys = judged.tables.examples.select("id", "question_id", "system").rename(
            {"id": "example_id"}
        )
        long = pl.concat(
            [
                pl.concat([keys, scores[name]], how="horizontal").select(
                    "example_id", "question_id", "system", pl.lit(name).alias("metric"),
                    "value", "label",
                    pl.col("status").replace_strict(STATUS_NAMES, return_dtype=pl.String),
                    "reason", block,
                )
                for name in requested
            ]
        )  # fmt: skip
        tables = {"scores": long, "facets": self._facets(examples, scores)}
        if not stored:
            tables["examples"] = judged.tables.examples.with_columns(block)
            tables["ledger"] = judged.ledger.join(
                keys.with_row_index("row").select("row", "example_id"), on="row", how="left"
            ).select("example_id", *(name for name in LEDGER if name != "row"), block)
            by_kind: dict[str, list[pl.DataFrame]] = {}
            for ask, rows in judged.rows.items():
                if rows.height:
                    kept = rows.with_columns(block, ask=pl.lit(ask))
                    by_kind.setdefault(ASKS[ask].kind, []).append(kept)
            tables |= {kind: pl.concat(frames) for kind, frames in by_kind.items()}
        self.folder.add_part(number, tables)
        self.tally.add(len(examples), judged.ledger if not stored else judged.ledger.clear())

    def finish(self, data: Mapping[str, Any], started: float, progress: Report | None) -> None:
        """Estimate, and put the run's tables together."""
        if progress:
            progress(Progress("estimating", self.tally.examples, None))
        estimates = [one.to_dict() for one in self._estimates(str(data["fingerprint"]))]
        self.folder.join_parts()
        write_json(self.folder.path / "estimates.json", estimates)
        self._write(
            finished=True,
            data={**data, "examples": self.tally.examples},
            seconds=round(time.perf_counter() - started, 3),
        )

    def _metrics(self, judged: Judged) -> list[Metric]:
        """What to score; on the first block of a quick run, what it allows is settled."""
        if self.chosen is not None:
            return [*self.chosen, *self._components(self.chosen)]
        asked = list(self.asked.metrics)
        if QUICK in self.asked.suites:
            optional = candidates(QUICK_METRICS)
            scores = score(judged.tables, optional)
            asked += choose(optional, scores, judged)
        self.chosen = list({str(metric): metric for metric in asked}.values())
        if not self.chosen:
            raise InputError(
                "Nothing can be measured: the data has no contexts, answers with references, or "
                "labels that a metric could use. ragstone metrics says what each one needs."
            )
        self._write(finished=False)
        return [*self.chosen, *self._components(self.chosen)]

    def _asks(self) -> list[str]:
        if self.chosen is not None:
            return needed_asks(self.chosen)
        optional = candidates(QUICK_METRICS) if QUICK in self.asked.suites else []
        return needed_asks([*self.asked.metrics, *optional])

    def _components(self, metrics: Sequence[Metric]) -> list[Metric]:
        return [
            parse_metric(name)
            for metric in metrics
            if isinstance(metric, Composite) and metric.over_means
            for name, _ in metric.terms
        ]

    def _facets(
        self, examples: Sequence[Example], scores: Mapping[str, pl.DataFrame]
    ) -> pl.DataFrame:
        """What each example is grouped and clustered by, and component scores to combine."""
        columns: dict[str, Any] = {"system": [one.system for one in examples]}
        for name in self.by:
            columns[name] = [one.facet(name) or "(none)" for one in examples]
        columns["cluster"] = [one.facet(self.cluster) or f"\0{one.id}" for one in examples]
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        frame = frame.with_columns(pl.col("cluster").hash(seed=0))
        for metric in self._components(self.chosen or ()):
            name = str(metric)
            frame = frame.with_columns(
                scores[name]["value"].alias(f"value {name}"),
                scores[name]["status"].alias(f"status {name}"),
            )
        return frame

    def _check_fields(self, block: Sequence[Example]) -> None:
        """A field to group by that no example of the first block has is a mistake."""
        if self.tally.examples:
            return
        for name in [*self.by, self.cluster]:
            if all(example.facet(name) is None for example in block):
                known = sorted({key for one in block[:100] for key in (*one.slices, *one.meta)})
                raise InputError(
                    f"No example has a field {name!r} to group by. There are: "
                    f"{', '.join(['system', 'question_id', *known])}."
                )

    def _estimates(self, fingerprint: str) -> Iterator[Any]:
        facets_table = self.folder.scan("facets")
        scores_table = self.folder.scan("scores")
        if facets_table is None or scores_table is None:
            return
        facets = facets_table.collect()
        groups = facets.select("system", *self.by, "cluster")
        provenance = Provenance(VERSION, fingerprint, self._who(), self.cluster)
        codes = {name: code for code, name in STATUS_NAMES.items()}
        for metric in self.chosen or ():
            scores = (
                scores_table.filter(pl.col("metric") == str(metric))
                .select(
                    "value", "label",
                    pl.col("status").replace_strict(codes, return_dtype=pl.UInt8), "reason",
                )
                .collect()
            )  # fmt: skip
            components = None
            if isinstance(metric, Composite) and metric.over_means:
                components = {
                    name: facets.select(
                        value=f"value {parse_metric(name)}", status=f"status {parse_metric(name)}"
                    )
                    for name, _ in metric.terms
                }
            yield from estimate_metric(
                metric, scores, groups, self.by, provenance, level=LEVEL, components=components
            )

    def _who(self) -> dict[str, str]:
        """For each ask, which judges' words count and in what share."""
        shares: dict[str, dict[str, int]] = {}
        for (ask, judge, status), count in self.tally.said.items():
            if status == "ok":
                shares.setdefault(ask, {})[judge] = count
        who = {}
        for ask, counts in shares.items():
            total = sum(counts.values())
            names = [
                name if len(counts) == 1 else f"{name} {count / total:.0%}"
                for name, count in sorted(counts.items(), key=lambda item: -item[1])
            ]
            who[ask] = "+".join(names)
        return who

    def _write(
        self, *, finished: bool, data: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> None:
        asks = {ask for ask, _, _ in self.tally.said}
        local = any(judge == "local" for _, judge, _ in self.tally.said)
        names = "+".join(dict.fromkeys(judge for _, judge, _ in sorted(self.tally.said)))
        signature = (
            f"data:{str(self.settings['data'])[:12]}|judges:{names or 'none'}"
            f"{'|local:' + ','.join(LOCAL_PARTS) if local else ''}"
            f"|cluster:{self.cluster}|ragstone:{VERSION}"
        )
        self.folder.write_manifest(
            {
                "ragstone": VERSION,
                "polars": pl.__version__,
                "finished": finished,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "signature": signature,
                "settings": dict(self.settings),
                "data": dict(data or {}),
                "metrics": [str(metric) for metric in self.chosen or ()],
                "suites": list(self.asked.suites),
                "judges": [
                    {
                        "name": judge.name,
                        "about": judge.about,
                        "kinds": sorted(
                            {
                                ASKS[ask].kind
                                for ask in asks & judge.asks
                                if any(self.tally.said[ask, judge.name, s] for s in _SAID)
                            }
                        ),
                    }
                    for judge in self.judges
                ],
                "judged": [
                    [ask, judge, status, count]
                    for (ask, judge, status), count in sorted(self.tally.said.items())
                ],
                "by": self.by,
                "cluster": self.cluster,
                "level": LEVEL,
                "seconds": seconds,
            }
        )


_SAID = ("ok", "undefined", "failed", "blocked", "truncated")


def _stored_blocks(folder: Folder) -> Iterator[tuple[list[Example], Judged]]:
    """A finished run's examples and judgements, block by block."""
    examples = folder.scan("examples")
    ledger_table = folder.scan("ledger")
    if examples is None or ledger_table is None:
        return
    numbers = examples.select("block").unique().collect()["block"].sort().to_list()
    kinds = {kind: folder.scan(kind) for kind in {ask.kind for ask in ASKS.values()}}
    for number in numbers:
        here = pl.col("block") == number
        frame = examples.filter(here).drop("block").collect()
        rows = frame.with_row_index("row").select("row", example_id="id")
        ledger = ledger_table.filter(here).drop("block").collect().join(rows, on="example_id")
        asks = set(ledger["ask"].unique().to_list())
        tables = Tables(frame)
        for ask in (name for name in ASKS if name in asks):
            table = kinds[ASKS[ask].kind]
            said = (
                pl.DataFrame()
                if table is None
                else table.filter(here & (pl.col("ask") == ask)).drop("block", "ask").collect()
            )
            if said.is_empty():
                said = KINDS[ASKS[ask].kind].empty()
            entries = ledger.filter(pl.col("ask") == ask).select(*LEDGER)
            tables = resolve(tables, ask, entries, said, JUDGES)
        yield from_frame(frame), Judged(tables, ledger.select(*LEDGER), {})


def _labelled(examples: Iterator[Example], files: Sequence[LabelRows]) -> Iterator[Example]:
    for example in examples:
        yield reduce(with_labels, files, example)


def _fraction(examples: Any) -> float | None:
    if not examples.size_bytes:
        return None
    return min(1.0, float(examples.read_bytes or 0) / float(examples.size_bytes))


def _write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    if records:
        lines = (json.dumps(record, ensure_ascii=False) for record in records)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
