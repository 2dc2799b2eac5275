from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ragstone.core.errors import UnknownName
from ragstone.metrics import SUITES, Bands, Limit, Suite, metric_types
from ragstone.report.number_format import FAMILIES
from ragstone.report.page import Facts, Outline, Page, RowName, plain, quiet
from ragstone.report.pages import catalogue_page as catalogue
from ragstone.report.pages.catalogue_page import (
    catalogue_page,
    family_page,
    metric_page,
    suite_page,
)


def test_every_metric_stands_in_the_catalogue() -> None:
    listed = {one.name for one in catalogue.catalogue()}
    assert set(metric_types()) <= listed


def test_every_metric_says_what_it_is_and_who_fills_it() -> None:
    for one in catalogue.catalogue():
        assert one.about, one.name
        assert one.better in ("+", "-", "0")
        if one.judgements:
            assert one.filled_by, one.name


def test_composites_need_what_their_parts_need() -> None:
    assert catalogue.named("ragas_score").judgements == (
        "claims", "probes", "relevance", "similarity", "statements", "support",
    )  # fmt: skip


def test_an_alias_leads_to_the_metric() -> None:
    one = catalogue.named("ragas_faithfulness")
    assert one.name == "faithfulness"
    assert "ragas_faithfulness" in one.aliases


def test_a_page_of_one_metric_holds_its_formula(text: Callable[..., str]) -> None:
    printed = text(metric_page(catalogue.named("faithfulness")))
    assert "faithfulness = supported claims / all claims" in printed
    assert "no_claims = None" in printed


def test_every_suite_has_an_entry(text: Callable[..., str]) -> None:
    entries = [catalogue.named_suite(name) for name in SUITES]
    printed = text(suite_page(entries))
    for name in SUITES:
        assert name in printed


def test_an_unknown_suite_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean graphrag"):
        catalogue.named_suite("graphrg")


def test_the_page_of_all_metrics_names_each_under_its_family() -> None:
    page = catalogue_page()
    listed = {family: names.split(", ") for family, names in facts(page)}
    families = list(listed)
    assert families[:2] == ["retrieval", "grounding"]
    for entry in catalogue.catalogue():
        needs_more = any(by.startswith(("people", "model")) for by in entry.filled_by)
        assert entry.name + "*" * needs_more in listed[entry.family]
    assert "helpfulness*" in listed["answer"]
    assert "faithfulness" in listed["grounding"]


def test_the_page_of_a_family_has_a_row_for_each_metric() -> None:
    entries = [entry for entry in catalogue.catalogue() if entry.family == "grounding"]
    (table,) = family_page("grounding", entries).tables
    assert [row.names for row in table.rows] == [[entry.name] for entry in entries]
    assert [group.title for group in table.groups] == ["Grounding"]
    row = next(row for row in table.rows if row.names == ["faithfulness"])
    assert row.cells[:2] == (RowName("faithfulness", "+"), "0 to 1")
    assert row.below == (quiet(catalogue.named("faithfulness").about),)
    rate = next(row for row in table.rows if row.names == ["unsupported_claim"])
    assert rate.cells[1] == "0 or 1"


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_page_of_all_metrics_fits(width: int, text: Callable[..., str]) -> None:
    assert max(map(len, text(catalogue_page(), width).splitlines())) <= width


def facts(page: Page) -> list[tuple[str, str]]:
    block = page.sections[0].blocks[0]
    assert isinstance(block, Facts)
    return [(one.name, plain(one.words)) for one in block.rows]


ENTRY = catalogue.MetricEntry(
    name="own", family="answer", about="A metric.", better="-", range=(0, 2), rate=False,
    judgements=("claims", "support"), filled_by=("people", "counting"), requires=("answer",),
    parameters={"k": 3, "kind": "x"}, aliases=("an_alias",), docstring="A metric.\n\nMore of it.",
)  # fmt: skip


def test_each_fact_of_a_metric_stands_under_its_name() -> None:
    page = metric_page(ENTRY)
    assert facts(page) == [
        ("metric", "own  answer"), ("range", "0 to 2, less is better"),
        ("judgements", "claims, support"), ("filled by", "people's labels"),
        ("filled by", "counting, which needs nobody's opinion"), ("requires", "answer"),
        ("parameters", "k = 3"), ("parameters", "kind = 'x'"), ("aliases", "an_alias"),
    ]  # fmt: skip
    assert page.title == "own"
    outline = page.sections[0].blocks[1]
    assert isinstance(outline, Outline)
    assert [plain(item.words) for item in outline.items] == ["A metric.", "", "More of it."]


def test_a_page_begins_with_what_the_name_asked_for_means_here() -> None:
    entry = catalogue.named("HitRate")
    rows = facts(metric_page(entry, "HitRate"))
    meaning = "whether the top k hold a known relevant context."
    assert rows[1] == ("", f"HitRate is hit here: {meaning}")
    aliases = [words for name, words in rows if name == "aliases"]
    assert aliases == [f"hit_rate, hits, success, ir_hit_rate: hit, {meaning}"]
    assert facts(metric_page(entry, "hit")) == facts(metric_page(entry)) == [rows[0], *rows[2:]]


def test_what_a_metric_does_without_is_not_told() -> None:
    bare = replace(ENTRY, judgements=(), requires=(), parameters={}, aliases=(), filled_by=())
    assert [name for name, _ in facts(metric_page(bare))] == ["metric", "range", "judgements"]
    assert dict(facts(metric_page(bare)))["judgements"] == "none"


def test_each_fact_of_a_suite_stands_under_its_name() -> None:
    suite = Suite(
        "mine", "A suite.", ("hit", "mrr"), by=("topic",), conventions="So.",
        bands=(Bands("mrr", ((0.5, "good"), (0.0, "poor")), "by ear"),),
        limits=(Limit("late", "mrr", 0.2, "look at the order"),),
    )  # fmt: skip
    assert facts(suite_page([suite])) == [
        ("", "A suite."), ("metrics", "hit, mrr"), ("by", "topic"), ("conventions", "So."),
        ("reading", "mrr: good from 0.5, else poor; by ear"),
        ("reading", "mrr below 0.2: look at the order"),
    ]  # fmt: skip
    bare = replace(suite, by=(), conventions="", bands=(), limits=())
    assert [name for name, _ in facts(suite_page([bare]))] == ["", "metrics"]
    record: Any = suite_page([suite]).record()
    words = [{"from": 0.5, "word": "good"}, {"from": 0.0, "word": "poor"}]
    assert record[0]["bands"] == [{"metric": "mrr", "words": words, "note": "by ear"}]
    assert record[0]["limits"][0]["advice"] == "look at the order"


def test_users_own_metrics_stand_last() -> None:
    families = [one.family for one in catalogue.catalogue()]
    own = [at for at, family in enumerate(families) if family not in FAMILIES]
    assert own == list(range(len(families) - len(own), len(families)))
