"""Fields: maps the columns of a user's record to the fields of an example, by their names.

A single table of names serves all layouts, because nearly every name is unambiguous. The other
columns of the record decide in three cases:

- ``answer`` is the gold answer in a GraphRAG-Bench questions file and next to a
  ``generated_answer`` or ``predicted_answer``, else the generated answer;
- ``context`` is the gold evidence in a DeepEval test case, else what was retrieved;
- ``query_id`` is also the record's id if it has no other id and no system.

Names are compared without case, spaces, hyphens and underscores, so ``retrievalContext`` is
``retrieval_context``. An unused column such as ``retrieved_ctx`` or ``source_nodes`` is reported
as similar to a field, but never read, because a wrong guess would give wrong scores.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from ragstone.core.errors import UnknownName

from .json_path import JsonPath
from .json_text import Problem, ascii_safe

# Stands for a column that a record does not have.
ABSENT = "\0absent"

NAMES: Mapping[str, tuple[str, ...]] = {
    field: tuple(names.split())
    for field, names in {
        "id": "id example_id sample_id record_id _id",
        "question_id": "question_id query_id",
        "system": "system method",
        "question": "question questions user_input query input messages",
        "contexts": (
            "contexts retrieved_contexts retrieval_context retrieved_context "
            "retrieved_documents source_documents passages chunks documents document"
        ),
        "context_ids": "retrieved_context_ids context_ids",
        "answer": (
            "generated_answer predicted_answer predicted_answers actual_output answer "
            "response output prediction agent_answer"
        ),
        "reference": (
            "reference references reference_answer reference_answers ground_truth "
            "ground_truths gold_answer gold_answers gt_answer expected_output "
            "expected_response expected_answer ground_truth_answer ground_truth_answers"
        ),
        "history": "history conversation_history chat_history",
        "session": (
            "session session_id conversation_id thread_id chat_id dialogue_id dialog_id "
            "session.id gen_ai.conversation.id mlflow.trace.session"
        ),
        "policy": "policy",
        "evidence": (
            "evidence reference_context ground_truth_context ground_truth_contexts "
            "ground_truth_documents expected_chunks expected_facts"
        ),
        "reference_contexts": "reference_context_ids reference_contexts qrels",
        "criteria": "criteria guidelines",
        "slices": "slices",
        "labels": "labels",
        "meta": "meta metadata additional_metadata",
    }.items()
}

# Names under which contexts are also looked for in ``meta``.
IN_META = frozenset((
    "contexts", "retrievedcontexts", "retrievalcontext", "retrieveddocuments",
    "sourcedocuments", "retrieverresources",
))  # fmt: skip

# Names of evidence that are those of contexts, which may be named by their ids.
GOLD_CONTEXTS = frozenset((
    "referencecontext", "groundtruthcontext", "groundtruthcontexts", "groundtruthdocuments",
    "expectedchunks", "referencecontexts", "context",
))  # fmt: skip

# Names that each claim to be the generated answer; two of them need a word from the user.
RIVAL_ANSWERS = ("generated_answer", "predicted_answer", "actual_output", "answer", "response")

# Names of the generated answer beside which ``answer`` is the gold one.
BESIDE_GOLD = frozenset(("generatedanswer", "predictedanswer", "predictedanswers"))

# Which columns tell a layout; the first that fits names it. All else is ``ragstone``.
LAYOUTS: tuple[tuple[str, tuple[frozenset[str], ...]], ...] = tuple(
    (name, tuple(frozenset(columns.split()) for columns in marks))
    for name, marks in (
        ("haystack", ("question predictedanswer", "predictedanswers")),
        ("graphrag-bench-results", ("generatedanswer goldanswer", "generatedanswer groundtruth")),
        ("ragchecker", ("query gtanswer", "query response retrievedcontext")),
        ("deepeval", ("actualoutput", "retrievalcontext", "input expectedoutput")),
        ("trulens", ("query expectedresponse", "query expectedchunks")),
        (
            "continuous-eval",
            ("retrievedcontext", "groundtruthcontext", "groundtruthcontexts", "groundtruthanswers"),
        ),
        ("giskard", ("referenceanswer referencecontext",)),
        ("ragas", ("userinput", "retrievedcontexts")),
        ("ragas-0.1", ("question groundtruth", "question groundtruths")),
        ("reference-answer", ("question referenceanswer",)),
    )
)

# Fields of which a record has at least one; a conversation has its answer in its messages.
NEEDED = frozenset(("answer", "contexts", "context_ids", "reference"))

# Expected where no column was recognised; said once for all records with the same columns.
NO_FIELD = "columns for an answer, contexts or a reference"

# Expected where several columns may be the field.
ONE_COLUMN = "one column for it"

NESTED = ("labels", "slices", "meta")

# Columns of a record that are looked at for what they resemble.
MOST_COLUMNS = 200


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """The column of each field, for records with one set of columns.

    ``nested`` are columns such as ``labels.answer.helpful``, each with its path; ``resembling``
    are columns of ``extra``, each with the field it resembles. ``texts_or_ids``: the gold
    contexts are evidence, or ids of contexts. ``problem`` is set if the columns do not make an
    example.
    """

    layout: str
    id: str = ABSENT
    question_id: str = ABSENT
    system: str = ABSENT
    question: str = ABSENT
    contexts: str = ABSENT
    context_ids: str = ABSENT
    answer: str = ABSENT
    reference: str = ABSENT
    history: str = ABSENT
    session: str = ABSENT
    policy: str = ABSENT
    evidence: str = ABSENT
    reference_contexts: str = ABSENT
    criteria: str = ABSENT
    slices: str = ABSENT
    labels: str = ABSENT
    meta: str = ABSENT
    extra: tuple[str, ...] = ()
    nested: tuple[tuple[str, tuple[str, ...]], ...] = ()
    resembling: tuple[tuple[str, str], ...] = ()
    grades_or_texts: bool = False
    texts_or_ids: bool = False
    splits_evidence: bool = False
    problem: Problem | None = None


def check_mapping(columns: Mapping[str, str]) -> None:
    """Refuse a field that an example does not have, and a column after $ that is no path."""
    for name in columns:
        if name not in NAMES:
            raise UnknownName("field", name, NAMES)
    for column in columns.values():
        if column.startswith("$"):
            JsonPath.read(column)


@lru_cache(maxsize=256)
def plan(
    keys: tuple[object, ...], columns: tuple[tuple[str, str], ...], layout: str | None = None
) -> FieldLayout:
    """Find the fields of records with these columns.

    Args:
        keys: The names of a record's columns.
        columns: Fields with their columns, as given by the user; they take precedence.
        layout: The layout of the file so far; it settles the meaning of ``answer`` and ``context``
            for records that lack the telling columns.
    """
    names: list[str] = []
    for name in keys:
        if not isinstance(name, str):
            got = repr(name)[:60]
            return FieldLayout("", problem=Problem("", "field names that are text", got))
        names.append(name)
    mapped = dict(columns)
    free: dict[str, str] = {}
    for name in names:
        if name not in mapped.values():
            free.setdefault(squash(name), name)
    own_layout = _layout(frozenset(free), mapped, layout)
    column_of, rivals = _handed_out(names, mapped, free, own_layout)
    problem = Problem("answer", ONE_COLUMN, " and ".join(rivals)) if rivals else None
    identified = column_of.keys() & {"id", "system"}
    if not identified and squash(column_of.get("question_id", "")) == "queryid":
        column_of["id"] = column_of["question_id"]
    is_conversation = squash(column_of.get("question", "")) == "messages"
    if not is_conversation and not column_of.keys() & NEEDED:
        problem = _nothing_found(names, column_of)
    used = set(column_of.values())
    rest = [name for name in names if name not in used]
    nested = tuple(
        (name, tuple(name.split(".")))
        for name in rest
        if "." in name and name.split(".")[0] in NESTED and all(name.split("."))
    )
    dotted = {name for name, _ in nested}
    extra = tuple(name for name in rest if name not in dotted)
    resembling = ((name, resembled(name)) for name in extra[:MOST_COLUMNS])
    judged = squash(column_of.get("reference_contexts", ""))
    return FieldLayout(
        layout=own_layout,
        extra=extra,
        nested=nested,
        resembling=tuple((name, of) for name, of in resembling if of and of not in mapped),
        grades_or_texts=judged == "referencecontexts" and "reference_contexts" not in mapped,
        texts_or_ids=squash(column_of.get("evidence", "")) in GOLD_CONTEXTS,
        splits_evidence=own_layout.startswith("graphrag-bench"),
        problem=problem,
        **column_of,
    )


def _layout(columns: frozenset[str], mapped: Mapping[str, str], so_far: str | None) -> str:
    if (
        columns >= {"question", "answer", "evidence", "questiontype"}
        and not columns & {"contexts", "context", "response", "generatedanswer"}
        and not columns & {squash(name) for name in NAMES["reference"]}
        and not mapped.keys() & {"answer", "reference"}
    ):
        return "graphrag-bench-questions"
    if so_far is not None:
        return so_far
    for name, marks in LAYOUTS:
        if any(mark <= columns for mark in marks):
            return name
    return "ragstone"


def _handed_out(
    names: Sequence[str], mapped: Mapping[str, str], free: Mapping[str, str], layout: str
) -> tuple[dict[str, str], list[str]]:
    """Return the column of each field, and the columns that may all be the answer, if several.

    Args:
        free: The columns that no field has, by squashed name; they stay as they are.
    """
    left = dict(free)
    column_of = {field: column for field, column in mapped.items() if column in names}

    def hand(field: str, known: Sequence[str]) -> None:
        for name in () if field in mapped else known:
            if (column := left.pop(squash(name), None)) is not None:
                column_of[field] = column
                return

    for field, known in NAMES.items():
        hand(field, known)
        is_gold = field == "answer" and layout == "graphrag-bench-questions"
        squashed = squash(column_of.get("answer", ""))
        if is_gold and squashed == "answer" and "answer" not in mapped:
            column_of["reference"] = column_of.pop("answer")
    field = "evidence" if layout == "deepeval" else "contexts"
    if field not in column_of:
        hand(field, ("context",))
    judged = squash(column_of.get("reference_contexts", ""))
    if judged == "referencecontextids" and "evidence" not in column_of:
        hand("evidence", ("reference_contexts",))  # Beside ids, these are the texts.
    if "answer" in mapped or "answer" not in column_of:
        return column_of, []
    if squash(column_of["answer"]) in BESIDE_GOLD and "reference" not in column_of:
        hand("reference", ("answer",))
    rivals = [left[key] for name in RIVAL_ANSWERS if (key := squash(name)) in left]
    return column_of, [column_of["answer"], *rivals] if rivals else []


def _nothing_found(names: Sequence[str], column_of: Mapping[str, str]) -> Problem:
    columns = ", ".join(ascii_safe(name) for name in names[:12]) or "none"
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    known = f"; recognised only {', '.join(column_of)}" if column_of else ""
    return Problem("", NO_FIELD, f"the columns {columns}{more}{known}")


@lru_cache(maxsize=4096)
def squash(name: str) -> str:
    """Return the form in which column names are compared."""
    return name.lower().replace("_", "").replace(" ", "").replace("-", "")


# The fields that a column may have been meant for.
GUESSED = ("question", "contexts", "answer", "reference", "evidence", "history",
           "context_ids", "reference_contexts", "system", "question_id")  # fmt: skip

# Words that mean the field, if no others are in the column's name but those below.
NOUNS: Mapping[str, frozenset[str]] = {
    "question": frozenset({"question", "questions", "query", "queries", "input", "prompt",
                           "instruction"}),
    "contexts": frozenset({"context", "contexts", "ctx", "ctxs", "chunk", "chunks", "passage",
                           "passages", "document", "documents", "doc", "docs", "node", "nodes",
                           "snippet", "snippets", "paragraph", "paragraphs", "excerpt", "excerpts",
                           "retrieved", "retrieval", "results", "hits", "knowledge"}),
    "answer": frozenset({"answer", "response", "responses", "output", "prediction", "predictions",
                         "completion", "generation", "reply"}),
    "reference": frozenset({"answers"}),
}  # fmt: skip

GOLD = frozenset({"gold", "golden", "correct", "expected", "ideal", "right", "true", "truth",
                  "ground", "target", "reference", "gt", "supporting"})  # fmt: skip
# What a field is called if it is right by definition.
OF_GOLD = {"answer": "reference", "contexts": "evidence"}

FILLING = frozenset({"source", "sources", "relevant", "top", "k", "search", "used", "rag", "final",
                     "text", "texts", "content", "contents", "list", "all", "raw", "generated",
                     "model", "llm", "ai", "bot", "assistant", "predicted", "candidate", "user",
                     "my", "original", "given", "the", "full", "string", "str",
                     "json"})  # fmt: skip

CLOSE = 0.85
LONGEST = 60

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_KNOWN = {squash(name): field for field in GUESSED for name in NAMES[field]}
_SORTED = {"".join(sorted(name)): field for name, field in _KNOWN.items()}


@lru_cache(maxsize=4096)
def resembled(column: str) -> str | None:
    """Return the field that a column's name resembles; None if it resembles none.

    >>> resembled("retrieved_ctx"), resembled("correctAnswer"), resembled("doc_title")
    ('contexts', 'reference', None)
    """
    if len(column) > LONGEST:
        return None
    words = {word.lower() for word in _WORD.findall(column)} - FILLING
    if words and words <= GOLD:
        return "reference"
    for field, nouns in NOUNS.items():
        if (left := words - GOLD) and left <= nouns:
            return field if left == words else OF_GOLD.get(field, field)
    name = squash(column)
    if swapped := _SORTED.get("".join(sorted(name))):
        return swapped
    close = get_close_matches(name, _KNOWN, n=1, cutoff=CLOSE)
    return _KNOWN[close[0]] if close else None


def could_be(field: str, value: object) -> bool:
    """Return True if a column with this value may be meant for the field."""
    if field in ("contexts", "reference", "evidence", "history"):
        return isinstance(value, (str, list, dict)) and bool(value)
    if field in ("context_ids", "reference_contexts"):
        return isinstance(value, (list, dict)) and bool(value)
    return isinstance(value, str) or (field in ("system", "question_id") and type(value) is int)
