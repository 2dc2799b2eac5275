"""Run: a finished evaluation, in its folder."""

import json
import shutil
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ragstone.argument import argument, call, noticed, throughout
from ragstone.errors import InputError, MissingDependency, UnknownName
from ragstone.has_page import HasPage
from ragstone.judgements import KINDS, Tables

from .calls.entries import FILE as JOURNAL
from .calls.entries import Entry, entries
from .estimate import Estimate
from .folder import Folder
from .forms import Manifest
from .places import MANIFEST, READY
from .stored_blocks import finished_judges, stored_blocks
from .written import collect

if TYPE_CHECKING:
    import pandas as pd

MOST_MISSING = 0.1
"""Share of a requested metric's scores beyond which too much is missing."""


class Run(HasPage):
    """A finished evaluation: its estimates, scores, judgements and examples.

    ``path`` is the run folder. If none was given, the run is in a temporary folder,
    which is deleted with this object. ``asked`` names the metrics requested by the
    call that returned it; if empty, those the run was made for.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        temporary: bool = False,
        asked: Collection[str] = (),
        beside: "Run | None" = None,
    ) -> None:
        self.folder = Folder(Path(path))
        self._asked = frozenset(asked)
        self._beside = beside  # Of the same folder, which may be deleted with it.
        if temporary:
            weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Open a run folder.

        Raises:
            InputError: The folder does not exist, is not a run, or holds an unfinished run.
        """
        folder = Folder(Path(path))
        if not folder.path.exists():
            made = call("evaluate", argument("data", "DATA"), argument("out", path))
            raise InputError(f"There is no folder {path}: `{made}` makes a run.")
        if (folder.path / READY).exists():
            with folder.locked():
                folder.settle()
        manifest = folder.form
        if manifest is None:
            raise InputError(f"{path} is not a run folder: it has no {MANIFEST}.")
        if not manifest.finished:
            raise InputError(
                f"{path} is not finished. Run the same evaluate command again to resume it."
            )
        return cls(Path(path))

    @classmethod
    def of(cls, run: "Run | str | Path") -> "Run":
        """The run itself, or the run opened from its folder.

        Raises:
            InputError: The folder is not a run, or the run is not finished.
        """
        return run if isinstance(run, cls) else cls.open(str(run))

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.folder.path

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The contents of ``run.json``."""
        manifest: Mapping[str, Any] = throughout(self.folder.manifest, noticed)
        return manifest

    @cached_property
    def form(self) -> Manifest:
        """The same as typed fields."""
        form = self.folder.form
        if form is None:
            raise InputError(f"{self.path} is not a run folder: it has no {MANIFEST}.")
        return form

    @cached_property
    def estimate_list(self) -> tuple[Estimate, ...]:
        """The estimates."""
        return tuple(self.folder.estimates())

    @property
    def signature(self) -> str:
        """Data, judges and version in one line."""
        return self.form.signature

    @property
    def exit_status(self) -> int:
        """0, or 4 if too many scores of a requested metric are missing."""
        asked = self._asked or {*self.form.metrics} - {*self.form.added}
        return 4 if asked & self.too_much_missing.keys() else 0

    @property
    def too_much_missing(self) -> dict[str, tuple[int, int]]:
        """Metrics with more than a tenth of their scores missing: (missing, possible) by metric.

        Undefined scores do not count as possible.
        """
        counts: dict[str, tuple[int, int]] = {}
        for one in self.estimate_list:
            if set(one.group) == {"system"}:
                missing, possible = counts.get(one.metric, (0, 0))
                possible += one.n + one.n_missing
                counts[one.metric] = (missing + one.n_missing, possible)
        return {
            metric: (missing, possible)
            for metric, (missing, possible) in counts.items()
            if missing > MOST_MISSING * possible
        }

    def estimates(self) -> pl.DataFrame:
        """One row per metric and group; each grouping field is a column, null for the whole run.

        A field whose name is already a column's, such as ``level``, becomes ``by_level``.
        """
        fields = list(dict.fromkeys(key for one in self.estimate_list for key in one.group))
        rows = []
        for one in self.estimate_list:
            record = one.to_dict()
            group = record.pop("group")
            for nested in ("labels", "flags", "reasons"):
                record[nested] = json.dumps(record[nested], ensure_ascii=False)
            groups = {_column(name): group.get(name) for name in fields}
            rows.append({"metric": one.metric, **groups, **record})
        return pl.DataFrame(rows, infer_schema_length=None)

    def scores(self) -> pl.DataFrame:
        """One row per example and metric: value, label, status and reason."""
        return self._table("scores")

    def examples(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The examples as made by ``ragstone.examples.to_frame``, or only some columns."""
        if columns is not None:
            return self.folder.read("examples", columns=columns)
        return self._table("examples")

    def ledger(self) -> pl.DataFrame:
        """The outcome of each question: one row per example, ask and judge."""
        return self._table("ledger")

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of one kind of judgement, one for each example they are about.

        Raises:
            UnknownName: There is no such kind.
        """
        if kind not in KINDS:
            raise UnknownName("judgement kind", kind, KINDS)
        if not self.folder.has(kind):
            empty = KINDS[kind].empty()
            return empty.select(pl.lit(None, pl.String).alias("example_id"), pl.all())
        ledger = (
            self.folder.finished("ledger")
            .filter(pl.col("status").is_in(["ok", "vote"]))
            .select("block", "example_id", "ask", "judge", "subject")
        )
        rows = self.folder.finished(kind)
        keys = ["block", "ask", "judge", "subject"]
        joined = ledger.join(rows, on=keys, maintain_order="left_right")
        return collect(joined.select("example_id", *KINDS[kind].schema()), self.folder.table(kind))

    def tables(self) -> Iterator[Tables]:
        """The judgements block by block as metrics read them, with one judge for each unit."""
        judges = finished_judges(self.form)
        return (block.tables for block in stored_blocks(self.folder, judges))

    def calls(self, example: str) -> list[Entry]:
        """The model calls about an example: prompt, replies, tokens and cost."""
        journal = self.path / JOURNAL
        if not journal.is_file():
            return []
        ledger = self.folder.read("ledger", pl.col("example_id") == example)
        keys = ledger.select(pl.col("requests").explode()).drop_nulls().unique(maintain_order=True)
        return entries(journal, keys["requests"].to_list())

    def _table(self, name: str) -> pl.DataFrame:
        return self.folder.read(name).drop("block")

    def to_pandas(self) -> "pd.DataFrame":
        """The estimates as a pandas table.

        Raises:
            MissingDependency: pandas or pyarrow is not installed.
        """
        try:
            return self.estimates().to_pandas()
        except ImportError as error:
            raise MissingDependency("A pandas table", "pandas") from error

    def __repr__(self) -> str:
        examples = self.form.data.examples
        return f"Run({str(self.path)!r}, {examples} examples, {len(self.estimate_list)} estimates)"


def _column(field: str) -> str:
    return f"by_{field}" if field in Estimate.__dataclass_fields__ else field
