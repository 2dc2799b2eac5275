"""Charts, each against places worked out by hand."""

from xml.etree import ElementTree

import pytest

from ragstone.report import charts
from ragstone.report.page import (
    Bar,
    BarPart,
    Bin,
    Chart,
    Forest,
    IntervalCell,
    Mark,
    Reliability,
    Scale,
    Series,
    SeriesPoint,
    Step,
    Waterfall,
)

ZERO = (Mark(0, "zero"), Mark(-0.1, "margin"), Mark(0.1, "margin"))
EVERY: list[Chart] = [
    Reliability((Bin(0.25, 0.5, 0.25, 0.75, 4), Bin(1.0, 1.0, 0.5, 1.0, 1)), "<Reliability>"),
    Waterfall(8, (Step("<lost>", 2, "bad"), Step("wrong", 4)), "Where it goes"),
    Series((SeriesPoint(0, 0.5, 0.25, 0.75), SeriesPoint(4, 1, 0.5, 1)), Scale(0, 1), "<f1>", 0.75,
           ((1, "v<2"),)),
    Forest((("<a>", IntervalCell(0.5, 0.25, 0.75, Scale(0, 1))),
            ("b", IntervalCell(None, None, None))), "F"),
]  # fmt: skip


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def of(svg: str, look: str) -> list[dict[str, str]]:
    """What the shapes of a class are drawn with."""
    return [dict(one.attrib) for one in read(svg).iter() if look in one.get("class", "").split()]


def test_an_interval_is_drawn_in_percent_of_its_scale() -> None:
    svg = charts.strip(IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)))
    (bar,) = of(svg, "bar")
    (dot,) = of(svg, "dot")
    assert (bar["x1"], bar["x2"], dot["cx"]) == ("25%", "75%", "50%")
    assert (bar["y1"], dot["cy"]) == ("9", "9")
    assert read(svg).findtext("title") == "0.500, interval 0.250 – 0.750"


def test_equivalence_and_the_margin_are_drawn_beside_the_interval() -> None:
    """On -.5 to .5 a margin of .1 lies from 40 % to 60 %, .05 at 55 %."""
    one = IntervalCell(0.05, -0.25, 0.25, Scale(-0.5, 0.5, ZERO), core=(0.0, 0.1), tone="equal")
    svg = charts.strip(one)
    (band,), (core,), (zero,) = of(svg, "band"), of(svg, "core"), of(svg, "ref")
    assert (band["x"], band["width"]) == ("40%", "20%")
    assert (core["x1"], core["x2"]) == ("50%", "60%")
    assert (zero["x1"], zero["x2"]) == ("50%", "50%")
    assert of(svg, "dot")[0]["cx"] == "55%"
    assert "equal" in read(svg).get("class", "").split()


def test_a_bar_to_clear_is_a_line_of_its_own() -> None:
    svg = charts.strip(IntervalCell(0.9, None, None, Scale(0.6, 1, (Mark(0.8, "bar"),))))
    assert of(svg, "limit")[0]["x1"] == "50%"
    assert of(svg, "bar") == []
    assert read(svg).findtext("title") == "0.900, no interval"


def test_what_lies_beyond_a_scale_is_drawn_at_its_end() -> None:
    svg = charts.strip(IntervalCell(3, -2, 4, Scale(0, 1)))
    assert of(svg, "dot")[0]["cx"] == "100%"
    assert (of(svg, "bar")[0]["x1"], of(svg, "bar")[0]["x2"]) == ("0%", "100%")


def test_without_a_value_the_rail_alone_is_there() -> None:
    svg = charts.strip(IntervalCell(None, None, None, Scale(0, 1)))
    assert (len(of(svg, "rail")), of(svg, "dot")) == (1, [])
    assert read(svg).findtext("title") == "no value"


@pytest.mark.parametrize("scale", [None, Scale(0, float("inf")), Scale(1, 1)])
def test_without_two_ends_nothing_is_drawn(scale: Scale | None) -> None:
    assert charts.strip(IntervalCell(0.5, 0.4, 0.6, scale)) == ""


def test_an_axis_says_its_ends_and_zero() -> None:
    svg = charts.axis(Scale(-0.5, 0.5, ZERO), signed=True)
    assert [(one["x"], one["text-anchor"]) for one in of(svg, "tick")] == [
        ("0%", "start"), ("50%", "middle"), ("100%", "end"),
    ]  # fmt: skip
    assert "".join(read(svg).itertext()) == "-0.50+0.5"
    assert "".join(read(charts.axis(Scale(0, 1), percent=True)).itertext()) == "0100"
    about_bar = charts.axis(Scale(0.6, 1, (Mark(0.8, "bar"),)))
    assert "".join(read(about_bar).itertext()) == "bar"
    assert charts.axis(Scale(0, float("inf"))) == ""


def test_a_bar_has_its_parts_in_order_and_forgets_none() -> None:
    svg = charts.bar(
        Bar((BarPart(3, 0, "right"), BarPart(0, 2, "partial"), BarPart(1, 3, "wrong")), 4)
    )
    parts = [*of(svg, "l0"), *of(svg, "l2"), *of(svg, "l3")]
    assert [(one["x"], one["width"]) for one in parts] == [("0%", "75%"), ("75%", "25%")]
    assert read(svg).findtext("title") == "right 3, partial 0, wrong 1"
    assert charts.bar(Bar((BarPart(0, 0),), 0)) == ""


def test_reliability_stands_in_a_square() -> None:
    """The square begins at 34 and 10 and is 256 wide: .25 across lies at 98, .5 up at 138."""
    svg = charts.chart(EVERY[0])
    first, last = of(svg, "dot")
    assert (first["cx"], first["cy"], first["r"]) == ("98", "138", "7")
    assert (last["cx"], last["cy"]) == ("290", "10")
    assert float(last["r"]) == pytest.approx(2.5 + 4.5 / 2)
    assert (of(svg, "bar")[0]["y1"], of(svg, "bar")[0]["y2"]) == ("202", "74")
    assert "said 0.250, seen 0.500 (0.250 – 0.750), n 4" in (read(svg).findtext("title") or "")


def test_each_step_of_a_waterfall_begins_where_the_last_ended() -> None:
    svg = charts.chart(EVERY[1])
    assert [(one["x"], one["width"]) for one in of(svg, "step")] == [("75%", "25%"), ("25%", "50%")]
    assert "bad" in of(svg, "step")[0]["class"]
    title = read(svg).findtext("title")
    assert title == "Where it goes: of 8 <lost> 2, wrong 4; 2 are left"


def test_a_series_has_a_line_a_band_a_base_and_events() -> None:
    """Of 150 pixels 146 are drawn on: .5 lies at 75, .75 at 38.5, 1 at 2."""
    svg = charts.chart(EVERY[2])
    assert of(svg, "line")[0]["points"] == "0,75 100,2"
    assert of(svg, "area")[0]["points"] == "0,38.5 100,2 100,75 0,111.5"
    assert of(svg, "ref")[0]["y1"] == "38.5"
    assert of(svg, "event")[0]["x1"] == "25%"
    assert charts.chart(Series((), Scale(0, 1), "empty")) == ""
    one = charts.chart(Series((SeriesPoint(3, 0.5, 0, 1),), Scale(0, 1), "one"))
    assert of(one, "line")[0]["points"] == "50,75"


def test_a_forest_has_its_intervals_on_one_scale_under_their_names() -> None:
    svg = charts.chart(EVERY[3])
    assert [one["cx"] for one in of(svg, "dot")] == ["50%"]
    words = [one.text for one in read(svg).iter() if one.tag.endswith("text")]
    assert words == ["<a>", "0.500", "b", "–", "0", "1"]


@pytest.mark.parametrize("chart", EVERY)
def test_a_chart_is_svg_without_styles_that_tells_its_numbers(chart: Chart) -> None:
    svg = charts.chart(chart)
    root = read(svg)
    assert root.get("role") == "img"
    assert root.findtext("title")
    for what in ("style=", "<script", "<a>", "<lost>", "<f1>", "v<2", "nan", "url("):
        assert what not in svg
