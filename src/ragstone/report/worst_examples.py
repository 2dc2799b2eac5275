"""Worst examples: the lowest scores by metric, run or failed requirement, with the reasons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from ragstone.core.errors import RagstoneError
from ragstone.judgements import ASKS, KINDS, Lexical, Response
from ragstone.metrics import asks_of, parse_metric
from ragstone.run import Estimate, Run

from .judgement_words import against, in_words, says, speaking
from .number_format import number, scale_of, shortened
from .page import OutlineItem, Phrase, quiet, strong
from .reason_words import words
from .run_contents import PLACES, Dossier, JudgementRow, asks_about, dossiers
from .run_notes import Readable

if TYPE_CHECKING:
    from ragstone.analysis.release_gate.release_gate import GateResult


TEXT, LINE = 160, 320
MOST_LINES = 3


def why(dossier: Dossier, *metrics: str, most: int = MOST_LINES) -> list[str]:
    """The judgements that lowered an example's scores: the first few, and a count of the rest.

    First come claims and statements that are contradicted, then those that are not supported or do
    not agree and contexts that are not relevant, then the reasons the judges gave in every other
    kind that the metrics use.
    """
    asks = frozenset[str]().union(*map(asks_of, metrics))
    held = sorted(_held(dossier, asks), key=lambda item: item[0] != "bad")
    lines = list(dict.fromkeys([*(line for _, line in held), *_others(dossier, asks)]))
    lines = [shortened(line, LINE) for line in lines]
    if len(lines) > most:
        return [*lines[:most], f"and {len(lines) - most:,} more"]
    return lines


def _held(dossier: Dossier, asks: frozenset[str]) -> Iterator[tuple[str, str]]:
    for (what, text), of_unit in groupby(_of_units(dossier, asks), key=lambda item: item[:2]):
        verdicts = [(*against(row), row.reason) for _, _, row in of_unit]
        held = sorted((item for item in verdicts if item[0]), key=lambda item: item[0] != "bad")
        if held:
            sentence = ", ".join(dict.fromkeys(verdict for _, verdict, _ in held))
            reasons = dict.fromkeys(reason for _, _, reason in held)
            yield held[0][0], _line(f"{what} {sentence}", text, *reasons)


def _of_units(dossier: Dossier, asks: frozenset[str]) -> Iterator[tuple[str, str, JudgementRow]]:
    for unit in PLACES:
        about = [item for item in asks_about(unit) if item.name in asks]
        for part in dossier.parts[unit] if about else ():
            # The rank of a context; the others are counted from 1 too, as on every page.
            number = part.place if unit == "context" else part.place + 1
            what = unit if unit == "statement" else f"{unit} {number}"
            text = "" if unit == "context" else part.text or ""
            for ask in about:
                yield from ((what, text, row) for row in part.said[ask.kind])


def _others(dossier: Dossier, asks: frozenset[str]) -> Iterator[str]:
    of_units = [row for _, _, row in _of_units(dossier, asks) if speaking(row.kind) is None]
    for kind in dict.fromkeys(ASKS[ask].kind for ask in ASKS if ask in asks):
        rows = () if KINDS[kind].derived else dossier.judgements.get(kind, ())
        for row in (*rows, *(of_unit for of_unit in of_units if of_unit.kind.name == kind)):
            # That the reply is an answer lowers no score.
            answer = row.kind is Response and row.values.get(Response.decides) == "answer"
            if row.reason and not answer:
                yield _line(f"{says(row.kind)}: {in_words(row)}", "", row.reason)


def _line(head: str, text: str, *reasons: str) -> str:
    sentence = f": {shortened(text, TEXT)}" if text else ""
    why = "; ".join(words(reason) for reason in reasons if reason)
    return f"{head}{sentence}{f'  ({why})' if why else ''}"


MOST_RANKED = 5
MOST_LOW = 3

# How ``ranked`` ranks, in words.
RULE = (
    "by how far the scores lie below the best possible (0) towards the worst (1), on average over "
    "the metrics named here; an undefined or missing score counts as the average of the others"
)


@dataclass(frozen=True, slots=True)
class LowScore:
    """A score that is further from the best one than the average of all examples."""

    metric: str
    value: float
    label: str | None


@dataclass(frozen=True, slots=True)
class RankedExample:
    """An example among the worst.

    ``shortfall`` is how far its scores lie below the best possible, from 0 to 1; ``low`` has the
    metrics on which it falls short most, ``reasons`` the claims or contexts that made it bad.
    """

    example_id: str
    system: str
    shortfall: float
    low: tuple[LowScore, ...]
    question: str | None
    answer: str | None
    reasons: tuple[str, ...]


class RankedExamples(NamedTuple):
    """The worst examples, the very worst first, and the metrics that rank them."""

    metrics: tuple[str, ...]
    examples: tuple[RankedExample, ...]


def ranked(run: Run, *, limit: int = MOST_RANKED) -> RankedExamples:
    """The worst examples of a run by all metrics that rank them, each listed once.

    For each metric, a score's distance from the best possible is 0 at the best end of the metric's
    range and 1 at the worst; where the range has no such end, at the best or worst score of the
    run.
    An example's shortfall is the mean of its distances. An undefined or missing score counts as
    the mean distance of the examples that have one, so that an answer is not among the worst
    because few metrics apply to it. Ties are in the order of the data.

    The metrics that say something of the answer rank it. Those that only compare its wording with
    the reference (exact match, ROUGE, …) rank if there are no others, and metrics of the retrieval
    if there are no metrics of the answer at all: systems that share a retrieval share its faults.
    """
    metrics = _that_rank(run.estimate_list)
    scales = _scales(run, metrics)
    worst = _worst(run, scales, limit)
    ids = worst["example_id"].to_list()
    known = dossiers(run, ids)
    beyond = pl.col("distance") - pl.col("usual")
    low = (
        _distances(run.excerpt(ids).scores(), scales)
        .filter(beyond > ROUNDING)
        .sort(beyond, descending=True, maintain_order=True)
    )  # fmt: skip
    aside = [name for name in _directed(run.estimate_list) if name not in metrics]
    low_scores: dict[str, list[LowScore]] = {name: [] for name in ids}
    for name, *score in low.select("example_id", "metric", "value", "label").iter_rows():
        low_scores[name].append(LowScore(*score))
    examples = []
    for name, system, shortfall in worst.rows():
        dossier = known[name]
        reasons = why(dossier, *metrics) or why(dossier, *aside)
        texts = dossier.example.question, dossier.example.answer
        most = tuple(low_scores[name][:MOST_LOW])
        examples.append(RankedExample(name, system, shortfall, most, *texts, tuple(reasons)))
    return RankedExamples(metrics, tuple(examples))


def shortfalls(run: Run, *, limit: int) -> pl.DataFrame:
    """Id, system and shortfall of the worst examples, as ``ranked`` ranks them."""
    return _worst(run, _scales(run, _that_rank(run.estimate_list)), limit)


def _directed(estimates: Sequence[Estimate]) -> dict[str, Estimate]:
    return {estimate.metric: estimate for estimate in estimates if estimate.better != "0"}


def _that_rank(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    known = {estimate.metric for estimate in estimates if estimate.n}
    directed = {name: item for name, item in _directed(estimates).items() if name in known}
    of_answers = [name for name, item in directed.items() if item.family != "retrieval"]
    judged = [name for name in of_answers if not _of_wording(name)]
    return tuple(judged or of_answers or directed)


def _of_wording(metric: str) -> bool:
    try:
        return parse_metric(metric).asks == {Lexical.name}
    except RagstoneError:
        return False


COLUMNS = ("example_id", "system", "metric", "status", "value")

# How far rounding may move a mean of equal distances.
ROUNDING = 1e-9


def _scales(run: Run, metrics: Sequence[str]) -> pl.DataFrame:
    """Return each metric's sign, best value, width and mean distance.

    Values are multiplied by the sign, so that higher ones are better. Scores are read shard by
    shard, here and below, so that memory stays flat.
    """
    directed = _directed(run.estimate_list)
    rows: list[tuple[str, float, float | None, float | None]] = []
    for name in metrics:
        sign = 1.0 if directed[name].better == "+" else -1.0
        scale = scale_of(name)
        ends = sorted(sign * end for end in (scale.low, scale.high)) if scale else ()
        worst, best = [end if isfinite(end) else None for end in ends] or [None, None]
        rows.append((name, sign, best, worst))
    schema = {"metric": pl.String, "sign": pl.Float64, "best": pl.Float64, "worst": pl.Float64}
    scales = pl.DataFrame(rows, schema, orient="row")
    value = pl.col("value")
    of_shards = [
        _values(run.scores(metrics, ["metric", "status", "value"], [shard]))
        .group_by("metric").agg(n=pl.len(), total=value.sum(), least=value.min(), most=value.max())
        for shard in run.shards
    ]  # fmt: skip
    of_run = pl.concat(of_shards).group_by("metric").agg(
        mean=pl.col("total").sum() / pl.col("n").sum(),
        least=pl.col("least").min(),
        most=pl.col("most").max(),
    )  # fmt: skip
    ends_of_run = pl.col("least") * pl.col("sign"), pl.col("most") * pl.col("sign")
    return (
        scales.join(of_run, on="metric", maintain_order="left")
        .with_columns(best=pl.coalesce("best", pl.max_horizontal(*ends_of_run)))
        .with_columns(width=pl.col("best") - pl.coalesce("worst", pl.min_horizontal(*ends_of_run)))
        .with_columns(usual=_distance(pl.col("mean")))
        .select("metric", "sign", "best", "width", "usual")
    )


def _distance(value: pl.Expr) -> pl.Expr:
    beyond = pl.col("best") - value * pl.col("sign")
    return pl.when(pl.col("width") > 0).then(beyond / pl.col("width")).otherwise(0.0)


def _values(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores that are values, with their metric as text."""
    of_text = scores.with_columns(pl.col("metric", "status").cast(pl.String))
    return of_text.filter(pl.col("status") == "value")


def _distances(scores: pl.DataFrame, scales: pl.DataFrame) -> pl.DataFrame:
    joined = _values(scores).join(scales, on="metric", maintain_order="left")
    return joined.with_columns(distance=_distance(pl.col("value")))


def _worst(run: Run, scales: pl.DataFrame, limit: int) -> pl.DataFrame:
    shortfall = (pl.col("beyond") + scales["usual"].sum()) / max(scales.height, 1)
    metrics = scales["metric"].to_list()
    of_shards = []
    for shard in run.shards:
        order = run.examples([pl.col("id").alias("example_id")], shards=[shard])
        of_shards.append(
            _distances(run.scores(metrics, COLUMNS, [shard]), scales)
            .group_by("example_id")
            .agg(
                pl.col("system").first(),
                beyond=(pl.col("distance") - pl.col("usual")).sum(),
                most=pl.col("distance").max(),
            )
            .filter(pl.col("most") > 0)
            .join(order.with_row_index("place"), on="example_id")
            .with_columns(shortfall=shortfall.round(9))
            .sort("shortfall", "place", descending=[True, False])
            .head(limit)
            .select("example_id", "system", "shortfall")
        )
    return pl.concat(of_shards).sort("shortfall", descending=True, maintain_order=True).head(limit)


SHOWN = 3


@dataclass(frozen=True, slots=True)
class WorstExample:
    """An example that could be better under a metric, or fails a requirement.

    ``value`` is its score, or for ``no worse than`` the difference from the baseline, positive if
    better. ``reasons`` are the judgements that lowered its score.
    """

    example_id: str
    system: str
    value: float
    label: str | None
    question: str | None
    answer: str | None
    reasons: tuple[str, ...] = ()


# The worst examples of a requirement, by its index in the result.
Failing = Mapping[int, Sequence[WorstExample]]


def failing(run: Readable, result: "GateResult", *, limit: int = SHOWN) -> Failing:
    """The worst examples of every requirement that does not pass."""
    to_explain = {
        index: rule.worst[:limit]
        for index, rule in enumerate(result.requirements)
        if rule.decision != "pass"
    }
    known = dossiers(run, dict.fromkeys(name for of in to_explain.values() for name, _ in of))
    examples: dict[int, list[WorstExample]] = {}
    for index, worst_of in to_explain.items():
        metric, examples[index] = result.requirements[index].metric, []
        for name, value in worst_of:
            reasons, of = tuple(why(known[name], metric)), known[name].example
            row = WorstExample(of.id, "", value, None, of.question, of.answer, reasons)
            examples[index].append(row)
    return examples


QUESTION, ANSWER = 160, 240


def worst(
    run: Run, *, metrics: Sequence[str] = (), limit: int = SHOWN
) -> dict[str, list[WorstExample]]:
    """The worst examples of each metric, the very worst first, ties in the order of the data.

    Only examples with a value that could be better are listed. A metric without a better
    direction is left out unless it is named; then its highest values come first.
    """
    better = {estimate.metric: estimate.better for estimate in run.estimate_list}
    chosen = [name for name in better if name in metrics or (not metrics and better[name] != "0")]
    scores = run.scores().filter(pl.col("status").cast(pl.String) == "value")
    texts = run.examples(["id", "question", "answer"]).rename({"id": "example_id"})
    by_metric: dict[str, list[WorstExample]] = {}
    for name in chosen:
        scale, value, up = scale_of(name), pl.col("value"), better[name] == "+"
        rows = scores.filter(pl.col("metric").cast(pl.String) == name)
        if scale is not None and better[name] != "0":
            rows = rows.filter(value < scale.high if up else value > scale.low)
        rows = rows.sort("value", descending=not up, maintain_order=True).head(limit)
        rows = rows.join(texts, on="example_id", how="left", maintain_order="left")
        rows = rows.select("example_id", "system", "value", "label", "question", "answer")
        by_metric[name] = [WorstExample(*row) for row in rows.iter_rows()]
    return by_metric


def example_item(example: WorstExample) -> OutlineItem:
    """An example with its score, question, answer and the reasons for a low score."""
    label = f" {example.label}" if example.label else ""
    after = (quiet(f"  {example.system}"),) if example.system else ()
    head = (strong(number(example.value)), label, "  ", Phrase(example.example_id, "name"), *after)
    return OutlineItem(head, texts_of(example))


def texts_of(example: WorstExample | RankedExample) -> tuple[OutlineItem, ...]:
    """Return its question, its answer and the reasons, cut to a few lines."""
    text = (OutlineItem(Phrase(reason, "caution"), lead="–") for reason in example.reasons)
    return (*question_and_answer(example.question, example.answer), *text)


def question_and_answer(question: str | None, answer: str | None) -> tuple[OutlineItem, ...]:
    """Both, cut to a few lines."""
    return (
        OutlineItem(Phrase(shortened(question, QUESTION), "text"), lead="Q"),
        OutlineItem(Phrase(shortened(answer, ANSWER), "text"), lead="A"),
    )
