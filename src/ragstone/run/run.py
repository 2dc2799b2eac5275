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
from ragstone.judgements import KINDS, Tables
from ragstone.shown import Shown

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


class Run(Shown):
    """A finished evaluation: its estimates, scores, judgements and examples.

    ``path`` is its folder. A run that was given none lies in a temporary folder
    that goes with this object. ``asked`` are the metrics that the call which gave
    it was about; none: those that the run was made for.
    """

    def __init__(
        self, path: str | Path, *, temporary: bool = False, asked: Collection[str] = ()
    ) -> None:
        self.folder = Folder(Path(path))
        self._asked = frozenset(asked)
        if temporary:
            weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Open a run's folder.

        Raises:
            InputError: It is not there, no run, or one that was not finished.
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
            raise InputError(f"{path} is no run: it holds no {MANIFEST}.")
        if not manifest.finished:
            raise InputError(f"{path} was not finished. The same evaluate command goes on with it.")
        return cls(Path(path))

    @classmethod
    def of(cls, run: "Run | str | Path") -> "Run":
        """The run; opened, where it is the name of its folder.

        Raises:
            InputError: It is no run, or one that was not finished.
        """
        return run if isinstance(run, cls) else cls.open(str(run))

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.folder.path

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """What ``run.json`` says."""
        told: Mapping[str, Any] = throughout(self.folder.manifest, noticed)
        return told

    @cached_property
    def form(self) -> Manifest:
        """The same, field by field."""
        form = self.folder.form
        if form is None:
            raise InputError(f"{self.path} is no run: it holds no {MANIFEST}.")
        return form

    @cached_property
    def estimate_list(self) -> tuple[Estimate, ...]:
        """The reported numbers."""
        return tuple(self.folder.estimates())

    @property
    def signature(self) -> str:
        """Data, judges and version in one line."""
        return self.form.signature

    @property
    def exit_status(self) -> int:
        """0; 4 if too much of a requested metric is missing; not of one that was added before."""
        asked = self._asked or {*self.form.metrics} - {*self.form.added}
        return 4 if asked & self.too_much_missing.keys() else 0

    @property
    def too_much_missing(self) -> dict[str, tuple[int, int]]:
        """Metrics over a tenth of whose scores are missing: how many, of how many.

        Of the scores that could be there: what is undefined has none to miss.
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
        """One row a metric and group; each field that groups is a column, null for all.

        A field that is called like a column of its own, such as ``level``, is
        ``by_level``.
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
        """One row an example and metric: value, label, status and reason."""
        return self._table("scores")

    def examples(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The examples, as ``ragstone.examples.to_frame`` makes them; only these columns of it."""
        if columns is not None:
            return self.folder.read("examples", columns=columns)
        return self._table("examples")

    def ledger(self) -> pl.DataFrame:
        """How each ask came out: one row an example, ask and judge."""
        return self._table("ledger")

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of a kind, each with the id of every example it is about.

        Raises:
            UnknownName: No kind is called that.
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
        joined = ledger.join(rows, on=["block", "ask", "judge", "subject"], maintain_order="left")
        return collect(joined.select("example_id", *KINDS[kind].schema()), self.folder.table(kind))

    def tables(self) -> Iterator[Tables]:
        """What was judged, block by block, one judge's word for each unit, as metrics read it."""
        judges = finished_judges(self.form)
        return (block.tables for block in stored_blocks(self.folder, judges))

    def calls(self, example: str) -> list[Entry]:
        """The questions that were put to models about an example: prompt, replies, tokens, cost."""
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
        examples = self.manifest.get("data", {}).get("examples")
        return f"Run({str(self.path)!r}, {examples} examples, {len(self.estimate_list)} estimates)"


def _column(field: str) -> str:
    return f"by_{field}" if field in Estimate.__dataclass_fields__ else field
