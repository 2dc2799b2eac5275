"""The page of an agreement: what its cells hold."""

from typing import Any

import polars as pl
import pytest

from ragstone.labels.agreement import Annotator, ColumnAgreement, Dividing, LabelUse, agreement_of
from ragstone.labels.read import read_label_table
from ragstone.labels.table import LabelTable
from ragstone.report.page import (
    Count,
    IntervalCell,
    Mark,
    Number,
    Outline,
    Page,
    Paragraphs,
    Row,
    RowName,
    Scale,
    Why,
    plain,
)
from ragstone.report.pages.agreement import agreement_page
from ragstone.report.render.terminal import as_text
from ragstone.stats import Interval
from ragstone.stats.agreement.ratings import AgreementCoefficient


def coefficient(value: float | None = 0.5, low: float = 0.25, **known: Any) -> AgreementCoefficient:
    interval = None if value is None else Interval(low, 0.75, 0.95, "item_bootstrap")
    facts = {"value": value, "reason": None, "n": 40, "interval": interval} | known
    return AgreementCoefficient(**facts)


def column(**known: Any) -> ColumnAgreement:
    names = ("percent", "cohen_kappa", "weighted_kappa", "fleiss_kappa", "krippendorff_alpha",
             "gwet_ac1")  # fmt: skip
    facts: dict[str, Any] = {
        "kind": "quality", "column": "helpful", "scale": "ordinal", "n_items": 50, "n_shared": 40,
        "n_clusters": 40, "coefficients": {name: coefficient() for name in names},
        "annotators": (
            Annotator("ann", 50, 40, 0.5, Interval(0.25, 0.75, 0.95, "wilson"), 0.125),
            Annotator("", 40, 0, None, None, None),
        ),
        "uses": (
            LabelUse("yes", 30, 0.75, {"no": 0.2, "maybe": 0.05}),
            LabelUse("no", 1, None, {}),
        ),
        "n_divided": 3, "dividing": (), "ties": (), "seed": 0, "resamples": 2000, "level": 0.95,
        "limit": 3,
    }  # fmt: skip
    return ColumnAgreement(**(facts | known))


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> LabelTable:
    """Three answers by two people, who differ on one."""
    file = tmp_path_factory.mktemp("labels") / "labels.csv"
    said = {"ann": (1, 1, 0), "ben": (1, 0, 0)}
    pl.DataFrame(
        [
            {"id": f"q{at}", "annotator": who, "helpful": value}
            for who, values in said.items()
            for at, value in enumerate(values)
        ]
    ).write_csv(file)
    return read_label_table([file])


def tables(page: Page) -> dict[str, list[Row]]:
    """The rows of each table, by its first head."""
    return {table.columns[0].head: table.rows for table in page.tables}


def test_a_coefficient_is_drawn_from_what_chance_gives(labels: LabelTable) -> None:
    rows = tables(agreement_page(labels, [column()]))["agreement"]
    assert rows[1].cells == (RowName("Cohen's κ"), IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)))


def test_where_one_lies_below_chance_all_are_drawn_from_minus_one(labels: LabelTable) -> None:
    below = {"percent": coefficient(), "gwet_ac1": coefficient(low=-0.25)}
    rows = tables(agreement_page(labels, [column(coefficients=below)]))["agreement"]
    scales = [cell.scale for row in rows for cell in row.cells if isinstance(cell, IntervalCell)]
    assert scales == [Scale(-1, 1, (Mark(0, "chance"),))] * 2


def test_what_the_definition_does_not_give_has_its_reason(labels: LabelTable) -> None:
    known = {
        "percent": coefficient(None, reason="no_pairs"),
        "weighted_kappa": coefficient(None, reason="nominal_scale"),
    }
    rows = tables(agreement_page(labels, [column(coefficients=known)]))["agreement"]
    assert [row.cells for row in rows] == [
        (RowName("percent"), Why("undefined", "undefined: no item has two labels"))
    ], "what a scale of names does not have is not spoken of"


def test_each_annotator_is_held_against_the_others(labels: LabelTable) -> None:
    ann, nobody = tables(agreement_page(labels, [column()]))["annotator"]
    assert ann.cells == (
        RowName("ann"), Count(50), Count(40), IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)),
        Number(0.125, 2, sign="+"),
    )  # fmt: skip
    assert nobody.cells[:3] == (RowName("(no name)"), Count(40), Count(0))
    assert nobody.cells[-1] == Number(None, 2, sign="+")
    without = column(annotators=(Annotator("ann", 1, 1, 1.0, None, None),) * 2)
    (row, _) = tables(agreement_page(labels, [without]))["annotator"]
    assert len(row.cells) == 4


def test_how_labels_are_used_and_what_others_say_instead(labels: LabelTable) -> None:
    yes, no = tables(agreement_page(labels, [column()]))["label"]
    assert yes.cells == (
        RowName("yes"), Count(30), Number(75.0, 0, unit=" %", strong=True), "no 20 % · maybe 5 %",
    )  # fmt: skip
    assert no.cells[2:] == (Number(None, 0, unit=" %", strong=True), "–")


def test_what_divides_people_is_told_with_who_said_what(labels: LabelTable) -> None:
    one = Dividing("q7", "2", {"ann": "yes", "ben": "yes", "": "no"}, {"ann": "unsure"}, 1.0)
    page = agreement_page(labels, [column(dividing=(one,))])
    (outline,) = [block for part in page.sections for block in part.blocks
                  if isinstance(block, Outline)]  # fmt: skip
    first, more = outline.items
    assert plain(first.words) == "q7, context 2  yes (ann, ben) · no ((no name))"
    assert plain(first.inner[0].words) == "ann: unsure"
    assert plain(more.words) == "and 2 more (--limit, --json)"


def test_few_items_are_taken_as_rough(labels: LabelTable) -> None:
    def sentences(**known: Any) -> list[str]:
        page = agreement_page(labels, [column(**known)])
        blocks = (block for part in page.sections for block in part.blocks)
        return [plain(words) for block in blocks if isinstance(block, Paragraphs)
                for words in block.lines]  # fmt: skip

    rough = "only: take the intervals as rough."
    assert sentences() == []
    assert sentences(n_clusters=29, n_shared=29) == [f"From 29 items {rough}"]
    assert sentences(n_clusters=1) == [f"From 1 cluster {rough}"]


def test_several_labels_have_an_overview(labels: LabelTable) -> None:
    assert "overview" not in tables(agreement_page(labels, [column()]))
    page = agreement_page(labels, [column(), column(column="tone", n_shared=1234)])
    rows = tables(page)["overview"]
    assert [row.names for row in rows] == [["helpful"], ["quality.tone"]]
    assert rows[1].cells[1:6] == (Count(1234), Count(2), Number(0.5), Number(0.5), Number(0.5))


def test_a_label_of_one_annotator_alone_is_named(labels: LabelTable) -> None:
    page = agreement_page(labels, [column(n_shared=0), column(column="tone")])
    assert "nothing to compare  helpful" in as_text(page, 200)
    assert "agreement" not in tables(agreement_page(labels, [column(n_shared=0)]))
    assert "No label counts" in as_text(agreement_page(labels, []))


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_page_of_real_labels_fits_and_says_who_labelled(labels: LabelTable, width: int) -> None:
    printed = as_text(agreement_page(labels, agreement_of(labels)), width)
    assert max(map(len, printed.splitlines())) <= width
    assert "6 labels by 2 annotators: ann, ben" in printed
    assert "3 items, all labelled by two or more" in printed
    assert "q1" in printed.split("dividing them most")[1]
    assert printed.count("strip  ") <= 1


def test_only_coefficients_that_are_shown_are_explained(labels: LabelTable) -> None:
    printed = as_text(agreement_page(labels, [column(coefficients={"gwet_ac1": coefficient()})]))
    assert "Gwet's AC1  chance is what items hard to tell get" in printed
    assert "Cohen's" not in printed
    assert "2,000 draws of items" in printed


def test_the_record_has_every_label_and_what_was_left_out(labels: LabelTable) -> None:
    record: Any = agreement_page(labels, [column()]).record()
    assert record["labels"] == [column().to_dict()]
    assert (record["n_rows"], record["annotators"]) == (6, ["ann", "ben"])
    assert (record["discarded"], record["set_aside"], record["broken_rules"]) == ({}, {}, [])
