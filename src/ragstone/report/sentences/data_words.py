"""Data words: sentences on data, evidence, labels, alarms and what arrives from production."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from ragstone.core.messages import Reason, argument

from . import Facts, Sentence, and_more, count, counted, plain, several


def _lists_spelled(facts: Facts) -> str:
    return f"JSON text was read as the lists that it spells: {_each(facts, 'fields')}."


def _numbers_as_texts(facts: Facts) -> str:
    return f"Numbers were read as texts: {_each(facts, 'columns')}."


def _thoughts_taken_off(facts: Facts) -> str:
    answers = counted(facts, "answer") if "n" in facts else "The answer"
    return (
        f"{answers} had thoughts in think tags, which are not judged; "
        f"{argument('keep_thoughts', True)} judges them too."
    )


def _pictures_not_read(facts: Facts) -> str:
    have = "has" if facts["n"] == "1" else "have"
    return (
        f"{counted(facts, 'example')} {have} contexts that are pictures, by a file name, an "
        "address or as data, which no judge reads; what needs their text is undefined."
    )


def _ids_and_texts(facts: Facts) -> str:
    return (
        f"Ids of contexts stand beside texts: {_each(facts, 'columns')}. The ids were read as "
        "relevant contexts, the texts as evidence."
    )


def _each(facts: Facts, name: str) -> str:
    found = [one.rpartition("=") for one in several(facts, name)]
    return ", ".join(f"{what} ({_records(n)})" for what, _, n in found)


def _read_as_windows(facts: Facts) -> str:
    words = ", ".join(several(facts, "words"))
    return (
        f"{facts['file']} is not in UTF-8. It was read as Windows-1252 (Western European): "
        f"{words}. If these look wrong, save it as UTF-8."
    )


def _no_field(facts: Facts) -> str:
    column, field, n = facts["column"], facts["field"], facts["n"]
    return (
        f"The column {column} is no field, and {_records(n)} with it "
        f"{'has' if n == '1' else 'have'} no {field}: did you mean {field}? "
        f"{argument('columns', {field: column})}"
    )


def _records(n: str) -> str:
    return counted({"n": n}, "record")


def _ids_repeat(facts: Facts) -> str:
    text = "Ids repeat over systems: an id is the question's, and an example is ID/SYSTEM."
    if not facts.get("differing"):
        return text
    stand = "stands" if facts["differing"] == "1" else "stand"
    return (
        f"{text} But {counted(facts, 'id', 'differing')} {stand} for other questions in other "
        f"systems, {facts['first']} first: if they are other questions, give each its own id, for "
        "systems are compared question by question."
    )


def _not_the_metric(facts: Facts) -> str:
    text = "values that the metric of this name cannot have; taken as a column of your own"
    if column := facts.get("scale"):
        text += f"; as ratings of it: {argument('scales', {column: 'FIRST:LAST'})}"
    return f"{text}."


def _like_a_label(facts: Facts) -> str:
    label = facts["label"]
    return (
        f"taken as a column of your own. If it is the label {label}: "
        f"{argument('columns', {label: facts['column']})}."
    )


def _ratings(facts: Facts) -> str:
    ends = f"from {facts['first']} to {facts['last']}"
    text = f"ratings {ends}, brought to {facts['low']} to {facts['high']}"
    if metric := facts.get("guessed"):
        other = argument("scales", {metric: "FIRST:LAST"})
        return f"taken for {text}. Is it another scale? {other}."
    return f"{text}."


def _two_labels(facts: Facts) -> str:
    some = [
        f"{column} of {example} by {who or 'an annotator without a name'} ({first} and {second})"
        for column, example, who, first, second in json.loads(facts["labels"])
    ]
    return f"two labels by one annotator count for nobody: {'; '.join(some)}{and_more(facts)}."


def _labels_not_used(facts: Facts) -> str:
    what = "no such context" if facts["lacks"] == "context" else "no such example"
    some = f"{', '.join(several(facts, 'examples'))}{and_more(facts)}"
    is_ = "is" if facts["n"] == "1" else "are"
    labels = counted(facts, "label")
    return f"{labels} of {facts['source']} {is_} not used: {what} in the data ({some})."


DATA_SENTENCES: Mapping[str, Sentence] = {
    "lists_spelled": _lists_spelled,
    "numbers_as_texts": _numbers_as_texts,
    "thoughts_taken_off": _thoughts_taken_off,
    "pictures_not_read": _pictures_not_read,
    "contexts_are_pictures": plain("the contexts are pictures, which no judge reads"),
    "ids_and_texts": _ids_and_texts,
    "read_as_windows": _read_as_windows,
    "no_field": _no_field,
    "ids_repeat": _ids_repeat,
    "alias": lambda facts: f"{facts['alias']} is {facts['metric']} here: {facts['meaning']}.",
    "not_the_metric": _not_the_metric,
    "like_a_label": _like_a_label,
    "ratings": _ratings,
    "no_single_values": plain("left out, no single values."),
    "free_text": lambda facts: (
        f"left out, more than {facts['most']} different texts, or long ones."
    ),
    "no_cell_filled": lambda facts: (
        f"no cell of {' or '.join(several(facts, 'columns'))} is filled."
    ),
    "rows_without_label": lambda facts: (
        f"{count(facts)} of {count(facts, 'rows')} rows "
        f"{'holds' if facts['n'] == '1' else 'hold'} no label."
    ),
    "labels_by_system": plain("ids repeat over systems: a label is of the example ID/SYSTEM."),
    "two_labels_of_one": _two_labels,
    "labels_not_used": _labels_not_used,
    # Why a label does not count although nobody discarded it.
    "two_labels": plain("two labels by one annotator"),
    "same_twice": plain("the same label twice"),
    "no_example": plain("no such example"),
    "no_context": plain("no such context"),
}


def _of_words(facts: Facts, what: str) -> str:
    parts = [f"{facts['n']} of {facts['words']} {what}"]
    parts += [f"not {facts['lost']}"] if facts.get("lost") else []
    parts += [f"aligned {facts['aligned']}"] if facts.get("aligned") else []
    parts += [f"{facts['other_number']} is not its number"] if facts.get("other_number") else []
    return "; ".join(parts)


def _words_in_contexts(facts: Facts) -> str:
    places = [
        f"{noun if len(numbers) == 1 else f'{noun}s'} {' and '.join(numbers)}"
        for noun, given in (("context", facts.get("contexts")), ("turn", facts.get("turns")))
        if (numbers := (given or "").split(",")) != [""]
    ]
    parts = [f"{facts['n']} of {facts['words']} content words in {' and '.join(places)}"]
    if not places:
        one = facts["words"] == "1"
        none = "its one content word is not" if one else f"none of {facts['words']} content words"
        parts = [f"{none} in the contexts"]
    for name, word in (("aligned", "aligned"), ("numbers", "new number"), ("names", "new name")):
        parts += [f"{word} {facts[name]}"] if facts.get(name) else []
    if against := facts.get("against"):
        why = Reason.read(against)
        parts.append(EVIDENCE_SENTENCES[why.code](why.facts))
    return "; ".join(parts)


def _entailed(facts: Facts) -> str:
    windows = counted(facts, "window", "windows")
    entailment = f"entailment {facts['entailment']} at best in {windows}"
    denied = facts.get("contradiction")
    return f"contradiction {denied}, {entailment}" if denied else entailment


EVIDENCE_SENTENCES: Mapping[str, Sentence] = {
    "words_in_contexts": _words_in_contexts,
    "no_contexts_to_read": plain("no contexts"),
    "no_words_to_look_for": plain("no content words to look for"),
    "context_says": lambda facts: f"the context says {facts['word']}",
    "only_one_denies": plain("only one of the two denies"),
    "words_of_reference": lambda facts: _of_words(facts, "words of the reference"),
    "words_in_reference": lambda facts: _of_words(facts, "words in the reference"),
    "nothing_beyond_question": plain("nothing beyond the question"),
    "reference_without_words": plain("the reference holds no words"),
    "opens_alike": plain("the answer opens with the same word"),
    "opens_otherwise": plain("the answer opens with the other word"),
    "does_not_open_with": lambda facts: f"the answer does not open with {facts['word']}",
    "word_for_word": plain("word for word"),
    "not_word_for_word": plain("not word for word"),
    "question_words": lambda facts: _of_words(facts, "question words"),
    "question_without_words": plain("the question has no content words"),
    "answer_is_empty": plain("the answer is empty"),
    "whole_answer": lambda facts: f"the whole answer is “{facts['words']}”",
    "it_says": lambda facts: f"it says “{facts['words']}”",
    "it_asks": lambda facts: f"it asks “{facts['words']}”",
    "no_sign_of_inability": plain("no sign of inability, refusal or a question back"),
    "says_and_commits": lambda facts: f"it says “{facts['words']}” and then commits to an answer",
    "says_and_names_nothing": lambda facts: f"it says “{facts['words']}” and names nothing",
    "says_and_tells_more": lambda facts: f"it says “{facts['words']}” and tells something else",
    "preface_then_answer": plain("a preface about being a language model, then an answer"),
    "entailed": _entailed,
    "nothing_to_read": plain("nothing to read"),
    "nothing_retrieved": plain("nothing was retrieved"),
    "empty_text": plain("an empty text resembles nothing"),
    "follows_from": lambda facts: f"follows from {facts['ask']}",
    "labels_left_open": plain(
        "what the person left open follows from their other labels or from a rule"
    ),
    "follows_from_whole": plain("follows from a person's label of the whole answer"),
}


LABEL_SENTENCES: Mapping[str, Sentence] = {
    "looked_at_again": lambda facts: (
        "labels are still coming: do not stop because this interval looks good; from "
        f"{count(facts, 'first')} labels on ({count(facts)} so far) it holds at every look"
    ),
    "alike_so_far": plain(
        "labels are still coming: do not stop because this interval looks good; it will hold at "
        "every look once more labels differ from the most frequent one"
    ),
    "riskiest_first": plain(
        "the riskiest are labelled first, so until all are labelled this is of them and not of all"
    ),
    "left_open_so_far": lambda facts: (
        f"people left {count(facts)} of {count(facts, 'asked')} open, seldom by chance: the mean "
        f"of all lies from {facts['least']} to {facts['most']}, whatever these are"
    ),
    "of_the_likelier": plain(
        "some were likelier to be labelled than others, such as those on which the judge is in "
        "doubt, so agreement is of these more than of all"
    ),
    "chances_known_in_part": plain(
        "with which probability it came to be labelled is known of some and not of others"
    ),
    "labelled_not_drawn": plain(
        "what is labelled was chosen, not drawn, so its share says nothing of all"
    ),
    "nothing_labelled": plain("nothing is labelled yet"),
    "all_split": plain("people are split on every one"),
    "labels_of_chosen": lambda facts: (
        f"{facts['queue']}: its examples were chosen ({facts['how']}), not drawn, so a mean over "
        "its labels, or one that they correct, says nothing of all examples."
    ),
    "labels_of_riskiest": lambda facts: (
        f"{facts['queue']}: the riskiest examples are labelled first. Until all are labelled, a "
        "mean over these labels, or one that they correct, says nothing of all examples."
    ),
    "labels_still_coming": lambda facts: (
        f"{facts['queue']}: people have {counted(facts, 'item')} still to label. The "
        "intervals hold if you look once; they mislead if you stop labelling when they look good."
    ),
}


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
    if "limit" not in facts:
        return _score(facts["bar"])
    sign = "−" if facts.get("better") == "+" else "+"
    return f"{_score(facts['limit'])} {sign} {_score(facts['margin'])}"


def _score(text: str) -> str:
    return f"{float(text):.3f}"


def _deploy(facts: Facts) -> str:
    deploys = [line.partition(" ") for line in facts.get("deploys", "").splitlines()]
    clocks = [moment(float(at), float(facts["noticed"])) for at, _, _ in deploys]
    if len(deploys) == 1:
        return f" Deploy {deploys[0][2]} went out at {clocks[0]}."
    named = (f"{deploy[2]} ({clock})" for deploy, clock in zip(deploys, clocks, strict=True))
    return f" It may have begun with one of these deploys: {', '.join(named)}." if deploys else ""


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


ALARM_SENTENCES: Mapping[str, Sentence] = {
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


MONITOR_SENTENCES: Mapping[str, Sentence] = {
    "body_not_json": plain("it is no JSON"),
    "not_otlp": plain("it is not what OTLP sends"),
    "bad_trace_id": plain("the trace's id is not 16 bytes, or all of them are zero"),
    "bad_span_id": plain("a span's id is not 8 bytes, or all of them are zero"),
    "absurd_time": plain("its times are not from 2000 to 2100, or it ends before it begins"),
    "too_many_attributes": plain("it has more attributes than are taken in"),
    "span_too_long": plain("it is longer than what is taken in"),
    "too_many_in_body": plain("the request has more of them than are taken in at once"),
    "name_too_long": plain("the name of its trace is longer than what is taken in"),
    "unreadable_line": plain("the line cannot be read"),
    "log_without_trace": plain("the log record does not say to which trace it belongs"),
    "faulty_example": lambda facts: (
        f"{facts.get('field') or 'the record'}: expected {facts.get('expected', '')}, "
        f"got {facts.get('got', '')}"
    ),
    "judging_shed": lambda facts: (
        f"it waited {facts['hours']} hours for its turn to be judged, and was given up"
    ),
    "judging_failed": lambda facts: f"judging it failed ({facts['error']})",
    "judging_died": plain("the process ended each time that it was judged"),
    "no_bounds": plain("its values have no least and no greatest, which a band needs"),
    "too_few_to_compare": lambda facts: (
        f"too few answers to compare: {facts.get('now', '0')} now and {facts.get('before', '0')} "
        "before"
    ),
    "example_not_readable": plain("what is kept of it cannot be read"),
    "rule_changed": plain("the rule has another metric, direction or bar now"),
    "rule_gone": plain("the rule, or its slice, is watched no more"),
    "judge_changed": lambda facts: (
        f"the judge was {facts.get('before', '')} and is {facts.get('after', '')} now"
    ),
}
"""By code."""
