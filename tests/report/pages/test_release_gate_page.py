from collections.abc import Callable
from typing import Any

import pytest

from ragstone.analysis.calibration.checked_run import CheckedMetric, CheckedRun, CorrectedMean
from ragstone.analysis.release_gate.release_gate import Decided, GateResult
from ragstone.report.page import (
    Banner,
    Count,
    Facts,
    IntervalCell,
    Mark,
    P,
    Page,
    Row,
    Verdict,
    plain,
)
from ragstone.report.pages.release_gate_page import advice, gate_page, headline
from ragstone.report.render.documents import as_html, as_junit, as_markdown
from ragstone.report.worst_examples import WorstExample

Print = Callable[..., str]


def decided(**known: Any) -> Decided:
    facts: dict[str, Any] = {
        "text": "hit >= 0.8",
        "metric": "hit",
        "group": {"system": "one"},
        "decision": "pass",
        "state": "holds",
        "op": ">=",
        "bar": 0.8,
        "better": "+",
        "value": 0.9,
        "low": 0.85,
        "high": 0.93,
        "level": 0.9,
        "method": "wilson",
        "p": 0.9999,
        "p_adjusted": 1.0,
        "n_needed": None,
        "n_needed_reason": None,
        "n": 100,
        "n_undefined": 0,
        "n_missing": 0,
        "counted": "examples",
        "reason": "clears",
        "same": False,
        "notes": (),
        "worst": (),
    }
    return Decided(**(facts | known))


def result(*ones: Decided, **known: Any) -> GateResult:
    facts: dict[str, Any] = {
        "run": None,
        "level": 0.05,
        "max_missing": 0.05,
        "on": "interval",
        "notes": (),
    }
    return GateResult(**{"decision": ones[0].decision, "requirements": ones} | facts | known)


@pytest.fixture
def page(made_run: Any) -> Callable[..., Page]:
    """The page of these requirements."""

    def made(*ones: Decided, examples: Any = None, **known: Any) -> Page:
        return gate_page(made_run(()), result(*ones, **known), examples or {})

    return made


def rows(page: Page) -> list[Row]:
    (table,) = page.tables
    return table.rows


def heads(page: Page) -> list[str]:
    (table,) = page.tables
    return [column.head for column in table.columns]


def test_a_row_holds_the_facts_of_its_requirement(page: Callable[..., Page]) -> None:
    (row,) = rows(page(decided(n_missing=2)))
    assert row.names == ["hit >= 0.8", "one"]
    assert row.verdict == Verdict("pass", "holds", "good")
    value = next(cell for cell in row.cells if isinstance(cell, IntervalCell))
    assert (value.value, value.low, value.high) == (0.9, 0.85, 0.93)
    assert Count(100) in row.cells
    assert Count(2, "missing") in row.cells
    assert P(1.0) in row.cells
    assert row.why == "the whole interval clears the bar"
    assert row.below == ()


def test_the_bar_stands_in_the_middle_of_its_own_scale(page: Callable[..., Page]) -> None:
    (row,) = rows(page(decided(low=0.6, value=0.7, high=0.75)))
    value = next(cell for cell in row.cells if isinstance(cell, IntervalCell))
    assert value.scale is not None
    assert value.scale.low == pytest.approx(0.6)
    assert value.scale.high == pytest.approx(1.0), "as far above the bar as .6 lies below"
    assert value.scale.marks == (Mark(0.8, "bar"),)


def test_a_value_on_its_bar_without_an_interval_has_a_scale(page: Callable[..., Page]) -> None:
    (row,) = rows(page(decided(low=None, value=0.8, high=None)))
    value = next(cell for cell in row.cells if isinstance(cell, IntervalCell))
    assert value.scale is not None
    assert value.scale.low == pytest.approx(-0.2)
    assert value.scale.high == 1.8


def test_columns_are_there_only_where_they_say_something(page: Callable[..., Page]) -> None:
    assert heads(page(decided())) == ["requirement", "system", "", "value", "n", "p broken"]
    assert "missing" in heads(page(decided(n_missing=1)))
    assert "needs" in heads(page(decided(decision="cannot_tell", n_needed=40)))
    assert "p broken" not in heads(page(decided(p_adjusted=None)))


def test_a_missing_requirement_says_why_below_its_line(page: Callable[..., Page]) -> None:
    one = decided(
        decision="missing", n_missing=9, reason="too_many_missing?missing=9&possible=109&most=0"
    )
    shown = page(one)
    assert rows(shown)[0].below == ("9 of 109 scores are missing",)
    assert shown.said == "MISSING: 1 missing – 1 requirement on 1 system"


def test_without_a_value_the_reason_stands_below(page: Callable[..., Page]) -> None:
    one = decided(decision="cannot_tell", value=None, low=None, high=None, n=0,
                  n_needed_reason="no_value",
                  reason="no_value_anywhere?missing=0&undefined=9")  # fmt: skip
    assert rows(page(one))[0].below == ("undefined everywhere",)


def test_why_no_number_decides_it_is_said_where_there_is_a_value(page: Callable[..., Page]) -> None:
    one = decided(decision="cannot_tell", value=0.8, n_needed_reason="on_the_bar",
                  reason="inside", notes=("few",))  # fmt: skip
    assert rows(page(one))[0].below == (
        "it is not known how many examples would decide it: the value lies on the bar", "few",
    )  # fmt: skip


def test_why_no_number_decides_several_is_said_in_one_line(
    page: Callable[..., Page], text: Print
) -> None:
    ones = [
        decided(group={"system": name}, decision="cannot_tell", value=0.0, counted="pairs",
                reason="inside", n_needed_reason="no_pair_differs")
        for name in ("old", "new")
    ]  # fmt: skip
    shown = page(*ones)
    assert {row.below for row in rows(shown)} == {("the bar lies inside the interval",)}
    assert (
        "It is not known how many pairs would decide 2 rows, because no pair differs, so there is "
        "nothing to test: hit (old), hit (new)"
    ) in text(shown, 200)


def test_a_value_that_labels_correct_stands_below_the_judges(
    page: Callable[..., Page], text: Print
) -> None:
    mean = CorrectedMean(0.42, 0.3, 0.55, 80, 100)
    checked = CheckedRun(
        {"hit": CheckedMetric(("local",), 80, 0.5, None, (({"system": "one"}, mean),))}, systems=2
    )
    ones = decided(decision="fail"), decided(decision="fail", group={"system": "two"})
    shown = page(*ones, checked=checked)
    assert [row.below for row in rows(shown)] == [
        ("0.420 (0.300 – 0.550) corrected by people",),
        (),
    ]
    assert "--labels FILE decides on the corrected values" in text(shown, 200)
    record: Any = shown.record()
    assert record["requirements"][0]["corrected"]["value"] == 0.42
    by_labels = page(*ones, checked=checked, corrected=("hit",))
    assert all(row.below == () for row in rows(by_labels))
    assert "--labels" not in text(by_labels, 200)


def test_more_labels_than_answers_judged_are_not_asked_for(page: Callable[..., Page]) -> None:
    why = "judge_more?labels=251&judged=11"
    ones = [
        decided(group={"system": name}, decision="cannot_tell", counted="labels",
                reason="inside", n_needed_reason=why)
        for name in ("old", "new")
    ]  # fmt: skip
    assert advice(result(*ones)).endswith("To decide it, more examples have to be judged.")
    assert [row.below for row in rows(page(*ones))] == [
        ("the bar lies inside the interval",
         "to decide it takes 251 labelled examples, and only 11 are judged: judge more")
    ] * 2  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_the_page_fits_the_console(page: Callable[..., Page], text: Print, width: int) -> None:
    ones = [
        decided(group={"system": f"a-system-{at}"}, decision="cannot_tell", n_needed=12_345)
        for at in range(3)
    ]
    printed = text(page(*ones), width)
    assert max(map(len, printed.splitlines())) <= width
    table = printed[printed.index("90 % interval") : printed.index("holds  ")]
    assert table.count("12,345") == 3
    assert table.count("0.900  0.850 – 0.930") == 3


def test_the_gravest_is_counted_first() -> None:
    ones = [decided(), decided(decision="fail"), decided(decision="cannot_tell", n_needed=40)]
    assert headline(result(*ones, decision="fail")) == (
        "1 broken, 1 open, 1 holds – 1 requirement on 1 system"
    )


def test_the_banner_has_the_verdict_and_what_to_do(page: Callable[..., Page]) -> None:
    (banner,) = page(decided(decision="fail")).sections[0].blocks
    assert isinstance(banner, Banner)
    assert (banner.word, banner.tone) == ("FAIL", "bad")
    assert banner.lines[1].startswith("At least one requirement is shown not to be met")


def test_the_verdict_says_on_whose_numbers_it_is_decided(page: Callable[..., Page]) -> None:
    def said(
        *judges: str, lacks: str | None = "no_label_checked", people: bool = False, **known: Any
    ) -> tuple[str, str]:
        of = {"hit": CheckedMetric(judges, 0, None, lacks)} if judges else {}
        checked = CheckedRun(of, people=("hit",) if people else ())
        made = page(decided(**known), checked=checked, corrected=known.pop("corrected", ()))
        banner, facts = made.sections[0].blocks[0], made.sections[1].blocks[0]
        assert isinstance(banner, Banner)
        assert isinstance(facts, Facts)
        assert made.said.startswith(f"{banner.word}: ")
        return banner.word, plain(facts.rows[1].words)

    local = "the local judge, which no label has checked here"
    assert said("local") == ("PASS by the local judge's numbers", local)
    assert said("local", decision="fail") == ("FAIL by the local judge's numbers", local)
    assert said("local", decision="cannot_tell") == ("CANNOT TELL", local)
    assert said("a:m", lacks=None) == (
        "PASS by a:m's numbers", "a:m, checked against people on hit"
    )  # fmt: skip
    assert said("local", "a:m")[0] == "PASS by the numbers of the local judge and a:m"
    assert said("local", people=True) == (
        "PASS by the numbers of people and the local judge", f"people and {local}"
    )  # fmt: skip
    assert said(people=True) == ("PASS", "people; no judge's opinion is in them")
    assert said() == ("PASS", "counted or measured; no judge's opinion is in them")


def test_numbers_that_labels_correct_are_not_called_the_judges(page: Callable[..., Page]) -> None:
    checked = CheckedRun({"hit": CheckedMetric(("local",), 0, None, "no_label_checked")})
    ones = [decided(group={"system": name}, counted="labels", n=30) for name in "ab"]
    made = page(*ones, ones[0], checked=checked, corrected=("hit",))
    assert made.said.startswith("PASS: ")
    (facts,) = made.sections[1].blocks
    assert isinstance(facts, Facts)
    said = "the local judge, hit corrected by 60 labels of people"
    assert plain(facts.rows[1].words) == said


def test_what_would_decide_all_that_is_open_is_said() -> None:
    ones = [decided(decision="cannot_tell", n_needed=count) for count in (40, 90)]
    assert "90 examples" in advice(result(*ones))


def test_what_xml_has_no_place_for_is_replaced(page: Callable[..., Page]) -> None:
    written = as_junit(page(decided(text="hit\x00 >= \ud800"))).decode()
    assert "hit␀ &gt;= \ufffd" in written


def test_what_is_missing_could_change_it_or_is_only_too_much() -> None:
    many = decided(decision="missing", reason="too_many_missing?missing=10&possible=100&most=0.05")
    turning = decided(
        decision="missing", reason="missing_could_turn_it?missing=1&possible=9&how=low:open"
    )
    assert advice(result(many)).startswith("More than 5 % of the scores")
    assert advice(result(many, turning)).startswith("Scores are missing that could change this.")
    for found in (result(many), result(turning)):
        assert "evaluate command asks it again" in advice(found)
        assert "where people judge" in advice(found)


def test_by_the_value_alone_nothing_is_said_to_be_shown() -> None:
    found = result(decided(decision="fail", state="broken"), on="point")
    assert "misses its bar" in advice(found)
    assert "shown" in advice(result(*found.requirements))


@pytest.mark.parametrize("width", [46, 60, 70, 80, 100])
def test_only_columns_that_are_there_are_explained(
    page: Callable[..., Page], text: Print, width: int
) -> None:
    printed = text(page(decided()), width)
    head = next(line for line in printed.splitlines() if "90 % interval" in line)
    assert ("p broken" in head) == (printed.count("p broken") > 1)
    assert ("┃" in printed.split("holds    ")[0]) == ("strip    " in printed)


def test_a_gain_is_called_so_and_has_its_sign(page: Callable[..., Page], text: Print) -> None:
    gain = decided(counted="pairs", value=0.02, low=-0.01, high=0.05, bar=-0.05)
    assert "gain" in heads(page(gain))
    assert "value or gain" in heads(page(gain, decided()))
    printed = text(page(gain), 100)
    assert "+0.020" in printed
    assert "improvement over the baseline" in printed
    assert "gain" not in text(page(decided()), 100)
    assert "gain +0.020" in as_junit(page(gain)).decode()
    written = as_markdown(page(gain))
    assert "| gain (90 % interval) |" in written
    assert "**+0.020** (-0.010 – 0.050)" in written
    assert "Gain: improvement over" in written


def test_nothing_can_be_broken_where_all_inputs_are_the_same(
    page: Callable[..., Page], text: Print
) -> None:
    same = page(decided(same=True, low=None, high=None, p=None, p_adjusted=None))
    for shown, tried in ((page(decided()), True), (same, False)):
        assert ("Holm" in text(shown, 100)) is tried
        assert ("Holm" in as_markdown(shown)) is tried


def test_what_holds_by_the_same_inputs_is_one_line_and_a_case_each_for_a_build_server(
    page: Callable[..., Page], text: Print
) -> None:
    def same(metric: str, system: str) -> Decided:
        name = f"{metric} no worse than v1:0.02"
        return decided(text=name, metric=metric, group={"system": system}, same=True)

    ones = [same(metric, system) for metric in ("mrr", "ndcg") for system in ("one", "two")]
    shown = page(decided(), *ones, same("recall", "two"))
    met = "Met because the inputs are the same"
    lines = (
        f"{met}, 2 rows: mrr, ndcg no worse than v1:0.02 (one)",
        f"{met}, 3 rows: mrr, ndcg, recall no worse than v1:0.02 (two)",
    )
    assert [row.names for row in rows(shown)] == [["hit >= 0.8", "one"]]
    for document in (text(shown, 100), as_markdown(shown), as_html(shown)):
        assert all(line in document for line in lines)
        assert document.count("mrr") == 2
    assert as_junit(shown).count(b"<testcase ") == 6
    both = text(page(*ones), 100)
    assert f"{met}, 4 rows: mrr, ndcg no worse than v1:0.02 (one, two)" in both
    assert "requirement  " not in both


def test_the_worst_examples_lie_behind_their_row(page: Callable[..., Page], text: Print) -> None:
    bad = WorstExample("q7", "", 0.25, None, "How long?", None, ("claim absent: 90 m",))
    shown = page(decided(decision="fail"), decided(), examples={0: [bad]})
    (item,) = rows(shown)[0].detail
    assert rows(shown)[1].detail == ()
    assert (
        text(shown)
        .split("Worst examples  hit >= 0.8  one\n")[1]
        .startswith("  0.250  q7\n    Q  How long?\n    A  –\n    –  claim absent: 90 m\n")
    )
    record: Any = shown.record()
    assert record["requirements"][0]["worst"] == [
        {"example_id": "q7", "value": 0.25, "question": "How long?", "answer": None,
         "reasons": ["claim absent: 90 m"]}
    ]  # fmt: skip
    assert len(item.inner) == 3


def small_print(page: Page) -> dict[str, str]:
    (facts,) = page.sections[-1].blocks
    assert isinstance(facts, Facts)
    return {note.name: plain(note.words) for note in facts.rows}


def test_the_small_print_explains_the_words_of_the_page(page: Callable[..., Page]) -> None:
    by_means = small_print(page(decided(method="t")))
    assert list(by_means) == ["holds", "broken", "p broken", "open", "means", "missing"]
    assert by_means["holds"].startswith("the whole 90 % interval clears the bar")
    assert by_means["broken"].endswith("over 1 test")
    clustered = small_print(page(decided(method="cluster_clopper_pearson"), decided(method="t")))
    assert list(clustered)[-3:] == ["rates", "means", "missing"]
    exact = small_print(page(decided(method="clopper_pearson", counted="labels")))
    assert list(exact)[-3:] == ["rates", "missing", "n"]
    assert "299 rows or more" in exact["rates"], "log .05 / log .99 = 298.07"
    assert list(small_print(page(decided(), on="point"))) == ["decided", "missing"]
