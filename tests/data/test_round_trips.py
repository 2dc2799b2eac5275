"""What is written is read back, and no bytes whatever raise anything but a DataError."""

import gzip
import json
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, Turn, as_record, from_frame, read, to_frame, write
from ragstone.data.example import names_session

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALAR = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | FINITE | TEXT
# What a session is called elsewhere comes back as the session: tests/data/test_sessions.py.
OWN_NAME = NAME.filter(lambda name: not names_session(name))
JSON = st.recursive(
    SCALAR,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(NAME, part, max_size=3),
    max_leaves=6,
)
LABEL = st.sampled_from([0, 1, True, False, None])


@st.composite
def context_lists(draw: st.DrawFn) -> tuple[Context, ...] | None:
    if draw(st.booleans()):
        return None
    ids = draw(st.lists(NAME, unique=True, max_size=3))
    return tuple(
        Context(id, draw(st.none() | TEXT), rank, draw(st.none() | FINITE))
        for rank, id in enumerate(ids, 1)
    )


@st.composite
def examples(draw: st.DrawFn) -> list[Example]:
    found = []
    for id in draw(st.lists(NAME, unique=True, min_size=1, max_size=3)):
        contexts = draw(context_lists())
        marks = [{"misleading": draw(LABEL)} for _ in contexts or ()]
        labels: dict[str, Any] = {"contexts": marks} if marks else {}
        if draw(st.booleans()):
            labels["answer"] = {"helpful": draw(LABEL)}
        found.append(
            Example(
                id=id,
                question_id=draw(NAME),
                system=draw(NAME),
                question=draw(st.none() | TEXT),
                contexts=contexts,
                answer=draw(TEXT),
                reference=tuple(draw(st.lists(TEXT.filter(bool), max_size=2))),
                history=tuple(draw(st.lists(st.builds(Turn, st.just("user"), TEXT), max_size=2))),
                policy=draw(st.none() | TEXT),
                evidence=tuple(draw(st.lists(TEXT.filter(bool), max_size=2))),
                criteria=tuple(draw(st.lists(TEXT.filter(str.strip), max_size=2, unique=True))),
                reference_contexts=draw(
                    st.none() | st.dictionaries(NAME, st.integers(0, 3), max_size=2)
                ),
                slices=draw(st.dictionaries(OWN_NAME, SCALAR, max_size=2)),
                labels=labels,
                meta=draw(st.dictionaries(OWN_NAME, JSON, max_size=2)),
            )
        )
    return found


FILES = settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FILES
@given(examples())
def test_a_table_gives_the_examples_back(given_examples: list[Example]) -> None:
    assert from_frame(to_frame(given_examples)) == given_examples


@given(examples())
def test_examples_one_by_one_make_the_table_of_all(given_examples: list[Example]) -> None:
    alone = [to_frame([one]) for one in given_examples]
    assert pl.concat([to_frame([]), *alone]).equals(to_frame(given_examples))


@FILES
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
@given(given_examples=examples())
def test_a_file_gives_the_examples_back(
    tmp_path: Path, name: str, given_examples: list[Example]
) -> None:
    write(given_examples, tmp_path / name)
    assert list(read(tmp_path / name)) == given_examples


@FILES
@given(given_examples=examples())
def test_a_json_list_gives_the_examples_back(tmp_path: Path, given_examples: list[Example]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([as_record(e) for e in given_examples], ensure_ascii=False), "utf-8")
    assert list(read(path)) == given_examples


@FILES
@given(given_examples=examples())
def test_a_csv_gives_all_but_empty_texts_back(
    tmp_path: Path, given_examples: list[Example]
) -> None:
    path = tmp_path / "a.csv"
    write(given_examples, path)
    read_back = list(read(path, skip_bad=True)) if given_examples[0].answer else []
    by_id = {e.id: e for e in given_examples}
    for one in read_back:
        before = by_id[one.id]
        assert (one.contexts, one.reference, one.labels) == (
            before.contexts,
            before.reference,
            before.labels,
        )
        assert (one.answer or "") == (before.answer or "")


def try_to_read(path: Path) -> None:
    for skip_bad in (False, True):
        try:
            list(read(path, skip_bad=skip_bad))
        except DataError as error:
            assert error.faults  # noqa: PT017
            str(error).encode()


ANY_NAME = st.sampled_from(
    ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.jsonl.gz", "a.txt", "a.arrow", "a"]
)


@FILES
@given(name=ANY_NAME, content=st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    try_to_read(tmp_path / name)


@FILES
@given(record=st.lists(st.dictionaries(st.sampled_from(
    ["id", "question", "answer", "contexts", "reference", "labels", "meta", "slices", "history",
     "user_input", "context", "retrieved_context_ids", "reference_contexts", "system", "query_id",
     "inputs", "outputs", "evidence", "question_type", "labels.answer.helpful"]), JSON, max_size=5),
    max_size=3))  # fmt: skip
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_any_json_is_read_or_refused(
    tmp_path: Path, name: str, record: list[dict[str, Any]]
) -> None:
    lines = json.dumps(record) if name == "a.json" else "\n".join(map(json.dumps, record))
    (tmp_path / name).write_text(lines)
    try_to_read(tmp_path / name)
    with suppress(DataError):
        list(read(record))


MUTABLE = json.dumps(
    {
        "results": [
            {"id": "1", "question": "q", "answer": "ä", "contexts": [{"id": "d", "text": "t"}]},
            {"id": "2", "user_input": [{"role": "user", "content": "\ud83d\ude00"}], "answer": ""},
        ]
    },
    indent=1,
).encode()


@FILES
@given(data=st.data(), name=st.sampled_from(["a.json", "a.jsonl", "a.json.gz"]))
def test_mutated_json_is_read_or_refused(tmp_path: Path, data: st.DataObject, name: str) -> None:
    content = bytearray(MUTABLE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        byte = data.draw(st.integers(0, 255))
        if data.draw(st.booleans()):
            content[at] = byte
        else:
            del content[at : at + byte % 7 + 1]
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    try_to_read(tmp_path / name)


@FILES
@given(data=st.data())
def test_mutated_tables_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    frame = to_frame([Example("1", "1", "s", answer="a", contexts=(Context("d", "t", 1),))])
    for name in ("a.parquet", "a.arrow"):
        path = tmp_path / name
        # Who still reads the one before has it mapped, and a mapped file must not shrink.
        path.unlink(missing_ok=True)
        if name == "a.parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc_stream(path)
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        try_to_read(path)


@FILES
@given(
    run=st.text(st.sampled_from("t12 \n\tQ0ab.-x"), max_size=80),
    qrels=st.text(st.sampled_from("t12 \n\t0ab-x"), max_size=60),
)
def test_any_run_and_qrels_are_read_or_refused(tmp_path: Path, run: str, qrels: str) -> None:
    (tmp_path / "run.txt").write_text("t1 Q0 a 1 2 tag\n" + run)
    (tmp_path / "qrels.txt").write_text("t1 0 a 1\n" + qrels)
    try_to_read(tmp_path)


def test_the_tables_columns_keep_their_types() -> None:
    frame = to_frame([Example("1", "1", "s", answer="a")])
    assert frame["contexts"].null_count() == 1
    assert frame.schema["contexts"] == pl.List(
        pl.Struct({"id": pl.String, "text": pl.String, "rank": pl.Int64, "score": pl.Float64})
    )
    assert to_frame([]).schema == frame.schema


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.json.gz", "a.csv"])
def test_memory_does_not_follow_the_file(tmp_path: Path, name: str) -> None:
    passage = "x" * 20_000
    rows = ({"id": str(i), "answer": "a", "contexts": [passage]} for i in range(1_500))
    if name == "a.jsonl":
        text = "\n".join(json.dumps(row) for row in rows)
    elif name == "a.csv":
        text = "id,answer,contexts\n" + "".join(f"{row['id']},a,{passage}\n" for row in rows)
    else:
        text = '{"results": [' + ",\n".join(json.dumps(row) for row in rows) + "]}"
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    del text
    tracemalloc.start()
    try:
        n = sum(1 for _ in read(tmp_path / name))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n == 1_500
    assert peak < 10_000_000 < len(content)


def test_an_example_is_written_under_the_documented_names() -> None:
    example = Example(
        "x",
        "q1",
        "bm25",
        question="Who?",
        contexts=(Context("d7", "Ann built it.", 1, 2.5), Context("d8", None, 2)),
        answer="Ann",
        reference=("Ann", "Ann Lee"),
        history=(Turn("user", "Hello"),),
        policy="Be brief.",
        evidence=("It was Ann.",),
        reference_contexts={"d7": 2},
        criteria=("Names Ann",),
        slices={"kind": "who"},
        labels={"answer": {"helpful": 1}},
        meta={"n": [1]},
    )
    assert as_record(example) == {
        "id": "x",
        "question_id": "q1",
        "system": "bm25",
        "question": "Who?",
        "contexts": [
            {"id": "d7", "text": "Ann built it.", "rank": 1, "score": 2.5},
            {"id": "d8", "text": None, "rank": 2, "score": None},
        ],
        "answer": "Ann",
        "reference": ["Ann", "Ann Lee"],
        "history": [{"role": "user", "text": "Hello"}],
        "policy": "Be brief.",
        "evidence": ["It was Ann."],
        "reference_contexts": {"d7": 2},
        "criteria": ["Names Ann"],
        "slices": {"kind": "who"},
        "labels": {"answer": {"helpful": 1}},
        "meta": {"n": [1]},
    }


def test_a_frame_of_an_earlier_version_is_read() -> None:
    example = Example(id="1", question_id="1", system="s", question="When?", answer="At 9.")
    assert from_frame(to_frame([example]).drop("criteria")) == [example]
