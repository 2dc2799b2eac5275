"""JSON paths name values, and change them in a copy."""

from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.data.json_path import JsonPath

CHAT = {
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}],
    "contexts": [{"id": "a", "text": "One."}, {"id": "b"}, {"id": "c", "text": "Three."}],
    "odd key": {"it's": 7},
    "none": None,
    "empty": [],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$", [CHAT]),
        ("$.messages[-1].content", ["Who?"]),
        ("$.messages[0].content", ["Be brief."]),
        ("$['messages'][1]['content']", ["Who?"]),
        ("$.contexts[*].text", ["One.", "Three."]),
        ("$.contexts[*].id", ["a", "b", "c"]),
        ("""$['odd key']["it's"]""", [7]),
        ("$.none", [None]),
        ("$.empty[*]", []),
        ("$.empty[*].text", []),
        ("$.empty[0]", None),
        ("$.messages[2]", None),
        ("$.messages[-3]", None),
        ("$.missing", None),
        ("$.missing[*].text", None),
        ("$.messages.content", None),
        ("$.none.deeper", None),
        ("$.none[*]", None),
    ],
)
def test_it_reads_what_stands_there(path: str, values: list[Any] | None) -> None:
    assert JsonPath.read(path).values(CHAT) == values


def test_a_text_of_json_is_entered_where_that_is_asked_for() -> None:
    row = {"output": '{"größe": [{"text": "[\\"90 m\\"]"}]}'}
    path = JsonPath.read("$.output.größe[0].text[*]")
    assert path.values(row) is None
    assert path.values(row, open_texts=True) == ["90 m"]


@pytest.mark.parametrize("path", ["$[?@.a == 1]", "$.a[1:2]", "$..a"])
def test_what_paths_cannot_do_is_left_to_jq(path: str) -> None:
    with pytest.raises(InputError, match="jq"):
        JsonPath.read(path)


def test_it_replaces_what_stands_there_and_leaves_what_it_was_given() -> None:
    before = {"choices": [{"message": {"content": "a", "role": "x"}}, {"message": {}}], "id": 1}
    after = JsonPath.read("$.choices[*].message.content").changed(before, str.upper)
    assert after == {"choices": [{"message": {"content": "A", "role": "x"}}, {"message": {}}],
                     "id": 1}  # fmt: skip
    assert before["choices"] == [{"message": {"content": "a", "role": "x"}}, {"message": {}}]


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("$", "new"),
        ("$[-1].a", [{"a": 1}, {"a": "new"}]),
        ("$[*].a", [{"a": "new"}, {"a": "new"}]),
        ("$[7].a", [{"a": 1}, {"a": 2}]),
        ("$.a", [{"a": 1}, {"a": 2}]),
    ],
)
def test_it_changes_only_what_it_names(path: str, after: Any) -> None:
    assert JsonPath.read(path).changed([{"a": 1}, {"a": 2}], lambda _: "new") == after


@pytest.mark.parametrize(
    "text", ["", "a.b", "$a", "$.", "$..a", "$.a[", "$.a[1:2]", "$[?@.a]", "$.a b", "$ ", "$[x]"]
)
def test_what_is_no_path_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="is not a JSON path") as caught:
        JsonPath.read(text)
    assert "$.messages[-1].content" in str(caught.value)


def test_it_is_shown_as_it_was_written_and_says_whether_it_names_several() -> None:
    assert str(JsonPath.read("$.a[*].b")) == "$.a[*].b"
    assert JsonPath.read("$.a[*].b").several
    assert not JsonPath.read("$.a[0].b").several
