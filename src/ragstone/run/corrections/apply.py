"""Applied corrections: a finished run's judgements and estimates after people's corrections."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from ragstone.core.errors import UnknownName
from ragstone.judgements import ASKS, MISSING, VALUE, Claim, Column, Kind, Tables, kind_of
from ragstone.judges import LEDGER, Block, Judge, fingerprint
from ragstone.judges.judge import HUMAN
from ragstone.judges.rules import (
    PARTS,
    WHOLE,
    RulesJudge,
    beside_labels,
    decided_parts,
    labels_over,
    people_labels,
)
from ragstone.metrics import Metric, score
from ragstone.metrics.composite import component_metrics
from ragstone.run.estimates.estimates import LEVEL, estimate_metric, provenance
from ragstone.run.estimates.groups import NO_VALUE, by_column
from ragstone.run.estimates.sums import QUESTION, question_hash, repeated_questions
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_files import looked_up
from ragstone.run.folder.run_tally import RunTally
from ragstone.run.folder.schemas import STATUS_CODES, Estimate, Manifest
from ragstone.run.judging.judge_blocks import resolve
from ragstone.run.judging.sharding import finished_judges, stored_shards

from .correction import DROPPED, TEXT, Correction, Row, key_columns


class FewExamples(NamedTuple):
    """A few examples of a run: their judgements, and the ledger."""

    tables: Tables
    ledger: pl.DataFrame


def read_few(folder: Folder, ids: Sequence[str], judges: Sequence[Judge]) -> FewExamples:
    """These examples of a finished run, in its order."""
    shards = folder.shards_of(ids)
    frame = folder.read("examples", pl.col("id").is_in(ids), shards=shards).drop("shard")
    entries = folder.read("ledger", pl.col("example_id").is_in(ids), shards=shards)
    subjects = entries["subject"].unique().implode()
    numbers = frame.select(example_id="id").with_row_index("row")
    ledger = entries.join(numbers, on="example_id", maintain_order="left")
    tables = Tables(frame)
    for ask in (name for name in ASKS if name in set(ledger["ask"])):
        entries = ledger.filter(pl.col("ask") == ask)
        rows = kind_of(ask).empty()
        if folder.has(kind := ASKS[ask].kind):
            # A subject that lies in several blocks has its rows in each of them.
            keys = ["judge", "subject", "shard"]
            once = entries.select(keys).unique(keys[:2], keep="first", maintain_order=True)
            mine = pl.col("subject").is_in(subjects), pl.col("ask") == ask
            of_ask = folder.read(kind, *mine, shards=shards)
            rows = of_ask.join(once, on=keys, how="semi", maintain_order="left")
            rows = rows.select(*kind_of(ask).schema())
        tables = resolve(tables, ask, entries.select(*LEDGER), rows, judges)
    return FewExamples(tables, ledger)


# The examples that share a judgement, by ask and subject.
Sharing = dict[tuple[str, str], list[str]]


def sharing(folder: Folder, subjects: Collection[str]) -> Sharing:
    """The examples that share what was judged under these subjects, in the order of the run."""
    chosen = pl.Series(list(subjects), dtype=pl.String).implode()
    rows = folder.read(
        "ledger", pl.col("subject").is_in(chosen), columns=["example_id", "ask", "subject"]
    )
    examples: Sharing = {}
    for example, ask, subject in rows.unique(maintain_order=True).iter_rows():
        examples.setdefault((ask, subject), []).append(example)
    return examples


Rows = dict[str, list[Row]]


def replay(
    rows: Mapping[str, Sequence[Row]], corrections: Sequence[Correction], example: str
) -> Rows:
    """The rows after these corrections, the oldest of which is first.

    A verdict on a wording that is not there any more says nothing, and so does one on a
    judgement that another judge gives here.
    """
    replayed = {ask: list(those) for ask, those in rows.items()}
    for correction in corrections:
        ask, said, about = correction.ask, correction.said, correction.about
        of_ask = replayed.setdefault(ask, [])
        mine = [row for row in of_ask if _is_it(row, correction)]
        elsewhere = any(row["subject"] != correction.subject for row in mine)
        if elsewhere or (about is not None and about != _wording(replayed, mine, correction)):
            continue
        words = said, correction.person, correction.reason
        if said.get(DROPPED):
            replayed[ask] = [row for row in of_ask if not _is_it(row, correction)]
        elif mine:
            replayed[ask] = [
                ruled(ask, row, *words) if _is_it(row, correction) else row for row in of_ask
            ]
        else:
            empty = dict.fromkeys(kind_of(ask).schema())
            empty |= {"subject": correction.subject, **correction.key}
            of_ask.append(ruled(ask, empty, *words))
        if TEXT in said or DROPPED in said:
            _judge_anew(replayed, correction, example, mine[0] if mine else {})
    return replayed


def ruled(ask: str, row: Row, values: Row, person: str, reason: str) -> dict[str, Any]:
    """A row with what a person says, and with what follows from that.

    What the judge's verdict rested on goes with the verdict. Whoever extracted a claim stays its
    author, even of another wording.
    """
    kind = kind_of(ask)
    new = {**row, **values}
    new |= beside_labels(row, values) if kind.derived else _beside_grade(kind, new, values)
    changed = {name for name in kind.columns if name in values or new.get(name) != row.get(name)}
    decided = changed.intersection(kind.having("verdict", "grade", "number"))
    for name, column in kind.columns.items():
        if name in values or name == "reason" or not decided:
            continue
        if column.of in decided:
            new[name] = _certainty(column, kind.columns[column.of], new[column.of])
        elif not kind.made and column.role in ("evidence", "words", "count"):
            new[name] = _resting_on(kind, column, new)
    judge = row.get("judge") if kind.made else person
    return {**new, "reason": reason, "judge": judge or person}


def _beside_grade(kind: type[Kind], new: Row, values: Row) -> dict[str, Any]:
    """Return what a grade implies, or no grade where the person contradicts it."""
    grade = next(iter(kind.having("grade")), None)
    implied = {name: column.at_least for name, column in kind.columns.items() if column.at_least}
    if grade is None or not implied:
        return {}
    if grade in values:
        return {
            name: values[grade] >= least for name, least in implied.items() if name not in values
        }
    level = new.get(grade)
    unlike = level is not None and any(
        name in values and values[name] != (level >= least) for name, least in implied.items()
    )
    return {grade: None} if unlike else {}


def _certainty(column: Column, verdict: Column, value: object) -> float | None:
    if not column.certain or value is None:
        return None
    return float(value in verdict.positive if verdict.positive else bool(value))


def _resting_on(kind: type[Kind], column: Column, new: Row) -> list[Any] | None:
    """Return no evidence for a negative verdict; for a positive one it is not known."""
    verdict = kind.columns[kind.decides]
    if column.role != "evidence" or column.dtype != pl.List(pl.String) or not verdict.positive:
        return None
    return None if new.get(kind.decides) in verdict.positive else []


def _is_it(row: Row, correction: Correction) -> bool:
    return all(row.get(name) == value for name, value in correction.key.items())


def _wording(rows: Rows, mine: Sequence[Row], correction: Correction) -> str | None:
    if kind_of(correction.ask).made:
        return mine[0].get(TEXT) if mine else None
    over = ASKS[correction.ask].over
    for maker in () if over is None else over.made_by:
        columns = key_columns(kind_of(maker))
        for row in rows.get(maker, ()):
            if row["judge"] == correction.key.get("author") and all(
                row[name] == correction.key.get(name) for name in columns
            ):
                return str(row[TEXT])
    return None


def _judge_anew(rows: Rows, correction: Correction, example: str, unit: Row) -> None:
    for ask in dependents(correction.ask):
        of_ask = rows.get(ask, [])
        gone = [at for at, row in enumerate(of_ask) if is_about(row, unit)]
        new = [dict(row) for row in correction.again.get(example, {}).get(ask, [])]
        if gone:
            # Answers that shared the judgement still do.
            new = [{**row, "subject": of_ask[gone[0]]["subject"]} for row in new]
        at = gone[0] if gone else len(of_ask)
        others = [row for row in of_ask if not is_about(row, unit)]
        rows[ask] = [*others[:at], *new, *others[at:]]


def dependents(ask: str) -> list[str]:
    """The asks that are about the units that this one makes, and are not derived by a rule."""
    return [
        name
        for name, other in ASKS.items()
        if ask in other.after and not kind_of(name).derived and "index" in kind_of(name).schema()
    ]


def is_about(row: Row, unit: Row) -> bool:
    columns = [name for name in ("reference", "index") if name in unit]
    same = all(row.get(name) == unit[name] for name in columns)
    return same and ("author" not in row or row["author"] == unit.get("judge"))


# The corrections that stand, the oldest first, by the id of each example that they change.
ByExample = Mapping[str, Sequence[Correction]]


def apply_corrections(tables: Tables, corrections: ByExample) -> Tables:
    """The judgements as the metrics read them, with people's word over the judges'."""
    by_row = {
        row: corrections[example]
        for row, example in enumerate(tables.examples["id"])
        if example in corrections
    }
    if not by_row:
        return tables
    ids = tables.examples["id"]
    asks = {correction.ask for those in by_row.values() for correction in those}
    derived = [ask for ask in derived_from(asks) if ask in tables.status]
    tables = _replayed(
        tables, by_row, ids, [ask for ask in applied_kinds(asks) if ask not in derived]
    )
    if PARTS in tables.status:
        tables = _with_parts_of_wholes(tables, by_row)
    for ask in derived:
        tables = _derived(tables, ask, list(by_row))
    return _replayed(tables, by_row, ids, [ask for ask in asks if ask in derived])


def applied_kinds(asks: Collection[str]) -> list[str]:
    """The asks whose rows may change with these, and those whose wording they are about."""
    overs = [ASKS[ask].over for ask in asks]
    makers = {maker for over in overs if over is not None for maker in over.made_by}
    changing = {*asks, *makers, *(name for ask in asks for name in dependents(ask))}
    if WHOLE in asks:
        changing.add(PARTS)
    return [ask for ask in ASKS if ask in changing]


def derived_from(asks: Collection[str]) -> list[str]:
    """The asks that a rule derives from any of these, in order."""
    changing = set(applied_kinds(asks))
    return [
        name for name, ask in ASKS.items()
        if kind_of(name).derived and not changing.isdisjoint(ask.after)
    ]  # fmt: skip


def _replayed(
    tables: Tables, by_row: Mapping[int, Sequence[Correction]], ids: pl.Series, asks: Sequence[str]
) -> Tables:
    if not asks:
        return tables
    mine = pl.col("row").is_in(list(by_row))
    before: dict[int, dict[str, list[dict[str, object]]]] = {
        row: {ask: [] for ask in asks} for row in by_row
    }
    for ask in asks:
        for values in tables.of(ask).filter(mine).to_dicts():
            before[values.pop("row")][ask].append(values)
    after = {
        row: replay(before[row], [entry for entry in those if entry.ask in asks], ids[row])
        for row, those in by_row.items()
    }
    rows, status = dict(tables.rows), dict(tables.status)
    for ask in asks:
        frame = tables.of(ask)
        new = [{**values, "row": row} for row in by_row for values in after[row][ask]]
        if not new and frame.is_empty():
            continue
        laid = pl.DataFrame(new, schema=frame.schema)
        rows[ask] = pl.concat([frame.filter(~mine), laid]).sort("row", maintain_order=True)
        speak = [
            row for row, those in by_row.items() if after[row][ask] and any(
                correction.ask == ask and {TEXT, DROPPED}.isdisjoint(correction.said)
                for correction in those
            )
        ]  # fmt: skip
        if speak:
            status[ask] = _with_value(tables.outcome(ask), speak)
    return replace(tables, rows=rows, status=status)


def _with_parts_of_wholes(tables: Tables, by_row: Mapping[int, Sequence[Correction]]) -> Tables:
    mine = pl.col("row").is_in(list(by_row))
    of_people = tables.of(WHOLE).filter(mine, judge=HUMAN)
    labels = {row["row"]: (people_labels(row), HUMAN) for row in of_people.to_dicts()}
    for row, corrections in by_row.items():
        for correction in corrections:
            if correction.ask == WHOLE:
                before, _ = labels.get(row, ({}, ""))
                labels[row] = {**before, **correction.said}, correction.person
    frame = tables.of(PARTS)
    judged = {
        (row["row"], row["author"], row["index"]): row for row in frame.filter(mine).to_dicts()
    }
    claims: dict[int, list[dict[str, Any]]] = {}
    for row, author, index in tables.of(Claim.name).select("row", "judge", "index").iter_rows():
        if row in labels:
            subject = fingerprint("whole", tables.examples["id"][row])
            unit = {"subject": subject, "author": author, "reference": 0, "index": index}
            claim = judged.get((row, author, index))
            claims.setdefault(row, []).append(claim or dict.fromkeys(frame.columns) | unit)
    decided = {row: decided_parts(labels[row][0], those, labels[row][1])
               for row, those in claims.items()}  # fmt: skip
    decided = {row: those for row, those in decided.items() if those != claims[row]}
    if not decided:
        return tables
    new = [{**claim, "row": row} for row, those in decided.items() for claim in those]
    others = frame.filter(pl.col("row").is_in(list(decided)).not_())
    rows = pl.concat([others, pl.DataFrame(new, schema=frame.schema)]).sort(
        "row", maintain_order=True
    )
    status = _with_value(tables.outcome(PARTS), list(decided))
    return replace(
        tables, rows={**tables.rows, PARTS: rows}, status={**tables.status, PARTS: status}
    )


def _with_value(outcome: pl.DataFrame, rows: Sequence[int]) -> pl.DataFrame:
    answered = pl.int_range(pl.len()).is_in(list(rows)) & (pl.col("status") == MISSING)
    return outcome.with_columns(
        status=pl.when(answered).then(pl.lit(VALUE, pl.UInt8)).otherwise("status"),
        reason=pl.when(answered.not_()).then("reason"),
    )


def _derived(tables: Tables, ask: str, rows: Sequence[int]) -> Tables:
    rules = RulesJudge()
    frame = tables.of(ask)
    by_others = set(frame.filter(~pl.col("judge").is_in([rules.name, HUMAN]))["row"])
    mine = [row for row in rows if row not in by_others]
    # It derives from the tables alone.
    filled = rules.fill(ask, Block((), tables.examples, tables), mine)
    derived = filled.ledger.filter(pl.col("status") == "ok").select("row", "subject")
    new = derived.join(filled.rows, on="subject").select(frame.columns)
    labelled = frame.filter(pl.col("row").is_in(mine), judge=HUMAN)
    new = labels_over(labelled, new)
    others = frame.filter(pl.col("row").is_in(mine).not_())
    outcome = tables.outcome(ask).with_row_index("row")
    codes = {"ok": VALUE, "undefined": 1, "failed": MISSING}
    now = filled.ledger.join(labelled, on="row", how="anti").select(
        "row",
        now=pl.col("status").replace_strict(codes, return_dtype=pl.UInt8),
        why=pl.when(pl.col("status") != "ok").then("reason"),
    )
    joined = outcome.join(now, on="row", how="left", maintain_order="left")
    again = pl.col("now").is_not_null()
    status = joined.select(
        status=pl.coalesce("now", "status"), reason=pl.when(again).then("why").otherwise("reason")
    )
    return replace(
        tables,
        rows={**tables.rows, ask: pl.concat([others, new]).sort("row", maintain_order=True)},
        status={**tables.status, ask: status},
    )


# Fields of an example that are columns, see ``Example.facet``.
OWN = ("id", "question_id", "system", "question", "answer", "policy")


def estimated_again(
    folder: Folder, form: Manifest, metrics: Sequence[Metric], facets: pl.DataFrame,
    scores: Callable[[pl.DataFrame], pl.DataFrame], tables: Callable[[Tables], Tables],
) -> Iterator[Estimate]:  # fmt: skip
    """The estimates of these metrics, exactly as the run would have made them."""
    tally = RunTally()
    tally.join(form)
    settings = form.settings
    signed = provenance(settings.data, tally, form.cluster, form.models, settings.llm)

    def of(metric: Metric) -> pl.DataFrame:
        status = pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8)
        rows = scores(folder.read("scores", pl.col("metric") == str(metric)))
        return rows.select("value", "label", status, "reason")

    for metric in metrics:
        parts = component_metrics([metric])
        stored = {str(part): of(part) for part in parts if str(part) in form.metrics}
        lacking = [part for part in parts if str(part) not in stored]
        components = stored | _scored(folder, form, lacking, tables)
        yield from estimate_metric(
            metric, of(metric), facets, form.by, signed, level=LEVEL, components=components
        )


def facets_of(folder: Folder, fields: Sequence[str], cluster: str) -> pl.DataFrame:
    """Return the facets of a finished run's examples, equal to those of its first estimates."""
    all_names = [*fields, cluster]
    of_question = ("question", "history") if cluster == QUESTION else ()
    elsewhere = [name for name in all_names if name not in OWN]
    columns = dict.fromkeys(
        ["question_id", "system", *of_question, *(name for name in all_names if name in OWN)]
    )
    texts = folder.read("examples", columns=list(columns))
    values = {name: texts[name] for name in all_names if name in OWN}
    values |= looked_up(lambda names: folder.read("examples", columns=names), elsewhere)
    own_cluster = pl.format("\0{}", pl.col("question_id"))
    # A text without letters counts as none, as it does while a block is scored.
    facets = texts.select("system", "question_id", named=values[cluster].replace("", None)).select(
        "system", cluster=pl.coalesce("named", own_cluster).hash(seed=0)
    )
    if cluster == QUESTION:
        repeated = repeated_questions(facets["cluster"], texts.select(question_hash()).to_series())
        facets = facets.with_columns(repeated.clusters(facets["cluster"]))
    return facets.with_columns(
        values[name].replace("", None).fill_null(NO_VALUE).alias(by_column(name)) for name in fields
    )


def _scored(
    folder: Folder, form: Manifest, metrics: Sequence[Metric], tables: Callable[[Tables], Tables]
) -> dict[str, pl.DataFrame]:
    blocks: dict[str, list[pl.DataFrame]] = {str(metric): [] for metric in metrics}
    for judged, _ in stored_shards(folder, finished_judges(form)) if metrics else ():
        scores = score(tables(judged), metrics, form.settings.partly_answered)
        for name, parts in blocks.items():
            parts.append(scores[name].select("value", "status"))
    return {name: pl.concat(parts) for name, parts in blocks.items()}


class JudgedRun:
    """A finished run, as ``run.json`` describes it at one moment."""

    def __init__(self, folder: Folder, form: Manifest) -> None:
        self.folder = folder
        self.form = form
        self._last: tuple[tuple[str, ...], FewExamples] | None = None

    @cached_property
    def facets(self) -> pl.DataFrame:
        """Groups and clusters of the examples; no correction changes them."""
        return facets_of(self.folder, self.form.by, self.form.cluster)

    def few(self, examples: Sequence[str]) -> FewExamples:
        """These examples; the last are kept, for whoever corrects looks at one for a while."""
        key, last = tuple(examples), self._last
        if last is not None and last[0] == key:
            return last[1]
        few = read_few(self.folder, key, finished_judges(self.form))
        if few.tables.examples.is_empty():
            ids = self.folder.read("examples", columns=["id"])["id"]
            raise UnknownName("example", key[0], ids, hint="ragstone show RUN lists some.")
        self._last = key, few
        return few
