"""Rules page: alarm rules, their simulated delay until a fall is noticed, and a rule tried out."""

import time
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.escape import single_line
from ragstone.core.grouping import grouped
from ragstone.monitor.alarms.slice_rules import limit_for, share_of, shares_of
from ragstone.monitor.series.baselines import AlarmBar, bar_of_run, settled_bar
from ragstone.monitor.settings import DEFAULTS, AlarmPromise, AlarmRule, MonitorSettings
from ragstone.monitor.settings.alarm_rules import OWN_RULES, metric_range
from ragstone.monitor.store.scores import answers_together
from ragstone.monitor.store.stored_alarms import raised_alarms, silence, silenced_until
from ragstone.report.number_format import number, percent, short_name
from ragstone.stats.monitoring.detection_delay import Delay, Traffic, expected_delay
from ragstone.stats.monitoring.detector import Detector
from ragstone.web.page_request import Asked, Elsewhere, NotThere, WebPage
from ragstone.web.parts.choices_and_tabs import HERE
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import DAY, HOUR, View

EDGE = 0.001
MOST = 10_000


# The mean of a metric before and after it falls, on its own scale.
Fall = tuple[float, float]


def usual_fall(rule: AlarmRule, bar: float) -> Fall:
    """Return the fall that a rule's delay is told for.

    It begins half as far on the good side of the bar as the mean falls in all.
    """
    way = 1 if rule.better == "+" else -1
    above = rule.margin or rule.drop / 2
    scale = rule.range
    room = (scale.high - scale.low) * EDGE
    before = min(max(bar + way * above, scale.low + room), scale.high - room)
    after = min(max(before - way * rule.drop, scale.low + room), scale.high - room)
    return before, after


def rule_delay(
    rule: AlarmRule, bar: float, fall: Fall, promise: AlarmPromise, shares: int, rate: float
) -> Delay:
    """Return after how many judged answers a rule notices a fall, which has to be one."""
    before, after = (share_of(rule, mean) for mean in fall)
    if not after < before:
        raise InputError("A fall ends at a mean that is worse than the one before it.")
    before = min(max(before, EDGE), 1 - EDGE)
    after = min(max(after, EDGE / 2), before - EDGE / 4)
    at = min(max(share_of(rule, bar), EDGE), 1 - EDGE)
    detector = Detector(at, limit_for(promise, shares), rate)
    healthy = Traffic.of(before, probabilities=rate)
    return expected_delay(detector, healthy, before - after, most=MOST)


def judged_of(rule: AlarmRule) -> str:
    """Return what a rule looks at, in words."""
    return "judged conversations" if rule.of == "sessions" else "judged answers"


def in_words(delay: Delay, fall: Fall, of: str = "judged answers") -> str:
    """Return a delay as a sentence."""
    change = f"{number(fall[0])} → {number(fall[1])}"
    if delay.median is None:
        return (
            f"{change}: noticed within {delay.most:,} {of} in only "
            f"{100 * delay.noticed:.0f} of 100 falls"
        )
    later = f"9 of 10 after {delay.p90:,}" if delay.p90 else "and some much later"
    return f"{change}: half noticed after {delay.median:,} {of}, {later}"


PATIENCE = 0.5
SILENCES = {"1h": ("for an hour", HOUR), "8h": ("for 8 hours", 8 * HOUR), "1d": ("for a day", DAY),
            "7d": ("for a week", 7 * DAY), "0": ("no longer", 0.0)}  # fmt: skip
MOST_ALARMS = 500
LONGEST_NAME = 60
# The fields of the form that tries a rule, as they stand there first.
TYPED = {"metric": "faithfulness", "bar": "0.8", "before": "0.85", "after": "0.75",
         "false_alarms": "0.05", "answers": "10000", "rules": "1", "rate": "1"}  # fmt: skip

# The bar assumed for a margin's delay until a baseline gives one, with the metric's range as 1.
ASSUMED = 0.8


def rules_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show the rules."""
    watching = folder.watching()
    settings = watching.settings or DEFAULTS
    baseline = settings.baseline
    now = time.time()
    with watching.reading() as run:
        silenced = silenced_until(run, now)
        alarms = [alarm for alarm in raised_alarms(run, MOST_ALARMS) if alarm.firing]
        together = answers_together(run)
        bars = {
            rule.name: settled_bar(run, settings, rule, rule.slice)
            for rule in settings.rules
            if rule.bar is not None or baseline.run is None
        }
    firing = grouped((alarm.rule, alarm.number) for alarm in alarms)
    rules = [
        _shown(
            folder,
            settings,
            rule,
            (bars[rule.name],)
            if rule.bar is not None or baseline.run is None
            else _of_run(folder, rule, baseline.run, baseline.system),
            together.get(rule.name),
        )
        for rule in settings.rules
    ]
    rules += [_own(name, settings) for name in OWN_RULES]
    typed = {name: request.one(name, usual) for name, usual in TYPED.items()}
    tried, trouble, waits = None, "", False
    if request.one("metric"):
        try:
            tried = _tried(folder, typed)
            waits = tried is None
        except RagstoneError as error:
            trouble = error.text
    return WebPage(
        "monitor_rules.html",
        "Rules of the monitor",
        {
            "rules": rules,
            "firing": firing,
            "silenced": silenced,
            "known": watching.settings is not None,
            "file": str(settings.file) if settings.file else "",
            "silences": [(key, words) for key, (words, _) in SILENCES.items() if key != "0"],
            "given": typed,
            "tried": tried,
            "trouble": trouble,
            "waits": waits or any(rule["delay"] is None for rule in rules),
            "again": request.but(),
            "metrics": list(dict.fromkeys([*settings.judging.metrics, "guard_ok"])),
        },
        here=HERE,
    )


def change(folder: RunsFolder, request: Asked, form: Mapping[str, str]) -> Elsewhere:
    """Silence a rule, or tell again."""
    watching = folder.watching()
    rule, length = form.get("rule", ""), form.get("silence", "")
    names = [rule.name for rule in (watching.settings or DEFAULTS).rules]
    if rule not in (*names, *OWN_RULES):
        raise NotThere(f"There is no rule called {single_line(rule)[:80]!r}.")
    if length not in SILENCES:
        raise InputError("Choose for how long the rule is silent.")
    person = single_line(form.get("person", "").strip())[:LONGEST_NAME]
    now = time.time()
    with watching.writing() as run:
        silence(run, rule, now + SILENCES[length][1], person or "somebody")
    return Elsewhere(request.path)


def _shown(
    folder: RunsFolder,
    settings: MonitorSettings,
    rule: AlarmRule,
    settled_bar: tuple[AlarmBar | None] | None,
    together: float | None,
) -> View:
    """Return a rule; its ``settled_bar`` is None while that is read, and may have no value yet."""
    settled = None if settled_bar is None or settled_bar[0] is None else settled_bar[0].value
    promise = rule.promise or settings.promise
    shares = max(1, shares_of(settings, rule))
    scale, way = rule.range, ASSUMED if rule.better == "+" else 1 - ASSUMED
    bar = scale.low + way * (scale.high - scale.low) if settled is None else settled
    fall = usual_fall(rule, bar)
    rate = 1.0 if rule.metric.startswith("guard_") else settings.sampling.least

    def simulated() -> str:
        try:
            delay = rule_delay(rule, bar, fall, promise, shares, rate)
        except InputError as error:
            return error.text
        were = f", were the bar {number(bar)}" if settled is None else ""
        return in_words(delay, fall, judged_of(rule)) + were

    key = ("rule delay", rule, bar, settled is None, promise, shares, rate)
    sharing = 1 if rule.promise else max(1, settings.sharing)
    conversations = ", the mean of each conversation" if rule.of == "sessions" else ""
    return {
        "name": rule.name,
        "what": f"{short_name(rule.metric)}{_of_slice(rule)}{conversations}",
        "bar": _bar_words(rule, settings, settled),
        "promise": _promise_words(promise, sharing, judged_of(rule)) + slices_in_words(rule),
        "no_data": "an alarm too" if rule.no_data == "alarm" else "ignored",
        "delay": settled_bar and folder.later.get(key, simulated, PATIENCE),
        "together": None if rule.of == "sessions" else together,
    }


def _of_run(
    folder: RunsFolder, rule: AlarmRule, path: Path, system: str | None
) -> tuple[AlarmBar | None] | None:
    """Return the bar by the baseline run, which may have none; None while the run is read."""

    def read() -> tuple[AlarmBar | None]:
        try:
            return (bar_of_run(rule, path, system, rule.slice),)
        except InputError:
            return (None,)

    return folder.later.get(("bar of run", rule, path, system), read, PATIENCE)


def _own(name: str, settings: MonitorSettings) -> View:
    what = {"traffic": "whether anything comes", "judging": "whether what is due is judged"}
    no_data = settings.no_data
    wait = f"nothing for {no_data.after / 60:.0f} min, or {no_data.times:g} times the usual gap"
    bar = wait if no_data.policy == "alarm" else "switched off"
    return {"name": name, "what": what.get(name, name), "bar": bar, "promise": "", "no_data": "",
            "delay": "", "together": None}  # fmt: skip


def _of_slice(rule: AlarmRule) -> str:
    if rule.facet is None:
        return ""
    return f", {rule.facet} {rule.value}" if rule.value else f", each {rule.facet}"


def _bar_words(rule: AlarmRule, settings: MonitorSettings, settled: float | None) -> str:
    worse = "below" if rule.better == "+" else "above"
    if rule.bar is not None:
        return f"{worse} {number(rule.bar)}"
    now = "" if settled is None else f": {number(settled)} now"
    run = settings.baseline.run
    of = (
        f"of {run.name}" if run else f"of its first {settings.baseline.answers:,} {judged_of(rule)}"
    )
    return (
        f"more than {number(rule.margin or 0)} {worse} the mean {of}, at its confidence limit{now}"
    )


def _promise_words(promise: AlarmPromise, shares: int, of: str) -> str:
    among = f", shared by {shares} rules" if shares > 1 else ""
    if promise.false_alarms is None:
        return f"false alarms {promise.answers:,.0f} {of} apart or more{among}"
    return (
        f"at most {percent(promise.false_alarms)} for a false alarm in "
        f"{promise.answers:,.0f} {of}{among}"
    )


def slices_in_words(rule: AlarmRule) -> str:
    """Say how a rule's slices share its promise; nothing where no more of them can come."""
    several = rule.facet is not None and rule.value is None
    return f"; the k-th {rule.facet} to appear gets 1/(k(k+1)) of it" if several else ""


def _tried(folder: RunsFolder, typed: Mapping[str, str]) -> View | None:
    metric = typed["metric"].strip()
    scale = metric_range(metric)
    if not (isfinite(scale.low) and isfinite(scale.high)):
        raise InputError(f"{metric} has no least and greatest value; no alarm can watch it.")
    better = "-" if scale.better == "-" else "+"
    rule = AlarmRule(metric, metric, better=better)  # type: ignore[arg-type]
    bar, before, after = (_number(typed, name) for name in ("bar", "before", "after"))
    for name, value in (("bar", bar), ("before", before), ("after", after)):
        if not scale.low < value < scale.high:
            raise InputError(
                f"{_SAID[name]} lies between {scale.low:g} and {scale.high:g}, got {value:g}."
            )
    if share_of(rule, before) < share_of(rule, bar):
        raise InputError("The mean before the fall is worse than the bar: it would be an alarm.")
    share, answers = _number(typed, "false_alarms"), _number(typed, "answers")
    rules, rate = _number(typed, "rules"), _number(typed, "rate")
    if not (0 < share < 1 and 1 <= answers <= 1e9 and 1 <= rules <= 10_000 and 0.05 <= rate <= 1):
        raise InputError(
            "False alarms are a share between 0 and 1, answers and rules with their slices 1 or "
            "more, and the probability to be judged from 0.05 to 1."
        )
    promise, fall = AlarmPromise(share, int(answers)), (before, after)
    rule = replace(rule, bar=bar, drop=abs(before - after))
    key = ("tried rule", rule, promise, fall, int(rules), rate)
    delay = folder.later.get(
        key, lambda: rule_delay(rule, bar, fall, promise, int(rules), rate), PATIENCE
    )
    if delay is None:
        return None
    lines = ["[[rule]]", f'metric = "{rule.metric}"', f"bar = {bar:g}", f"drop = {rule.drop:g}"]
    if rules == 1:
        lines += ["", "[rule.promise]", f"false_alarms = {share:g}", f"answers = {answers:.0f}"]
    else:
        lines += ["", "# beside the other rules, once in the file:", "[promise]",
                  f"false_alarms = {share:g}", f"answers = {answers:.0f}"]  # fmt: skip
    return {"words": in_words(delay, fall), "lines": "\n".join(lines)}


_SAID = {
    "bar": "The bar",
    "before": "The mean before",
    "after": "The mean after",
    "false_alarms": "The share of false alarms",
    "answers": "The number of answers",
    "rules": "The number of rules",
    "rate": "The probability to be judged",
}


def _number(typed: Mapping[str, str], name: str) -> float:
    try:
        value = float(typed[name])
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InputError(f"{_SAID[name]}: a number is expected, got {typed[name][:40]!r}.")
    return value
