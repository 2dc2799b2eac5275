"""Gate labels: answers with their scores and people's labels, and the judge that gave the scores.

The judge is recorded, so that another judge's scores are not taken for its own.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from os import PathLike
from typing import Any, Protocol, TypeAlias

import numpy as np

from ragstone.annotation.raw_rows import in_words, number_of, yes_or_no
from ragstone.annotation.read_labels import records_of
from ragstone.core.errors import DataError, Fault, InputError
from ragstone.core.messages import argument
from ragstone.data import Example, read
from ragstone.data.json_text import BadRow, shown
from ragstone.guard.assessment import Assessment
from ragstone.judges import fingerprint
from ragstone.stats.risk_control import linked_clusters
from ragstone.stats.weights_and_groups import Bools, Floats, Ints

HEX_DIGITS = 12


@dataclass(frozen=True, slots=True)
class GateJudge:
    """The judge that gave scores.

    Attributes:
        name: As a guard or a user calls it; empty if it is not known.
        parts: Versions of what its numbers depend on.
    """

    name: str = ""
    parts: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits, which change with any part."""
        return fingerprint(self.name, *self.parts)[:HEX_DIGITS]

    def is_other(self, now: "GateJudge") -> bool:
        """Tell whether the scores of the one may not be taken for the other's.

        A judge that is not known is another one; versions count where both are known.
        """
        if not self.name or self.name != now.name:
            return True
        return bool(self.parts and now.parts) and self.parts != now.parts


def gate_judge(judge: GateJudge | str | None) -> GateJudge:
    """Return a judge, also from a name alone; None: not known."""
    return judge if isinstance(judge, GateJudge) else GateJudge(judge or "")


class ConfidenceJudge(Protocol):
    """A guard as a gate needs it: assessments with a confidence, and who judges it."""

    @property
    def scores_by(self) -> GateJudge:
        """The judge that gives the confidence."""

    def assess(
        self, question: str | None, answer: str | None, contexts: Sequence[Any] | None
    ) -> Assessment:
        """Assess one answer."""


# The fields that may hold the score of a row.
SCORES = ("score", "confidence")

FAITHFUL = "faithful"
CLUSTER = "cluster"
CHANCE = "inclusion_probability"
IN_MEMORY = "rows"

# What ``labelled_scores`` reads.
Labelled: TypeAlias = "str | PathLike[str] | Iterable[LabelledScore | Mapping[str, Any] | Example]"


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """An answer with its score and what people said of it.

    Attributes:
        score: How likely it is faithful, by whoever judges; higher is better. None if it has none,
            such as an answer without claims: the gate never passes it.
        faithful: Whether people found that the contexts support all of it.
        cluster: Rows with the same cluster are not independent, such as answers to one question;
            None: it stands alone.
    """

    score: float | None
    faithful: bool
    cluster: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ScoredLabels:
    """Labelled answers as arrays of shape (n,).

    Attributes:
        scores: NaN for an answer without a score.
        clusters: A code for each cluster.
        unlabelled: Rows left out, for they have no label or no answer.
        surplus: Rows left out at random, for they were likelier to be drawn than others.
        left_open: The scores of those that nobody labelled, NaN where a guard would have to judge.
    """

    scores: Floats
    faithful: Bools
    clusters: Ints
    unlabelled: int = 0
    surplus: int = 0
    left_open: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    def with_score(self) -> "ScoredLabels":
        """The answers that have a score."""
        scored = np.isfinite(self.scores)
        return ScoredLabels(
            self.scores[scored], self.faithful[scored], self.clusters[scored], surplus=self.surplus
        )

    def one_a_cluster(self) -> Floats:
        """A score of each cluster, drawn at random from its own, so that they are independent."""
        order = np.random.default_rng(0).permutation(len(self.scores))
        first = np.unique(self.clusters[order], return_index=True)[1]
        return np.asarray(self.scores[order][first])


def labelled_scores(
    labelled: Labelled,
    *,
    guard: ConfidenceJudge | None = None,
    label: str = FAITHFUL,
    cluster: str | None = None,
) -> ScoredLabels:
    """Read answers that people labelled, with their scores.

    A promise is about answers as they come. Where rows have an ``inclusion_probability`` each is
    kept with the least of them over its own, at random but always the same: those that are left are
    as if all had been drawn with the least.

    The label stands at the top level or among the labels: yes or no, or the votes of several
    people, of which the majority counts. Rows without it, and ties, are left out and counted.

    Args:
        labelled: A path (.jsonl, .json, .csv, .tsv, .parquet), or rows: ``LabelledScore``,
            mappings with ``score`` (or ``confidence``) and the label, or examples for a guard.
        guard: Who scores examples; None: each row must have a score.
        cluster: None: ``cluster`` where rows have it, else answers to one question or from one set
            of contexts belong together; an empty list of contexts is such a set too.

    Raises:
        DataError: Lists every fault: a score, a label or a probability that is none.
        InputError: Some rows have an ``inclusion_probability`` and others none.
    """
    name = str(labelled) if isinstance(labelled, str | PathLike) else IN_MEMORY
    if name == IN_MEMORY and not isinstance(labelled, Iterable):
        kind = type(labelled).__name__
        raise InputError(f"labelled is {kind}; it must be a path, or rows with labels.")
    if guard is None:
        entries = list(_given(labelled, name, label, cluster or CLUSTER))
    else:
        entries = list(_assessed(labelled, name, guard, label, cluster or CLUSTER))
    faults = [entry for entry in entries if isinstance(entry, Fault)]
    listed = [entry for entry in entries if isinstance(entry, _Row)]
    rows = [row for row in listed if row.faithful is not None]
    left_open = [row for row in listed if row.faithful is None]
    if not rows and not faults:
        faults.append(Fault(name, None, label, "at least one label", "none"))
    if faults:
        hint = f"Name the field that has the labels with {argument('label', 'NAME')}."
        of_label = any(fault.field == label for fault in faults)
        raise DataError(faults, hint=hint if of_label else "")
    n_labelled, n_open = len(rows), len(left_open)
    likely = _equally_likely([*rows, *left_open])
    rows = [row for row in likely if row.faithful is not None]
    return ScoredLabels(
        np.array([np.nan if row.score is None else row.score for row in rows], dtype=np.float64),
        np.array([row.faithful for row in rows], dtype=np.bool_),
        linked_clusters(*zip(*(row.links for row in rows), strict=True)),
        n_open,
        n_labelled - len(rows),
        tuple(row.score for row in likely if row.faithful is None and row.score is not None),
    )


def _equally_likely(rows: list["_Row"]) -> list["_Row"]:
    """Thin out the rows that were likelier to be drawn than others."""
    labelled = [row for row in rows if row.faithful is not None]
    chances = [row.chance for row in labelled if row.chance is not None]
    if not chances:
        return rows
    if unknown := len(labelled) - len(chances):
        raise InputError(
            f"{unknown:,} of {len(labelled):,} labelled answers have no {CHANCE}; the others "
            "have one. Give it for all of them, as ragstone sample writes it, or for none."
        )
    least = min(chances)
    surely = least / np.array([row.chance or least for row in rows])
    drawn = np.random.default_rng(0).random(len(rows)) < surely
    return [row for row, stays in zip(rows, drawn, strict=True) if stays]


def has_scores(path: str | PathLike[str]) -> bool:
    """Tell whether the first record of a file has a score, so that no guard is needed."""
    first = next((record for _, record in records_of(path)), None)
    return isinstance(first, Mapping) and _score_field(first) is not None


@dataclass(frozen=True, slots=True)
class _Row:
    """A row; ``links`` are what it shares with others of its cluster.

    ``faithful`` is None if nobody labelled it; then ``score`` is NaN if a guard did not assess it,
    and None if there is no answer.
    ``chance`` is the probability with which it was drawn to be labelled, None if it is not known.
    """

    score: float | None
    faithful: bool | None
    links: tuple[Hashable, Hashable, Hashable]
    chance: float | None = None


def _links(cluster: str | None, question: Hashable, contexts: Hashable) -> Any:
    """A cluster that was named stands for itself; else question and contexts link rows."""
    return (None, question, contexts) if cluster is None else (cluster, None, None)


def _given(labelled: Labelled, name: str, label: str, cluster: str) -> Iterator[_Row | Fault]:
    records: Iterator[tuple[int | None, object]]
    if isinstance(labelled, str | PathLike):
        records = records_of(labelled)
    else:
        records = iter(enumerate(labelled, start=1))
    for line, record in records:
        match record:
            case LabelledScore(score, faithful, of):
                is_number = isinstance(score, int | float) and not isinstance(score, bool)
                if score is not None and not (is_number and isfinite(score)):
                    yield Fault(name, line, SCORES[0], "a finite number or None", shown(score))
                else:
                    yield _Row(score, faithful, _links(of, None, None))
            case BadRow():
                yield Fault(name, line, *record.problem)
            case Mapping():
                links = _links(
                    _text(record.get(cluster)),
                    _text(record.get("question_id")) or _text(record.get("question")),
                    _text(record.get("contexts")),
                )
                yield from _row(record, name, line, label, links)
            case _:
                yield Fault(name, line, "", "a mapping", shown(record))


def _row(
    record: Mapping[str, Any], name: str, line: int | None, label: str, links: Any
) -> Iterator[_Row | Fault]:
    field, faults = _score_field(record), list[Fault]()
    score = None
    if field is None:
        expected = "a score; answers without one are scored by a guard"
        faults.append(Fault(name, line, SCORES[0], expected, "none"))
    elif record[field] not in (None, ""):
        score = number_of(record[field])
        if score is None:
            got = shown(record[field])
            faults.append(Fault(name, line, field, "a finite number or null", got))
    labels = record.get("labels")
    votes = labels.get(label) if isinstance(labels, Mapping) else None
    votes = record.get(label, votes)
    faults += _no_labels(votes, name, line, label)
    chance = number_of(record.get(CHANCE))
    faults += _no_chance(record.get(CHANCE), name, line)
    if faults:
        yield from faults
    else:
        yield _Row(score, _majority(votes), links, chance)


def _assessed(
    labelled: Labelled, name: str, guard: ConfidenceJudge, label: str, cluster: str
) -> Iterator[_Row | Fault]:
    for number, example in enumerate(read(labelled), start=1):
        places = (example.labels, example.slices, example.meta)
        votes = next((fields[label] for fields in places if label in fields), None)
        drawn = example.facet(CHANCE)
        faults = _no_labels(votes, name, number, label) + _no_chance(drawn, name, number)
        if faults:
            yield from faults
        elif example.answer is None:
            yield _Row(None, None, _links(None, None, None), number_of(drawn))
        elif (faithful := _majority(votes)) is None:
            yield _Row(np.nan, None, _links(None, None, None), number_of(drawn))
        else:
            contexts = example.contexts
            assessment = guard.assess(example.question, example.answer, contexts)
            texts = None if contexts is None else tuple(c.text or c.id for c in contexts)
            yield _Row(
                # Another judge than the gate's spoke: such an answer is never passed either.
                None if assessment.late else assessment.confidence,
                faithful,
                _links(example.facet(cluster), example.question_id, texts),
                number_of(drawn),
            )


def _votes(words: object) -> list[float | None]:
    """Return 1 for each yes, 0 for each no, None for each that is neither."""
    several = words.values() if isinstance(words, Mapping) else words
    if isinstance(several, str) or not isinstance(several, Iterable):
        several = [several]
    return [yes_or_no(in_words(word)) for word in several if word is not None and word != ""]


def _no_labels(words: object, name: str, line: int | None, label: str) -> list[Fault]:
    if any(vote not in (0, 1) for vote in _votes(words)):
        return [Fault(name, line, label, "yes or no", shown(words))]
    return []


def _no_chance(value: object, name: str, line: int | None) -> list[Fault]:
    if value in (None, "") or 0 < (number_of(value) or 0) <= 1:
        return []
    return [Fault(name, line, CHANCE, "a number above 0, at most 1", shown(value))]


def _majority(words: object) -> bool | None:
    """Return yes or no; None for a tie or if nobody said anything."""
    balance = sum(1 if vote else -1 for vote in _votes(words))
    return balance > 0 if balance else None


def _score_field(record: Mapping[str, Any]) -> str | None:
    return next((name for name in SCORES if name in record), None)


def _text(value: object) -> str | None:
    return None if value is None or value == "" else str(value)
