from collections.abc import Callable

import pytest

from ragstone.errors import UnknownName
from ragstone.metrics import SUITES, metric_types
from ragstone.report import catalogue
from ragstone.report.page import RowName, quiet
from ragstone.report.pages.catalogue import catalogue_page, metric_page, suite_page


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


def test_the_page_of_all_metrics_has_a_row_for_each_under_its_family() -> None:
    (table,) = catalogue_page().tables
    entries = catalogue.catalogue()
    assert [row.names for row in table.rows] == [[one.name] for one in entries]
    titles = [group.title for group in table.groups]
    assert titles[:2] == ["Retrieval", "Grounding"]
    row = next(row for row in table.rows if row.names == ["faithfulness"])
    assert row.cells[:2] == (RowName("faithfulness", "+"), "0 to 1")
    assert row.below == (quiet(catalogue.named("faithfulness").about),)
    rate = next(row for row in table.rows if row.names == ["unsupported_claim"])
    assert rate.cells[1] == "0 or 1"


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_page_of_all_metrics_fits(width: int, text: Callable[..., str]) -> None:
    assert max(map(len, text(catalogue_page(), width).splitlines())) <= width
