"""Records: from one record of any known layout to an Example.

Every wrong field of a record is reported, not only the first. A text is a
text: numbers are not taken for one, except in ids.
"""

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from math import isfinite
from typing import Any

from ragstone.examples.example import NOTHING, Context, Example, Turn
from ragstone.examples.fields import ABSENT, FieldLayout, plan, squash
from ragstone.examples.json_text import BadJsonError, decode, surrogate_in
from ragstone.examples.labels import label_problems
from ragstone.examples.problem import Problem, shown
from ragstone.examples.resembling import could_be, resembled

DEFAULT_SYSTEM = "default"

TEXT_KEYS = ("text", "content", "page_content", "context", "passage")
ID_KEYS = ("id", "context_id", "chunk_id", "_id")
DOCUMENT_KEYS = ("doc_id", "document_id", "docid", "source")
TURN_TEXT_KEYS = ("text", "content")
TURN_ROLE_KEYS = ("role", "type")
ROLES = {"human": "user", "ai": "assistant"}
KNOWN_PLANS = 4096
MOST_COLUMNS = 200
"""Columns of a record that are looked at for what they resemble."""
LONGEST_PYTHON = 1 << 20
"""Characters of a list in Python's words that are parsed; its parser takes far more memory."""


class RecordReader:
    """Reads records one by one and remembers how each set of columns is read.

    Args:
        columns: Field to column, as the user mapped them.
        layout: The user's word for the layout; otherwise the first record tells.

    Attributes:
        spelled: In how many records a field was JSON text, and read as the list that it spells.
        unread: Column, and the field that it may be meant for, which the record lacks; in how many
            records.
    """

    def __init__(self, columns: Mapping[str, str], *, layout: str | None = None) -> None:
        self.columns = columns
        self.layout = layout
        self.spelled: Counter[str] = Counter()
        self.unread: Counter[tuple[str, str]] = Counter()
        self._plans: dict[tuple[object, ...], FieldLayout] = {}
        self._shapes: dict[tuple[object, ...], tuple[str, str, bool]] = {}

    def plan_of(self, record: Mapping[str, Any]) -> FieldLayout:
        """How records with these columns are read."""
        keys = tuple(record)
        found = self._plans.get(keys)
        if found is None:
            if len(self._plans) >= KNOWN_PLANS:
                self._plans.clear()
            found = plan(keys, self.columns, self.layout)
            found = replace(found, resembling=self._resembling(found))
            if self.layout is None and found.problem is None:
                self.layout = found.layout
            self._plans[keys] = found
        return found

    def _resembling(self, found: FieldLayout) -> tuple[tuple[str, str], ...]:
        """Columns that are no field, with the one they look like, unless the user named it."""
        looked = ((name, resembled(name)) for name in found.extra[:MOST_COLUMNS])
        return tuple((name, field) for name, field in looked if field and field not in self.columns)

    def layout_of(self, record: Mapping[str, Any]) -> str | None:
        """The layout of such records; None where no field is recognised."""
        if is_mlflow(record):
            return "mlflow"
        found = self.plan_of(record)
        return found.layout if found.problem is None else None

    def has_id(self, record: Mapping[str, Any]) -> bool:
        """Whether the record names its id; otherwise it is known by its place."""
        return record.get(self.plan_of(record).id) is not None

    def read(self, record: Mapping[str, Any], row: int, problems: list[Problem]) -> Example | None:
        """The example, or None with its problems added to the list.

        ``row`` counts from 1 and is the id of a record that has none.
        """
        if is_mlflow(record):
            self.layout = self.layout or "mlflow"
            record = unfold_mlflow(record)
        plan = self.plan_of(record)
        get = record.get
        for name, field in plan.resembling:
            if get(getattr(plan, field)) is None and could_be(field, record[name]):
                self.unread[name, field] += 1
        if plan.problem is not None:
            problems.append(plan.problem)
            return None

        labels = self._object(get(plan.labels), "labels", problems)
        slices = self._object(get(plan.slices), "slices", problems)
        meta = self._object(get(plan.meta), "meta", problems)
        for name in plan.extra:
            value = record[name]
            if isinstance(value, (str, int, float)):
                if value == value and value not in (float("inf"), float("-inf")):
                    slices[name] = value
            elif value is not None:
                meta[name] = value
        for name, path in plan.nested:
            place = {"labels": labels, "slices": slices, "meta": meta}[path[0]]
            self._put(place, path[1:], record[name], name, problems)
        for name, value in slices.items():
            if isinstance(value, float) and not isfinite(value):
                problems.append(Problem(f"slices.{name}", "a finite value", shown(value)))

        history: tuple[Turn, ...] = ()
        spoken: str | None = None
        given = get(plan.question)
        if given is None or type(given) is str:
            question = given
        elif isinstance(given, list):
            question, history, spoken = _conversation(given, plan.question, problems)
        else:
            question = None
            problems.append(_not_text("question", given))

        answer = get(plan.answer)
        if answer is None:
            answer = spoken
        elif type(answer) is not str:
            problems.append(_not_text("answer", answer))
        policy = get(plan.policy)
        if policy is not None and type(policy) is not str:
            problems.append(_not_text("policy", policy))

        turns = get(plan.history)
        if turns is None:
            turns = meta.get("history") if plan.history is ABSENT else None
        if turns is not None:
            history = _turns(self._cell(turns, "history", problems), problems) + history

        contexts = None
        ids = get(plan.context_ids)
        given = get(plan.contexts)
        if given is not None or ids is not None:
            if ids is None:
                ids = meta.get("context_ids")
            graded = plan.reference_contexts is not ABSENT
            contexts, order = self._contexts(given, ids, graded, problems)
            if order is not None and isinstance(labels.get("contexts"), list):
                marks = labels["contexts"]
                if len(marks) <= len(order):
                    labels["contexts"] = [marks[i] if i < len(marks) else None for i in order]

        reference = _texts(
            self._cell(get(plan.reference), "reference", problems), "reference", problems
        )
        evidence = get(plan.evidence)
        if evidence is None and plan.evidence is ABSENT:
            evidence = meta.get("evidence")
        evidence = self._cell(evidence, "evidence", problems)
        if plan.splits_evidence and isinstance(evidence, str):
            evidence = [part.strip() for part in evidence.split(";")]
        evidence = _texts(evidence, "evidence", problems)
        grades = None
        judged = get(plan.reference_contexts)
        if judged is not None:
            judged = self._cell(judged, "reference_contexts", problems)
            empty_means_texts = judged != [] or plan.layout.startswith("ragas")
            if plan.grades_or_texts and empty_means_texts and _are_texts(judged):
                evidence = evidence or _texts(judged, "reference_contexts", problems)
            else:
                grades = _grades(judged, problems)

        if labels:
            problems.extend(label_problems(labels, None if contexts is None else len(contexts)))
        id = _id(get(plan.id), "id", problems)
        question_id = _id(get(plan.question_id), "question_id", problems)
        system = _id(get(plan.system), "system", problems)
        if system is None:
            system = _system_beside(slices, meta, labels)
        if answer is None and contexts is None and not reference and not problems:
            filled = ", ".join(name for name, value in record.items() if value is not None)
            problems.append(
                Problem("", "an answer, contexts or a reference", f"only {filled or 'nothing'}")
            )
        if problems:
            return None
        if id is None:
            id = str(row)
        if question_id is None:
            question_id = id if question is None else question_hash(question, history)
        return Example(
            id,
            question_id,
            system,
            question,
            contexts,
            answer,
            reference,
            history,
            policy,
            evidence,
            grades,
            slices or NOTHING,
            labels or NOTHING,
            meta or NOTHING,
        )

    def _cell(self, value: object, field: str, problems: list[Problem]) -> Any:
        """A value with its list or object taken out of its text, wherever the record comes from.

        Only a list with texts in it stands for references: ``[2, 3]`` may be the answer itself.
        """
        if not isinstance(value, str):
            return value
        if field == "reference" and value.lstrip().startswith("{"):
            return value
        spelled = parse_cell(value, field, problems)
        if not isinstance(spelled, (list, dict)):
            return spelled
        if field == "reference" and spelled and not any(isinstance(one, str) for one in spelled):
            return value
        self.spelled[field] += 1
        return spelled

    def _object(self, value: object, field: str, problems: list[Problem]) -> dict[str, Any]:
        if value is None:
            return {}
        value = self._cell(value, field, problems)
        if isinstance(value, dict):
            return value
        problems.append(Problem(field, "an object", shown(value)))
        return {}

    def _put(
        self,
        place: dict[str, Any],
        path: Sequence[str],
        value: object,
        column: str,
        problems: list[Problem],
    ) -> None:
        """Store the cell of a column such as ``labels.answer.helpful`` at its place."""
        if value is None:
            return
        for name in path[:-1]:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict):
                problems.append(Problem(column, "an object to stand in", shown(inner)))
                return
            place = inner
        if isinstance(value, str) and column.startswith("labels."):
            with suppress(BadJsonError):
                value = decode(value.lower() if value.lower() in ("true", "false") else value)
        place[path[-1]] = value

    def _contexts(
        self, value: object, ids: object, graded: bool, problems: list[Problem]
    ) -> tuple[tuple[Context, ...], list[int] | None]:
        """The contexts in rank order, and the order they were given in where it differs."""
        before = len(problems)
        value = self._cell(value, "contexts", problems)
        if len(problems) > before:
            return (), None
        if isinstance(value, str):
            value = [value]
        elif isinstance(value, dict):
            value = _rows_of(value)
        names = _context_ids(self._cell(ids, "context_ids", problems), problems)
        if value is None and names is not None:
            value = [None] * len(names)
        elif not isinstance(value, list):
            problems.append(Problem("contexts", "a list of texts or objects", shown(value)))
            return (), None
        elif names is not None and len(names) != len(value):
            problems.append(
                Problem("context_ids", f"one id a context, {len(value)}", f"{len(names)} ids")
            )
            return (), None
        texts: list[str | None] = []
        found: list[str | None] = []
        ranks: list[object] = []
        scores: list[float | None] = []
        shared_names = False
        for index, one in enumerate(value):
            if type(one) is str:
                texts.append(one)
                found.append(None)
                ranks.append(None)
                scores.append(None)
                continue
            if not isinstance(one, dict):
                if one is not None or names is None:
                    problems.append(
                        Problem(f"contexts[{index}]", "a text or an object with text", shown(one))
                    )
                texts.append(None)
                found.append(None)
                ranks.append(None)
                scores.append(None)
                continue
            text_key, id_key, is_document = self._shape(one)
            shared_names |= is_document
            text = one.get(text_key)
            if text is not None and type(text) is not str:
                problems.append(_not_text(f"contexts[{index}].{text_key}", text))
            given = one.get(id_key)
            if given is not None and type(given) is not str:
                given = _id(given, f"contexts[{index}].{id_key}", problems)
            if text is None and given is None and names is None:
                problems.append(Problem(f"contexts[{index}]", "a text or an id", shown(one)))
            score = one.get("score")
            if score is not None:
                score = _score(score, index, problems)
            texts.append(text)
            found.append(given)
            ranks.append(one.get("rank"))
            scores.append(score)
        order = _order(ranks, problems)
        chosen: Sequence[str | None] = found
        if names is not None and not any(found):
            chosen = names
        elif repeated := _repeated(found):
            if not shared_names or graded:
                problems.append(
                    Problem(
                        f"contexts[{repeated[0]}]",
                        "an id that no other context of the list has",
                        f"{shown(found[repeated[0]])} again",
                    )
                )
            chosen = [None] * len(found)
        positions = range(len(value)) if order is None else order
        contexts = tuple(
            Context(chosen[i] or str(rank), texts[i], rank, scores[i])
            for rank, i in enumerate(positions, 1)
        )
        if any(chosen) and None in chosen and len({one.id for one in contexts}) < len(contexts):
            problems.append(
                Problem("contexts", "ids for all or none", "an id that is another's position")
            )
        return contexts, order

    def _shape(self, one: dict[str, Any]) -> tuple[str, str, bool]:
        """Which keys of a context hold its text and its id; whether the id is its document's."""
        keys = tuple(one)
        found = self._shapes.get(keys)
        if found is None:
            by_name = {squash(key): key for key in reversed(keys)}
            text = _first(by_name, TEXT_KEYS)
            id = _first(by_name, ID_KEYS)
            document = _first(by_name, DOCUMENT_KEYS)
            found = (text, document if id is ABSENT else id, id is ABSENT and document != ABSENT)
            if len(self._shapes) >= KNOWN_PLANS:
                self._shapes.clear()
            self._shapes[keys] = found
        return found


def question_hash(question: str, history: Sequence[Turn] = ()) -> str:
    """What stands for a question without an id: 16 hex digits of it and its history."""
    digest = blake2b(question.encode(), digest_size=8)
    for turn in history:
        digest.update(f"\x1e{turn.role}\x1f{turn.text}".encode())
    return digest.hexdigest()


def parse_cell(cell: str, field: str, problems: list[Problem]) -> object:
    """A list or an object in a cell: JSON text, or the list as pandas writes it; else the text.

    A cell such as ``[1] As the first source says`` is a text. One that begins
    like a list of texts or objects and does not end like one is a fault.
    """
    text = cell.strip()
    if not text.startswith(("[", "{")):
        return cell
    try:
        return decode(text)
    except BadJsonError as error:
        problem = error.problem
    try:
        value: object = ast.literal_eval(text) if len(text) <= LONGEST_PYTHON else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if isinstance(value, (list, dict)) and repr(value) == text and surrogate_in(value) is None:
        return value
    opening = text.replace(" ", "")[:2]
    if opening in ('["', "['", "[{", '{"', "{'"):
        expected = f"{problem.expected}; a text that begins so goes into a list"
        problems.append(Problem(field, expected, problem.got))
        return None
    return cell


def is_mlflow(record: Mapping[str, Any]) -> bool:
    """Whether the record keeps its fields apart as inputs, outputs and expectations."""
    return "inputs" in record and ("outputs" in record or "expectations" in record)


def unfold_mlflow(record: Mapping[str, Any]) -> dict[str, Any]:
    """An MLflow row as a flat record: its inputs, outputs and expectations side by side."""
    flat = {k: v for k, v in record.items() if k not in ("inputs", "outputs", "expectations")}
    for part, name in (("inputs", "question"), ("outputs", "response")):
        value = record.get(part)
        if isinstance(value, dict):
            if part == "outputs" and "content" in value and isinstance(value["content"], str):
                value = {**value, "response": value["content"]}
            flat.update(value)
        elif value is not None:
            flat[name] = value
    expectations = record.get("expectations")
    if isinstance(expectations, dict):
        flat.update(expectations)
    elif expectations is not None:
        flat["expected_response"] = expectations
    return flat


def _id(value: object, field: str, problems: list[Problem]) -> str | None:
    if value is None:
        return None
    if type(value) is str and value:
        return value
    if type(value) is int and value.bit_length() <= 128:
        return str(value)
    expected = "text or a whole number" if value != "" else "a name or nothing"
    problems.append(Problem(field, expected, "an empty text" if value == "" else shown(value)))
    return None


def _system_beside(*places: Mapping[str, Any]) -> str:
    for place in places:
        value = place.get("system", place.get("method"))
        if type(value) is str and value:
            return value
        if type(value) is int:
            return str(value)
    return DEFAULT_SYSTEM


def _texts(value: object, field: str, problems: list[Problem]) -> tuple[str, ...]:
    """One text or several; empty ones are dropped."""
    if value is None:
        return ()
    if type(value) is str:
        return (value,) if value else ()
    if not isinstance(value, list):
        problems.append(Problem(field, "a text or a list of texts", shown(value)))
        return ()
    texts = []
    for index, one in enumerate(value):
        if isinstance(one, dict) and field != "reference":
            one = next((one[key] for key in TEXT_KEYS if key in one), one)
        if type(one) is not str:
            problems.append(Problem(f"{field}[{index}]", "a text", shown(one)))
        elif one:
            texts.append(one)
    return tuple(texts)


def _are_texts(value: object) -> bool:
    if isinstance(value, str):
        return True
    return isinstance(value, list) and all(
        isinstance(one, str) or (isinstance(one, dict) and not one.keys() & {"id", "grade"})
        for one in value
    )


def _grades(value: object, problems: list[Problem]) -> dict[str, int] | None:
    """Judged contexts: a list of relevant ids, a mapping id to grade, or objects of both."""
    field = "reference_contexts"
    pairs: list[tuple[object, object]]
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        pairs = [(value, 1)]
    elif isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [
            (one.get("id"), one.get("grade", 1)) if isinstance(one, dict) else (one, 1)
            for one in value
        ]
    else:
        problems.append(Problem(field, "a list of ids or ids with their grades", shown(value)))
        return None
    grades = {}
    for index, (given, grade) in enumerate(pairs):
        id = _id(given, f"{field}[{index}]", problems)
        if given is None:
            problems.append(Problem(f"{field}[{index}]", "an id", "null"))
        if isinstance(grade, float) and grade.is_integer():
            grade = int(grade)
        if type(grade) is not int or abs(grade) > 1_000_000:
            problems.append(Problem(f"{field}[{index}]", "a whole number as grade", shown(grade)))
        elif id is not None and grade >= 0:
            grades[id] = grade
    return grades


def _turns(value: object, problems: list[Problem]) -> tuple[Turn, ...]:
    """Earlier turns: objects with role and text, texts in turn, or pairs of them."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        problems.append(Problem("history", "a list of turns", shown(value)))
        return ()
    turns: list[Turn] = []
    for index, one in enumerate(value):
        pair = one if isinstance(one, list) and len(one) == 2 else [one]
        for part in pair:
            place = f"history[{index}]"
            if isinstance(part, str):
                turns.append(Turn("assistant" if len(turns) % 2 else "user", part))
            elif isinstance(part, dict):
                turns.append(_turn(part, place, problems))
            else:
                problems.append(Problem(place, "a text or {role, text}", shown(part)))
    return tuple(turns)


def _turn(message: dict[str, Any], place: str, problems: list[Problem]) -> Turn:
    role = next((message[key] for key in TURN_ROLE_KEYS if message.get(key) is not None), None)
    text = next((message[key] for key in TURN_TEXT_KEYS if message.get(key) is not None), None)
    if isinstance(text, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in text]
        text = "\n".join(part for part in parts if isinstance(part, str))
    if text is None and role in ("ai", "assistant"):
        text = ""
    if not isinstance(role, str) or not isinstance(text, str):
        problems.append(Problem(place, "an object with role and text", shown(message)))
        return Turn("user", "")
    return Turn(ROLES.get(role, role), text)


def _conversation(
    messages: list[Any], field: str, problems: list[Problem]
) -> tuple[str | None, tuple[Turn, ...], str | None]:
    """Question, history and answer of a multi-turn record: the last user turn is the question."""
    turns = []
    for index, message in enumerate(messages):
        if isinstance(message, dict):
            turns.append(_turn(message, f"{field}[{index}]", problems))
        else:
            problems.append(
                Problem(f"{field}[{index}]", "a message with role and content", shown(message))
            )
    asked = [index for index, turn in enumerate(turns) if turn.role == "user"]
    if not asked:
        if not problems:
            problems.append(Problem(field, "at least one turn of the user", "none"))
        return None, (), None
    last = asked[-1]
    said = [turn.text for turn in turns[last + 1 :] if turn.role == "assistant" and turn.text]
    return turns[last].text, tuple(turns[:last]), said[-1] if said else None


def _context_ids(value: object, problems: list[Problem]) -> list[str | None] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        problems.append(Problem("context_ids", "a list of ids", shown(value)))
        return None
    ids = []
    for index, one in enumerate(value):
        ids.append(_id(one, f"context_ids[{index}]", problems))
        if one is None:
            problems.append(Problem(f"context_ids[{index}]", "an id", "null"))
    if repeated := _repeated(ids):
        problems.append(
            Problem(
                f"context_ids[{repeated[0]}]",
                "an id that no other context of the list has",
                f"{shown(ids[repeated[0]])} again",
            )
        )
    return ids


def _rows_of(columns: dict[str, Any]) -> object:
    """Objects out of an object of equally long lists, as Hugging Face stores lists of objects."""
    lists = list(columns.values())
    if lists and all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists):
        return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
    return columns


def _score(value: object, index: int, problems: list[Problem]) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if isfinite(number):
            return number
    problems.append(Problem(f"contexts[{index}].score", "a finite number", shown(value)))
    return None


def _order(ranks: list[object], problems: list[Problem]) -> list[int] | None:
    """Which context comes first, second, …; None where they stand in order already."""
    if ranks.count(None) == len(ranks):
        return None
    numbers: list[int] = []
    for index, rank in enumerate(ranks):
        if isinstance(rank, float) and rank.is_integer():
            rank = int(rank)
        if type(rank) is not int:
            problems.append(
                Problem(f"contexts[{index}].rank", "a whole number from 1", shown(rank))
            )
            return None
        numbers.append(rank)
    n = len(numbers)
    order: list[int] = [-1] * n
    zero_based = sorted(numbers) == list(range(n))
    for index, rank in enumerate(numbers):
        place = f"contexts[{index}].rank"
        if rank == 0:
            got = "0; ranks start at 1"
            if zero_based:
                got = f"0 to {n - 1}; ranks start at 1" if n > 1 else got
            problems.append(Problem(place, f"ranks 1 to {n}, each once", got))
        elif rank < 0:
            problems.append(Problem(place, f"ranks 1 to {n}, each once", f"the negative {rank}"))
        elif rank > n:
            problems.append(
                Problem(place, f"ranks 1 to {n}, each once", f"{rank}, which leaves a gap")
            )
        elif order[rank - 1] >= 0:
            problems.append(Problem(place, f"ranks 1 to {n}, each once", f"{rank} twice"))
        else:
            order[rank - 1] = index
    if -1 in order or order == list(range(n)):
        return None
    return order


def _repeated(ids: Sequence[str | None]) -> list[int]:
    """The first place whose id stood before, if any."""
    given = [id for id in ids if id is not None]
    if len(set(given)) == len(given):
        return []
    seen: set[str] = set()
    for index, id in enumerate(ids):
        if id is not None:
            if id in seen:
                return [index]
            seen.add(id)
    return []


def _first(by_name: Mapping[str, str], names: Sequence[str]) -> str:
    return next((by_name[key] for name in names if (key := squash(name)) in by_name), ABSENT)


def _not_text(field: str, value: object) -> Problem:
    return Problem(field, "text", shown(value))
