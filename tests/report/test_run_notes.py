"""What would mislead most is said first."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

import ragstone
from ragstone.analysis.summaries.run_summary import Summary, summarise
from ragstone.cli.app import app
from ragstone.core.messages import reason
from ragstone.data import cornwall
from ragstone.report.page import plain
from ragstone.report.reason_words import words
from ragstone.report.run_notes import first_caution, run_notes
from ragstone.run import Run


class Noted:
    """A run of which only what matters is said."""

    def __init__(self, run: Run, lacking: Mapping[str, tuple[int, int]]) -> None:
        self.too_much_missing, self.form, self.path = lacking, run.form, run.path
        self.estimate_list: list[Any] = []


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ragstone.evaluate(cornwall(), out=tmp_path_factory.mktemp("runs") / "cornwall")


summary_of = cache(summarise)


def said(run: Run, lacking: Mapping[str, tuple[int, int]] | None = None, **known: Any) -> str:
    summary = summary_of(run)
    facts = {name: getattr(summary, name) for name in Summary.__slots__}
    return plain(first_caution(cast("Run", Noted(run, lacking or {})), Summary(**facts | known)))


def test_that_nothing_was_scored_comes_first(run: Run) -> None:
    lacking = {"faithfulness": (9, 10)}
    told = said(run, lacking, missing=10, possible=10, themselves={"a": ("rouge_l",)})
    assert told == "Nothing could be scored: no reason was given."


def test_where_nothing_is_left_nothing_is_said_of_it(run: Run) -> None:
    told = said(run, {"mrr": (10, 10)}, missing=10, possible=20)
    assert told == "mrr lacks 10 of 10 scores: no reason was given."


def test_the_metric_that_lacks_most_is_named(run: Run) -> None:
    told = said(run, {"mrr": (2, 10), "faithfulness": (9, 10), "ndcg": (3, 10)}, missing=14)
    assert told == (
        "faithfulness lacks 9 of 10 scores, and over a tenth of 2 other metrics: no reason was "
        "given. What is left need not be like what is missing."
    )


def test_metrics_that_lack_as_many_share_a_note(run: Run) -> None:
    lacking = {"mrr": (2, 10), "faithfulness": (9, 10), "ndcg": (2, 10), "hit": (2, 10)}
    notes = list(run_notes(cast("Run", Noted(run, lacking))))
    assert notes[-2:] == [
        "mrr and 2 more, each: 2 of 10 scores are missing.",
        "faithfulness: 9 of 10 scores are missing.",
    ]


@pytest.mark.parametrize(
    ("themselves", "told"),
    [
        (
            {"people": ("rouge_l", "token_f1")},
            "people is compared with itself. Each of its answers is the reference, so its 2 scores "
            "against the reference say nothing of it. They are drawn pale and left out of "
            "comparisons.",
        ),
        (
            {"people": ("rouge_l",), "copy": ("rouge_l",)},
            "people is compared with itself. Each of its answers is the reference, so its score "
            "against the reference says nothing of it. It is drawn pale and left out of "
            "comparisons. So is that of 1 other system.",
        ),
        ({"people": ()}, ""),
    ],
)  # fmt: skip
def test_a_system_that_is_compared_with_itself_is_named(
    run: Run, themselves: dict[str, tuple[str, ...]], told: str
) -> None:
    assert said(run, themselves=themselves).startswith(told)


def test_otherwise_the_note_that_misleads_most_is_said(run: Run) -> None:
    told = plain(first_caution(run, summarise(run)))
    assert told.endswith("8 questions are rough; from 10 on they hold better."), "of all its notes"


THAI = [
    {
        "id": str(at),
        "question": "สะพานยาวเท่าไร",
        "answer": answer,
        "contexts": ["สะพานยาว 250 เมตร"],
    }
    for at, answer in enumerate(["สะพานยาว 250 เมตร"] * 5 + ["It is the bridge."])
]
TOLD = (
    "The local judge was measured on English; 83 % of these answers are in Thai. In those it "
    "recognises only plain ways to say “not in the documents”."
)


def test_that_the_local_judge_knows_little_of_a_language_is_said_once_wherever_a_run_is_seen(
    tmp_path: Path,
) -> None:
    run = ragstone.evaluate(
        THAI, metrics=["faithfulness"], judge="local:strings", out=tmp_path / "run"
    )
    assert [words(note) for note in run_notes(run)].count(TOLD) == 1
    assert plain(first_caution(run, summarise(run))) == TOLD
    assert run._repr_html_().count("measured on English") == 1
    for command in (["show", run.path], ["show", run.path, "--full"]):
        printed = CliRunner().invoke(app, [str(one) for one in command])
        assert printed.stderr.count(TOLD) == 1


def test_where_no_local_judge_judged_no_language_is_told(tmp_path: Path) -> None:
    run = ragstone.evaluate(THAI, metrics=["citation_presence"], out=tmp_path / "run")
    assert not any("measured on English" in words(note) for note in run_notes(run))


@pytest.mark.parametrize(
    ("languages", "said"),
    [
        ("0.6000=German\n0.2000=Thai", "60 % of these questions are in German, 20 % in Thai."),
        (
            "0.4000=German\n0.2000=Thai\n0.1500=Dutch\n0.1000=Greek\n0.0200=Hebrew",
            "40 % of these questions are in German, 20 % in Thai, 15 % in Dutch, 12 % in other "
            "languages.",
        ),
    ],
)
def test_three_languages_are_named_and_the_others_summed(languages: str, said: str) -> None:
    note = reason("measured_on_english", languages=languages, questions=True, by_phrases=False)
    assert words(note) == f"The local judge was measured on English; {said}"


PLAIN, NO = (f"{way} to say “not in the documents”" for way in ("only plain ways", "no way"))


@pytest.mark.parametrize(
    ("dont_know", "unheard", "said"),
    [
        ("", "", f"In those it recognises {PLAIN}."),
        ("", "Greek\nBurmese", f"In those it recognises {NO}."),
        ("Greek", "Burmese", f"It recognises only “I don’t know” in Greek; {NO} in Burmese."),
        ("", "Burmese", f"It recognises {PLAIN} in Greek; {NO} in Burmese."),
    ],
)
def test_what_is_known_of_each_language_is_said(dont_know: str, unheard: str, said: str) -> None:
    note = reason(
        "measured_on_english",
        languages="0.6=Greek\n0.3=Burmese",
        questions=False,
        by_phrases=True,
        dont_know=dont_know,
        unheard=unheard,
    )
    assert words(note).endswith(f"60 % of these answers are in Greek, 30 % in Burmese. {said}")
