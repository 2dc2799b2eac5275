"""``ragstone compare``: the page, the JSON, what is refused."""

import io
import json
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from ragstone.analysis.comparison.compare import compare
from ragstone.cli.decide import compare as command
from ragstone.cli.output import guarded
from ragstone.report.page import Page
from ragstone.report.pages.comparison_page import comparison_page
from ragstone.report.render.terminal import Shown, as_text
from ragstone.run import Run

from .conftest import Outcome

app = typer.Typer()
app.command()(guarded(command))


def call(*arguments: object) -> Outcome:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


@pytest.fixture(autouse=True)
def a_terminal_of_120_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the terminal that the tests are started from."""
    monkeypatch.setenv("COLUMNS", "120")


def test_the_page_has_each_pair_of_systems_with_a_verdict_in_words(demo: Path) -> None:
    outcome = call(demo, "--margin", 0.05)
    assert outcome.status == 0
    systems = Run.open(demo).estimates()["system"].drop_nulls().unique(maintain_order=True)
    for name in systems:
        assert name in outcome.out
    for words in ("a - b", "95 % interval", "p Holm", "verdict", "cannot tell", "equivalent",
                  "Ranking", "sign flips", "Holm", "tests"):  # fmt: skip
        assert words in outcome.out


def test_json_is_what_the_library_finds(demo: Path) -> None:
    asked = ("-m", "faithfulness", "-m", "token_f1", "--by", "question_type")
    outcome = call(demo, *asked, "--margin", 0.05, "--adjust", "bh", "--json")
    metrics = ["faithfulness", "token_f1"]
    found = compare(demo, metrics=metrics, margin=0.05, adjust="bh", by="question_type").to_dict()
    assert outcome.status == 0
    assert outcome.json == json.loads(json.dumps(found))


def test_one_metric_against_a_baseline(demo: Path) -> None:
    outcome = call(demo, "--baseline", "local_search", "-m", "token_f1", "--json")
    assert {one["b"] for one in outcome.json["comparisons"]} == {"local_search"}
    assert {one["metric"] for one in outcome.json["comparisons"]} == {"token_f1"}


def test_a_run_is_the_same_as_itself(demo: Path) -> None:
    outcome = call(demo, demo, "-m", "token_f1", "--json")
    assert {one["difference"] for one in outcome.json["comparisons"]} == {0}
    assert {one["verdict"] for one in outcome.json["comparisons"]} == {"same"}


def test_an_old_name_is_explained(demo: Path) -> None:
    outcome = call(demo, "-m", "ragas_faithfulness")
    assert outcome.status == 0
    assert "ragas_faithfulness" in outcome.err


@pytest.mark.parametrize(
    "options",
    [
        ["--baseline", "nobody"],
        ["-m", "nothing"],
        ["--margin", "0"],
        ["--adjust", "all"],
        ["--by", "nothing"],
        ["--cluster", "nothing"],
        ["no_such_run"],
    ],
)
def test_bad_input_ends_with_2_and_a_line(options: list[str], demo: Path) -> None:
    outcome = call(demo, *options)
    assert outcome.status == 2
    assert outcome.err.strip()
    assert not outcome.out


@pytest.mark.parametrize("option", ["--by", "--cluster"])
def test_a_field_that_is_not_there_is_answered_with_those_that_are(option: str, demo: Path) -> None:
    outcome = call(demo, option, "question_tpye")
    assert "There are: system, question_id, " in outcome.err
    assert "question_type" in outcome.err


@pytest.fixture(scope="module")
def compared(demo: Path) -> Page:
    return comparison_page(compare(demo, margin=0.05))


@pytest.mark.parametrize("width", [60, 80, 100, 110, 120, 160])
def test_the_page_fits_its_console(width: int, compared: Page) -> None:
    lines = as_text(compared, width).splitlines()
    if width >= 80:
        assert max(map(len, lines)) <= width
    assert any("cannot tell" in line for line in lines)


def test_intervals_are_drawn_in_the_colour_of_their_verdict(demo: Path) -> None:
    console = Console(file=io.StringIO(), width=120, color_system="standard", force_terminal=True)
    page = comparison_page(compare(demo, metrics=["token_f1"], margin=0.8))
    console.print(Shown(page))
    assert isinstance(console.file, io.StringIO)
    drawn = console.file.getvalue()
    assert "●" in drawn
    assert "┊" in drawn
    assert "94m●" in drawn


def printed(demo: Path, width: int, margin: float = 0.3) -> str:
    return as_text(comparison_page(compare(demo, metrics=["token_f1"], margin=margin)), width)


def test_sizes_of_a_difference_are_shown_and_explained_where_there_is_room(demo: Path) -> None:
    wide, narrow = printed(demo, 125), printed(demo, 100)
    first = compare(demo, metrics=["token_f1"]).comparisons[0]
    assert first.relative_change is not None
    assert first.win_rate is not None
    assert f"{first.relative_change:+.1f} %" in wide
    assert f"{first.win_rate.value:.0%}".replace("%", " %") in wide
    assert f"{first.effect_size:+.2f}" in wide
    for word in ("rel.", "win:", "d_z"):
        assert word in wide
        assert word not in narrow


def test_the_legend_explains_only_what_is_drawn(demo: Path) -> None:
    narrow = printed(demo, 50)
    for word in ("w/t/l", "a and b are means", "┊", "├"):
        assert word in printed(demo, 110)
        assert word not in narrow
    assert "┊" not in printed(demo, 110, margin=0.01)


def test_a_verdict_from_few_pairs_says_so(demo: Path) -> None:
    found = compare(demo, metrics=["token_f1"])
    rough = [one for one in found.comparisons if one.verdict == "worse"]
    assert {one.caution for one in rough} == {"few_pairs?n=8"}
    assert {one.caution for one in found.comparisons if one.verdict == "cannot_tell"} == {None}
    assert "8 pairs only" in call(demo, "-m", "token_f1").out
    assert rough[0].to_dict()["caution"] == rough[0].caution
