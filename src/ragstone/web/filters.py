"""Filters: which answers of a run or of production a page shows, as an address and in words."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import starmap
from math import isfinite
from typing import NamedTuple, Self
from urllib.parse import urlencode

import polars as pl

from ragstone.analysis.summaries.failure_stages import CODES, NO_FAULT
from ragstone.annotation.queue.note_tags import QueueTags, store_tags, tags_version
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.grouping import grouped
from ragstone.monitor.settings.settings_table import read_moment
from ragstone.monitor.store.stored_examples import ListedWhere
from ragstone.report.number_format import number, short_name
from ragstone.report.sentences.run_words import NAMES
from ragstone.run import Run
from ragstone.web.templating import clock

from .background_cache import PATIENCE
from .example_rows import OUTCOME, ExampleRows
from .page_request import Asked, fields_of, whole_number
from .runs_folder import RunsFolder

# The fields of an address that choose answers.
MONITOR_FIELDS = ("where", "alarm", "slice", "version", "session", "since", "until")


def monitor_filter(
    request: Asked, of_alarm: Callable[[int], tuple[ListedWhere, str]]
) -> tuple[ListedWhere, list[tuple[str, str]]]:
    """Return what the store is asked, and each condition in words with the address without it.

    ``of_alarm`` finds the answers of an alarm.
    """
    now = time.time()
    where, tokens = ListedWhere(), list[tuple[str, str]]()

    def add_token(words: str, *field: tuple[str, str], **removed: None) -> None:
        tokens.append((words, request.but(*field, **removed, page=None)))

    if number_of := request.one("alarm"):
        number = whole_number(number_of, 14)
        if number is None:
            raise InputError(f"There is no alarm {number_of!r}: they are numbered from 1.")
        where, words = of_alarm(number)
        add_token(words, alarm=None)
    for text in request.all("where")[-1:]:
        where, words = _with_range(where, text)
        add_token(words, where=None)
    for text in dict.fromkeys(request.all("slice")):
        name, colon, value = text.partition(":")
        if not (name and colon):
            raise InputError(f"A slice is written NAME:VALUE, got {text[:80]!r}.")
        where = replace(where, facets=(*where.facets, (name, value)))
        add_token(f"{name} is {value}", ("slice", text))
    if version := request.one("version"):
        where = replace(where, version=version)
        add_token(f"version {version}", version=None)
    if session := request.one("session"):
        where = replace(where, session=session)
        add_token(f"conversation {session}", session=None)
    if text := request.one("since"):
        since = read_moment(text, "since", now)
        where = replace(where, since=max(since, where.since or since))
        add_token(f"from {clock(since, now)}", since=None)
    if text := request.one("until"):
        until = read_moment(text, "until", now)
        where = replace(where, until=min(until, where.until or until))
        add_token(f"before {clock(until, now)}", until=None)
    return where, tokens


def _with_range(where: ListedWhere, text: str) -> tuple[ListedWhere, str]:
    metric, colon, ends = text.rpartition(":")
    if not colon:
        return replace(where, metric=text), f"with a score of {short_name(text)}"
    low, dots, high = ends.partition("..")
    try:
        least, most = (_value(text) for text in (low, high if dots else low))
    except ValueError as error:
        raise InputError(
            f"A condition on a metric is written METRIC:LOW..HIGH, such as faithfulness:0..0.5, "
            f"got {text[:80]!r}."
        ) from error
    name = short_name(metric)
    words = {
        (False, False): f"with a score of {name}",
        (True, False): f"{name} ≥ {_written(least)}",
        (False, True): f"{name} ≤ {_written(most)}",
        (True, True): f"{name} {_written(least)} to {_written(most)}",
    }[least is not None, most is not None]
    if metric.startswith("guard_") and (least, most) == (0, 0):
        words = f"{name} failed"
    elif least is not None and least == most:
        words = f"{name} is {_written(least)}"
    return replace(where, metric=metric, low=least, high=most), words


def _value(text: str) -> float | None:
    if not text.strip():
        return None
    value = float(text)
    if not isfinite(value):
        raise ValueError
    return value


def _written(value: float | None) -> str:
    return "" if value is None else f"{value:g}" if value == round(value, 3) else number(value)


class TagSlice(NamedTuple):
    """The answers with a tag, and those that people labelled without it, by the ids of examples."""

    tagged: frozenset[str]
    others: frozenset[str]


Tags = Mapping[str, TagSlice]
NO_TAGS: Tags = {}


def tags_of(folder: RunsFolder, name: str, patience: float = PATIENCE) -> Tags | None:
    """Return the tags that answers of a run carry; None while they are being looked up.

    A store that cannot be used has none; the pages of its queues say what is wrong with it.
    """
    with suppress(RagstoneError):
        with folder.labels_to_read() as database:
            known = store_tags(database) if database else {}
            version = tags_version(database) if database and known else ()
        if known:
            key = ("tags", folder.stamp(name), version)
            return folder.later.get(key, lambda: _of(folder, folder.run(name)), patience)
    return {}


def _of(folder: RunsFolder, run: Run) -> Tags:
    def texts(ids: list[str]) -> dict[str, dict[str, str]]:
        rows = run.examples(["id", "question", "answer"], where=pl.col("id").is_in(ids))
        return {row.pop("id"): row for row in rows.to_dicts()}

    known: dict[str, str] = {}
    tagged: dict[str, set[str]] = {}
    labelled: dict[str, set[str]] = {}
    with folder.labels_to_read() as database:
        if database is None:
            return {}
        for queue, names in store_tags(database).items():
            labelled_ids, by_tag = QueueTags(database, Queue(database, queue)).examples(texts)
            for name in names:
                tag = known.setdefault(name.casefold(), name)
                tagged.setdefault(tag, set()).update(by_tag.get(name, ()))
                labelled.setdefault(tag, set()).update(labelled_ids)
    return {
        tag: TagSlice(frozenset(ids), frozenset(labelled[tag] - ids))
        for tag, ids in sorted(tagged.items(), key=lambda pair: pair[0].casefold())
        if ids
    }


# The fields of an address that filter examples.
FIELDS = (
    "q", "where", "system", "slice", "status", "outcome", "stage", "reason", "labels", "changed",
    "tag", "untagged",
)  # fmt: skip

SORT, WORST = "sort", "worst"
DIFFER, BAD = "differ", "bad"
SAME = 1e-9

# The name and the rows of the run that others are compared with; None if none is pinned.
Baseline = Callable[[], tuple[str, ExampleRows] | None]


# A field and its value.
Condition = tuple[str, str]


# Conditions in words, by their field.
PATTERNS: Mapping[str, str] = {
    "q": "“{value}” in question or answer",
    "slice": "{name} is {rest}",
    "reason": "because of {words}",
    "labels": "a person says otherwise than the judge",
    "tag": "tagged “{value}”",
    "untagged": "labelled without the tag “{value}”",
    "outcome": "outcome is {words}",
}


def condition_words(field: str, value: str) -> str:
    """Return a condition in words.

    >>> condition_words("where", "faithfulness:0..0.5")
    'faithfulness ≤ 0.5'
    >>> condition_words("status", "missing"), condition_words("stage", "not_retrieved")
    ('a score is missing', 'first fault: not retrieved')
    """
    name, _, rest = value.partition(":")
    match field:
        case "where":
            return _range_words(value)
        case "status":
            return f"{short_name(name)} is {rest}" if rest else f"a score is {value}"
        case "stage" if value in (BAD, NO_FAULT):
            return "the answer looks bad" if value == BAD else "no fault"
        case "stage":
            return f"first fault: {NAMES.get(value, value)}"
        case "changed":
            return f"{short_name(value)} changed against the baseline"
    words = value.replace("_", " ")
    pattern = PATTERNS.get(field, f"{field} is {{value}}")
    return pattern.format(value=value, words=words, name=name, rest=rest)


@dataclass(frozen=True, slots=True)
class ExampleFilter:
    """A filter of examples, with their order.

    Attributes:
        conditions: All must hold; several values of one field, such as two systems, are
            alternatives, but for ranges and words.
        sort: A metric, ``worst`` or ``system``; ``-`` before it for the other way round.
    """

    conditions: tuple[Condition, ...] = ()
    sort: str = ""

    @classmethod
    def of(cls, query: Sequence[tuple[str, str]]) -> Self:
        """Read the fields of an address; others are left out."""
        conditions = (field for field in query if field[0] in FIELDS and field[1])
        sort = next((value for key, value in reversed(query) if key == SORT), "")
        return cls(tuple(dict.fromkeys(conditions)), sort)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the query of an address."""
        return cls.of(fields_of(text))

    @property
    def query(self) -> list[tuple[str, str]]:
        """The fields of an address."""
        return [*self.conditions, *([(SORT, self.sort)] if self.sort else [])]

    @property
    def text(self) -> str:
        """The query of an address, which ``read`` reads."""
        return urlencode(self.query)

    @property
    def words(self) -> str:
        """All conditions, joined."""
        return " and ".join(starmap(condition_words, self.conditions))

    def chosen(
        self, of: ExampleRows, baseline: Baseline = lambda: None, tags: Tags = NO_TAGS
    ) -> pl.DataFrame:
        """Return the rows of the examples that are meant, in order."""
        rows = of.rows
        for name, values in grouped(self.conditions).items():
            rows = rows.filter(_holds(of, name, values, baseline, tags))
        return _sorted(of, rows, self.sort)


def _holds(
    of: ExampleRows, name: str, values: Sequence[str], baseline: Baseline, tags: Tags
) -> pl.Expr:
    match name:
        case "q":
            return pl.all_horizontal(_among(of.with_words(value)) for value in values)
        case "where":
            return pl.all_horizontal(_in_range(of, value) for value in values)
        case "system":
            return pl.col("system").is_in(values)
        case "slice":
            by_field = grouped(value.partition(":")[::2] for value in values)
            return pl.all_horizontal(
                _among(of.rows["id"].filter(of.field(field).is_in(of_field)))
                for field, of_field in by_field.items()
            )
        case "status":
            return pl.any_horizontal(_has_status(of, value) for value in values)
        case "outcome":
            if OUTCOME not in of.metrics:
                raise InputError(f"This run has no {OUTCOME}, which tells outcomes.")
            return pl.col(f"label {OUTCOME}").cast(pl.String).is_in(values)
        case "stage":
            stages = [*values, *(CODES if BAD in values else ())]
            return _among(of.stages.filter(pl.col("stage").is_in(stages))["id"])
        case "reason":
            return pl.any_horizontal(
                pl.col(f"reason {metric}").cast(pl.String).str.split("?").list.first().is_in(values)
                for metric in of.metrics
            )
        case "labels":
            return _among(of.disputed)
        case "changed":
            return pl.any_horizontal(_among(_changed(of, value, baseline)) for value in values)
        case "tag":
            return pl.any_horizontal(_among(_tag(tags, value).tagged) for value in values)
        case "untagged":
            return pl.all_horizontal(_among(_tag(tags, value).others) for value in values)
    return pl.lit(value=True)


def _among(ids: pl.Series | Collection[str]) -> pl.Expr:
    return pl.col("id").is_in(ids.implode() if isinstance(ids, pl.Series) else list(ids))


def _tag(tags: Tags, name: str) -> TagSlice:
    if name not in tags:
        known = f" There are: {', '.join(tags)}." if tags else ""
        raise InputError(f"No answer of this run is tagged {name!r}.{known}")
    return tags[name]


def _known(of: ExampleRows, metric: str) -> str:
    if metric not in of.metrics:
        raise InputError(f"This run has no metric {metric}. It has: {', '.join(of.metrics)}.")
    return metric


def _in_range(of: ExampleRows, value: str) -> pl.Expr:
    metric, low, high = read_range(value)
    score = pl.col(_known(of, metric))
    # What a page shows as 0.50 was often written .4999999 by a sum of floats.
    least = score >= low - SAME if low is not None else score.is_not_null()
    return least if high is None else least & (score <= high + SAME)


def read_range(value: str) -> tuple[str, float | None, float | None]:
    """Return the metric and the two ends of a range, None for an end that is open."""
    metric, _, ends = value.rpartition(":")
    low, dots, high = ends.partition("..")
    try:
        span = float(low) if low else None, float(high) if high else None
    except ValueError:
        span = None, None
        dots = ""
    if not metric or not dots:
        raise InputError(f"where={value}: expected METRIC:LOW..HIGH, such as faithfulness:0..0.5.")
    return metric, *span


def _range_words(value: str) -> str:
    try:
        metric, low, high = read_range(value)
    except InputError:
        return value
    name = short_name(metric)
    if high is None:
        return f"{name} has a value" if low is None else f"{name} ≥ {low:g}"
    if low is None or low == 0 <= high:
        return f"{name} ≤ {high:g}" if low is None or high else f"{name} = 0"
    return f"{name} = {low:g}" if low == high else f"{low:g} ≤ {name} ≤ {high:g}"


def _has_status(of: ExampleRows, value: str) -> pl.Expr:
    metric, _, status = value.rpartition(":")
    metrics = [_known(of, metric)] if metric else of.metrics
    return pl.any_horizontal(
        pl.col(f"status {metric}").cast(pl.String).eq(status).fill_null(value=False)
        for metric in metrics
    )


def _changed(of: ExampleRows, metric: str, baseline: Baseline) -> pl.Series:
    pinned_rows = baseline()
    if pinned_rows is None:
        raise InputError("No other run is pinned as the baseline: pin one on the page of the runs.")
    pinned, rows = pinned_rows
    run, _, system = pinned.partition("/")
    before = rows.rows
    if metric not in of.metrics or metric not in before.columns:
        raise InputError(f"{metric} is not a metric of both this run and {run}.")
    keys = ["question_id"] if system else ["question_id", "system"]
    if system:
        before = before.filter(pl.col("system") == system)
    before = before.group_by(keys).agg(pl.col(metric).mean().alias("before"))
    both = of.rows.join(before, on=keys, how="inner")
    return both.filter((pl.col(metric) - pl.col("before")).abs() > SAME)["id"]


def _sorted(of: ExampleRows, rows: pl.DataFrame, sort: str) -> pl.DataFrame:
    name, down = sort.removeprefix("-"), sort.startswith("-")
    if name == WORST:
        rows = rows.join(of.shortfalls, on="id", how="left")
        return rows.sort("shortfall", "place", descending=[not down, False], nulls_last=True)
    if name in (*of.metrics, "system"):
        return rows.sort(name, "place", descending=[down, False], nulls_last=True)
    return rows
