"""Alarms: what fired, since when, after which deploy, and that it is over."""

from collections.abc import Mapping
from datetime import UTC, datetime

from .facts import Facts, Sentence, counted

DAY = 86_400.0


def moment(at: float, beside: float) -> str:
    """A time in UTC; with its day where that is not the one of another time told beside it.

    >>> moment(1_700_000_000, 1_700_000_060), moment(1_700_000_000, 1_700_100_000)
    ('22:13', '22:13 on 14 November')
    """
    one, other = (datetime.fromtimestamp(each, UTC) for each in (at, beside))
    clock = f"{one:%H:%M}"
    if one.date() == other.date():
        return clock
    year = "" if one.year == other.year else f" {one.year}"
    return f"{clock} on {one.day} {one:%B}{year}"


def length(seconds: float) -> str:
    """A length of time in two figures.

    >>> [length(one) for one in (0.2, 45, 60, 5_280, 7_200, 200_000)]
    ['1 second', '45 seconds', '1 minute', '88 minutes', '2 hours', '2 days']
    """
    for unit, size, least in (("day", DAY, 2 * DAY), ("hour", 3_600, 7_200), ("minute", 60, 60)):
        if seconds >= least:
            return _of(round(seconds / size), unit)
    return _of(max(1, round(seconds)), "second")


def _of(n: int, unit: str) -> str:
    return f"{n:,} {unit}{'' if n == 1 else 's'}"


def _where(facts: Facts) -> str:
    facet, equals, value = facts.get("slice", "").partition("=")
    return f" where {facet} is {value}" if equals else ""


def _spoken(facts: Facts) -> str:
    """The metric as it is said, which for the guard's checks is a share."""
    metric = facts["metric"]
    said = metric.removeprefix("guard_").replace("_", " ")
    if said == metric.replace("_", " "):
        return said
    if said == "ok":
        return "the share that passes all checks"
    return (
        "the guard's confidence"
        if said == "confidence"
        else f"the share that passes the check of {said}"
    )


def _since(facts: Facts) -> str:
    return f"{moment(float(facts['since']), float(facts['noticed']))} UTC"


def _bar(facts: Facts) -> str:
    """The bar, or what it was made of."""
    if "limit" not in facts:
        return _score(facts["bar"])
    sign = "−" if facts.get("better") == "+" else "+"
    return f"{_score(facts['limit'])} {sign} {_score(facts['margin'])}"


def _score(text: str) -> str:
    return f"{float(text):.3f}"


def _deploy(facts: Facts) -> str:
    if "version" not in facts or "version_at" not in facts:
        return ""
    at = moment(float(facts["version_at"]), float(facts["noticed"]))
    return f" Deploy {facts['version']} went out at {at}."


def _beyond_bar(facts: Facts) -> str:
    side = "below" if facts.get("better") == "+" else "above"
    noticed = float(facts["noticed"])
    late = length(noticed - float(facts["since"]))
    what = "conversation" if facts.get("unit") == "sessions" else "answer"
    judged = counted(facts, f"judged {what}", "answers")
    return (
        f"{_spoken(facts)}{_where(facts)} has been {side} its bar since {_since(facts)}: "
        f"{_score(facts['mean'])} in {judged} (bar {_bar(facts)}). It was noticed {late} "
        f"later.{_deploy(facts)}{_rule(facts)}"
    )


def _rule(facts: Facts) -> str:
    """The rule, where its name says more than the metric and the slice."""
    rule, metric = facts.get("rule", ""), facts["metric"]
    says_no_more = rule in ("", metric) or rule.startswith((f"{metric} by ", f"{metric}, "))
    return "" if says_no_more else f" Rule: {rule}."


def _no_traffic(facts: Facts) -> str:
    usual = f" Usually one comes every {length(float(facts['usual']))}." if "usual" in facts else ""
    last = "" if "last" in facts else ", and none ever did"
    return f"No answers have come in since {_since(facts)}{last}.{usual}"


def _no_scores(facts: Facts) -> str:
    missing = ""
    if facts.get("missing", "0") != "0":
        why = f" ({facts['said']})" if facts.get("said") else ""
        missing = f" The judge failed on {counted(facts, 'answer', 'missing')}{why}."
    what = "conversation" if facts.get("unit") == "sessions" else "answer"
    return (
        f"No {what}{_where(facts)} has got a score of {_spoken(facts)} since "
        f"{_since(facts)}, though answers come in.{missing}"
    )


def _due(facts: Facts) -> str:
    waits = facts.get("due", "0")
    if waits == "0":
        return ""
    return f" {counted(facts, 'answer', 'due')} {'waits' if waits == '1' else 'wait'}."


def _over(facts: Facts) -> str:
    fired, resolved = float(facts["fired"]), float(facts["resolved"])
    why = {
        "recovered": "its mean is above its bar again",
        "data_again": "data come again",
        "judging_again": "answers are judged again",
        "rule_changed": "its rule was changed or taken away",
        "by_hand": f"{facts.get('person') or 'somebody'} called it over",
    }.get(facts.get("over", ""), "it ended")
    if facts.get("over") == "recovered" and facts.get("better") == "-":
        why = "its mean is below its bar again"
    return (
        f"The alarm {facts['rule']}{_where(facts)} is over since {moment(resolved, fired)} UTC, "
        f"{length(resolved - fired)} after it fired: {why}."
    )


SENTENCES: Mapping[str, Sentence] = {
    "alarm_beyond_bar": _beyond_bar,
    "alarm_no_traffic": _no_traffic,
    "alarm_no_scores": _no_scores,
    "alarm_no_sign_of_life": lambda facts: (
        f"Judging stopped: the worker is dead, with no sign of life since {_since(facts)}."
        f"{_due(facts)}"
    ),
    "alarm_nothing_judged": lambda facts: (
        f"Judging stopped: no answer has been judged since {_since(facts)}.{_due(facts)}"
    ),
    "alarm_over": _over,
}
"""By code."""
