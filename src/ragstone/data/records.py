"""Records: converts one record of any known layout to an Example.

Every wrong field of a record is reported, not only the first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import isfinite
from operator import is_not
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import argument

from .contexts import ids_among, listed_ids, ranked_contexts, read_grades
from .conversation import DEEPEST, read_conversation, read_turns
from .documents import Document, contexts_of
from .example import (
    NOTHING,
    TEXT_KEYS,
    Context,
    Example,
    Turn,
    are_texts,
    id_text,
    parse_cell,
    put_cell,
    put_session,
    read_criteria,
    read_id,
    read_texts,
    spelled_out,
)
from .fields import ABSENT, IN_META, FieldLayout, could_be, plan, squash
from .json_path import JsonPath, path_in
from .json_text import Problem, add_problem, opened
from .layouts.nested import laid_flat, nested_layout
from .record_labels import OF_ANSWER, label_problems, of_contexts, of_taxonomy, says_yes_or_no
from .tool_results import tool_documents

DEFAULT_SYSTEM = "default"

# What joins several passages in one text: a mark after a sentence, or a separator line or tag.
_JOINED = re.compile(
    r"(?<=[.!?…。])\s*(?:;|\|{1,3})\s*(?=\w)|\|\|\||<(?:sep|SEP)>|\n-{3,}\n|\n\n\n+"
)


# The number of records, by reason code and subject.
Counts = defaultdict[str, Counter[Any]]


class RecordReader:
    """Reads records one by one.

    Args:
        columns: Field to column, as the user mapped them.
        layout: The layout named by the user; otherwise it is detected from the first record.

    Attributes:
        counts: The number of records, by the code of a reason and what it is about:

            - ``lists_spelled``: by field that was text which spells a list;
            - ``no_field``: by unused column and missing field that it may be meant for;
            - ``numbers_as_texts``: by column of texts that was a number;
            - ``ids_and_texts``: by column of gold contexts with both in it;
            - ``objects_as_texts``: by field of which a text is a JSON object;
            - ``contexts_joined``: by column of contexts, texts that look like several, joined by a
              mark;
            - ``no_contexts_in_prompts``: by column, conversations and prompts without contexts;
            - ``contexts_in_meta``: by name of contexts that stood in ``meta``;
            - ``contexts_of_tools``: by tool whose results are contexts;
            - ``answers_structured``: by path and keys (one a line) of an object that is an answer.
    """

    def __init__(self, columns: Mapping[str, str], *, layout: str | None = None) -> None:
        self.columns = tuple(columns.items())
        self.layout = layout
        self.counts: Counts = defaultdict(Counter)
        self._names_at: dict[str, str] = {}

    def plan_of(self, record: Mapping[str, Any]) -> FieldLayout:
        """Return the plan by which records with these columns are read."""
        layout = plan(tuple(record), self.columns, self.layout)
        if self.layout is None and layout.problem is None:
            self.layout = layout.layout
        return layout

    def layout_of(self, record: Mapping[str, Any]) -> str | None:
        """Return the layout of such records; None where no field is recognised."""
        if (nested := nested_layout(record)) is not None:
            return nested.name
        plan_ = self.plan_of(record)
        return plan_.layout if plan_.problem is None else None

    def has_id(self, record: Mapping[str, Any]) -> bool:
        """Return True if the record names its id; otherwise it is known by its place."""
        record = laid_flat(record)
        return record.get(self.plan_of(record).id) is not None

    def read(self, record: Mapping[str, Any], row: int, problems: list[Problem]) -> Example | None:
        """Return the example, or None with its problems added to the list.

        ``row`` counts from 1 and is the id of a record that has none.
        """
        original = record
        if (nested := nested_layout(record)) is not None:
            self.layout = self.layout or nested.name
            record = nested.laid_flat(record)
        if self.columns:
            record = {**record, **values_at_paths(original, self.columns)}
        if float in map(type, record.values()):  # NaN stands for nothing.
            record = {name: value for name, value in record.items() if value == value}
        plan = self.plan_of(record)
        get = record.get
        for name, field in plan.resembling:
            if get(getattr(plan, field)) is None and could_be(field, record[name]):
                self.counts["no_field"][name, field] += 1
        if plan.problem is not None:
            problems.append(plan.problem)
            return None

        labels, slices, meta = self._groups(plan, record, problems)
        question, history, answer, policy, documents = self._texts(
            plan, record, meta, problems, original
        )
        contexts = self._retrieved(plan, record, labels, meta, problems)
        if contexts is None and documents is not None:
            contexts = contexts_of(documents)
        if contexts is None and (squash(plan.question) == "messages" or "prompt" in original):
            self.counts["no_contexts_in_prompts"][plan.question] += 1
        reference = self._references(get(plan.reference), plan.reference, problems)
        evidence, grades = self._gold(plan, record, meta, contexts, problems)
        criteria = read_criteria(self._cell(get(plan.criteria), "criteria", problems), problems)

        if labels:
            problems.extend(label_problems(labels, len(contexts or ()), len(criteria)))
        id = read_id(get(plan.id), "id", problems)
        question_id = read_id(get(plan.question_id), "question_id", problems)
        system = read_id(get(plan.system), "system", problems)
        was_asked = plan.answer in record and (question is not None or meta.get("error"))
        if answer is None and contexts is None and not (reference or was_asked or problems):
            filled = ", ".join(name for name, value in record.items() if value is not None)
            got = f"only {filled or 'nothing'}"
            problems.append(Problem("", "an answer, contexts or a reference", got))
        if problems:
            return None
        passages = [context.text for context in contexts or ()]
        for name, texts in ("reference", reference), ("evidence", evidence), ("contexts", passages):
            if "{" in [text[:1] for text in texts if text]:
                self._count_objects(name, texts)
        id = str(row) if id is None else id
        if question_id is None:
            question_id = id if question is None else question_hash(question, history)
        return Example(
            id, question_id, _system_beside(slices, meta, labels) if system is None else system,
            question, contexts, answer, reference, history, policy, evidence, grades,
            slices or NOTHING, labels or NOTHING, meta or NOTHING, criteria=criteria,
        )  # fmt: skip

    def _count_objects(self, field: str, texts: Iterable[str | None]) -> None:
        objects = (opened(text) for text in texts if text is not None and text[:1] == "{")
        self.counts["objects_as_texts"][field] += any(
            isinstance(value, dict) and not value.keys().isdisjoint(TEXT_KEYS) for value in objects
        )

    def _texts(
        self, plan: FieldLayout, record: Mapping[str, Any], meta: Mapping[str, Any],
        problems: list[Problem], original: Mapping[str, Any],
    ) -> tuple[
        str | None, tuple[Turn, ...], str | None, str | None, list[Document] | None
    ]:  # fmt: skip
        get = record.get
        messages = self._spelled_out(get(plan.question), plan.question)
        answer, policy = self._spelled_out(get(plan.answer), plan.answer), get(plan.policy)
        question: Any = messages
        history: tuple[Turn, ...] = ()
        spoken: str | None = None
        documents = None
        if isinstance(messages, list):
            question, history, spoken = read_conversation(messages, plan.question, problems)
            documents, tools = tool_documents(messages)
            self.counts["contexts_of_tools"].update(tools)
        if isinstance(answer, str) and isinstance(fields := opened(answer), dict):
            path = path_to(fields, original) or path_in(plan.answer)
            names = self._names_at.setdefault(path, "\n".join(fields))
            self.counts["answers_structured"][path, names] += 1
        fields = opened(question)
        if isinstance(fields, dict) or (
            isinstance(fields, list) and any(isinstance(part, dict) for part in fields)
        ):
            add_problem(problems, "question", text_or_path("question", fields, original), fields)
            question = None
        for name, text in (("question", question), ("answer", answer), ("policy", policy)):
            if text is not None and type(text) is not str:
                add_problem(problems, name, text_or_path(name, text, original), text)
        turns = get(plan.history)
        if turns is None and plan.history is ABSENT:
            turns = meta.get("history")
        if turns is not None:
            history = read_turns(self._cell(turns, "history", problems), problems) + history
        return question, history, spoken if answer is None else answer, policy, documents

    def _spelled_out(self, value: object, column: str) -> Any:
        if value is None or type(value) is str:
            return value
        text = spelled_out(value)
        if text is not value:
            self.counts["numbers_as_texts"][column] += 1
        return text

    def _references(self, value: object, column: str, problems: list[Problem]) -> tuple[str, ...]:
        texts_or_text = self._spelled_out(self._cell(value, "reference", problems), column)
        if isinstance(texts_or_text, list):
            texts = list(map(spelled_out, texts_or_text))
            self.counts["numbers_as_texts"][column] += any(map(is_not, texts, texts_or_text))
            texts_or_text = texts
        return read_texts(texts_or_text, "reference", problems)

    def _groups(
        self, plan: FieldLayout, record: Mapping[str, Any], problems: list[Problem]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        labels = self._object(record.get(plan.labels), "labels", problems)
        slices = self._object(record.get(plan.slices), "slices", problems)
        meta = self._object(record.get(plan.meta), "meta", problems)
        put_session(plan.session, record.get(plan.session), slices, meta)
        of_answer = of_taxonomy(labels) if labels else {}
        for name in plan.extra:
            value = record[name]
            if name in OF_ANSWER and says_yes_or_no(value):
                of_answer[name] = value
            if isinstance(value, (str, int, float)):
                if value == value and value not in (float("inf"), float("-inf")):
                    slices[name] = value
            elif value is not None:
                meta[name] = value
        if of_answer and "answer" not in labels:
            labels["answer"] = of_answer
        for name, path in plan.nested:
            group = {"labels": labels, "slices": slices, "meta": meta}[path[0]]
            put_cell(group, path[1:], record[name], name, problems)
        for name, value in slices.items():
            if isinstance(value, float) and not isfinite(value):
                add_problem(problems, f"slices.{name}", "a finite value", value)
        return labels, slices, meta

    def _retrieved(
        self, plan: FieldLayout, record: Mapping[str, Any], labels: dict[str, Any],
        meta: Mapping[str, Any], problems: list[Problem],
    ) -> tuple[Context, ...] | None:  # fmt: skip
        retrieved, ids = record.get(plan.contexts), record.get(plan.context_ids)
        if retrieved is None and plan.contexts is ABSENT:
            names = (name for name in meta if squash(name) in IN_META and meta[name])
            if (name := next(names, None)) is not None:
                retrieved = meta[name]
                self.counts["contexts_in_meta"][name] += 1
        if retrieved is None and ids is None:
            return None
        if ids is None:
            ids = meta.get("context_ids")
        before = len(problems)
        retrieved = self._cell(retrieved, "contexts", problems)
        if len(problems) > before:
            return ()
        if isinstance(retrieved, str) and _JOINED.search(retrieved):
            self.counts["contexts_joined"][plan.contexts] += 1
        ids = self._cell(ids, "context_ids", problems)
        graded = plan.reference_contexts is not ABSENT
        if "contexts" not in labels and (marked := of_contexts(retrieved)):
            labels["contexts"] = marked
        contexts, order = ranked_contexts(retrieved, ids, problems, graded=graded)
        if order is not None and isinstance(labels.get("contexts"), list):
            marks = labels["contexts"]
            if len(marks) <= len(order):
                labels["contexts"] = [marks[i] if i < len(marks) else None for i in order]
        return contexts

    def _gold(
        self, plan: FieldLayout, record: Mapping[str, Any], meta: Mapping[str, Any],
        contexts: Sequence[Context] | None, problems: list[Problem],
    ) -> tuple[tuple[str, ...], dict[str, int] | None]:  # fmt: skip
        evidence = record.get(plan.evidence)
        if evidence is None and plan.evidence is ABSENT:
            evidence = meta.get("evidence")
        evidence = self._cell(evidence, "evidence", problems)
        if plan.texts_or_ids:
            evidence = listed_ids(evidence, contexts)
        if plan.splits_evidence and isinstance(evidence, str):
            evidence = [part.strip() for part in evidence.split(";")]
        texts = read_texts(evidence, "evidence", problems)
        judged = record.get(plan.reference_contexts)
        if judged is None:
            column = plan.evidence
            return self._told_apart(texts, contexts, column) if plan.texts_or_ids else (texts, None)
        judged = listed_ids(self._cell(judged, "reference_contexts", problems), contexts)
        # Ragas calls texts so that others call evidence; elsewhere an empty list is one of ids.
        empty_means_texts = judged != [] or plan.layout.startswith("ragas")
        if plan.grades_or_texts and empty_means_texts and are_texts(judged):
            if texts:
                return texts, None
            texts = read_texts(judged, "reference_contexts", problems)
            return self._told_apart(texts, contexts, plan.reference_contexts)
        return texts, read_grades(judged, problems)

    def _told_apart(
        self, texts: tuple[str, ...], contexts: Sequence[Context] | None, column: str
    ) -> tuple[tuple[str, ...], dict[str, int] | None]:
        if not (ids := dict.fromkeys(ids_among(texts, contexts), 1)):
            return texts, None
        evidence = tuple(text for text in texts if text.strip() not in ids)
        self.counts["ids_and_texts"][column] += bool(evidence)
        return evidence, ids

    def _cell(self, value: object, field: str, problems: list[Problem]) -> Any:
        """Parse a value that is a list or an object written as text, from any kind of source.

        For references, only a list of texts is parsed: ``[2, 3]`` may be the answer itself.
        """
        if not isinstance(value, str):
            return value
        if field == "reference" and value.lstrip().startswith("{"):
            return value
        spelled = parse_cell(value, field, problems)
        if not isinstance(spelled, (list, dict)):
            return spelled
        if field == "reference" and spelled and not any(isinstance(text, str) for text in spelled):
            return value
        self.counts["lists_spelled"][field] += 1
        return spelled

    def _object(self, value: object, field: str, problems: list[Problem]) -> dict[str, Any]:
        if value is None:
            return {}
        value = self._cell(value, field, problems)
        if isinstance(value, dict):
            return value
        add_problem(problems, field, "an object", value)
        return {}


def values_at_paths(
    record: Mapping[str, Any], columns: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return what stands at the mapped columns that are JSON paths, by path.

    A column with exactly that name wins. ``$.`` may be left out.
    """
    values = {}
    for _, column in columns:
        path = None if column in record else path_of(column)
        at_path = None if path is None else path.values(record, open_texts=True)
        if path is not None and at_path is not None:
            values[column] = at_path if path.several else at_path[0]
    return values


@lru_cache(maxsize=256)
def path_of(column: str) -> JsonPath | None:
    """Return the path that a mapped column spells, also without ``$.``; None if it is no path."""
    try:
        return JsonPath.read(column if column.startswith("$") else f"$.{column}")
    except InputError:
        return None


def path_to(
    fields: Mapping[str, Any], record: Mapping[str, Any], before: str = "$", deep: int = DEEPEST
) -> str | None:
    """Return the path in a record to an object with these fields, also written as JSON text."""
    for name, value in record.items():
        path, value = path_in(str(name), before), opened(value)
        if value == fields:
            return path
        if isinstance(value, dict) and deep:
            inner = path_to(fields, value, path, deep - 1)
            if inner is not None:
                return inner
    return None


def text_or_path(field: str, value: object, record: Mapping[str, Any]) -> str:
    """Say that a field has to be text; for an object, give the path to one in it."""
    if not isinstance(value, dict) or not value or (path := path_to(value, record)) is None:
        return "text"
    path = path_in(str(next(iter(value))), path)
    return f"text; if it is inside, give its path: {argument('columns', {field: path})}"


def question_hash(question: str, history: Sequence[Turn] = ()) -> str:
    """Return the id of a question that has none: 16 hex digits of a hash of it and its history."""
    digest = blake2b(question.encode(), digest_size=8)
    for turn in history:
        digest.update(f"\x1e{turn.role}\x1f{turn.text}".encode())
    return digest.hexdigest()


def own_example(record: Mapping[str, Any]) -> Example:
    """Read the example of a record that Ragstone wrote; raises ``InputError`` for any other."""
    problems: list[Problem] = []
    example = RecordReader({}, layout="ragstone").read(record, 1, problems)
    if example is None:
        raise InputError(f"The example cannot be read: {problems[0]}.")
    return example


def _system_beside(*places: Mapping[str, Any]) -> str:
    for facets in places:
        value = facets.get("system", facets.get("method"))
        if (name := id_text(value)) is not None:
            return name
    return DEFAULT_SYSTEM
