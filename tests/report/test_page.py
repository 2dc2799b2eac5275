from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from ragstone.report import notebook_html, picture, run_page
from ragstone.report.distribution import Distribution, distributions
from ragstone.report.slices import SliceTable
from ragstone.run.estimate import Estimate

Make = Callable[..., Estimate]
Print = Callable[..., str]
MANIFEST: dict[str, Any] = {
    "data": {
        "source": "answers.jsonl",
        "examples": 249,
        "questions": 83,
        "rejected": 1,
        "label_violations": {"fabricated_requires_cited": 2},
    },
    "suites": ["quick"],
    "judges": [
        {"name": "local", "about": "string evidence, to be calibrated", "kinds": ["claims"]},
        {"name": "ids", "about": "reference ids in the data", "kinds": []},
    ],
}


def test_page_says_what_who_and_where(
    estimate: Make, made_run: Callable[..., Any], text: Print
) -> None:
    ones = tuple(
        estimate("precision", 0.5, low=0.4, high=0.6, method="cluster_t",
                 flags={"empty_retrieval": 2}, group={"system": system})
        for system in ("a", "b")
    )  # fmt: skip
    printed = text(run_page(made_run(ones, MANIFEST)))
    assert "answers.jsonl  249 rows · 83 questions · 2 systems" in printed
    assert "string evidence, to be calibrated" in printed
    assert "reference ids" not in printed, "a judge that filled nothing did not judge"
    assert "ragstone show runs/cornwall" in printed
    assert "cluster t  a mean without a range, whose rows share questions" in printed
    assert "empty_retrieval 4" in printed
    assert "fabricated_requires_cited 2" in printed
    assert "1 row could not be read" in printed
    assert "ragstone 0.1.0 · judge local/1 · data 4f1c22" in printed


def test_all_systems_together_stand_below_the_systems(
    estimate: Make, made_run: Callable[..., Any], text: Print
) -> None:
    ones = (
        estimate("precision", 0.375),
        estimate("precision", 0.25, group={"system": "a"}),
        estimate("precision", 0.5, group={"system": "b"}),
    )
    printed = text(run_page(made_run(ones, MANIFEST)))
    places = [printed.index(value) for value in ("0.250", "0.500", "0.375")]
    assert places == sorted(places)
    assert "all" in printed[places[1] : places[2]]


def test_what_is_missing_is_explained_once_in_the_small_print(
    estimate: Make, made_run: Callable[..., Any], text: Print
) -> None:
    reasons = {"not_judged: quality needs an LLM judge of a later version, or people's labels": 4}
    ones = tuple(
        estimate(name, n_missing=4, reasons=reasons) for name in ("helpfulness", "on_topic")
    )
    printed = text(run_page(made_run(ones, MANIFEST)))
    assert printed.count("missing (quality needs an LLM judge)") == 2
    assert printed.count("quality needs an LLM judge of a later version, or people's labels") == 1


def test_a_run_without_estimates_has_a_page(made_run: Callable[..., Any], text: Print) -> None:
    assert "No metric" in text(run_page(made_run((), MANIFEST)))


@pytest.mark.parametrize("width", [80, 100, 120])
def test_distribution_shows_counts_shares_and_missing(
    width: int, estimate: Make, text: Print
) -> None:
    labels = {"correct": 5, "partial": 1, "dont_know": 2}
    ones = [
        estimate("answer_outcome", 0.6, n=8, n_missing=3, labels=labels, group={"system": system})
        for system in ("first_system", "second_system")
    ]
    printed = text(Distribution("answer_outcome", ones), width)
    row = next(line for line in printed.splitlines() if "first_system" in line)
    assert row.split()[-3:] == ["8", "0", "3"]
    for share in ("62 %", "12 %", "0 %", "25 %"):
        assert share in row
    assert max(map(len, printed.splitlines())) <= width


def test_bars_are_as_long_as_their_shares(estimate: Make, text: Print) -> None:
    one = estimate("answer_outcome", 0.5, n=4, labels={"correct": 1, "partial": 2, "wrong": 1})
    printed = text(Distribution("answer_outcome", [one]))
    row = printed.splitlines()[-1]
    assert (row.count("█"), row.count("▓"), row.count("▒"), row.count("░")) == (8, 15, 7, 0)


def test_only_metrics_with_words_have_a_distribution(estimate: Make) -> None:
    ones = [
        estimate("factual_accuracy", 0.6, labels={"A": 1}),
        estimate("precision", 0.5),
        estimate("answer_outcome", 0.5, labels={"correct": 1}),
    ]
    assert [one.metric for one in distributions(ones)] == ["answer_outcome", "factual_accuracy"]


@pytest.mark.parametrize("width", [80, 100, 120])
def test_slices_show_each_value_with_its_n(width: int, estimate: Make, text: Print) -> None:
    kinds = ("Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation")
    ones = []
    for at, system in enumerate(("local_search", "llm_with_context")):
        for place, kind in enumerate(kinds):
            group = {"system": system, "question_type": kind}
            ones.append(
                estimate("precision", 0.101 + at / 2 + place / 10, n=11 + place, group=group)
            )
    ones[-1] = estimate("precision", n_undefined=3, reasons={"no_retrieval": 3}, group=group)
    printed = text(SliceTable("question_type", ones), width)
    for one in ones[:-1]:
        assert f"{one.value:.3f} {one.n}" in printed
    assert "undef.  0" in printed
    assert "Contextual" in printed
    assert max(map(len, printed.splitlines())) <= width


def test_slices_that_do_not_fit_stand_below_each_other(estimate: Make, text: Print) -> None:
    ones = [estimate("precision", 0.5, n=7, group={"topic": f"topic {at:02}"}) for at in range(20)]
    printed = text(SliceTable("topic", ones), 80)
    assert printed.count("0.500 7") == 20
    assert printed.count("By topic") > 1


def test_rare_values_of_a_long_field_are_counted(estimate: Make, text: Print) -> None:
    ones = [estimate("precision", 0.5, n=at, group={"topic": f"t{at}"}) for at in range(1, 31)]
    assert "and 6 rarer values of topic" in text(SliceTable("topic", ones), 80)


class Tags(HTMLParser):
    """Checks that what opens closes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_notebook_table_stands_alone(estimate: Make) -> None:
    html = notebook_html(
        [
            estimate("precision", 0.5, low=0.25, high=0.75, method="t", group={"system": "<b>"}),
            estimate("helpfulness", n_missing=4, reasons={"needs <someone>": 4}),
        ]
    )
    tags = Tags()
    tags.feed(html)
    assert not tags.open
    assert "&lt;b&gt;" in html
    assert "missing (needs &lt;someone&gt;)" in html
    assert "95 %: 0.250 – 0.750" in html
    for outside in ("http", "<script", "<link", "class="):
        assert outside not in html


def test_picture_is_svg_that_loads_nothing(estimate: Make, made_run: Callable[..., Any]) -> None:
    ones = (estimate("precision", 0.625, low=0.5, high=0.75, method="t"),)
    svg = picture(made_run(ones, MANIFEST))
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    words = "".join(root.itertext()).replace("\xa0", " ")
    assert "0.625" in words
    assert "0.500 – 0.750" in words
    assert "url(http" not in svg
    assert "@font-face" not in svg
