"""The systems that are compared, each with one value a question, from a handful of rows."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from ragstone.analysis.comparison.compared_systems import (
    ComparedQuestions,
    Side,
    matches_between,
    matches_within,
    outcomes_of,
    run_labels,
    unpaired,
)
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import Reason
from tests.analysis.conftest import MadeRun

Row = tuple[str, str, str]
"""System, question, cluster."""


def scored(*rows: Row, topics: Sequence[str] = (), texts: Sequence[str | None] = ()) -> Any:
    """What sides read of a run's scores."""
    facets = pl.DataFrame(rows, ["system", "question_id", "cluster"], orient="row")
    asked = pl.DataFrame({"question_id": facets["question_id"],
                          "question": texts or [None] * len(rows)})  # fmt: skip
    run = SimpleNamespace(
        path=Path("runs/a"), examples=lambda columns, where: asked.filter(where).select(columns)
    )
    return SimpleNamespace(
        facets=facets.with_columns(pl.Series("by topic", topics or [""] * len(rows))), run=run,
        systems=tuple(facets["system"].unique(maintain_order=True)),
    )  # fmt: skip


def side(system: str, one: Any, *others: Any) -> Side:
    return Side(system, one, system, ComparedQuestions.of([one, *others]))


def status(*said: float | str | None) -> pl.DataFrame:
    """A number is a value; ``undefined`` and ``missing`` are none; None is no score at all."""
    return pl.DataFrame(
        {
            "value": [one if isinstance(one, float) else None for one in said],
            "status": ["value" if isinstance(one, float) else one for one in said],
        },
        schema={"value": pl.Float64, "status": pl.String},
    )


# Questions -----------------------------------------------------------------------------------


def test_each_question_is_there_once_in_the_order_of_the_data() -> None:
    first = scored(("a", "q2", "d1"), ("b", "q2", "d1"), ("a", "q1", "d2"))
    second = scored(("a", "q3", "d1"), ("a", "q1", "d9"))
    found = ComparedQuestions.of([first, second])
    assert found.ids.to_list() == ["q2", "q1", "q3"]
    assert found.clusters.tolist() == [0, 1, 0], "the first run that has a question says where"
    assert found.places(pl.Series(["q3", "q2", "q3"])).tolist() == [2, 0, 2]


def test_a_question_in_several_clusters_is_counted_unless_it_has_none() -> None:
    """A cluster that begins with a zero byte stands for a question of its own."""
    one = scored(
        ("a", "q1", "d1"), ("b", "q1", "d2"), ("a", "q2", "d1"), ("b", "q2", "d1"),
        ("a", "q3", "\0q3"), ("b", "q3", "d3"),
    )  # fmt: skip
    assert ComparedQuestions.of([one]).several == 1


# Values --------------------------------------------------------------------------------------


def test_of_several_rows_of_a_question_the_mean_of_those_with_a_value_counts() -> None:
    """Of q1 .25, .75 and one that is undefined; of q2 a value and one owed; q3 is owed; q4 is
    undefined; q5 has no score at all; q6 is another system's."""
    rows = [("a", name, name) for name in ("q1", "q2", "q1", "q3", "q1", "q2", "q4", "q5")]
    one = scored(*rows, ("b", "q6", "q6"))
    scores = status(0.25, 0.5, 0.75, "missing", "undefined", "missing", "undefined", None, 1.0)
    found = side("a", one).values(outcomes_of(scores))
    order = {name: at for at, name in enumerate(ComparedQuestions.of([one]).ids)}

    def of(column: Any) -> list[float]:
        return [float(column[order[f"q{at}"]]) for at in range(1, 7)]

    assert of(found.value)[:2] == [0.5, 0.5]
    assert of(found.valued) == [1, 1, 0, 0, 0, 0]
    assert of(found.missing) == [0, 0, 1, 0, 1, 0], "what has no score is owed"
    assert of(found.owed) == [0, 1, 1, 0, 1, 0]
    assert of(found.rows) == [2, 2, 1, 0, 1, 0]


def test_a_side_is_there_where_it_has_a_row() -> None:
    one = scored(("a", "q1", "c"), ("b", "q1", "c"), ("b", "q2", "c"))
    assert side("a", one).there.tolist() == [True, False]
    assert side("b", one).there.tolist() == [True, True]
    assert side("b", one).rows.tolist() == [1, 2]


def test_a_question_lies_in_the_slice_of_its_first_row() -> None:
    one = scored(
        ("a", "q1", "c"), ("a", "q1", "c"), ("a", "q2", "c"), ("b", "q3", "c"),
        topics=["sea", "land", "land", "sky"],
    )  # fmt: skip
    known: dict[str, int] = {}
    assert side("a", one).slices("topic", known).tolist() == [0, 1, -1]
    assert known == {"sea": 0, "land": 1}
    assert side("b", one).slices("topic", known).tolist() == [-1, -1, 2]


# Who meets whom ------------------------------------------------------------------------------


def made(folder: Path, *systems: str) -> Scored:
    return Scored(MadeRun(folder, {name: {"mrr": [0.5]} for name in systems}))


def names(matches: Any) -> list[tuple[str, str]]:
    return [(a.name, b.name) for a, b in matches]


def test_every_two_systems_of_a_run_meet_once(tmp_path: Path) -> None:
    one = made(tmp_path, "c", "a", "b")
    assert names(matches_within(one, None)) == [("c", "a"), ("c", "b"), ("a", "b")]
    assert names(matches_within(one, "a")) == [("c", "a"), ("b", "a")]
    with pytest.raises(UnknownName, match="It has c, a, b"):
        matches_within(one, "d")
    with pytest.raises(InputError, match="one system"):
        matches_within(made(tmp_path, "a"), None)


def test_systems_of_one_name_meet_over_two_runs_and_others_are_noted(tmp_path: Path) -> None:
    first = made(tmp_path / "x", "a", "b", "old", "older")
    second = made(tmp_path / "y", "b", "a", "new")
    matches, notes = matches_between(first, second)
    assert names(matches) == [("x/a", "y/a"), ("x/b", "y/b")]
    assert [dict(Reason.read(one).facts) for one in notes] == [
        {"run": "x", "systems": "old\nolder"}, {"run": "y", "systems": "new"},
    ]  # fmt: skip


def test_the_only_systems_of_two_runs_meet_whatever_their_names(tmp_path: Path) -> None:
    matches, notes = matches_between(made(tmp_path / "x", "a"), made(tmp_path / "y", "b"))
    assert (names(matches), notes) == ([("x/a", "y/b")], [])
    with pytest.raises(InputError, match="no system of the same name"):
        matches_between(made(tmp_path / "x", "a"), made(tmp_path / "y", "b", "c"))


@pytest.mark.parametrize(
    ("first", "second", "labels"),
    [
        ("runs/a", "runs/b", ("a", "b")),
        ("old/a", "new/a", ("old/a", "new/a")),
        ("runs/a", "runs/a", ("runs/a", "runs/a again")),
        (".", "runs/b", (".", "runs/b")),
    ],
)
def test_two_runs_are_called_by_what_tells_them_apart(
    first: str, second: str, labels: tuple[str, str]
) -> None:
    assert run_labels(Path(first), Path(second)) == labels


# What is left over ---------------------------------------------------------------------------


def test_questions_of_one_side_alone_are_named_five_and_the_rest_counted() -> None:
    rows = [("a", f"q{at}", "c") for at in range(8)] + [("b", "q0", "c"), ("b", "z", "c")]
    one = scored(*rows)
    questions = ComparedQuestions.of([one])
    match = (Side("a", one, "a", questions), Side("b", one, "b", questions))
    first, second = [dict(Reason.read(note).facts) for note in unpaired([match])]
    assert first == {"side": "a", "n": "7", "questions": "q1\nq2\nq3\nq4\nq5", "more": "2"}
    assert (second["side"], second["n"], second["questions"]) == ("b", "1", "z")
    assert unpaired([match, match]) == unpaired([match]), "each is told once"


def test_a_question_without_an_id_of_its_own_is_told_in_its_words() -> None:
    """Sixteen hex digits stand for a question that the data gave no id."""
    hashed, long, lost = "0123456789abcdef", "f" * 16, "e" * 16
    one = scored(
        ("a", "q1", "c"), ("b", "q1", "c"), ("a", hashed, "c"), ("a", long, "c"), ("a", lost, "c"),
        ("a", "short", "c"),
        texts=["x", "x", "How  long is it?", "word " * 40, None, "not asked"],
    )  # fmt: skip
    questions = ComparedQuestions.of([one])
    (note,) = unpaired([(Side("a", one, "a", questions), Side("b", one, "b", questions))])
    told = Reason.read(note).facts["questions"].split("\n")
    assert told[0] == "“How long is it?”"
    assert told[1].startswith("“word word")
    assert told[1].endswith("word …”")
    assert len(told[1]) <= 62
    assert told[2:] == [lost, "short"]


def test_sides_without_a_question_in_common_are_refused() -> None:
    one = scored(("a", "q1", "c"), ("b", "q2", "c"))
    questions = ComparedQuestions.of([one])
    match = (Side("a", one, "a", questions), Side("b", one, "b", questions))
    with pytest.raises(InputError, match="a and b share no question"):
        unpaired([match])
