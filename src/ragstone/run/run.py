"""Run: a finished evaluation, in its folder."""

import json
import shutil
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ragstone.core.errors import InputError, UnknownName, needing
from ragstone.core.files import RunEntry
from ragstone.core.messages import Displayable, Renamed, argument, call, noticed, throughout
from ragstone.core.remote_files import is_url
from ragstone.judgements import KINDS, Claim, Tables

from .calls.journal_reader import Entry
from .corrections.correction import NOTHING, Store
from .folder.checksums import collect
from .folder.folder import Folder, of_examples, of_no_example
from .folder.remote_folder import mirrored, named, refuse_copy
from .folder.schemas import Estimate, Manifest
from .judging.sharding import finished_judges, stored_shards

if TYPE_CHECKING:
    import pandas as pd

    from .corrections.correct import RunCorrections
    from .corrections.corrected_run import CorrectedRun
    from .corrections.correction import Correction, CorrectionResult, Judgement

# Share of a requested metric's scores beyond which too much is missing.
MOST_MISSING = 0.1


class Run(Displayable):
    """A finished evaluation: its estimates, scores, judgements and examples.

    ``path`` is the run folder. If none was given, the run is in a temporary folder,
    which is deleted with this object, and ``is_temporary`` is true. ``asked`` names the metrics
    that the call requested; if empty, those of the run.

    What people corrected stands over what the judges said, everywhere but in the files of the
    judges; ``without_corrections`` is the run as they left it.
    """

    def __init__(
        self, path: str | Path, *, temporary: bool = False, asked: Collection[str] = (),
        beside: "Run | None" = None, corrected: bool = True,
    ) -> None:  # fmt: skip
        self.folder: Folder = beside.folder if beside and not corrected else Folder(Path(path))
        self._corrected = corrected
        self._asked = frozenset(asked)
        self._beside = beside  # Of the same folder, which may be deleted with it.
        self.is_temporary: bool = temporary or (beside is not None and beside.is_temporary)
        if temporary:
            weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Open a run folder; of one at a URL, given as text, a copy is made and opened.

        Raises:
            InputError: The folder does not exist, is not a run, or holds an unfinished run.
        """
        if isinstance(path, str) and is_url(path):
            path = mirrored(path)
        folder = Folder(Path(path))
        if not folder.path.exists():
            command = call("evaluate", argument("data", "DATA"), argument("out", path))
            raise InputError(f"There is no folder {path}: `{command}` makes a run.")
        if (folder.path / RunEntry.READY).exists():
            with folder.locked():
                folder.settle()
        manifest = folder.form
        if manifest is None:
            raise InputError(f"{path} is not a run folder: it has no {RunEntry.MANIFEST}.")
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
        """The run folder; of a run at a URL, the copy on this machine."""
        return self.folder.path

    @property
    def in_hints(self) -> str | Path:
        """The run as a hint names it: its folder, or RUN where that is temporary."""
        return "RUN" if self.is_temporary else self.path

    @property
    def place(self) -> str:
        """The run folder as a user names it: its path or its URL."""
        return named(self.path)

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The contents of ``run.json``."""
        manifest: Mapping[str, Any] = throughout(self.folder.manifest, noticed)
        return manifest

    @property
    def form(self) -> Manifest:
        """The same as typed fields, with what people corrected among the remarks."""
        overlay = self._overlay
        return self._form if overlay is None else overlay.form

    @cached_property
    def _form(self) -> Manifest:
        form = self.folder.form
        if form is None:
            raise InputError(f"{self.path} is not a run folder: it has no {RunEntry.MANIFEST}.")
        return form

    @property
    def estimate_list(self) -> tuple[Estimate, ...]:
        """The estimates."""
        overlay = self._overlay
        return self._estimates if overlay is None else overlay.estimates

    @cached_property
    def _estimates(self) -> tuple[Estimate, ...]:
        return tuple(self.folder.estimates())

    @property
    def signature(self) -> str:
        """Data, judges and version in one line."""
        return self.form.signature

    @property
    def exit_status(self) -> int:
        """0, or 4 if too many scores of a requested metric are missing."""
        requested = self._asked or {*self.form.metrics} - {*self.form.added}
        return 4 if requested & self.too_much_missing.keys() else 0

    @property
    def too_much_missing(self) -> dict[str, tuple[int, int]]:
        """Metrics with more than a tenth of their scores missing: (missing, possible) by metric.

        Undefined scores do not count as possible.
        """
        counts: dict[str, tuple[int, int]] = {}
        for estimate in self.estimate_list:
            if set(estimate.group) == {"system"}:
                missing, possible = counts.get(estimate.metric, (0, 0))
                possible += estimate.n + estimate.n_missing
                counts[estimate.metric] = (missing + estimate.n_missing, possible)
        return {
            metric: (missing, possible)
            for metric, (missing, possible) in counts.items()
            if missing > MOST_MISSING * possible
        }

    def estimates(self) -> pl.DataFrame:
        """One row per metric and group; each grouping field is a column, null for the whole run.

        A field whose name is already a column's, such as ``level``, becomes ``by_level``.
        """
        fields = list(
            dict.fromkeys(key for estimate in self.estimate_list for key in estimate.group)
        )
        own_columns = Estimate.__dataclass_fields__
        rows = []
        for estimate in self.estimate_list:
            record = estimate.to_dict()
            group = record.pop("group")
            for nested in ("labels", "flags", "reasons"):
                record[nested] = json.dumps(record[nested], ensure_ascii=False)
            groups = {
                f"by_{name}" if name in own_columns else name: group.get(name) for name in fields
            }
            rows.append({"metric": estimate.metric, **groups, **record})
        return pl.DataFrame(rows, infer_schema_length=None)

    def table(self) -> pl.DataFrame:
        """Return a table to read: one row per metric, one column per system.

        Its cells are means with 95 % intervals over all answers of a system. If no answer has a
        value, the cell says ``undefined``, or ``missing`` if a score is missing. ``estimates`` has
        the numbers.
        """
        rows: dict[str, dict[str, str]] = {}
        for each in self.estimate_list:
            if each.group.keys() == {"system"}:
                mean = "missing" if each.n_missing else "undefined"
                if each.value is not None:
                    interval = "" if each.low is None else f" [{each.low:.2f}, {each.high:.2f}]"
                    mean = f"{each.value:.2f}{interval}"
                system = each.group["system"]
                column = f"{system} (system)" if system == "metric" else system
                rows.setdefault(each.metric, {"metric": each.metric})[column] = mean
        return pl.DataFrame(list(rows.values()), infer_schema_length=None)

    @property
    def shards(self) -> tuple[int, ...]:
        """The numbers of the pieces of the data, by which tables can be read in little memory."""
        return tuple(form.shard for form in self.folder.shards.ledger)

    def scores(
        self, metrics: Collection[str] | None = None,
        columns: Sequence[str | pl.Expr] | None = None, shards: Collection[int] | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """One row per example and metric: value, label, status and reason.

        Args:
            metrics: Only of these; by default of all.
            columns: Those to read, or what is made of them; by default all.
            shards: Only these pieces of the data; by default all.
        """
        overlay = self._overlay
        chosen = () if metrics is None else (pl.col("metric").is_in(list(metrics)),)
        if overlay is None and columns is not None:
            return self.folder.read("scores", *chosen, columns=columns, shards=shards)
        scores = self.folder.read("scores", *chosen, shards=shards).drop("shard")
        scores = scores if overlay is None else overlay.scores(scores)
        return scores if columns is None else scores.select(columns)

    def examples(
        self, columns: Sequence[str | pl.Expr] | None = None, where: pl.Expr | None = None,
        shards: Collection[int] | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """The examples as made by ``ragstone.data.to_frame``, or only what these select.

        Args:
            columns: Those to read, or what is made of them; by default all.
            where: Which examples; by default all.
            shards: Only these pieces of the data; by default all.
        """
        chosen = () if where is None else (where,)
        rows = self.folder.read("examples", *chosen, columns=columns, shards=shards)
        return rows.drop("shard") if columns is None else rows

    def ledger(self) -> pl.DataFrame:
        """The outcome of each question: one row per example, ask and judge."""
        return self.folder.read("ledger").drop("shard")

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of one kind of judgement, one for each example they are about.

        Where people corrected, their rows are in the place of those that counted; their judge is
        ``person:AUTHOR``.

        Raises:
            UnknownName: There is no such kind.
        """
        if kind not in KINDS:
            raise UnknownName("judgement kind", kind, KINDS)
        if self.folder.has(kind):
            ledger, table = (self.folder.finished(name) for name in ("ledger", kind))
            rows = collect(of_examples(ledger, table, kind), self.folder.table(kind))
        else:
            rows = of_no_example(kind)
        overlay = self._overlay
        rows = rows if overlay is None else overlay.judgements(kind, rows)
        return rows.drop("ask", "status")

    def claim_counts(self, shards: Collection[int] | None = None) -> pl.DataFrame:
        """Count the claims of each answer: ``example_id`` and ``n_claims``, 0 for none."""
        keys, ask = ["shard", "judge", "subject"], pl.col("ask") == Claim.name
        lines = self.folder.read(
            "ledger", ask, pl.col("status") == "ok", columns=["example_id", *keys], shards=shards
        ).unique("example_id", keep="first", maintain_order=True)  # Who was asked first decides.
        if not self.folder.has(Claim.name):
            return lines.select("example_id", n_claims=0)
        rows = self.folder.read(Claim.name, ask, columns=keys, shards=shards)
        counts = rows.group_by(keys).agg(n_claims=pl.len())
        counted = lines.join(counts, on=keys, how="left", maintain_order="left")
        return counted.select("example_id", pl.col("n_claims").fill_null(0))

    def excerpt(self, examples: Collection[str]) -> "Excerpt":
        """The tables for some examples alone, read without the rest; unknown ids are left out."""
        return Excerpt(self.folder, examples, self._overlay)

    def tables(self) -> Iterator[Tables]:
        """The judgements shard by shard as metrics read them, with one judge for each unit."""
        overlay = self._overlay
        for tables, _ in stored_shards(self.folder, finished_judges(self._form)):
            yield tables if overlay is None else overlay.tables(tables)

    def correct(
        self, example: str, kind: str, values: Mapping[str, object], *, unit: object = None,
        author: str, reason: str, seen: str | None = None,
    ) -> "CorrectionResult":  # fmt: skip
        """Correct a judgement. It counts at once, here and in everything that reads the run.

        The files of the judges stay as they are. A claim may be reworded, ``{"text": "…"}``, and
        the run's judges then say at once what they think of the new wording; or dropped,
        ``{"dropped": True}``. No label comes of it: what measures the judge by labels reads the
        run without corrections, because these were chosen by looking.

        Args:
            example: The id of the example.
            kind: The kind of judgement, or one of its asks, such as ``support/claim``.
            values: What is right, by column, or by the name of its label.
            unit: Which claim, statement or reference, counted from 1 (``"2.3"``: the third of the
                second reference); which context, by rank or id; which criterion. None for the
                answer.
            author: Who corrects.
            reason: Why.
            seen: The ``version`` of the judgement that the author saw; None: whatever it is now.

        Returns:
            The correction, and all examples that it changes: answers for which the very same was
            judged share the judgement.

        Raises:
            UnknownName: The run has no such example.
            InputError: There is no such judgement; a column or value is not one of its kind; a
                hard rule is broken; the folder cannot be written to. Lists every fault.
            CorrectionConflict: The judgement is not the one that was seen.
        """
        refuse_copy(self.path)
        return self._corrections.correct(
            example, kind, values, unit=unit, author=author, reason=reason, seen=seen
        )

    def undo_correction(
        self, example: str, kind: str, *, unit: object = None, author: str, reason: str = "",
        seen: str | None = None,
    ) -> "CorrectionResult":  # fmt: skip
        """Take the latest correction of a judgement back: what stood before it stands again.

        Args:
            example: As in ``correct``, and likewise the rest.

        Raises:
            InputError: The judgement is not corrected, or there is none.
            CorrectionConflict: The judgement is not the one that was seen.
        """
        refuse_copy(self.path)
        return self._corrections.undo(
            example, kind, unit=unit, author=author, reason=reason, seen=seen
        )

    def corrections(self) -> "tuple[Correction, ...]":
        """Return people's corrections, the newest first, with the judge's word."""
        return self._corrections.now().all[::-1]

    def correctable(self, example: str) -> "tuple[Judgement, ...]":
        """The judgements of an example that a person can correct, each with its version.

        Raises:
            UnknownName: The run has no such example.
        """
        return self._corrections.now().correctable(example)

    def corrected_examples(self) -> "Mapping[str, Sequence[Correction]]":
        """The corrections that stand, the oldest first, by the id of each example they change."""
        overlay = self._overlay
        return {} if overlay is None else overlay.by_example

    @property
    def n_corrected(self) -> int:
        """Number of judgements that people corrected, as this run sees it."""
        overlay = self._overlay
        return 0 if overlay is None else overlay.count

    @property
    def sees_corrections(self) -> bool:
        """True if this is the run with people's corrections."""
        return self._corrected

    def without_corrections(self) -> "Run":
        """The same run as its judges left it."""
        return Run(self.path, asked=self._asked, beside=self, corrected=False)

    @cached_property
    def _corrections(self) -> "RunCorrections":
        # Most runs were never corrected, and correcting brings every judge along.
        from .corrections.correct import RunCorrections

        return RunCorrections(self.folder)

    overrule = Renamed("correct")
    undo_overrule = Renamed("undo_correction")
    overrules = Renamed("corrections")
    can_be_overruled = Renamed("correctable")
    overruled_examples = Renamed("corrected_examples")
    n_overruled = Renamed("n_corrected")
    sees_overrules = Renamed("sees_corrections")
    without_overrules = Renamed("without_corrections")

    @property
    def _overlay(self) -> "CorrectedRun | None":
        if not self._corrected or Store(self.path).stamp() == NOTHING:
            return None
        now = self._corrections.now()
        return now if now.corrections else None

    def calls(self, example: str) -> list[Entry]:
        """The model calls about an example: prompt, replies, tokens and cost."""
        return self.excerpt([example]).calls(example)

    def to_pandas(self) -> "pd.DataFrame":
        """The estimates as a pandas table.

        Raises:
            MissingDependency: pandas or pyarrow is not installed.
        """
        with needing("A pandas table", "pandas"):
            return self.estimates().to_pandas()

    def __repr__(self) -> str:
        examples = self.form.data.examples
        return f"Run({str(self.path)!r}, {examples} examples, {len(self.estimate_list)} estimates)"


class Excerpt:
    """The tables of a finished run, reduced to some examples.

    Args:
        overlay: What people corrected; None where their word is not to be seen.
    """

    def __init__(
        self, folder: Folder, ids: Collection[str], overlay: "CorrectedRun | None" = None
    ) -> None:
        self.folder, self._overlay = folder, overlay
        self._ids = list(dict.fromkeys(ids))

    @cached_property
    def entries(self) -> pl.DataFrame:
        """The ledger with the shard of each row."""
        return self._read("ledger", pl.col("example_id").is_in(self._ids))

    @cached_property
    def _examples(self) -> pl.DataFrame:
        return self._read("examples", pl.col("id").is_in(self._ids)).drop("shard")

    @cached_property
    def _shards(self) -> list[int]:
        return self.folder.shards_of(self._ids)

    def examples(self) -> pl.DataFrame:
        """The examples, in the order of the data."""
        return self._examples

    def scores(self) -> pl.DataFrame:
        """One row per example and metric."""
        scores = self._read("scores", pl.col("example_id").is_in(self._ids)).drop("shard")
        return scores if self._overlay is None else self._overlay.scores(scores)

    def ledger(self) -> pl.DataFrame:
        """The outcome of each question: one row per example, ask and judge."""
        return self.entries.drop("shard")

    def stored(self, kind: str) -> pl.DataFrame:
        """The rows of a kind about what was judged of these examples, whichever of its asks."""
        return self._read(kind, pl.col("subject").is_in(self.entries["subject"].unique().implode()))

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of one kind of judgement, one for each example they are about."""
        if self.folder.has(kind):
            rows = of_examples(self.entries.lazy(), self.stored(kind).lazy(), kind).collect()
        else:
            rows = of_no_example(kind)
        if self._overlay is not None:
            rows = self._overlay.judgements(kind, rows)
            # People's word is laid over all examples that it changes.
            rows = rows.filter(pl.col("example_id").is_in(self._ids))
        return rows.drop("ask", "status")

    def calls(self, example: str) -> list[Entry]:
        """The model calls about an example: prompt, replies, tokens and cost."""
        return self.folder.calls(self.entries.filter(pl.col("example_id") == example))

    def _read(self, name: str, which: pl.Expr) -> pl.DataFrame:
        return self.folder.read(name, which, shards=self._shards)
