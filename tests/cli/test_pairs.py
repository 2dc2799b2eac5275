"""Arguments of two parts, ``NAME=VALUE``, and names of metrics."""

import pytest
import typer

from ragstone.cli.options import column_names, names_of, scale_ends


def test_a_column_stands_behind_the_last_equals_sign() -> None:
    assert column_names(["answer = reply", "ndcg(k=10)=gain"]) == {
        "answer": "reply", "ndcg(k=10)": "gain",
    }  # fmt: skip


@pytest.mark.parametrize("wrong", ["answer", "=reply", "answer=", " = ", ""])
def test_a_column_has_a_name_and_a_field(wrong: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not FIELD=COLUMN"):
        column_names(["id=ID", wrong])


def test_the_ends_of_a_scale_stand_behind_the_last_equals_sign() -> None:
    assert scale_ends(["faithfulness = 1:5", "ndcg(k=10)=0:100", "tone=-2:2.5"]) == {
        "faithfulness": (1, 5), "ndcg(k=10)": (0, 100), "tone": (-2, 2.5),
    }  # fmt: skip


@pytest.mark.parametrize("wrong", ["tone", "tone=1", "=1:5", " =1:5", "tone=1:", "tone=a:b", ""])
def test_a_scale_has_a_name_and_two_numbers(wrong: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not METRIC=FIRST:LAST"):
        scale_ends(["helpfulness=1:4", wrong])


def test_an_old_name_is_replaced_with_a_note_and_any_other_stays_as_it_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert names_of(["ragas_faithfulness", "precision( k = 3 )"]) == [
        "faithfulness", "precision( k = 3 )",
    ]  # fmt: skip
    assert capsys.readouterr().err.count("note:") == 1
    assert names_of(None) == []
