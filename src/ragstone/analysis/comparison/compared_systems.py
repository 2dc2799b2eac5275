"""Compared systems: pairs of systems, with the values of both sides for each question and metric.

A composite is compared over the components for which both systems have a value.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import shorten

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import argument, reason
from ragstone.metrics import Composite, score
from ragstone.stats.weights_and_groups import Bools, Floats, Ints

from .comparison_result import TIE

NO_PLACE = -1

# What stands for a question that the data gave no id.
HASHED = re.compile("[0-9a-f]{16}")

# Letters that are shown of one.
QUESTION = 60


@dataclass(frozen=True, eq=False)
class ComparedQuestions:
    """The questions of all runs that are compared.

    Attributes:
        several: How many stand in several clusters, and are counted in their first.
    """

    ids: pl.Series
    clusters: Ints
    several: int

    @classmethod
    def of(cls, runs: Sequence[Scored]) -> "ComparedQuestions":
        """The questions; the first run that has one says which cluster it is in."""
        rows = pl.concat([run.facets.select("question_id", "cluster") for run in runs])
        first = rows.unique("question_id", keep="first", maintain_order=True)
        clustered = runs[0].facets.filter(pl.col("cluster").str.starts_with("\0").not_())
        counts = clustered.group_by("question_id").agg(pl.col("cluster").n_unique())
        several = int((counts["cluster"] > 1).sum())
        clusters = first["cluster"].rank("dense").cast(pl.Int64).to_numpy() - 1
        return cls(first["question_id"], clusters, several)

    def places(self, ids: pl.Series) -> Ints:
        """Return the index of each id."""
        numbered = pl.DataFrame({"id": self.ids}).with_row_index("place")
        joined = pl.DataFrame({"id": ids}).join(
            numbered, on="id", how="left", maintain_order="left"
        )
        return joined["place"].cast(pl.Int64).to_numpy()


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """A side's scores of one metric, one entry per question.

    ``value`` is the mean of the question's rows that have one, and means nothing where ``valued``
    is false; ``missing`` says that a judge owes all of it, ``owed`` how many of ``rows`` rows it
    owes. A question with a value may owe some too.
    """

    value: Floats
    valued: Bools
    missing: Bools
    owed: Floats
    rows: Floats

    def equals(self, other: "Values") -> Bools:
        """Questions on which both have the same value, or neither has one."""
        equal = differences(self.value, other.value) == 0
        return np.asarray((self.valued == other.valued) & (equal | ~self.valued))

    def filled(self, to: float) -> "Values":
        """The values with every missing row set to a given value."""
        scored = self.rows - self.owed
        total = np.where(self.valued, self.value * scored, 0.0) + self.owed * to
        known = self.valued | (self.owed > 0)
        value = np.divide(total, self.rows, out=np.zeros_like(total), where=known)
        nothing = np.zeros_like(self.owed)
        return Values(value, known, np.zeros_like(self.missing), nothing, self.rows)


def differences(a: Floats, b: Floats) -> Floats:
    """a - b, value by value; exactly 0 if they differ only by rounding."""
    difference = a - b
    slack = TIE * np.maximum(np.abs(a), np.abs(b))
    return np.asarray(np.where(np.abs(difference) <= slack, 0.0, difference))


# Each example's value, whether it has one, and whether it is missing.
Outcomes = tuple[Floats, Bools, Bools]


def outcomes_of(scores: pl.DataFrame) -> Outcomes:
    """Return the outcomes of a run's examples, in order, from its ``value`` and ``status``."""
    status = pl.col("status")
    columns = scores.select(
        pl.col("value").fill_null(0),
        valued=(status == "value").fill_null(value=False),
        missing=(status == "missing").fill_null(value=True),
    )
    value, valued, missing = (column.to_numpy() for column in columns)
    return value, valued, missing


@dataclass(frozen=True, eq=False)
class Side:
    """One system of one run.

    Attributes:
        name: What it is called in the comparison; with two runs ``RUN/system``.
    """

    name: str
    scored: Scored
    system: str
    questions: ComparedQuestions

    @cached_property
    def rows(self) -> Ints:
        """The examples of the run that are the system's."""
        return (self.scored.facets["system"] == self.system).arg_true().cast(pl.Int64).to_numpy()

    @cached_property
    def places(self) -> Ints:
        """The question of each of its rows."""
        return self.questions.places(self.scored.facets["question_id"].gather(self.rows))

    @cached_property
    def there(self) -> Bools:
        """The questions that it has."""
        return np.bincount(self.places, minlength=len(self.questions.ids)) > 0

    def values(self, outcomes: Outcomes) -> Values:
        """Return the system's score on each question, from the outcomes of its run."""
        size = len(self.questions.ids)
        value, valued, missing = (column[self.rows] for column in outcomes)
        counts = np.bincount(self.places[valued], minlength=size)
        sums = np.bincount(self.places[valued], value[valued], minlength=size)
        owed = np.bincount(self.places[missing], minlength=size).astype(np.float64)
        missing_whole = (owed > 0) & (counts == 0)
        value = sums / np.maximum(counts, 1)
        return Values(value, counts > 0, missing_whole, owed, counts + owed)

    def slices(self, name: str, known: dict[str, int]) -> Ints:
        """The number of each question's value of a field, that of its first row."""
        slices = np.full(len(self.questions.ids), NO_PLACE)
        column = self.scored.facets[f"by {name}"].gather(self.rows)
        for value in column.unique(maintain_order=True):
            known.setdefault(value, len(known))
        numbers = column.replace_strict(known, return_dtype=pl.Int64).to_numpy()
        slices[self.places[::-1]] = numbers[::-1]
        return slices


# The systems a and b.
Match = tuple[Side, Side]


def matches_within(scored: Scored, baseline: str | None) -> list[Match]:
    """Every pair of systems of a run, or each against the baseline."""
    systems = scored.systems
    if len(systems) < 2:
        raise InputError(
            f"{scored.run.path} holds one system, {systems[0] if systems else 'none'}. Name a "
            "second run to compare it with."
        )
    if baseline is not None and baseline not in systems:
        raise UnknownName(
            "system of this run", baseline, systems, hint=f"It has {', '.join(systems)}."
        )
    questions = ComparedQuestions.of([scored])
    sides = [Side(name, scored, name, questions) for name in systems]
    if baseline is not None:
        against = next(side for side in sides if side.system == baseline)
        return [(side, against) for side in sides if side is not against]
    return [(a, b) for at, a in enumerate(sides) for b in sides[at + 1 :]]


def matches_between(first: Scored, second: Scored) -> tuple[list[Match], list[str]]:
    """Equally named systems of two runs; if each run has only one system, these two."""
    labels = run_labels(first.run.path, second.run.path)
    questions = ComparedQuestions.of([first, second])
    shared = [name for name in first.systems if name in second.systems]
    if len(first.systems) == len(second.systems) == 1:
        pairs = [(first.systems[0], second.systems[0])]
    else:
        pairs = [(name, name) for name in shared]
    if not pairs:
        raise InputError(
            f"{labels[0]} and {labels[1]} have no system of the same name.\n"
            f"  {labels[0]}: {', '.join(first.systems)}\n  {labels[1]}: {', '.join(second.systems)}"
        )
    notes, compared = [], []
    for label, scored, names in zip(labels, (first, second), zip(*pairs, strict=True), strict=True):
        alone = [name for name in scored.systems if name not in names]
        if alone:
            notes.append(reason("systems_not_compared", run=label, systems="\n".join(alone)))
        compared.append([Side(f"{label}/{name}", scored, name, questions) for name in names])
    return list(zip(compared[0], compared[1], strict=True)), notes


def run_labels(first: Path, second: Path) -> tuple[str, str]:
    """Labels of two runs: the names of their folders, if these differ."""
    if first.name != second.name and first.name and second.name:
        return first.name, second.name
    if str(first) != str(second):
        return str(first), str(second)
    return str(first), f"{second} again"


def unpaired(matches: Sequence[Match]) -> list[str]:
    """Note the questions that only one side of a pair has."""
    if not any((a.there & b.there).any() for a, b in matches):
        a, b = matches[0]
        raise InputError(
            f"{a.name} and {b.name} share no question, so nothing can be paired. "
            "Questions are paired by question_id; evaluate takes it from another column with "
            f"{argument('columns', {'question_id': 'COLUMN'})}.",
            notes=[_named(side, side.there, "questions_of") for side in (a, b)],
        )
    notes = {
        _named(side, side.there & ~other.there, "questions_not_paired"): None
        for match in matches
        for side, other in (match, match[::-1])
        if (side.there & ~other.there).any()
    }
    return list(notes)


def _named(side: Side, chosen: Bools, code: str, most: int = 5) -> str:
    ids = side.questions.ids.filter(pl.Series(chosen))
    some, more = _words(side, ids.head(most).to_list()), max(0, len(ids) - most)
    return reason(code, side=side.name, n=len(ids), questions="\n".join(some), more=more)


def _words(side: Side, ids: Sequence[str]) -> list[str]:
    if not any(HASHED.fullmatch(id) for id in ids):
        return list(ids)
    asking = pl.col("question_id").is_in(ids)
    questions = side.scored.run.examples(["question_id", "question"], asking).drop_nulls()
    texts = dict(questions.unique("question_id", keep="first").iter_rows())
    return [
        f"“{shorten(texts[id], QUESTION, placeholder=' …')}”"
        if HASHED.fullmatch(id) and id in texts
        else id
        for id in ids
    ]


# How an outcome is called in a run's scores.
NAMES = {0: "value", 1: "undefined", 2: "missing"}


def component_scores(scored: Scored, composite: Composite) -> dict[str, pl.DataFrame]:
    """The scores of its components, by the names in its weights, in the order of the examples.

    Those of the run; where it did not keep one, the stored judgements are scored again, in memory.
    """
    components = composite.components()
    scores = {name: scored.outcomes(str(component)) for name, component in components.items()
            if str(component) in scored.metrics}  # fmt: skip
    lacking = {name: component for name, component in components.items() if name not in scores}
    if not lacking:
        return scores
    blocks: dict[str, list[pl.DataFrame]] = {name: [] for name in lacking}
    for tables in scored.run.tables():
        block = score(tables, lacking.values(), scored.run.form.settings.partly_answered)
        for name, component in lacking.items():
            blocks[name].append(block[str(component)].select("value", "status"))
    status = pl.col("status").replace_strict(NAMES, return_dtype=pl.String)
    return scores | {
        name: pl.concat(parts).with_columns(status=status) for name, parts in blocks.items()
    }


def over_common(
    composite: Composite,
    a: Mapping[str, Values],
    b: Mapping[str, Values],
    whole: tuple[Values, Values],
) -> tuple[Values, Values, Bools]:
    """Return both sides' composites, question by question over the components that both have.

    The last of the result is on which questions a component was left out that one side has.
    """
    columns: dict[str, Floats] = {}
    uneven = np.zeros(len(whole[0].valued), dtype=bool)
    for at, (name, _) in enumerate(composite.terms):
        common = a[name].valued & b[name].valued
        uneven |= a[name].valued ^ b[name].valued
        columns[f"a{at}"] = np.where(common, a[name].value, np.nan)
        columns[f"b{at}"] = np.where(common, b[name].value, np.nan)
    frame = pl.DataFrame(columns).fill_nan(None)
    composites = []
    for side, before in zip("ab", whole, strict=True):
        names = {name: pl.col(f"{side}{at}") for at, (name, _) in enumerate(composite.terms)}
        value = frame.select(composite.of(names)[0]).to_series()
        valued = value.is_not_null().to_numpy()
        owed = np.where(valued, 0.0, before.owed)
        values = value.fill_null(0.0).to_numpy()
        composites.append(Values(values, valued, before.missing & ~valued, owed, before.rows))
    return composites[0], composites[1], uneven & composites[0].valued


def values_between(match: Match, metric: str) -> tuple[Values, Values]:
    """The values of a metric for one pair of systems, see ``values_of``."""
    notes: list[str] = []
    for _, values in values_of([match], metric, notes):
        return values
    raise InputError(f"{metric} has no score a question.", notes=notes)


def values_of(
    matches: Sequence[Match], metric: str, notes: list[str]
) -> Iterator[tuple[Match, tuple[Values, Values]]]:
    """The values of a metric for each pair of systems; none for pairs that are not compared.

    Of a composite that leaves out components without a value, over those that both sides have.
    """
    runs = runs_of(matches)
    composite = runs[0].metric(metric)
    scores = {id(run): run.outcomes(metric) for run in runs}
    side_of = {id(side): side for match in matches for side in match}
    outcomes = {key: outcomes_of(frame) for key, frame in scores.items()}
    values = {key: side.values(outcomes[id(side.scored)]) for key, side in side_of.items()}
    if isinstance(composite, Composite) and composite.over_means:
        notes.append(reason("no_score_a_question", metric=metric))
        return
    whole = [(match, (values[id(match[0])], values[id(match[1])])) for match in matches]
    if (
        not isinstance(composite, Composite)
        or composite.missing == "propagate"
        or not any(frame["partly"].any() for frame in scores.values())
    ):
        yield from whole
        return
    try:
        parts = {
            id(run): {
                name: outcomes_of(frame) for name, frame in component_scores(run, composite).items()
            }
            for run in runs
        }
    except InputError as error:
        notes.append(reason("components_not_there", metric=metric, said=error.text))
        return
    components = {
        key: {name: side.values(part) for name, part in parts[id(side.scored)].items()}
        for key, side in side_of.items()
    }
    uneven, total = 0, 0
    for (a, b), before in whole:
        first, other, left_out = over_common(
            composite, components[id(a)], components[id(b)], before
        )
        uneven += int(np.count_nonzero(left_out & a.there & b.there))
        total += int(np.count_nonzero(first.valued & a.there & b.there))
        yield (a, b), (first, other)
    if uneven:
        notes.append(reason("over_common_components", metric=metric, n=uneven, pairs=total))


def runs_of(matches: Sequence[Match]) -> list[Scored]:
    """The runs that are compared, each once."""
    return list({id(side.scored): side.scored for match in matches for side in match}.values())
