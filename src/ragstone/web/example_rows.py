"""Example rows: a row for each example to filter and sort by, and pins, tags and saved filters.

The pinned run, tags and saved filters are in ``view.json`` in the folder of the runs, for
everybody who looks at it. Each change reads the file anew and replaces it whole, so that changes
by other people in the meantime stay.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from threading import Lock

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from ragstone.analysis.calibration.people_scores import KEYS, judged_units
from ragstone.analysis.scored_run import Scored
from ragstone.analysis.summaries.failure_stages import METRICS, laid, retrieval
from ragstone.analysis.summaries.run_summary import repeats
from ragstone.annotation import labels_of
from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry, write_result
from ragstone.report.worst_examples import shortfalls
from ragstone.run import Run
from ragstone.run.corrections.correction import Store

from .background_cache import keep_newest

# Runs whose rows are kept in memory.
KEPT = 3

SCORES_AT_ONCE = 100_000

OUTCOME = "answer_outcome"
# Shown first of the metrics that most runs have.
PREFERRED = ("faithfulness", "answer_coverage", "context_recall", OUTCOME, "mrr")

# What no correction of a judgement changes.
UNCHANGED = ("ids", "retrieval", "_fields")


class ExampleRows:
    """The examples of a run as rows, made when they are first asked for."""

    def __init__(self, run: Run, before: "ExampleRows | None" = None) -> None:
        self.run = run
        self.metrics = list(run.form.metrics)
        self._fields: dict[str, pl.Series] = {}
        if before is not None:
            known = before.__dict__
            self.__dict__ |= {name: known[name] for name in UNCHANGED if name in known}

    @cached_property
    def rows(self) -> pl.DataFrame:
        """In the order of the data: ``place``, ``id``, ``question_id``, ``system``.

        For each metric there are ``METRIC``, ``status METRIC``, ``label METRIC`` and
        ``reason METRIC`` beside them.
        """
        rows = self.run.examples(["id", "question_id", "system"]).with_row_index("place")
        # Few metrics at a time: all scores of a large run together take several times the memory.
        n_metrics = max(1, SCORES_AT_ONCE // max(1, rows.height))
        for start in range(0, len(self.metrics), n_metrics):
            metrics = self.metrics[start : start + n_metrics]
            scores = self.run.scores(metrics)
            for metric in metrics:
                columns = scores.filter(pl.col("metric") == metric).select(
                    pl.col("example_id").alias("id"),
                    pl.col("value").alias(metric),
                    *(
                        pl.col(name).cast(pl.Categorical).alias(f"{name} {metric}")
                        for name in ("status", "label", "reason")
                    ),
                )
                rows = rows.join(columns, on="id", how="left", maintain_order="left")
        return rows

    def prepare(self) -> bool:
        """Make what the first table of examples needs."""
        _ = self.rows, self.stages, self.repeats
        return True

    @cached_property
    def ids(self) -> pl.Series:
        """The ids of all examples, in the order of the data."""
        return self.run.examples(["id"])["id"]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each example in the order of the data, from 0."""
        return {id: place for place, id in enumerate(self.ids)}

    @cached_property
    def stages(self) -> pl.DataFrame:
        """``id`` and ``stage``: where an answer that looks bad first went wrong."""
        laid_out = laid(self.retrieval, self.run.scores(METRICS))
        return laid_out.select("stage", id="example_id")

    @cached_property
    def retrieval(self) -> pl.DataFrame:
        """The facts of the examples' retrieval, from which their stages follow."""
        return retrieval(self.run)

    @cached_property
    def shortfalls(self) -> pl.DataFrame:
        """``id`` and ``shortfall``: how far the scores lie below the best possible."""
        return shortfalls(self.run, limit=self.ids.len()).select("shortfall", id="example_id")

    @cached_property
    def repeats(self) -> pl.DataFrame:
        """The figures that several answers of a system to a question have together."""
        return repeats(self.rows, self.metrics, OUTCOME if OUTCOME in self.metrics else "")

    @cached_property
    def disputed(self) -> pl.Series:
        """The ids of examples of which a person said something else than the judge."""
        corrected = [
            correction.example for correction in self.run.corrections() if correction.undone is None
        ]
        ids = pl.Series("id", corrected, pl.String)
        carried = self.run.examples(["id", "labels"]).filter(pl.col("labels") != "{}")
        records = ({"id": id, "labels": json.loads(labels)} for id, labels in carried.iter_rows())
        try:
            labels_said = labels_of(records).counted.select(*KEYS, people="value")
        except InputError:
            return ids
        if labels_said.is_empty():
            return ids
        some = self.run.excerpt(labels_said["example_id"].unique())
        both = judged_units(some).join(labels_said, on=KEYS, how="inner", nulls_equal=True)
        others = both.filter(pl.col("value") != pl.col("people"))["example_id"]
        return pl.concat([ids, others.alias("id")]).unique()

    def field(self, name: str) -> pl.Series:
        """Return the values of a field by which examples can be grouped, in the order of rows."""
        if name not in self._fields:
            self._fields[name] = Scored(self.run, by=[name]).facets[f"by {name}"]
        return self._fields[name]

    def with_words(self, text: str) -> pl.Series:
        """Return the ids of examples with all these words in question or answer."""
        holds = pl.lit(value=True)
        for word in text.casefold().split():
            holds &= pl.any_horizontal(
                pl.col(name).str.to_lowercase().str.contains(word, literal=True)
                for name in ("question", "answer")
            )
        return self.run.examples(["id"], where=holds)["id"]


_kept: OrderedDict[str, tuple[tuple[object, ...], ExampleRows]] = OrderedDict()
_lock = Lock()


def example_rows(run: Run) -> ExampleRows:
    """Return the rows of a run; those of the runs that were looked at last are kept."""
    path, facts = str(run.path.resolve()), (run.path / RunEntry.MANIFEST).stat()
    version = facts.st_mtime_ns, facts.st_size
    key = (*version, Store(run.path).stamp())
    with _lock:
        held = _kept.get(path)
        if held is None or held[0] != key:
            same = held is not None and held[0][:2] == version
            held = key, ExampleRows(run, held[1] if held and same else None)
        keep_newest(_kept, path, held, KEPT)
    return held[1]


FILE = "view.json"
LONGEST_NAME, MOST = 80, 500

_writing = Lock()


class SavedFilter(BaseModel):
    """A filter of examples with a name: the query of its address."""

    model_config = ConfigDict(frozen=True)

    name: str
    query: str


class Marks(BaseModel):
    """Notes of people: the pinned run, the tags of each run and saved filters."""

    model_config = ConfigDict(frozen=True)

    pinned: str = ""
    tags: dict[str, list[str]] = {}
    filters: list[SavedFilter] = []


def marks_in(folder: Path) -> Marks:
    """Return the marks of a folder; none if there is no file, or one that cannot be read."""
    try:
        return Marks.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return Marks()


def change_marks(folder: Path, change: Callable[[Marks], Marks]) -> Marks:
    """Change the marks of a folder."""
    with _writing:
        changed = change(_marks_to_change(folder))
        if len(changed.filters) > MOST or sum(map(len, changed.tags.values())) > MOST * 10:
            raise InputError(f"There are {MOST} saved filters. Delete one to save another.")
        try:
            # Beside the old file first, which a full disk then leaves whole.
            write_result(folder / f"{FILE}.new", changed.model_dump_json(indent=1))
            (folder / f"{FILE}.new").replace(folder / FILE)
        except OSError as error:
            words = error.strerror or type(error).__name__
            raise InputError(
                f"{folder / FILE} cannot be written ({words.lower()}), so nothing was noted."
            ) from error
    return changed


def _marks_to_change(folder: Path) -> Marks:
    try:
        return Marks.model_validate_json((folder / FILE).read_bytes())
    except FileNotFoundError:
        return Marks()
    except ValidationError as error:
        raise InputError(
            f"{folder / FILE} cannot be read, so nothing was noted. It may hold filters and tags: "
            "bring back a copy, or move it away."
        ) from error


def name_of(text: str) -> str:
    """Return a tag or the name of a filter."""
    name = " ".join(text.split())
    if not 0 < len(name) <= LONGEST_NAME:
        raise InputError(f"A name has 1 to {LONGEST_NAME} characters, got {len(name):,}.")
    return name
