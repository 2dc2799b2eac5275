from collections.abc import Callable
from typing import Any

import pytest

from ragstone.decisions.gating.gate import Decided, GateResult
from ragstone.report.gate_markdown import gate_markdown
from ragstone.report.gate_page import bar_strip, gate_page
from ragstone.report.gate_text import gate_text
from ragstone.report.gate_words import advice, headline
from ragstone.report.junit import junit

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
        "reason": "the whole interval clears the bar",
        "same": False,
        "notes": (),
        "worst": (),
    }
    return Decided(**(facts | known))


def result(*ones: Decided, **known: Any) -> GateResult:
    facts: dict[str, Any] = {"level": 0.05, "max_missing": 0.05, "on": "interval", "notes": ()}
    return GateResult(**{"decision": ones[0].decision, "requirements": ones} | facts | known)


@pytest.mark.parametrize(
    ("low", "value", "high", "drawn"),
    [
        (0.84, 0.92, 1.0, "·····┃├─●─┤"),
        (0.6, 0.64, 0.72, "├●─┤·┃·····"),
        (0.7, 0.85, 0.9, "├────┃─●──┤"),
        (0.7, 0.8, 0.9, "├────◉────┤"),
        (0.8001, 0.9, 0.99, "·····┃├─●─┤"),
        (None, 0.7, None, "●····┃·····"),
    ],
)
def test_a_strip_is_drawn_about_its_bar(
    low: float | None, value: float, high: float | None, drawn: str
) -> None:
    assert bar_strip(decided(low=low, value=value, high=high), 11).plain == drawn


def test_without_a_value_the_strip_is_the_bar_alone() -> None:
    assert bar_strip(decided(value=None, low=None, high=None), 11).plain == "·····┃·····"


def test_a_missing_requirement_says_why_below_its_line(made_run: Any, text: Print) -> None:
    one = decided(decision="missing", n_missing=9, reason="9 of 109 scores are missing")
    printed = text(gate_page(made_run(()), result(one), {}), 100)
    assert "MISSING  1 missing" in printed
    assert "↳ 9 of 109 scores are missing" in printed


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_page_fits_the_console(made_run: Any, text: Print, width: int) -> None:
    ones = [
        decided(group={"system": f"a-system-{at}"}, decision="cannot_tell", n_needed=12_345)
        for at in range(3)
    ]
    printed = text(gate_page(made_run(()), result(*ones), {}), width)
    assert max(map(len, printed.splitlines())) <= width
    assert printed.count("needs 12,345") == 3


def test_the_gravest_is_counted_first() -> None:
    ones = [decided(), decided(decision="fail"), decided(decision="cannot_tell", n_needed=40)]
    assert headline(result(*ones, decision="fail")) == (
        "1 broken, 1 open, 1 holds – 1 requirement on 1 system"
    )


def test_what_would_decide_all_that_is_open_is_said() -> None:
    ones = [decided(decision="cannot_tell", n_needed=count) for count in (40, 90)]
    assert "90 examples" in advice(result(*ones))


def test_what_xml_has_no_place_for_is_replaced() -> None:
    written = junit("run \x1b", result(decided(text="hit\x00 >= \ud800")), {}).decode()
    assert "hit␀ &gt;= \ufffd" in written
    assert "\x1b" not in written


def test_what_is_missing_could_change_it_or_is_only_too_much() -> None:
    many = decided(decision="missing", reason="10 of 100 scores are missing, more than 5 %")
    turning = decided(decision="missing", reason="1 of 9 scores are missing and could turn it: so")
    assert advice(result(many)).startswith("More than 5 % of the scores")
    assert advice(result(many, turning)).startswith("Scores are missing that could change this.")
    for found in (result(many), result(turning)):
        assert "evaluate command asks it again" in advice(found)
        assert "where people judged" in advice(found)


def test_by_the_value_alone_nothing_is_said_to_be_shown() -> None:
    found = result(decided(decision="fail", state="broken"), on="point")
    assert "does not meet its bar" in advice(found)
    assert "shown" in advice(result(*found.requirements))


@pytest.mark.parametrize("width", [46, 60, 70, 80, 100])
def test_only_columns_that_are_there_are_explained(made_run: Any, text: Print, width: int) -> None:
    printed = text(gate_page(made_run(()), result(decided()), {}), width)
    head = next(line for line in printed.splitlines() if "90 % interval" in line)
    assert ("p broken" in head) == (printed.count("p broken") > 1)
    assert ("┃" in printed.split("holds    ")[0]) == ("strip    " in printed)
    assert ("p broken" in head) == (width > 46)


def test_a_gain_is_called_so_and_has_its_sign(made_run: Any, text: Print) -> None:
    gain = decided(counted="pairs", value=0.02, low=-0.01, high=0.05, bar=-0.05)
    printed = text(gate_page(made_run(()), result(gain), {}), 100)
    assert "gain  " in printed
    assert "+0.020" in printed
    assert "how much better than the baseline" in printed
    assert "value or gain" in text(gate_page(made_run(()), result(gain, decided()), {}), 100)
    assert "gain" not in text(gate_page(made_run(()), result(decided()), {}), 100)
    assert "gain +0.020" in junit("run", result(gain), {}).decode()
    assert "gain +0.020" in gate_text("run", result(gain), {})
    written = gate_markdown("run", result(gain), {})
    assert "| gain |" in written
    assert "Gain: how much better" in written


def test_nothing_can_be_broken_where_all_inputs_are_the_same(
    text: Print, made_run: Callable[..., Any]
) -> None:
    same = result(decided(same=True, low=None, high=None, p=None, p_adjusted=None))
    for one, tried in ((result(decided()), True), (same, False)):
        assert ("Holm" in text(gate_page(made_run(()), one, {}), 100)) is tried
        assert ("Holm" in gate_markdown("run", one, {})) is tried
