"""Names: every name that docs/formats.md gives a field is read as that field, and no other is."""

import re
from typing import Any

import pytest

from ragstone.data import Context, Example, read
from ragstone.data.fields import NAMES
from ragstone.data.record_labels import LABELS, YES_NO, label_problems
from tests.project import ROOT

PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
VALUES: dict[str, Any] = {
    "id": "x", "question_id": "x", "system": "x", "question": "x", "contexts": ["x"],
    "context_ids": ["x"], "answer": "x", "reference": "x", "history": ["x"], "policy": "x",
    "evidence": ["x"], "criteria": ["x"], "reference_contexts": {"x": 1}, "meta": {"x": 1},
    "session": "x",
}  # fmt: skip


def documented() -> list[tuple[str, str]]:
    """Field and name, from the page's table; what stands behind a semicolon is another rule."""
    table = PAGE.partition("| field | also called |")[2].partition("\n\n")[0]
    found = []
    for line in table.splitlines():
        if cells := re.match(r"\| `(\w+)` \|(.*)\|$", line):
            names = re.split(r";|, a DeepEval|:", cells[2])[0]
            found += [(cells[1], name) for name in re.findall(r"`([\w.]+)`", names)]
            found.append((cells[1], cells[1]))
    return found


def one(record: dict[str, Any]) -> Example:
    (example,) = read([record])
    return example


def test_the_page_names_every_field() -> None:
    assert {field for field, _ in documented()} == set(VALUES)
    told = set(documented())
    left = {(field, name) for field in VALUES for name in NAMES[field]} - told
    assert left == set()


@pytest.mark.parametrize(("field", "name"), documented())
@pytest.mark.parametrize("spell", [str, str.upper, lambda name: name.replace("_", " ")])
def test_a_documented_name_is_read_as_its_field_however_it_is_spelled(
    field: str, name: str, spell: Any
) -> None:
    beside = {} if field in ("answer", "reference") else {"reference": "r"}
    example = one(beside | {spell(name): VALUES[field]})
    expected: dict[str, Any] = {
        "contexts": (Context("1", "x", 1),),
        "context_ids": (Context("x", None, 1),),
        "reference": ("x",),
        "evidence": ("x",),
        "criteria": ("x",),
        "reference_contexts": {"x": 1},
        "meta": {"x": 1},
    }
    if field == "history":
        assert [turn.text for turn in example.history] == ["x"]
        return
    value = getattr(example, "contexts" if field == "context_ids" else field)
    assert value == expected.get(field, "x")
    assert example.slices == ({"session": "x"} if field == "session" else {})


@pytest.mark.parametrize("key", ["text", "content", "page_content", "context", "passage"])
def test_a_context_and_a_piece_of_evidence_have_their_text_under_any_key(key: str) -> None:
    example = one({"contexts": [{key: "a", "id": "x"}], "evidence": [{key: "b"}]})
    assert example.contexts == (Context("x", "a", 1),)
    assert example.evidence == ("b",)


@pytest.mark.parametrize("key", ["id", "context_id", "chunk_id", "_id"])
def test_an_id_of_a_context_stands_once(key: str) -> None:
    contexts = [{key: "x", "text": "a"}, {key: "y", "text": "b"}]
    assert [context.id for context in one({"contexts": contexts}).contexts or ()] == ["x", "y"]
    with pytest.raises(Exception, match="no other context"):
        one({"contexts": [contexts[0], contexts[0]]})


@pytest.mark.parametrize("key", ["doc_id", "document_id", "docid", "source"])
def test_a_documents_name_that_passages_share_is_no_id(key: str) -> None:
    contexts = [{key: "x", "text": "a"}, {key: "y", "text": "b"}]
    assert [context.id for context in one({"contexts": contexts}).contexts or ()] == ["x", "y"]
    shared = one({"contexts": [contexts[0], contexts[0]]}).contexts
    assert [context.id for context in shared or ()] == ["1", "2"]


WRITTEN = {
    "context": "topically_relevant evidence_sufficient misleading",
    "answer": "support_present unsupported_claim_present contradicted_claim_present source_cited "
    "fabricated_source proper_action response_on_topic helpful incomplete unsafe_content",
}


@pytest.mark.parametrize(
    ("unit", "name"), [(unit, name) for unit, names in WRITTEN.items() for name in names.split()]
)
@pytest.mark.parametrize("wrong", ["yes", 2, 0.5, [], -1])
def test_a_label_of_yes_or_no_is_0_or_1_and_named_on_the_page(
    unit: Any, name: str, wrong: object
) -> None:
    assert LABELS[unit][name] == YES_NO
    assert f"`{name}`" in PAGE or f'"{name}"' in PAGE

    def at(value: object) -> dict[str, Any]:
        return {"contexts": [{name: value}]} if unit == "context" else {"answer": {name: value}}

    for value in (0, 1, True, False, None, 1.0):
        assert label_problems(at(value), 1) == []
    (problem,) = label_problems(at(wrong), 1)
    assert problem.field.endswith(f".{name}")


@pytest.mark.parametrize(
    ("labels", "fields"),
    [
        ({"claims": [{"text": "t", "support": "absent", "agreement": "extra"}]}, []),
        ({"claims": [{"text": "t", "agreement": "full"}]}, ["claims[0].agreement"]),
        *(
            ({unit: [{"text": "t", name: said}]}, [])
            for unit, name, values in (
                ("claims", "support", "supported contradicted absent"),
                ("claims", "agreement", "matches contradicts extra"),
                ("statements", "support", "supported contradicted absent"),
                ("statements", "agreement", "full partial missing contradicted"),
            )
            for said in values.split()
        ),
        ({"statements": [{"text": "t", "agreement": "extra"}]}, ["statements[0].agreement"]),
        ({"statements": [{"text": "t", "support": True}]}, ["statements[0].support"]),
        ({"claims": [{"support": "absent"}]}, ["claims[0]"]),
        ({"claims": {}}, ["claims"]),
        ({"claims": [{"text": "t", "sentence": -1}]}, ["claims[0].sentence"]),
        ({"claims": [{"text": "t", "sentence": 2**31 - 1}]}, []),
        ({"claims": [{"text": "t", "sentence": 2**31}]}, ["claims[0].sentence"]),
        ({"statements": [{"text": "t", "reference": 0.0}]}, ["statements[0].reference"]),
        ({"claims": [{"text": "t", "evidence": ["1", 2]}]}, ["claims[0].evidence"]),
        ({"claims": [{"text": "t", "evidence": []}]}, []),
        ({"contexts": [{}]}, ["contexts"]),
        ({"contexts": [None, 3]}, ["contexts", "contexts[1]"]),
        ({"contexts": {}}, ["contexts"]),
        ({"answer": []}, ["answer"]),
        ({"answer": {"response_type": "maybe"}}, []),
        *(
            ({"response_type": said}, [])
            for said in ["answer", "partial", "abstain", "refuse", "clarify"]
        ),
        ({"response_type": ""}, ["response_type"]),
        ({"mood": "glad"}, []),
    ],
)
def test_what_is_no_label_is_a_fault_at_its_place(
    labels: dict[str, Any], fields: list[str]
) -> None:
    found = [problem.field for problem in label_problems(labels, None)]
    assert found == [f"labels.{field}" for field in fields]
