"""What an alarm says in words."""

import pytest

from ragstone.core.messages import reason
from ragstone.report.reason_words import words


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("faithfulness", "faithfulness has been below"),
        ("guard_ok", "the share that passes all checks has been below"),
        ("guard_numbers", "the share that passes the check of numbers has been below"),
        ("guard_confidence", "the guard's confidence has been below"),
    ],
)
def test_an_alarm_names_its_metric_as_the_pages_do(metric: str, said: str) -> None:
    fired = reason(
        "alarm_beyond_bar", metric=metric, better="+", since=1_700_000_000.0,
        noticed=1_700_000_600.0, slice="", mean=0.5, answers=40, bar=0.8,
    )  # fmt: skip
    assert words(fired).startswith(f"{said} its bar since 22:13 UTC: 0.500 in 40 judged answers")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("faithfulness", False),
        ("faithfulness by language", False),
        ("faithfulness, language=de", False),
        ("strict", True),
    ],
)
def test_an_alarm_names_its_rule_where_the_name_says_more(rule: str, said: bool) -> None:
    fired = reason(
        "alarm_beyond_bar", metric="faithfulness", better="+", since=1_700_000_000.0, rule=rule,
        noticed=1_700_000_600.0, slice="language=de", mean=0.5, answers=40, bar=0.8,
    )  # fmt: skip
    assert (f" Rule: {rule}." in words(fired)) == said


def test_a_rule_of_conversations_says_so() -> None:
    fired = reason(
        "alarm_beyond_bar", metric="faithfulness", better="+", since=1_700_000_000.0,
        noticed=1_700_000_600.0, slice="", mean=0.5, answers=40, bar=0.8, unit="sessions",
    )  # fmt: skip
    assert words(fired).startswith("faithfulness has been below its bar since 22:13 UTC: ")
    assert "0.500 in 40 judged conversations" in words(fired)


def test_an_alarm_names_the_deploys_that_may_have_begun_it() -> None:
    def said(deploys: str) -> str:
        return words(reason(
            "alarm_beyond_bar", metric="faithfulness", better="+", since=1_700_000_000.0,
            noticed=1_700_000_600.0, slice="", mean=0.5, answers=40, bar=0.8, deploys=deploys,
        ))  # fmt: skip

    assert "eploy" not in said("")
    assert said("1699999990 v 42").endswith(" Deploy v 42 went out at 22:13.")
    assert said("1699999990 v42\n1700000000 v43").endswith(
        " It may have begun with one of these deploys: v42 (22:13), v43 (22:13)."
    )
