"""The page of an agreement: what its cells hold."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from ragstone.annotation.adjudication import BrokenRule
from ragstone.annotation.annotator_agreement import (
    Annotator,
    ColumnAgreement,
    Disagreement,
    LabelAgreement,
    LabelUse,
    agreement_of,
)
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.read_labels import read_label_table
from ragstone.report.page import (
    Count,
    Facts,
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
from ragstone.report.pages.agreement_page import agreement_page
from ragstone.report.render.terminal import as_text
from ragstone.stats import Interval
from ragstone.stats.agreement.ratings import AgreementCoefficient


def page_of(labels: LabelTable, found: Sequence[ColumnAgreement], broken: Any = ()) -> Page:
    return agreement_page(LabelAgreement(labels, tuple(found), tuple(broken)))


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
        "ratings": None, "clusters": (),
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
    rows = tables(page_of(labels, [column()]))["agreement"]
    assert rows[1].cells == (RowName("Cohen's κ"), IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)))


def test_where_one_lies_below_chance_all_are_drawn_from_minus_one(labels: LabelTable) -> None:
    below = {"percent": coefficient(), "gwet_ac1": coefficient(low=-0.25)}
    rows = tables(page_of(labels, [column(coefficients=below)]))["agreement"]
    scales = [cell.scale for row in rows for cell in row.cells if isinstance(cell, IntervalCell)]
    assert scales == [Scale(-1, 1, (Mark(0, "chance"),))] * 2


def test_what_the_definition_does_not_give_has_its_reason(labels: LabelTable) -> None:
    known = {
        "percent": coefficient(None, reason="no_pairs"),
        "weighted_kappa": coefficient(None, reason="nominal_scale"),
    }
    rows = tables(page_of(labels, [column(coefficients=known)]))["agreement"]
    assert [row.cells for row in rows] == [
        (RowName("percent"), Why("undefined", "undefined: no item has two labels"))
    ], "what a scale of names does not have is not spoken of"


def test_each_annotator_is_held_against_the_others(labels: LabelTable) -> None:
    ann, nobody = tables(page_of(labels, [column()]))["annotator"]
    assert ann.cells == (
        RowName("ann"), Count(50), Count(40), IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)),
        Number(0.125, 2, sign="+"),
    )  # fmt: skip
    assert nobody.cells[:3] == (RowName("(no name)"), Count(40), Count(0))
    assert nobody.cells[-1] == Number(None, 2, sign="+")
    without = column(annotators=(Annotator("ann", 1, 1, 1.0, None, None),) * 2)
    (row, _) = tables(page_of(labels, [without]))["annotator"]
    assert len(row.cells) == 4


def test_how_labels_are_used_and_what_others_say_instead(labels: LabelTable) -> None:
    yes, no = tables(page_of(labels, [column()]))["label"]
    assert yes.cells == (
        RowName("yes"), Count(30), Number(75.0, 0, unit=" %", strong=True), "no 20 % · maybe 5 %",
    )  # fmt: skip
    assert no.cells[2:] == (Number(None, 0, unit=" %", strong=True), "–")


def test_what_divides_people_is_told_with_who_said_what(labels: LabelTable) -> None:
    one = Disagreement("q7", "2", {"ann": "yes", "ben": "yes", "": "no"}, {"ann": "unsure"}, 1.0)
    page = page_of(labels, [column(dividing=(one,))])
    (outline,) = [block for part in page.sections for block in part.blocks
                  if isinstance(block, Outline)]  # fmt: skip
    first, more = outline.items
    assert plain(first.words) == "q7, context 2  yes (ann, ben) · no ((no name))"
    assert plain(first.inner[0].words) == "ann: unsure"
    assert plain(more.words) == "and 2 more (--limit, --json)"


def test_few_items_are_taken_as_rough(labels: LabelTable) -> None:
    def sentences(**known: Any) -> list[str]:
        page = page_of(labels, [column(**known)])
        blocks = (block for part in page.sections for block in part.blocks)
        return [plain(words) for block in blocks if isinstance(block, Paragraphs)
                for words in block.lines]  # fmt: skip

    rough = "so the intervals are rough."
    assert sentences() == []
    assert sentences(n_clusters=29, n_shared=29) == [f"Only 29 items, {rough}"]
    assert sentences(n_clusters=1) == [f"Only 1 cluster, {rough}"]


def test_several_labels_have_an_overview(labels: LabelTable) -> None:
    assert "overview" not in tables(page_of(labels, [column()]))
    page = page_of(labels, [column(), column(column="tone", n_shared=1234)])
    rows = tables(page)["overview"]
    assert [row.names for row in rows] == [["helpful"], ["quality.tone"]]
    assert rows[1].cells[1:6] == (Count(1234), Count(2), Number(0.5), Number(0.5), Number(0.5))


def test_a_label_of_one_annotator_alone_is_named(labels: LabelTable) -> None:
    page = page_of(labels, [column(n_shared=0), column(column="tone")])
    assert "nothing to compare  helpful" in as_text(page, 200)
    assert "agreement" not in tables(page_of(labels, [column(n_shared=0)]))
    assert "No label counts" in as_text(page_of(labels, []))


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_page_of_real_labels_fits_and_says_who_labelled(labels: LabelTable, width: int) -> None:
    printed = as_text(page_of(labels, agreement_of(labels)), width)
    assert max(map(len, printed.splitlines())) <= width
    assert "6 labels by 2 annotators: ann, ben" in printed
    assert "3 items, all labelled by two or more" in printed
    assert "q1" in printed.split("most disagreement")[1]
    assert printed.count("strip  ") <= 1


def test_only_coefficients_that_are_shown_are_explained(labels: LabelTable) -> None:
    printed = as_text(page_of(labels, [column(coefficients={"gwet_ac1": coefficient()})]))
    assert "Gwet's AC1  chance only on items hard to tell" in printed
    assert "Cohen's" not in printed
    assert "2,000 bootstrap samples of items" in printed


def test_the_record_has_every_label_and_what_was_left_out(labels: LabelTable) -> None:
    record: Any = page_of(labels, [column()]).record()
    assert record["labels"] == [column().to_dict()]
    assert (record["n_rows"], record["annotators"]) == (6, ["ann", "ben"])
    assert (record["discarded"], record["set_aside"], record["broken_rules"]) == ({}, {}, [])


def sentences(page: Page) -> str:
    return " ".join(as_text(page, 400).split())


def test_each_figure_of_an_agreement_stands_under_its_head(labels: LabelTable) -> None:
    page = page_of(labels, [column(), column(column="tone")])
    found = [[one.head for one in table.columns] for table in page.tables]
    assert found[0] == ["overview", "items", "people", "percent", "κ Fleiss", "AC1", "α"]
    assert found[1] == ["agreement", "value"]
    assert found[2] == ["annotator", "labels", "compared", "like the others", "difference"]
    assert found[3] == ["label", "given", "again", "others said instead"]
    for table in page.tables:
        assert {len(row.cells) for row in table.rows} == {len(table.columns)}


def test_the_overview_has_each_coefficient_in_its_column(labels: LabelTable) -> None:
    values = {"percent": 0.9, "fleiss_kappa": 0.6, "gwet_ac1": 0.7, "krippendorff_alpha": 0.5}
    known = {name: coefficient(value) for name, value in values.items()}
    ones = [column(coefficients=known), column(column="tone", coefficients=known)]
    row = tables(page_of(labels, ones))["overview"][0]
    assert row.cells[3:] == (
        Number(0.9), Number(0.6), Number(0.7), IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)),
    )  # fmt: skip


def test_what_is_known_of_a_label_stands_in_its_title(labels: LabelTable) -> None:
    def title(**known: Any) -> str:
        return plain(page_of(labels, [column(**known)]).sections[1].title)

    assert title() == "helpful  ordinal · 50 items, 40 labelled by two or more · 3 divided"
    whole = title(n_items=1, n_shared=1, n_clusters=1, n_divided=1234)
    assert whole == "helpful  ordinal · 1 item, all labelled by two or more · 1,234 divided"
    assert "· 9 clusters ·" in title(n_clusters=9)
    assert title(ties=("q1",)).endswith("3 divided · 1 tie")


def test_intervals_are_rough_below_thirty_items(labels: LabelTable) -> None:
    for clusters, rough in ((29, True), (30, False)):
        one = column(n_clusters=clusters, n_shared=clusters)
        assert ("the intervals are rough" in sentences(page_of(labels, [one]))) is rough


def test_annotators_are_held_against_others_only_where_there_are_others(labels: LabelTable) -> None:
    alone = column(annotators=(Annotator("ann", 50, 0, None, None, None),))
    page = page_of(labels, [alone])
    assert "annotator" not in tables(page)
    assert "compared" not in sentences(page)
    two = sentences(page_of(labels, [column()]))
    for word in (
        "items  what",
        "compared  labels on items",
        "like the others  share",
        "given  how often",
    ):
        assert " ".join(word.split()) in two


def test_only_columns_that_are_there_have_a_legend(labels: LabelTable) -> None:
    same = (Annotator("ann", 1, 1, 1.0, None, None),) * 2
    words = sentences(page_of(labels, [column(annotators=same, uses=())]))
    assert "like the others share of" in words
    assert "difference how far" not in words
    assert "given how often" not in words
    assert "difference how far" in sentences(page_of(labels, [column()]))


@pytest.mark.parametrize(
    ("unit", "said"),
    [(None, "q7  yes (ann)"), ("2", "q7, context 2  yes (ann)"),
     ("claim 3", "q7, claim 3  yes (ann)")],
)  # fmt: skip
def test_a_unit_that_divides_people_is_named(
    labels: LabelTable, unit: str | None, said: str
) -> None:
    one = Disagreement("q7", unit, {"ann": "yes"}, {}, 1.0)
    page = page_of(labels, [column(dividing=(one,), n_divided=1)])
    (outline,) = [block for part in page.sections for block in part.blocks
                  if isinstance(block, Outline)]  # fmt: skip
    assert [plain(item.words) for item in outline.items] == [said], "and no more than this one"


def test_at_most_five_words_that_another_said_instead_are_told(labels: LabelTable) -> None:
    many = {f"w{at}": 0.1 for at in range(7)}
    (row,) = tables(page_of(labels, [column(uses=(LabelUse("yes", 9, 0.3, many),))]))["label"]
    assert row.cells[3] == " · ".join(f"w{at} 10 %" for at in range(5))


def test_rules_that_labels_break_are_told_with_where(labels: LabelTable) -> None:
    broken = [BrokenRule("b_rule", "block", f"q{at}", None, "ann") for at in range(5)]
    broken.insert(2, BrokenRule("a_rule", "warn", "q9", "1", ""))
    page = page_of(labels, [column()], broken)
    words = sentences(page)
    assert "a rule 1 time, kept as it is: q9 ((no name)) b rule 5 times" in words
    assert "kept as it is: q0 (ann), q1 (ann), q2 (ann) and 2 more" in words
    three = sentences(page_of(labels, [column()], broken[:2] + broken[3:4]))
    assert "q1 (ann), q2 (ann) and" not in three
    record: Any = page.record()
    assert len(record["broken_rules"]) == 6


def test_labels_that_do_not_count_are_told_with_the_reasons(labels: LabelTable) -> None:
    def left(reason: str, rows: int) -> pl.DataFrame:
        return labels.frame.head(rows).with_columns(discarded=pl.lit(reason))

    parts = [labels.frame, left("unsure", 3), left("off topic", 2)]
    words = sentences(page_of(replace(labels, frame=pl.concat(parts)), [column()]))
    assert "discarded 5, not used: unsure 3, off topic 2" in words
    assert "set aside" not in words
    assert "discarded" not in sentences(page_of(labels, [column()]))


@pytest.mark.parametrize(("people", "more"), [(12, ""), (13, ", and 1 more")])
def test_twelve_annotators_are_named(labels: LabelTable, people: int, more: str) -> None:
    who = tuple(Annotator(f"p{at}", 2, 2, 0.5, None, None) for at in range(people))
    words = sentences(page_of(labels, [column(annotators=who)]))
    named = ", ".join(f"p{at}" for at in range(12))
    assert f"{2 * people} labels by {people} annotators: {named}{more} helpful" in words


def test_what_explains_the_page_is_small(labels: LabelTable) -> None:
    page = page_of(labels, [column()])
    facts = [block for part in page.sections for block in part.blocks if isinstance(block, Facts)]
    assert [one.small for one in facts] == [False, True, True]
