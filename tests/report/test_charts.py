"""Charts, each against places worked out by hand."""

from xml.etree import ElementTree

import pytest

from ragstone.report import charts
from ragstone.report.page import (
    Bar,
    BarPart,
    Bars,
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
    Bars((("<a>", Bar((BarPart(3, 0, "right"), BarPart(1, 4, "wrong")), 4)),), "B"),
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
    whole, half = Scale(-1, 1, ZERO), Scale(-0.5, 0.5, ZERO)
    words = ["".join(read(charts.axis(one, quarters=True)).itertext()) for one in (whole, half)]
    assert words == ["-1-0.500.51", "-0.500.5"], "longer words do not fit beside each other"
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


def test_a_timeline_has_its_levels_stretches_bar_and_moments() -> None:
    """Of 100 pixels 96 are drawn on, 18 below the names of events: .5 lies at 68."""
    points = (
        SeriesPoint(2, 0.5, 0.25, 0.75),
        SeriesPoint(3, 0.5, 0.5, 0.5),
        SeriesPoint(9, 1, 1, 1),
    )
    svg = charts.series(
        Series(points, Scale(0, 1), "s", events=((5, "v1"), (5.1, "v2")), bar=0.5,
               spans=((8, 20),), time=Scale(0, 10), gap=2, levels=(0, 0.5, 1),
               ticks=((5, "12:00"),)), 100
    )  # fmt: skip
    assert [one["points"] for one in of(svg, "line")] == ["20,68 30,68", "90,20"]
    assert of(svg, "dot")[0]["cx"] == "90%"
    assert of(svg, "limit")[0]["y1"] == "68"
    assert (of(svg, "alarm")[0]["x"], of(svg, "alarm")[0]["width"]) == ("80%", "20%")
    assert [one["y1"] for one in of(svg, "grid")] == ["116", "68", "20"]
    words = [one.text for one in read(svg).iter() if one.tag.endswith("text")]
    # Of two deploys that follow each other closely only one is named.
    assert words == ["v1", "0", "0.5", "1", "12:00"]


def test_bars_have_their_parts_as_shares_below_their_names() -> None:
    svg = charts.chart(EVERY[4])
    (right,), (wrong,) = of(svg, "l0"), of(svg, "l4")
    assert (right["x"], right["width"], wrong["x"], wrong["width"]) == ("0%", "75%", "75%", "25%")
    words = [one.text for one in read(svg).iter() if one.tag.endswith("text")]
    assert words == ["<a>", "right 3, wrong 1"]


def test_a_difference_in_a_forest_has_its_sign_and_the_scale_its_zero() -> None:
    cell = IntervalCell(0.25, -0.25, 0.75, Scale(-1, 1, ZERO), signed=True)
    svg = charts.chart(Forest((("a", cell),), "F"))
    words = [one.text for one in read(svg).iter() if one.tag.endswith("text")]
    assert words == ["a", "+0.250 (-0.250 – 0.750)", "-1", "0", "1"]


def test_a_forest_has_its_intervals_on_one_scale_under_their_names() -> None:
    svg = charts.chart(EVERY[3])
    assert [one["cx"] for one in of(svg, "dot")] == ["50%"]
    words = [one.text for one in read(svg).iter() if one.tag.endswith("text")]
    assert words == ["<a>", "0.500 (0.250 – 0.750)", "b", "–", "0", "1"]


@pytest.mark.parametrize("chart", EVERY)
def test_a_chart_is_svg_without_styles_that_tells_its_numbers(chart: Chart) -> None:
    svg = charts.chart(chart)
    root = read(svg)
    assert root.get("role") == "img"
    assert root.findtext("title")
    for what in ("style=", "<script", "<a>", "<lost>", "<f1>", "v<2", "nan", "url("):
        assert what not in svg


def test_the_diagonal_of_a_reliability_diagram_is_a_judge_taken_at_its_word() -> None:
    """From 0 said and 0 seen, at 34 and 266, to 1 and 1, at 290 and 10."""
    (line,) = of(charts.chart(EVERY[0]), "ref")
    assert [line[end] for end in ("x1", "y1", "x2", "y2")] == ["34", "266", "290", "10"]


def test_a_reliability_diagram_has_a_line_and_a_word_at_each_quarter() -> None:
    """Across at 34, 98, 162, 226, 290; up at 266, 202, 138, 74, 10; words below and before."""
    svg = charts.chart(EVERY[0])
    lines = of(svg, "grid")
    across = [(one["x1"], one["x2"]) for one in lines if one["x1"] == one["x2"]]
    up = [(one["y1"], one["y2"]) for one in lines if one["y1"] == one["y2"]]
    assert across == [(at, at) for at in ("34", "98", "162", "226", "290")]
    assert up == [(at, at) for at in ("266", "202", "138", "74", "10")]
    words = [(one.text, one.get("x"), one.get("y")) for one in read(svg).iter()
             if one.tag.endswith("text")]  # fmt: skip
    assert ("0.25", "98", "292") in words
    assert ("0.75", "28", "78") in words
    assert len(words) == 10


def test_a_reliability_diagram_without_bins_is_an_empty_square() -> None:
    svg = charts.chart(Reliability((), "none"))
    assert (of(svg, "dot"), of(svg, "bar"), len(of(svg, "frame"))) == ([], [], 1)
    assert read(svg).findtext("title") == "none: "


def test_lines_lead_from_each_step_of_a_waterfall_to_the_next() -> None:
    """Of 8 the first takes 2: the second hangs from 75 %, between the bars' middles."""
    svg = charts.chart(EVERY[1])
    (drop,) = of(svg, "drop")
    assert (drop["x1"], drop["x2"]) == ("75%", "75%")
    assert (drop["y1"], drop["y2"]) == ("30", "52")
    tops = [one["y"] for one in of(svg, "step")]
    assert tops == ["18", "52"], "where the line ends the next bar begins"
    assert [one["y1"] for one in of(svg, "rail")] == ["24", "58"]
    assert read(svg).get("class") == "chart waterfall"
    assert read(svg).get("height") == "68"


def test_a_step_that_takes_nothing_has_its_name_and_no_bar() -> None:
    svg = charts.chart(Waterfall(4, (Step("none", 0), Step("one", 1), Step("rest", 3)), "w"))
    assert [(one["x"], one["width"]) for one in of(svg, "step")] == [("75%", "25%"), ("0%", "75%")]
    words = [one.text for one in read(svg).iter() if one.tag.endswith("text")]
    assert words == ["none", "0", "one", "1", "rest", "3"]
    assert [one["x1"] for one in of(svg, "drop")] == ["100%", "75%"]


def test_an_end_of_an_axis_keeps_its_words_inside() -> None:
    """What stands within 3 % of an end is written from or to that end, not about its place."""
    scale = Scale(0, 100, (Mark(2, "chance"), Mark(98, "zero"), Mark(50, "bar")))
    words = [(one["x"], one["text-anchor"]) for one in of(charts.axis(scale), "tick")]
    assert words == [("0%", "start"), ("2%", "start"), ("98%", "end"), ("100%", "end")]


def test_bars_parts_are_set_apart_by_a_gap_but_at_the_end() -> None:
    svg = charts.bar(Bar((BarPart(1, 0), BarPart(0, 1), BarPart(1, 2), BarPart(2, 3)), 4))
    assert [one["x1"] for one in of(svg, "gap")] == ["25%", "50%"]
    part = charts.bar(Bar((BarPart(1, 0),), 4))
    assert [one["x1"] for one in of(part, "gap")] == ["25%"], "the rest of the whole is empty"


def test_an_event_near_the_right_edge_is_written_to_its_left() -> None:
    points = (SeriesPoint(0, 0.5, 0.25, 0.75), SeriesPoint(10, 0.5, 0.25, 0.75))
    svg = charts.chart(Series(points, Scale(0, 1), "s", events=((8, "at 80"), (9, "at 90"))))
    names = [(one["x"], one["text-anchor"]) for one in of(svg, "name")]
    assert names == [("80%", "start"), ("90%", "end")]
    title = read(svg).findtext("title")
    assert title == "s: 0.500 at first, 0.500 at last (0.250 – 0.750)"


def test_an_intervals_marks_beyond_the_scale_are_not_drawn() -> None:
    scale = Scale(0, 1, (Mark(1.5, "bar"), Mark(-0.5, "zero"), Mark(0, "chance")))
    svg = charts.strip(IntervalCell(0.5, None, None, scale))
    assert of(svg, "limit") == []
    assert [one["x1"] for one in of(svg, "ref")] == ["0%"]


def test_a_forest_writes_the_ends_of_its_scale_once_below() -> None:
    """Two rows of 34 pixels, the ends of the scale at 80, 18 pixels of room for them."""
    svg = charts.chart(EVERY[3])
    ends = [(one["x"], one["y"], one["text-anchor"]) for one in of(svg, "tick")]
    assert ends[-2:] == [("0%", "80", "start"), ("100%", "80", "end")]
    assert read(svg).get("height") == "86"
    bare = charts.chart(Forest((("b", IntervalCell(None, None, None)),), "F"))
    assert read(bare).get("height") == "34"
    assert read(bare).findtext("title") == "F: b no value"


def test_lines_and_words_have_the_heights_of_their_charts() -> None:
    """A name stands 12 pixels below the top of its step, of which each has 34."""
    svg = charts.chart(EVERY[1])
    words = [(one.get("x"), one.get("y"), one.text) for one in read(svg).iter()
             if one.tag.endswith("text")]  # fmt: skip
    assert words == [
        ("0", "12", "<lost>"), ("100%", "12", "2"), ("0", "46", "wrong"), ("100%", "46", "4"),
    ]  # fmt: skip
    assert [(one["x1"], one["x2"]) for one in of(svg, "rail")] == [("0%", "100%")] * 2
    (event,) = of(charts.chart(EVERY[2]), "event")
    assert (event["y1"], event["y2"]) == ("0", "150")
    strip = charts.strip(IntervalCell(0.5, None, None, Scale(0, 1)))
    assert [(one["x1"], one["x2"]) for one in of(strip, "rail")] == [("0%", "100%")]
    axis = read(charts.axis(Scale(0, 1)))
    assert (axis.get("height"), read(strip).get("height")) == ("16", "18")
    about_bar = read(charts.axis(Scale(0.6, 1, (Mark(0.8, "bar"),))))
    assert (about_bar.get("height"), about_bar.get("class")) == ("16", "chart axis")
    (gap,) = of(charts.bar(Bar((BarPart(1, 0), BarPart(1, 1)), 2)), "gap")
    assert (gap["y1"], gap["y2"]) == ("0", "14")


def test_a_row_of_a_forest_has_the_looks_of_its_tone() -> None:
    cells = [IntervalCell(0.5, 0.25, 0.75, Scale(0, 1), tone=tone) for tone in ("good", "")]
    svg = charts.chart(Forest((("a", cells[0]), ("b", cells[1])), "F"))
    assert [one.get("class") for one in read(svg) if one.tag.endswith("g")] == ["iv good", "iv"]


def test_the_largest_bin_of_a_histogram_is_as_tall_as_it_and_an_empty_one_is_not_there() -> None:
    drawn = charts.histogram([1, 0, 2], "scores", 16)
    assert 'viewBox="0 0 3 16"' in drawn
    assert 'd="M0.05 15v-7h.9V15zM2.05 15v-14h.9V15z"' in drawn
