"""The figures of a run as files."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ragstone
from ragstone.core.errors import MissingDependency
from ragstone.data import cornwall
from ragstone.report.chart_files import alone, as_png, drawings, over_runs, write_charts
from ragstone.report.page import (
    Forest,
    Heading,
    IntervalCell,
    Page,
    Row,
    RowName,
    Scale,
    Step,
    Waterfall,
    section,
    strong,
    table,
)
from tests.availability import import_or_skip

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</style><script>alert(1)</script>\u202e\x1b../../x"
LOST = Waterfall(8, (Step("lost", 2, "bad"), Step("wrong", 4)), "Where it goes")


def intervals(metric: str, system: str, scale: Scale) -> Row:
    cell = IntervalCell(0.5, 0.25, 0.75, scale)
    return Row((RowName(metric, "+"), RowName(system), cell))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ragstone.Run:
    return ragstone.evaluate(cornwall(), out=tmp_path_factory.mktemp("drawn") / "run")


def test_a_figure_is_a_picture_of_its_own_with_its_size_and_colours() -> None:
    svg = alone(LOST)
    root = ElementTree.fromstring(svg)
    inside = root.find(f"{SVG}svg")
    assert inside is not None
    # Two steps of 34 pixels below a head of 44, above an edge of 24.
    assert (root.get("width"), root.get("height")) == ("720", "136")
    assert (inside.get("x"), inside.get("y"), inside.get("width")) == ("24", "44", "672")
    assert root.findtext(f"{SVG}text") == "Where it goes"
    assert "var(" not in svg
    assert "url(" not in svg


def test_a_figure_is_dark_where_the_system_of_its_reader_is() -> None:
    light, dark = alone(LOST).split("@media(prefers-color-scheme:dark)")
    assert ".ragstone .paper{fill:#fff}" in light
    assert ".ragstone .paper{fill:#16181b}" in dark
    assert ".ragstone .step.bad{fill:#d4622f}" in light
    assert ".ragstone .step.bad{fill:#d9693a}" in dark


def test_a_figure_has_the_rules_of_its_own_shapes_alone() -> None:
    assert ".step" in alone(LOST)
    assert ".barcode" not in alone(LOST)


def test_hostile_names_are_text() -> None:
    svg = alone(Waterfall(8, (Step(EVIL, 2),), EVIL))
    assert "\u202e" not in svg
    assert "\x1b" not in svg
    names = {one.tag for one in ElementTree.fromstring(svg).iter()}
    assert f"{SVG}script" not in names


def test_a_metric_of_several_systems_is_a_figure_and_so_is_a_scale() -> None:
    unit, wide = Scale(0, 1), Scale(0, 100)
    rows = [
        intervals("f1", "a", unit), intervals("f1", "b", unit),
        intervals("length", "a", wide), intervals("length", "b", wide),
    ]  # fmt: skip
    columns = (Heading("metric", key=True), Heading("system"), Heading("value", level=0.95))
    page = Page("run", "r", (section(table(columns, rows)),))
    found = dict(drawings(page))
    assert list(found) == ["f1", "length"]
    one = found["f1"]
    assert isinstance(one, Forest)
    assert one.title == "f1 ↑, 95 % intervals"
    assert [name for name, _ in one.rows] == ["a", "b"]


def test_metrics_of_two_systems_are_one_figure_called_by_both() -> None:
    scale = Scale(-1, 1)
    rows = [
        Row((RowName(name, "+"), IntervalCell(0.5, 0.25, 0.75, scale))) for name in ("f1", "mrr")
    ]
    one = section(
        table(("metric", "a - b"), rows), title=["a ", strong("new"), " b ", strong("old")]
    )
    ((title, drawn),) = drawings(Page("compare", "r", (one,)))
    assert title == "new against old"
    assert isinstance(drawn, Forest)
    assert [name for name, _ in drawn.rows] == ["f1 ↑", "mrr ↑"]


def test_the_figures_of_a_run_are_written_under_plain_names(
    run: ragstone.Run, tmp_path: Path
) -> None:
    files = write_charts(run, tmp_path / "figures")
    names = [file.name for file in files]
    assert len(names) == len(set(names)) == len(list((tmp_path / "figures").iterdir()))
    assert "intervals-faithfulness.svg" in names
    assert "shares-outcomes.svg" in names
    assert any(name.startswith("difference-") for name in names)
    assert any(name.startswith("waterfall-") for name in names)
    assert all(re.fullmatch(r"[a-z0-9.-]+\.svg", name) for name in names)
    for file in files:
        ElementTree.fromstring(file.read_text("utf-8"))


def test_a_metric_is_drawn_over_the_runs_of_the_same_data(tmp_path: Path) -> None:
    for name, data in (("first", "a"), ("second", "a"), ("other", "b")):
        file = tmp_path / f"{data}.jsonl"
        file.write_text(
            f'{{"id": "1", "question": "{data}", "answer": "red", "reference": "red"}}\n'
        )
        run = ragstone.evaluate(file, metrics=["exact_match"], out=tmp_path / "runs" / name)
    assert not list(over_runs(run))
    ((metric, one),) = over_runs(ragstone.Run.open(tmp_path / "runs" / "first"))
    assert metric == "exact_match"
    assert isinstance(one, Forest)
    assert [name for name, _ in one.rows] == ["first", "second"]


def test_names_that_differ_in_nothing_but_signs_are_numbered(tmp_path: Path) -> None:
    rows = [
        {"id": f"{at}{system}", "question_id": at, "question": "?", "system": system,
         "answer": "red", "reference": "red"}
        for at in "12" for system in (f"a/{EVIL}", f"a:{EVIL}")
    ]  # fmt: skip
    run = ragstone.evaluate(rows, metrics=["exact_match", "answer_outcome"], out=tmp_path / "run")
    files = write_charts(run, tmp_path / "figures")
    assert all(file.parent == tmp_path / "figures" for file in files)
    assert len(files) == len({file.name for file in files})


def test_a_picture_needs_an_extra_which_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingDependency, match="png"):
        as_png(alone(LOST))


def test_a_picture_has_two_pixels_for_each_of_the_figure() -> None:
    import_or_skip("resvg_py")
    png = as_png(alone(LOST))
    assert png.startswith(b"\x89PNG")
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (1440, 272)
