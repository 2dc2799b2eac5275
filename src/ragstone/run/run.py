"""Run: a finished evaluation, in its folder."""

import json
import shutil
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from ragstone.errors import InputError, MissingDependency, UnknownName
from ragstone.judgements import KINDS

from .estimate import Estimate
from .folder import MANIFEST, Folder

if TYPE_CHECKING:
    import pandas as pd

MOST_MISSING = 0.1
"""Share of a requested metric's scores beyond which too much is missing."""


class Run:
    """A finished evaluation: its estimates, scores, judgements and examples.

    ``path`` is its folder. A run that was given none lies in a temporary folder
    that goes with this object.
    """

    notebook: ClassVar[Callable[[Sequence[Estimate]], str] | None] = None
    """How a notebook shows the estimates; the package's root says."""

    def __init__(self, path: Path, *, temporary: bool = False) -> None:
        self._folder = Folder(path)
        if temporary:
            weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Open a run's folder.

        Raises:
            InputError: It is no run, or one that was not finished.
        """
        folder = Folder(Path(path))
        manifest = folder.manifest
        if not manifest:
            raise InputError(f"{path} is no run: it holds no {MANIFEST}.")
        if not manifest.get("finished"):
            raise InputError(f"{path} was not finished. The same evaluate command goes on with it.")
        return cls(Path(path))

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._folder.path

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """What ``run.json`` says."""
        return self._folder.manifest

    @cached_property
    def estimate_list(self) -> tuple[Estimate, ...]:
        """The reported numbers."""
        text = (self.path / "estimates.json").read_text(encoding="utf-8")
        return tuple(Estimate.from_dict(record) for record in json.loads(text))

    @property
    def signature(self) -> str:
        """Data, judges and version in one line."""
        return str(self.manifest["signature"])

    @property
    def exit_status(self) -> int:
        """0; 4 if over a tenth of a requested metric's scores are missing."""
        totals: dict[str, tuple[int, int]] = {}
        for estimate in self.estimate_list:
            if set(estimate.group) <= {"system"}:
                missing, total = totals.get(estimate.metric, (0, 0))
                totals[estimate.metric] = (missing + estimate.n_missing, total + estimate.total)
        too_many = any(missing > MOST_MISSING * total for missing, total in totals.values())
        return 4 if too_many else 0

    def estimates(self) -> pl.DataFrame:
        """One row a metric and group; each field that groups is a column, null for all."""
        fields = list(dict.fromkeys(key for one in self.estimate_list for key in one.group))
        rows = []
        for one in self.estimate_list:
            record = one.to_dict()
            group = record.pop("group")
            for nested in ("labels", "flags", "reasons"):
                record[nested] = json.dumps(record[nested], ensure_ascii=False)
            rows.append({"metric": one.metric, **{name: group.get(name) for name in fields},
                         **record})  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None)

    def scores(self) -> pl.DataFrame:
        """One row an example and metric: value, label, status and reason."""
        return pl.read_parquet(self._folder.table("scores")).drop("block")

    def examples(self) -> pl.DataFrame:
        """The examples, as ``ragstone.examples.to_frame`` makes them."""
        return pl.read_parquet(self._folder.table("examples")).drop("block")

    def ledger(self) -> pl.DataFrame:
        """How each ask came out: one row an example, ask and judge."""
        return pl.read_parquet(self._folder.table("ledger")).drop("block")

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of a kind, each with the id of every example it is about.

        Raises:
            UnknownName: No kind is called that.
        """
        if kind not in KINDS:
            raise UnknownName("judgement kind", kind, KINDS)
        table = self._folder.table(kind)
        if not table.is_file():
            empty = KINDS[kind].empty()
            return empty.select(pl.lit(None, pl.String).alias("example_id"), pl.all())
        ledger = (
            pl.scan_parquet(self._folder.table("ledger"))
            .filter(pl.col("status") == "ok")
            .select("block", "example_id", "ask", "judge", "subject")
        )
        rows = pl.scan_parquet(table)
        return (
            ledger.join(rows, on=["block", "ask", "judge", "subject"], maintain_order="left")
            .select("example_id", *KINDS[kind].schema())
            .collect()
        )

    def to_pandas(self) -> "pd.DataFrame":
        """The estimates as a pandas table.

        Raises:
            MissingDependency: pandas or pyarrow is not installed.
        """
        try:
            return self.estimates().to_pandas()
        except ImportError as error:
            raise MissingDependency("A pandas table", "pandas") from error

    def _repr_html_(self) -> str | None:
        show = type(self).notebook
        return None if show is None else show(self.estimate_list)

    def __repr__(self) -> str:
        examples = self.manifest.get("data", {}).get("examples")
        return f"Run({str(self.path)!r}, {examples} examples, {len(self.estimate_list)} estimates)"
