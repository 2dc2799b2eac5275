"""Conversations: figures of whole sessions of a run, beside those of their turns.

A conversation is all turns of one session that one system answered, at least two of them. A session
of a single turn has no figure of its own. Each conversation counts once, however long it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import Scored, known_metric
from ragstone.core.errors import InputError
from ragstone.core.messages import Displayable, argument, plain
from ragstone.data.example import SESSION
from ragstone.judgements import ASKS, Response
from ragstone.run import Run
from ragstone.stats import ends_of
from ragstone.stats.sessions import (
    FEWEST_TURNS,
    Better,
    SessionEstimate,
    Sessions,
    SessionValues,
    TurnScores,
)
from ragstone.stats.weights_and_groups import Floats

LEVEL = 0.95
# The response types of a turn that is answered; the others abstain, refuse or ask back.
ANSWERED = ("answer", "partial")

Figure = Literal["worst_turn", "mean_of_turns", "resolved"]


@dataclass(frozen=True, slots=True)
class ConversationFigure:
    """A figure of the conversations of a system.

    Attributes:
        metric: Of whose scores; for ``resolved`` the one that has a bar, None where an answer is
            enough.
        bar: The score of the last turn that will do; None without one.
        value: The mean over the conversations, or the share of them; None if none has the figure.
        low: Of the interval, in which conversations are independent; None where there is none.
        n_undefined: Sessions without it by definition; those of a single turn among them.
        n_missing: Conversations in which missing turns leave it open.
        worst: The value if every missing turn were as bad as can be; None if that has no bound.
        best: The value if every missing turn were as good as can be.
    """

    figure: Figure
    system: str
    metric: str | None
    bar: float | None
    better: Better
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    n: int
    n_undefined: int
    n_missing: int
    worst: float | None
    best: float | None


@dataclass(frozen=True, slots=True)
class ConversationCounts:
    """The number of conversations of a system.

    Attributes:
        single: Sessions of a single turn, which are none.
        shortest: Turns of the shortest conversation; 0 if there is none.
    """

    system: str
    n: int
    single: int
    shortest: int
    longest: int


@dataclass(frozen=True, slots=True)
class ConversationFigures:
    """The figures of a run's conversations.

    Attributes:
        counts: By system; empty if no example names its session.
        unresolved: The reason why no conversation is known to be resolved or not; empty if any is.
    """

    run: Path
    counts: tuple[ConversationCounts, ...]
    figures: tuple[ConversationFigure, ...]
    unresolved: str

    def __bool__(self) -> bool:
        """Return whether there is a conversation."""
        return any(count.n for count in self.counts)

    def of(
        self, figure: Figure, metric: str | None = None, system: str | None = None
    ) -> ConversationFigure:
        """A figure; of the only system if none is named."""
        figures = [
            each
            for each in self.figures
            if (each.figure, each.metric) == (figure, metric) and system in (None, each.system)
        ]
        if len(figures) != 1:
            names = sorted({f"{each.figure} of {each.metric or 'the turns'}"
                            for each in self.figures})  # fmt: skip
            raise InputError(
                f"{len(figures)} figures are the {figure} of {metric or 'the turns'}"
                f"{f' of {system}' if system else ''}. There are: {', '.join(names) or 'none'}."
            )
        return figures[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "systems": plain(self.counts),
            "figures": plain(self.figures),
            "unresolved": self.unresolved,
        }


@dataclass(frozen=True, slots=True)
class Conversations(ConversationFigures, Displayable):
    """The same, and which conversations they are.

    Attributes:
        sessions: One row a session and system: ``system``, ``session``, ``turns``, the id of its
            ``last`` turn, ``resolved`` with ``resolved_status``, and for each metric ``worst
            METRIC``, ``mean METRIC`` and the id of the turn that is worst, ``at METRIC``.
    """

    sessions: pl.DataFrame = field(repr=False, compare=False)

    @property
    def without_sessions(self) -> ConversationFigures:
        """The figures alone, which can be stored as plain data."""
        return ConversationFigures(self.run, self.counts, self.figures, self.unresolved)

    def worst(self, metric: str) -> pl.DataFrame:
        """The rows of ``sessions`` whose worst turn is known, the worst first."""
        worst = (each for each in self.figures if each.figure == "worst_turn")
        better = next((each.better for each in worst if each.metric == metric), None)
        if better is None:
            raise InputError(f"{metric} has no worst turn here.")
        rows = self.sessions.filter(pl.col(f"worst {metric}").is_not_null())
        return rows.sort(f"worst {metric}", descending=better == "-", maintain_order=True)


def conversations(
    run: Run | str | Path, *, metrics: str | Sequence[str] = (), bar: float | None = None
) -> Conversations:
    """Figures of whole conversations: the worst turn, the mean of the turns, the share resolved.

    A conversation is resolved if its last turn is answered, by its response type: it neither
    abstains nor refuses nor asks back. With a bar its score must also reach that. Turns stand in
    the order of their number in a field ``turn`` where all of a session have one, else of the
    length of their history; equal ones in the order of the data.

    Args:
        metrics: One or more of the run's metrics; none: all.
        bar: The least score of the last turn with which a conversation is resolved, in the unit of
            the metric; the greatest, where less is better.
    """
    run = Run.of(run)
    scored = Scored(run)
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if bar is not None and not names:
        raise InputError(f"Name the metric that {argument('bar', bar)} is for.")
    chosen = [known_metric(scored, name) for name in names] or list(scored.metrics)
    turns = _turns(run)
    if turns.is_empty():
        return Conversations(run.path, (), (), "", _no_sessions())
    scores = {name: _scores(scored, name, turns["row"]) for name in chosen}
    answered, unresolved = _answered(run, turns)
    systems = [_OfSystem(name, turns) for name in turns["system"].unique(maintain_order=True)]
    several = [system for system in systems if system.counts.n]
    figures = [figure for each in several for figure in each.figures(scores, answered, bar)]
    tables = [system.table for system in several] or [_no_sessions()]
    counts = tuple(system.counts for system in systems)
    sessions = pl.concat(tables, how="diagonal")
    return Conversations(run.path, counts, tuple(figures), unresolved, sessions)


def has_sessions(run: Run) -> bool:
    """Return whether an example of the run names its session."""
    in_session = pl.col("slices").str.contains(f'"{SESSION}":', literal=True)
    return bool(run.examples([in_session.alias("named")])["named"].any())


def _turns(run: Run) -> pl.DataFrame:
    if not has_sessions(run):
        return pl.DataFrame()
    number = pl.coalesce(
        pl.col(column).str.json_path_match("$.turn").cast(pl.Float64, strict=False)
        for column in ("slices", "meta")
    )
    turns = run.examples(
        [
            "id",
            "system",
            pl.col("slices").str.json_path_match(f"$.{SESSION}").alias(SESSION),
            number.fill_nan(None).alias("number"),
            pl.col("history").list.len().cast(pl.Float64).alias("before"),
        ]
    )
    turns = turns.with_row_index("row").filter(pl.col(SESSION).is_not_null())
    numbered = pl.col("number").is_not_null().all().over("system", SESSION)
    return turns.with_columns(order=pl.when(numbered).then("number").otherwise("before"))


def _scores(scored: Scored, metric: str, turns: pl.Series) -> tuple[TurnScores, bool]:
    """The scores of a metric for all turns, and whether they are 0 or 1."""
    of, scale = scored.of(metric)[turns], scored.scale(metric)
    missing = (of["status"] == "missing").fill_null(value=True)
    value = pl.select(pl.when(of["status"] == "value").then(of["value"])).to_series()
    return _turn_scores(value, missing, scale.low, scale.high, scale.better), scale.rate


class _OfSystem:
    """The sessions of one system."""

    def __init__(self, system: str, turns: pl.DataFrame) -> None:
        self.system = system
        self.rows = (turns["system"] == system).to_numpy()
        own_turns = turns.filter(self.rows)
        self.ids = own_turns["id"].to_numpy()
        names = own_turns[SESSION].unique(maintain_order=True)
        codes = own_turns[SESSION].replace_strict(names, pl.int_range(len(names), eager=True))
        self.sessions = Sessions(codes.to_numpy(), own_turns["order"].to_numpy())
        self.columns: dict[str, pl.Series] = {
            "system": pl.repeat(system, len(names), eager=True),
            SESSION: names,
            "turns": pl.Series(self.sessions.sizes),
            "last": pl.Series(self.ids[self.sessions.last]),
        }

    @property
    def counts(self) -> ConversationCounts:
        sizes = self.sessions.sizes
        several = sizes[sizes >= FEWEST_TURNS]
        return ConversationCounts(
            self.system, len(several), len(sizes) - len(several),
            int(several.min()) if len(several) else 0, int(several.max(initial=0)),
        )  # fmt: skip

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self.columns).filter(pl.col("turns") >= FEWEST_TURNS)

    def figures(
        self,
        scores: Mapping[str, tuple[TurnScores, bool]],
        answered: TurnScores | None,
        bar: float | None,
    ) -> list[ConversationFigure]:
        figures = []
        of_system = None if answered is None else self._own(answered)
        if of_system is not None:
            resolved = self.sessions.resolved(of_system)
            self.columns["resolved"] = _values(resolved.values)
            self.columns["resolved_status"] = pl.Series(
                np.where(resolved.missing, "missing",
                         np.where(np.isnan(resolved.values), "undefined", "value"))
            )  # fmt: skip
            share = self.sessions.estimate(resolved, rate=True, low=0, high=1, better="+")
            figures.append(self._figure("resolved", None, "+", share))
        for metric, (of_all, rate) in scores.items():
            turns = self._own(of_all)
            if turns.better != "0":
                worst = self.sessions.worst(turns)
                estimate = self._estimate(worst, turns, rate=rate)
                figures.append(self._figure("worst_turn", metric, turns.better, estimate))
                self.columns[f"worst {metric}"] = _values(worst.values)
                at = [self.ids[turn] if turn >= 0 else None for turn in worst.turns]
                self.columns[f"at {metric}"] = pl.Series(at, dtype=pl.String)
            mean = self.sessions.mean(turns)
            estimate = self._estimate(mean, turns, rate=False)
            figures.append(self._figure("mean_of_turns", metric, turns.better, estimate))
            self.columns[f"mean {metric}"] = _values(mean.values)
            if bar is not None and of_system is not None and turns.better != "0":
                enough = self.sessions.resolved(of_system, turns, bar)
                share = self.sessions.estimate(enough, rate=True, low=0, high=1, better="+")
                figures.append(self._figure("resolved", metric, "+", share, bar))
        return figures

    def _own(self, scores: TurnScores) -> TurnScores:
        return replace(scores, values=scores.values[self.rows], missing=scores.missing[self.rows])

    def _estimate(self, figure: SessionValues, of: TurnScores, *, rate: bool) -> SessionEstimate:
        return self.sessions.estimate(
            figure, rate=rate, low=of.low, high=of.high, better=of.better, level=LEVEL
        )

    def _figure(
        self,
        figure: Figure,
        metric: str | None,
        better: Better,
        estimate: SessionEstimate,
        bar: float | None = None,
    ) -> ConversationFigure:
        interval = estimate.interval
        return ConversationFigure(
            figure, self.system, metric, bar, better, estimate.value, **ends_of(interval),
            level=LEVEL, method=None if interval is None else interval.method,
            n=estimate.n, n_undefined=estimate.n_undefined, n_missing=estimate.n_missing,
            worst=estimate.worst, best=estimate.best,
        )  # fmt: skip


def _answered(run: Run, turns: pl.DataFrame) -> tuple[TurnScores | None, str]:
    """Return whether each turn is answered, by the first judge that says so; else why nothing
    tells.
    """
    judged = run.judgements(Response.name).filter(pl.col("response_type").is_not_null())
    if judged.is_empty():
        return None, ASKS[Response.name].not_judged
    order = {judge.name: at for at, judge in enumerate(run.form.judges)}
    first = (
        # A person who corrected is no judge of the run, and comes before them all.
        judged.sort(pl.col("judge").replace_strict(order, default=-1), maintain_order=True)
        .unique("example_id", keep="first", maintain_order=True)
        .select("example_id", said=pl.col("response_type").cast(pl.String).is_in(ANSWERED))
    )
    answers = run.examples(["id", pl.col("answer").is_not_null().alias("there")])
    answered = answers.join(
        first, left_on="id", right_on="example_id", how="left", maintain_order="left"
    )[turns["row"]]
    missing = answered["said"].is_null() & answered["there"]
    return _turn_scores(answered["said"], missing, 0, 1, "+"), ""


def _turn_scores(
    values: pl.Series, missing: pl.Series, low: float | None, high: float | None, better: Better
) -> TurnScores:
    known = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
    return TurnScores(known, missing.to_numpy(), low, high, better)


def _values(of: Floats) -> pl.Series:
    return pl.Series(of).fill_nan(None)


def _no_sessions() -> pl.DataFrame:
    return pl.DataFrame(
        schema={"system": pl.String, SESSION: pl.String, "turns": pl.Int64, "last": pl.String}
    )
