"""Sameness: whether a metric's name means the same in two runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import argument, reason
from ragstone.decisions.scored import Scored
from ragstone.judgements import ASKS, KINDS, Citation, Critique, Rating
from ragstone.judges import fingerprint
from ragstone.metrics import Metric, needed_asks
from ragstone.run.forms import Manifest
from ragstone.run.settings import ChatSettings

from .sides import run_labels

SHARE = re.compile(r" \d+%")
SIGNED = ("judge", "prompts", "plan", "encoder", "bertscore", "cross_encoder")
"""What a signature says of how a user's own metric, which is not loaded, was judged."""

JUDGE_OF = "judge of "
MOST_LISTED = 20

BY_RUBRIC = {Rating.name, Critique.name}


@dataclass(frozen=True, slots=True)
class Otherwise:
    """Something that differs in the second run: a judge, prompt, model or definition.

    ``what`` goes before both, such as ``prompt claims`` or ``claims judged by``; ``runs`` is what
    the runs are called.
    """

    metric: str
    what: str
    first: str
    second: str
    runs: tuple[str, str]

    def reason(self, code: str = "measured_otherwise") -> str:
        """All of it as facts."""
        one, other = self.runs
        return reason(
            code,
            of=self.metric,
            what=self.what,
            first=self.first,
            second=self.second,
            in_first=one,
            in_second=other,
        )


def measured_otherwise(first: Scored, second: Scored, metrics: Sequence[str]) -> list[Otherwise]:
    """All differences of equally named metrics in two runs."""
    found = []
    runs = run_labels(first.run.path, second.run.path)
    for name in metrics:
        one, other = _made_by(first, name), _made_by(second, name)
        together: dict[tuple[str, str], list[str]] = {}
        for what, had in one.items():
            has = other.get(what)
            if has is not None and has != had:
                together.setdefault((had, has), []).append(what)
        found += [
            Otherwise(name, words, had, has, runs)
            for (had, has), what in together.items()
            for words in _in_words(what)
        ]
    return found


def check_same(first: Scored, second: Scored, metrics: Sequence[str], *, force: bool) -> list[str]:
    """Check that metrics are measured alike in both runs; returns tolerated differences.

    Raises:
        InputError: It is one, unless forced; all of it is listed.
    """
    found = measured_otherwise(first, second, metrics)
    if not found or force:
        return [one.reason("compared_all_the_same") for one in found]
    count = len({one.metric for one in found})
    noun = "metric was" if count == 1 else "metrics were"
    listed = [one.reason() for one in found[:MOST_LISTED]]
    more = [f"… and {len(found) - MOST_LISTED} more"] if len(found) > MOST_LISTED else []
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
    for one, other in ((first, second), (second, first)):
        alone = [name for name in one.metrics if name not in other.metrics]
        if alone:
            notes.append(reason("only_one_has", run=one.run.path, metrics="\n".join(alone)))
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
    one, other = (scored.run.form.ragstone for scored in (first, second))
    return [] if one == other else [reason("other_version", first=one, second=other)]


def measured_by(scored: Scored, name: str) -> dict[str, str]:
    """Everything known to affect a metric's values: judges, prompts, models, version."""
    return {"ragstone": scored.run.form.ragstone, **_made_by(scored, name)}


def _in_words(what: Sequence[str]) -> list[str]:
    """What judges did in one phrase, everything else in another."""
    asks = [word.removeprefix(JUDGE_OF) for word in what if word.startswith(JUDGE_OF)]
    rest = [word for word in what if not word.startswith(JUDGE_OF) and word != "judge"]
    found = [", ".join(rest)] if rest else []
    if asks or "judge" in what:
        found.append(f"{', '.join(asks)} judged by".lstrip())
    return found


def _made_by(scored: Scored, name: str) -> dict[str, str]:
    """What the metric's values depend on, in words; unknown parts are left out."""
    form = scored.run.form
    metric = scored.metric(name)
    if name in form.settings.definitions:
        return {"definition": form.settings.definitions[name], **_signed(scored, name)}
    return _signed(scored, name) if metric is None else _judged(form, metric)


def _judged(form: Manifest, metric: Metric) -> dict[str, str]:
    asks, settings = needed_asks([metric]), form.settings
    said: dict[str, set[str]] = {}
    for ask, judge, status, _ in form.judged:
        if ask in asks and status == "ok":
            said.setdefault(ask, set()).add(judge)
    found = {f"{JUDGE_OF}{ask}": " and ".join(sorted(who)) for ask, who in said.items()}
    who = set().union(*said.values())
    if any(judge == "local" or judge.startswith("local:") for judge in who):
        found["rules of the local judge"] = fingerprint(settings.local)[:12]
    for identity in settings.nli:
        judge = identity.partition("@")[0]
        if judge in who:
            found[f"model of {judge}"] = identity
    if settings.llm is not None:
        found |= _instructed(settings.llm, said)
    if Citation.name in asks:
        found["citation marks"] = settings.citations
    for word in form.models.signature(asks):
        what, _, model = word.partition(":")
        found[what] = model
    return found


def _instructed(chat: ChatSettings, said: Mapping[str, set[str]]) -> dict[str, str]:
    """The models that were asked, their prompts and their plan."""
    by_model = [ask for ask, who in said.items() if not who.isdisjoint(chat.judges)]
    if not by_model:
        return {}
    kinds = {ASKS[ask].kind for ask in by_model}
    tasks = sorted({KINDS[kind].asked_with or kind for kind in kinds} & set(chat.prompts))
    asked = sorted(set().union(*(said[ask] for ask in by_model)) & set(chat.judges))
    found = {f"model of {judge}": ", ".join(chat.judges[judge]) for judge in asked}
    found |= {f"prompt {task}": chat.prompts[task] for task in tasks}
    found["plan"] = chat.plan
    if kinds & BY_RUBRIC:
        found["rubrics"] = chat.rubrics
    return found


def _signed(scored: Scored, name: str) -> dict[str, str]:
    signature = next(one.signature for one in scored.run.estimate_list if one.metric == name)
    parts = (word.partition(":") for word in signature.split("|")[1:])
    return {what: SHARE.sub("", said) for what, _, said in parts if what in SIGNED}
