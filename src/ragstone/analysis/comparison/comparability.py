"""Comparability: metrics that differ between runs, identical inputs, and answers as references.

A system whose answers are the references, often people's answers beside the models', scores 1
against the reference by construction, which says nothing about it or about the others.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError
from ragstone.core.messages import argument, reason
from ragstone.judgements import ASKS, KINDS, Citation, Critique, Rating
from ragstone.judges import fingerprint
from ragstone.metrics import Composite, Metric, needed_asks
from ragstone.run import Run
from ragstone.run.folder.schemas import Manifest
from ragstone.run.settings import ChatSettings
from ragstone.stats.weights_and_groups import Bools

from .compared_systems import Match, Side, run_labels

SHARE = re.compile(r" \d+%")
# What a signature says of how a user's own metric, which is not loaded, was judged.
SIGNED = ("judge", "prompts", "plan", "encoder", "bertscore", "cross_encoder", "text")

MEASURED_OTHERWISE = "measured_otherwise"
JUDGE_OF = "judge of "
MOST_LISTED = 20

BY_RUBRIC = {Rating.name, Critique.name}


def measured_otherwise(
    first: Scored, second: Scored, metrics: Sequence[str]
) -> list[Mapping[str, str]]:
    """List all differences of equally named metrics in two runs, as facts of a reason.

    ``of`` is the metric, ``what`` goes before both, such as ``prompt claims`` or ``claims judged
    by``.
    """
    changes: list[Mapping[str, str]] = []
    in_first, in_second = run_labels(first.run.path, second.run.path)
    for name in metrics:
        before, after = _made_by(first, name), _made_by(second, name)
        together: dict[tuple[str, str], list[str]] = {}
        for what, had in before.items():
            has = after.get(what)
            if has is not None and has != had:
                together.setdefault((had, has), []).append(what)
        changes += [
            {"of": name, "what": words, "first": had, "second": has,
             "in_first": in_first, "in_second": in_second}
            for (had, has), what in together.items()
            for words in _in_words(what)
        ]  # fmt: skip
    return changes


def check_same(first: Scored, second: Scored, metrics: Sequence[str], *, force: bool) -> list[str]:
    """Check that metrics are measured alike in both runs; returns tolerated differences."""
    differences = measured_otherwise(first, second, metrics)
    if not differences or force:
        return [reason("compared_all_the_same", **difference) for difference in differences]
    count = len({difference["of"] for difference in differences})
    noun = "metric was" if count == 1 else "metrics were"
    listed = [reason(MEASURED_OTHERWISE, **difference) for difference in differences[:MOST_LISTED]]
    more = (
        [f"… and {len(differences) - MOST_LISTED} more"] if len(differences) > MOST_LISTED else []
    )
    raise InputError(
        f"{count} {noun} measured otherwise in {second.run.path} than in {first.run.path}, so a "
        "difference may be the judge's or the definition's. Evaluate both alike, choose other "
        f"metrics with {argument('metrics', 'METRIC')}, or compare all the same with "
        f"{argument('force', True)}.",
        notes=[*listed, *more],
    )


def only_one_has(first: Scored, second: Scored) -> list[str]:
    """A note for each run that has metrics which the other has not."""
    notes = []
    for scored, other in ((first, second), (second, first)):
        alone = [name for name in scored.metrics if name not in other.metrics]
        if alone:
            notes.append(reason("only_one_has", run=scored.run.path, metrics="\n".join(alone)))
    return notes


def other_texts(first: Scored, second: Scored) -> list[str]:
    """A note if questions with the same id have different texts."""
    key, text = pl.col("question_id").hash(), pl.col("question")
    read = [key, pl.when(text.is_not_null()).then(text.hash()).alias("question")]
    texts = [
        scored.run.examples(read).unique("question_id", keep="first").drop_nulls()
        for scored in (first, second)
    ]
    other = texts[0].join(texts[1], on="question_id", suffix="_then")
    keys = other.filter(pl.col("question") != pl.col("question_then"))["question_id"]
    if keys.is_empty():
        return []
    names = first.run.examples(["question_id"], key.is_in(keys.implode()))["question_id"]
    return [reason("other_questions", n=len(keys), run=second.run.path, first=names.min())]


def version_note(first: Scored, second: Scored) -> list[str]:
    """A note if the runs were made by different versions."""
    version, other = (scored.run.form.ragstone for scored in (first, second))
    return [] if version == other else [reason("other_version", first=version, second=other)]


def measured_by(scored: Scored, name: str) -> dict[str, str]:
    """Everything known to affect a metric's values: judges, prompts, models, version."""
    return {"ragstone": scored.run.form.ragstone, **_made_by(scored, name)}


def _in_words(what: Sequence[str]) -> list[str]:
    asks = [word.removeprefix(JUDGE_OF) for word in what if word.startswith(JUDGE_OF)]
    rest = [word for word in what if not word.startswith(JUDGE_OF) and word != "judge"]
    phrases = [", ".join(rest)] if rest else []
    if asks or "judge" in what:
        phrases.append(f"{', '.join(asks)} judged by".lstrip())
    return phrases


def _made_by(scored: Scored, name: str) -> dict[str, str]:
    form = scored.run.form
    metric = scored.metric(name)
    if name in form.settings.definitions:
        return {"definition": form.settings.definitions[name], **_signed(scored, name)}
    return _signed(scored, name) if metric is None else _judged(form, metric)


def _judged(form: Manifest, metric: Metric) -> dict[str, str]:
    asks, settings = needed_asks([metric]), form.settings
    judges: dict[str, set[str]] = {}
    for ask, judge, status, _ in form.judged:
        if ask in asks and status == "ok":
            judges.setdefault(ask, set()).add(judge)
    facts = {f"{JUDGE_OF}{ask}": " and ".join(sorted(who)) for ask, who in judges.items()}
    who = set().union(*judges.values())
    if any(judge == "local" or judge.startswith("local:") for judge in who):
        facts["rules of the local judge"] = fingerprint(settings.local)[:12]
    for identity in settings.nli:
        judge = identity.partition("@")[0]
        if judge in who:
            facts[f"model of {judge}"] = identity
    if settings.llm is not None:
        facts |= _instructed(settings.llm, judges)
    if Citation.name in asks:
        facts["citation marks"] = settings.citations
    for word in form.models.signature(asks):
        what, _, model = word.partition(":")
        facts[what] = model
    return facts


def _instructed(chat: ChatSettings, judges: Mapping[str, set[str]]) -> dict[str, str]:
    by_model = [ask for ask, who in judges.items() if not who.isdisjoint(chat.judges)]
    if not by_model:
        return {}
    kinds = {ASKS[ask].kind for ask in by_model}
    tasks = sorted({KINDS[kind].asked_with or kind for kind in kinds} & set(chat.prompts))
    models = sorted(set().union(*(judges[ask] for ask in by_model)) & set(chat.judges))
    facts = {f"model of {judge}": ", ".join(chat.judges[judge]) for judge in models}
    facts |= {f"prompt {task}": chat.prompts[task] for task in tasks}
    facts["plan"] = chat.plan
    if kinds & BY_RUBRIC:
        facts["rubrics"] = chat.rubrics
    return facts


def _signed(scored: Scored, name: str) -> dict[str, str]:
    signature = next(
        estimate.signature for estimate in scored.run.estimate_list if estimate.metric == name
    )
    parts = (word.partition(":") for word in signature.split("|")[1:])
    return {what: SHARE.sub("", value) for what, _, value in parts if what in SIGNED}


# What a system makes of a question, what other systems make of it, and facts of how it was made.
Output = Literal["answer", "contexts", "rivals", "meta"]
OUTPUTS: tuple[Output, ...] = ("answer", "contexts", "rivals", "meta")

# What the data say of a question: every metric is taken to read all of it.
GIVEN = ("question", "history", "reference", "evidence", "reference_contexts", "policy",
         "criteria")  # fmt: skip


class Inputs:
    """Fingerprints of what the judges of a run read in each example."""

    def __init__(self, scored: Scored) -> None:
        self.scored = scored
        self._prints: dict[tuple[str, ...], pl.Series] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[int, tuple[str, ...]], tuple[Side, NDArray[np.uint64]]] = {}

    def of(self, side: Side, name: str) -> NDArray[np.uint64]:
        """For each question what a metric's judgements of the side read, and who judged.

        Of several rows of a question all count, in whatever order; 0 where it has none. Made once
        for a side and all metrics that read the same.
        """
        prints = self._print(name)
        key = id(side), self._keys[name]
        if key not in self._found:
            frame = pl.DataFrame({"place": pl.Series(side.places), "print": prints[side.rows]})
            by_question = frame.group_by("place").agg(pl.col("print").sort())
            by_index = np.zeros(len(side.questions.ids), dtype=np.uint64)
            by_index[by_question["place"].to_numpy()] = by_question["print"].hash().to_numpy()
            self._found[key] = side, by_index
        return self._found[key][1]

    def _print(self, name: str) -> pl.Series:
        """For each example what a metric's judgements read; made once for all that read the same.

        Who judged counts only where several did.
        """
        if name in self._keys:
            return self._prints[self._keys[name]]
        metric = self.scored.metric(name)
        reads = OUTPUTS if metric is None else outputs_of(metric)
        asks = list(ASKS) if metric is None else needed_asks([metric])
        several = [ask for ask in asks if self._authors[ask] > 1]
        key = (*sorted(reads), *several, *(asks if self.scored.run.n_corrected else ()))
        self._keys[name] = key
        if key not in self._prints:
            outputs = [self._made[output] for output in OUTPUTS if output in reads]
            judged = [self._judged(several), *self._corrected(asks)]
            self._prints[key] = _joined([self._given, *outputs, *judged])
        return self._prints[key]

    def _corrected(self, asks: Sequence[str]) -> list[pl.Series]:
        corrected = self.scored.run.corrected_examples()
        if not any(correction.ask in asks for those in corrected.values() for correction in those):
            return []
        texts = [
            repr([(correction.ask, correction.unit, sorted(correction.said.items()))
                  for correction in corrected.get(example, ()) if correction.ask in asks])
            for example in self.scored.facets["example_id"]
        ]  # fmt: skip
        return [pl.Series(texts, dtype=pl.String)]

    @cached_property
    def _authors(self) -> Counter[str]:
        return Counter(ask for ask, _, status, _ in self.scored.run.form.judged if status == "ok")

    @cached_property
    def _given(self) -> pl.Series:
        return self._printed(GIVEN)

    @cached_property
    def _made(self) -> dict[Output, pl.Series]:
        answer = self._printed(("answer",))
        frame = self.scored.facets.select("question_id").with_columns(print=answer)
        rivals = frame.group_by("question_id").agg(pl.col("print").sort())
        rivals = rivals.with_columns(pl.col("print").hash())
        joined = frame.join(rivals, on="question_id", how="left", maintain_order="left")
        return {
            "answer": answer,
            "contexts": self._printed(("contexts",)),
            "rivals": joined["print_right"],
            "meta": self._printed(("meta", "slices")),
        }

    def _printed(self, columns: Sequence[str]) -> pl.Series:
        # While they are read, for all texts of a large run do not fit into memory.
        texts = pl.struct(columns).struct.json_encode().hash().alias("print")
        return self.scored.run.examples([texts]).to_series()

    def _judged(self, several: Sequence[str]) -> pl.Series:
        ids = self.scored.facets.select("example_id")
        if not several:
            return pl.repeat(0, len(ids), dtype=pl.UInt64, eager=True)
        who = (
            self.scored.run.ledger()
            .filter(pl.col("ask").is_in(several) & (pl.col("status") == "ok"))
            .group_by("example_id")
            .agg(who=pl.format("{} {}", "ask", "judge").unique().sort())
            .with_columns(pl.col("who").hash())
        )
        return ids.join(who, on="example_id", how="left", maintain_order="left")["who"].fill_null(0)


class SameInputs:
    """The test if both sides of a pair were judged on identical inputs, by metric."""

    def __init__(self) -> None:
        self._inputs: dict[int, Inputs] = {}

    def where(self, match: Match, name: str) -> Bools:
        """The questions with identical inputs, judge and prompts on both sides."""
        a, b = match
        if a.scored is not b.scored and measured_by(a.scored, name) != measured_by(b.scored, name):
            return np.zeros(len(a.questions.ids), dtype=bool)
        first, second = (
            self._inputs.setdefault(id(side.scored), Inputs(side.scored)).of(side, name)
            for side in match
        )
        return np.asarray(a.there & b.there & (first == second))

    def everywhere(self, match: Match, name: str) -> bool:
        """Return whether this is so for all common questions; False if there are none."""
        both = match[0].there & match[1].there
        return bool(both.any()) and bool(self.where(match, name)[both].all())


def outputs_of(metric: Metric) -> Collection[Output]:
    """The parts of the systems' output that a metric's judgements may read."""
    if isinstance(metric, Composite):
        return {output for part in metric.components().values() for output in outputs_of(part)}
    names = _reads(metric)
    names |= {"answer"} if "answer_text" in names else set()
    return [output for output in OUTPUTS if output in names]


def same_inputs_reason(differing: int, pairs: int) -> str:
    """The reason code for a metric with identical inputs."""
    return reason("same_inputs", differing=differing, pairs=pairs)


def _joined(prints: Sequence[pl.Series]) -> pl.Series:
    frame = pl.DataFrame({str(at): series for at, series in enumerate(prints)})
    return frame.select(pl.struct(pl.all()).hash()).to_series()


# Median words of an answer from which equality is no chance: a good system gives many short
# answers, such as names and dates, word for word.
LEAST_WORDS = 5


def systems_as_references(run: Run) -> tuple[str, ...]:
    """The systems of whose answers every one is, letter by letter, one of its references.

    Answers without a reference are not looked at, nor is a system with answers of fewer than
    ``LEAST_WORDS`` words in the median.
    """
    answer = pl.col("answer").str.strip_chars()
    references = pl.col("reference").list.eval(pl.element().str.strip_chars())
    # Made while they are read: all texts of a large run do not fit into memory.
    rows = run.examples(
        [
            "system",
            references.list.contains(answer).alias("equal"),
            answer.str.count_matches(r"\S+").alias("words"),
        ],
        pl.col("answer").is_not_null() & (pl.col("reference").list.len() > 0),
    )
    by_system = rows.group_by("system", maintain_order=True).agg(
        pl.col("equal").all(), pl.col("words").median()
    )
    alike = by_system.filter(pl.col("equal") & (pl.col("words") >= LEAST_WORDS))
    return tuple(alike["system"])


def sets_beside_reference(metric: Metric | None) -> bool:
    """Return whether a metric would compare such a system with itself."""
    if isinstance(metric, Composite):
        return any(map(sets_beside_reference, metric.components().values()))
    return metric is not None and {"answer", "reference"} <= _reads(metric)


def _reads(metric: Metric) -> set[str]:
    asks = [ASKS[name] for name in needed_asks([metric])]
    return {*metric.reads, *(part for ask in asks for part in (*ask.requires, *ask.beside))}
