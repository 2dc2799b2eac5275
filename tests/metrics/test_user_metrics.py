"""A user's own metric: an expression or a function, in a file or an installed package."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import Claims, Contexts, Statements, View
from ragstone.metrics import (
    Metric,
    Missing,
    Range,
    Undefined,
    load_metrics,
    metric,
    parse_metric,
    score,
)
from ragstone.run.ray_engine.connection import own_files
from ragstone.testing import Given, claims, contexts, rows, score_all, score_frame, score_one
from tests.registries import registered

pytestmark = pytest.mark.usefixtures("registries")

FILE = '''
from ragstone.judgements import Claims
from ragstone.metrics import metric


@metric(over=Claims)
def contradicted_share():
    """Share of the claims that the contexts contradict."""
    return (Claims.support == "contradicted").mean()


@metric(over=Claims, columns=("support",))
def longest_run(rows):
    """Longest run of supported claims over all claims."""
    best = run = 0
    for row in rows:
        run = run + 1 if row["support"] == "supported" else 0
        best = max(best, run)
    return best / len(rows)
'''


def test_an_expression_is_a_metric() -> None:
    @metric(over=Claims)
    def contradictions() -> pl.Expr:
        """Share of the claims that the contexts contradict."""
        return (Claims.support == "contradicted").mean()

    assert str(contradictions) == "contradictions"
    assert contradictions.asks == {"claims", "support/claim"}
    assert score_one(contradictions, claims(support=["contradicted", "absent"])) == 1 / 2
    assert score_one(contradictions) == Undefined("no_rows")
    gap = score_one(contradictions, claims(support=["contradicted", None]))
    assert gap == Missing("incomplete_judgement")


def test_a_plain_function_is_a_metric() -> None:
    @metric(over=Contexts, columns=("rank", "relevant"), empty=0.0)
    def last_relevant(rows: list[dict[str, Any]]) -> float | None:
        """One over the last relevant rank."""
        found = [row["rank"] for row in rows if row["relevant"]]
        return 1 / max(found) if found else None

    assert last_relevant.asks == {"relevance"}
    given = [[contexts(relevant=[True, True, False])], [contexts(relevant=[False])], []]
    assert score_all(last_relevant, given) == [1 / 2, Undefined("function_gave_none"), 0.0]
    gap = score_one(last_relevant, contexts(relevant=[True, None]))
    assert gap == Missing("incomplete_judgement")


def test_a_metric_is_described_by_its_functions_words() -> None:
    @metric(over=Claims, family="grounding", range=Range(0, 5, "-"))
    def said() -> pl.Expr:
        """How much is said."""
        return Claims.support.len()

    @metric(over=Claims, columns=("support",))
    def unsaid(rows: list[dict[str, Any]]) -> float:
        return len(rows)

    assert (said.__doc__, said.family, said.range) == (
        "How much is said.", "grounding", Range(0, 5, "-"),
    )  # fmt: skip
    assert (unsaid.__doc__, unsaid.family, unsaid.range) == (
        "A user's own metric.", "own", Range(0, 1),
    )  # fmt: skip
    assert type(said).__module__ == __name__


@dataclass(frozen=True)
class Wronged(Metric):
    """Share of the reference's statements that the answer contradicts."""

    name: ClassVar[str] = "wronged"
    family: ClassVar[str] = "own"
    over: ClassVar[type[View]] = Statements
    range: ClassVar[Range] = Range(0, 1, "-")
    empty: ClassVar[float | Undefined] = Undefined("no_statements")
    by_reference: ClassVar[bool] = True

    def rule(self) -> pl.Expr:
        return (Statements.agreement == "contradicted").mean()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["contradicted"], ["full", "contradicted"], (1 / 2, "best_reference=2")),
        (["full"], ["contradicted"], (0, "best_reference=1")),
        ([None], ["full", "contradicted"], (None, "incomplete_judgement")),
        ([None], ["full"], (0, "best_reference=2")),
    ],
)
def test_where_less_is_better_the_reference_with_the_least_counts(
    first: list[str | None], second: list[str | None], expected: tuple[float | None, str]
) -> None:
    numbers = [0] * len(first) + [1] * len(second)
    given = rows(Statements, reference=numbers, agreement=[*first, *second])
    line = score_frame(Wronged(), [[given]])
    assert line.select("value", "reason").row(0) == expected


@dataclass(frozen=True)
class Supported(Metric):
    """As faithfulness, said to be by reference although its view has none."""

    name: ClassVar[str] = "supported_by_reference"
    family: ClassVar[str] = "own"
    over: ClassVar[type[View]] = Claims
    empty: ClassVar[float | Undefined] = Undefined("no_claims")
    by_reference: ClassVar[bool] = True

    def rule(self) -> pl.Expr:
        return (Claims.support == "supported").mean()


def test_a_metric_by_reference_that_needs_none_has_a_value_without_one() -> None:
    given = Given([[claims(support=["supported", "absent"])]])
    given.examples = given.examples.with_columns(reference=pl.lit([], pl.List(pl.String)))
    frame = score(given, [Supported()])["supported_by_reference"]
    assert frame.select("value", "status", "reason").rows() == [(1 / 2, 0, None)]


def test_a_function_may_give_any_kind_of_number() -> None:
    for number, expected in ((True, 1.0), (1, 1.0), (np.float64(0.5), 0.5), (np.int64(1), 1.0)):

        @metric(over=Claims, columns=("support",))
        def constant(rows: list[dict[str, Any]], number: Any = number) -> Any:  # noqa: ARG001
            return number

        assert score_one(constant, claims(support=["absent"])) == expected


def test_a_value_that_is_not_a_number_or_out_of_range_is_never_kept() -> None:
    @metric(over=Claims, columns=("support",))
    def nan(rows: list[dict[str, Any]]) -> float:  # noqa: ARG001
        return math.nan

    assert isinstance(score_one(nan, claims(support=["absent"])), Undefined)

    @metric(over=Claims, range=Range(0, 1))
    def count() -> pl.Expr:
        return Claims.support.len()

    assert score_one(count, claims(support=["absent"])) == 1
    two = score_one(count, claims(support=["absent", "absent"]))
    assert isinstance(two, Missing)
    assert two.reason.startswith("out_of_range")


def test_a_wildcard_is_refused() -> None:
    with pytest.raises(InputError, match="wildcard"):

        @metric(over=Claims)
        def anything() -> pl.Expr:
            return pl.all().null_count()


def test_a_column_the_view_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match=r"colour.*It has: .*support"):

        @metric(over=Claims)
        def by_colour() -> pl.Expr:
            return pl.col("colour").mean()

    with pytest.raises(InputError, match="colour"):

        @metric(over=Claims, columns=("colour",))
        def by_colours(rows: list[dict[str, Any]]) -> float:
            return len(rows)


def test_a_function_that_names_no_columns_is_refused() -> None:
    with pytest.raises(InputError, match="columns"):

        @metric(over=Claims)
        def nothing(rows: list[dict[str, Any]]) -> float:
            return len(rows)


def test_a_function_without_arguments_gives_an_expression() -> None:
    with pytest.raises(InputError, match="expression"):

        @metric(over=Claims)
        def number() -> float:
            return 0.5


def test_a_rule_that_gives_several_values_is_refused() -> None:
    @metric(over=Claims)
    def verdicts() -> pl.Expr:
        return Claims.support == "supported"

    with pytest.raises(InputError, match="verdicts gives several values"):
        score_one(verdicts, claims(support=["absent", "absent"]))


def test_a_rule_that_gives_text_is_refused() -> None:
    @metric(over=Claims)
    def first() -> pl.Expr:
        return Claims.text.first()

    with pytest.raises(InputError, match="first gives String"):
        score_one(first, claims(text=["a"]))


def test_a_rule_that_cannot_be_evaluated_is_named() -> None:
    @metric(over=Claims)
    def sum_of_lists() -> pl.Expr:
        return Claims.text.list.sum()

    with pytest.raises(InputError, match="sum_of_lists cannot be evaluated"):
        score_one(sum_of_lists, claims(text=["a"]))


def test_a_function_that_fails_or_gives_no_number_is_named() -> None:
    @metric(over=Claims, columns=("support",))
    def divides(rows: list[dict[str, Any]]) -> float:
        return len(rows) / 0

    with pytest.raises(InputError, match=r"^divides failed: ZeroDivisionError: division by zero$"):
        score_one(divides, claims(support=["absent"]))

    @metric(over=Claims, columns=("support",))
    def speaks(rows: list[dict[str, Any]]) -> Any:  # noqa: ARG001
        return "good"

    with pytest.raises(InputError, match=r"^speaks gave 'good'"):
        score_one(speaks, claims(support=["absent"]))


def test_metrics_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    assert [str(one) for one in load_metrics(path)] == ["contradicted_share", "longest_run"]
    verdicts = claims(support=["supported", "supported", "absent", "contradicted"])
    assert score_one(parse_metric("contradicted_share"), verdicts) == 1 / 4
    assert score_one(parse_metric("longest_run"), verdicts) == 1 / 2
    both = parse_metric('composite(weights="contradicted_share:1 longest_run:3")')
    assert score_one(both, verdicts) == pytest.approx((1 / 4 + 3 / 2) / 4)
    assert load_metrics(path)


def test_metrics_are_found_through_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "installed_metrics.py").write_text(FILE.replace("longest_run", "best_streak"))
    package = tmp_path / "installed_metrics-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: installed-metrics\n")
    (package / "entry_points.txt").write_text(
        "[ragstone.metrics]\nbest_streak = installed_metrics:best_streak\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    metric = parse_metric("best_streak")
    assert score_one(metric, claims(support=["supported", "absent"])) == 1 / 2


def test_an_entry_point_that_cannot_be_loaded_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "broken_metrics-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-metrics\n")
    (package / "entry_points.txt").write_text(
        "[ragstone.metrics]\nbroken = no_such_module:metric\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="broken of no_such_module:metric cannot be loaded"):
        parse_metric("broken")
    assert parse_metric("faithfulness")


@pytest.mark.parametrize("name", ["faithfulness", "composite", "answer_relevancy", "f1"])
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "taken.py"
    path.write_text(FILE.replace("contradicted_share", name))
    with pytest.raises(InputError, match=f"{name} is the name of a built-in metric"):
        load_metrics(path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("import", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
        ("answer = 42", "defines no metric"),
        ("\0", "while it ran"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(content)
    with pytest.raises(InputError, match=f"broken.py.*{what}"):
        load_metrics(path)


def test_a_file_that_is_not_there_or_not_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_metrics(tmp_path / "none.py")
    (tmp_path / "metrics.txt").write_text(FILE)
    with pytest.raises(InputError, match="not a Python file"):
        load_metrics(tmp_path / "metrics.txt")


def test_an_unknown_name_is_refused_with_own_metrics_among_the_known(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE.replace("longest_run", "longest_streak"))
    load_metrics(path)
    with pytest.raises(UnknownName, match="longest_streak"):
        parse_metric("longest_steak")
    with pytest.raises(InputError, match="no parameter k"):
        parse_metric("longest_streak(k=2)")


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize(
    "content",
    [
        FILE.replace("longest_run", "faithfulness"),
        FILE.replace("def contradicted_share", "def faithfulness"),
        FILE + "\n1 / 0\n",
        "from ragstone.judgements import Kind\n\n\nclass Tone(Kind):\n    pass\n",
    ],
    ids=["its last name is taken", "its first name is taken", "it fails to run", "a faulty kind"],
)
def test_a_refused_file_leaves_nothing_behind_and_can_be_mended(
    tmp_path: Path, content: str
) -> None:
    """Else every later run of the process takes it along to its workers, and is refused too."""
    path = tmp_path / "mended.py"
    path.write_text(content)
    before = registered()
    with pytest.raises(InputError):
        load_metrics(path)
    assert registered() == before
    assert own_files() == ()
    path.write_text(FILE)
    assert [metric.name for metric in load_metrics(path)] == ["contradicted_share", "longest_run"]
    assert [file.name for file in own_files()] == ["mended.py"]
