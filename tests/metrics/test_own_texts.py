"""A user's own metrics that read texts: of the example, of contexts, of references."""

from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.analysis.comparison.compare import compare
from ragstone.core.errors import InputError
from ragstone.data import Example
from ragstone.judgements import Answers, Contexts, ExampleTexts, References
from ragstone.metrics import Metric, Range, metric
from ragstone.testing.fake_models import ScriptedEncoder

pytestmark = pytest.mark.usefixtures("registries")

ROWS = [
    {"question": "How long is the pier?", "question_id": "q", "system": system, "answer": answer,
     "contexts": contexts, "reference": ["It is 90 m long.", "90 m"]}
    for system, answer, contexts in (
        ("a", "It is 90 m long.", ["The pier is 90 m.", "Ann"]),
        ("b", "Which pier?", None),
        ("c", None, ["The mole is short."]),
    )
]  # fmt: skip


@metric(over=Answers, range=Range(0, float("inf"), better="0"))
def answer_words():  # type: ignore[no-untyped-def]
    """Words of the answer."""
    return Answers.text.str.count_matches(r"\S+")


@metric(over=ExampleTexts)
def asks_back():  # type: ignore[no-untyped-def]
    """Whether the answer is a question."""
    return ExampleTexts.answer.str.ends_with("?")


@metric(over=Contexts, range=Range(0, 1000, better="0"))
def context_letters():  # type: ignore[no-untyped-def]
    """Mean letters of a context."""
    return Contexts.text.str.len_chars().mean()


@metric(over=References)
def near_a_reference():  # type: ignore[no-untyped-def]
    """The best cosine with a reference, by the run's encoder."""
    return References.similarity.max()


@metric(over=Example, range=Range(0, 10))
def contexts_with_number(example: Example) -> int | None:
    """Contexts that have a number of the answer."""
    if example.answer is None:
        return None
    numbers = {word for word in example.answer.split() if word.isdigit()}
    return sum(any(one in (part.text or "") for one in numbers) for part in example.contexts or ())


def scores(tmp_path: Path, *metrics: Metric, **known: Any) -> dict[str, list[Any]]:
    run = ragstone.evaluate(ROWS, metrics=list(metrics), out=tmp_path / "run", **known)
    table = run.scores().sort("system")
    return {str(one): table.filter(metric=str(one))["value"].to_list() for one in metrics}


def test_a_text_is_a_column_and_a_single_row_needs_no_aggregate(tmp_path: Path) -> None:
    assert scores(tmp_path, answer_words, asks_back, context_letters) == {
        "answer_words": [5.0, 2.0, None],
        "asks_back": [0.0, 1.0, None],
        "context_letters": [(17 + 3) / 2, None, 18.0],
    }


def test_a_plain_function_receives_the_example(tmp_path: Path) -> None:
    assert scores(tmp_path, contexts_with_number) == {"contexts_with_number": [1.0, 0.0, None]}


def test_a_cosine_is_by_the_encoder_of_the_run(tmp_path: Path) -> None:
    (found,) = scores(tmp_path, near_a_reference, embedder=ScriptedEncoder()).values()
    assert found[0] == pytest.approx(1.0)
    assert found[1] < 0.9
    assert found[2] is None


def test_answers_that_differ_are_not_the_same_inputs_of_what_reads_them(tmp_path: Path) -> None:
    """A metric over the example has no judgements, from which its inputs would follow."""
    run = ragstone.evaluate(ROWS, metrics=[asks_back, contexts_with_number, context_letters],
                            out=tmp_path / "run")  # fmt: skip
    found = {(one.metric, one.a, one.b): one.verdict for one in compare(run).comparisons}
    assert found["asks_back", "a", "b"] == "cannot_tell"
    assert found["contexts_with_number", "b", "c"] == "cannot_tell"


def test_a_function_that_fails_is_named_with_its_example(tmp_path: Path) -> None:
    @metric(over=Example)
    def answer_length(example: Example) -> float:
        return len(example.answer)  # type: ignore[arg-type]

    rows = [row | {"id": f"of {row['system']}"} for row in ROWS]
    with pytest.raises(InputError, match=r"^answer_length failed for the example of c: TypeError"):
        ragstone.evaluate(rows, metrics=[answer_length], out=tmp_path / "run")


def test_a_function_over_an_example_takes_the_example() -> None:
    with pytest.raises(InputError, match="nothing: a function over Example takes the example"):

        @metric(over=Example)
        def nothing() -> float:
            return 0.0
