"""Lists as NumPy, pandas and Python print them."""

from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import read
from ragstone.data.printed_lists import LONGEST, read_printed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['a' 'b']", ["a", "b"]),
        ("['a'\n \"it's\"\n 'c']", ["a", "it's", "c"]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]),
        ("[['a' 'b'] ['c']]", [["a", "b"], ["c"]]),
        ("['a', nan, None, -1.5]", ["a", None, None, -1.5]),
        (r"['a\nb' 'ü']", ["a\nb", "ü"]),
        ("[Document(metadata={'source': 'd'}, page_content='a')]",
         [{"metadata": {"source": "d"}, "page_content": "a"}]),
        ("[NodeWithScore(node=TextNode(id_='n', text='a'), score=0.5)]",
         [{"node": {"id_": "n", "text": "a"}, "score": 0.5}]),
        ("['It's' 'b']", None),
        ("[1] As it says", None),
        ("[__import__('os').system('true')]", None),
        ("[open('x')]", None),
        ("[a for a in 'b']", None),
        ("[f'{1}']", None),
        ("['a'" * 3, None),
        ("'a'", None),
        (f"['{'a' * LONGEST}']", None),
    ],
)  # fmt: skip
def test_a_printed_list_is_read_without_running_anything(text: str, value: Any) -> None:
    assert read_printed(text) == value


@pytest.mark.parametrize(
    ("contexts", "words"),
    [
        ("['a' 'b' ... 'y' 'z']", "NumPy left some out"),
        ("['It's' 'b']", "NumPy printed"),
        ("[Document(id=7, content: 'a', score: 0.5)]", "Python printed"),
    ],
)
def test_what_numpy_printed_and_nobody_can_read_is_a_fault(contexts: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        list(read([{"answer": "a", "contexts": contexts}]))


def test_tuples_and_numbers_of_numpy_in_a_cell_are_read() -> None:
    for cell in ("('a', 'b')", "[{'text': 'a', 'score': np.float64(0.5)}, {'text': 'b'}]"):
        (example,) = read([{"question": "q", "contexts": cell}])
        assert [context.text for context in example.contexts or ()] == ["a", "b"]
