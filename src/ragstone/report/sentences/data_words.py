"""Data words: sentences on data, evidence, labels, alarms and what arrives from production."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from ragstone.core.messages import argument
from ragstone.report.number_format import counted

from . import Facts, Sentence, told


def _thoughts_taken_off(facts: Facts) -> str:
    answers = f"{facts['n']:answer}" if "n" in facts else "The answer"
    return (
        f"{answers} had thoughts in think tags, which were taken off before judging; "
        f"{argument('keep_thoughts', True)} has them judged with the answer."
    )


def _answers_structured(facts: Facts) -> str:
    path = argument("columns", {"answer": facts["paths"].lines[0]})
    return (
        f"{facts['n']:answer} {facts['n']:is a JSON object and is|are JSON objects and are} judged "
        f"as JSON. If one field is the answer, give its path: {path}. Possible paths: "
        f"{facts['paths']:list}."
    )


def _no_field(facts: Facts) -> str:
    column, field, n = facts["column"], facts["field"], facts["n"]
    return (
        f"The column {column} is no field, and {n:record} with it {n:has|have} no {field}: did you "
        f"mean {field}? {argument('columns', {field: column})}"
    )


def _not_the_metric(facts: Facts) -> str:
    text = "values that the metric of this name cannot have; taken as a column of your own"
    if column := facts.get("scale"):
        text += f"; as ratings of it: {argument('scales', {column: 'FIRST:LAST'})}"
    return f"{text}."


def _like_a_label(facts: Facts) -> str:
    label = facts["label"]
    column = argument("columns", {label: facts["column"]})
    return f"taken as a column of your own. If it is the label {label}: {column}."


def _ratings(facts: Facts) -> str:
    ends = f"from {facts['first']} to {facts['last']}"
    text = f"ratings {ends}, brought to {facts['low']} to {facts['high']}"
    metric = facts.get("guessed")
    if not metric:
        return f"{text}."
    return f"taken for {text}. Is it another scale? {argument('scales', {metric: 'FIRST:LAST'})}."


def _two_labels(facts: Facts) -> str:
    some = [
        f"{column} of {example} by {who or 'an annotator without a name'} ({first} and {second})"
        for column, example, who, first, second in json.loads(facts["labels"])
    ]
    more = told("[ and {more:,} more]", facts)
    return f"two labels by one annotator count for nobody: {'; '.join(some)}{more}."


DATA_SENTENCES: Mapping[str, Sentence] = {
    "lists_spelled": "Text that spells a list was read as that list: {fields:each}.",
    "numbers_as_texts": "Numbers were read as texts: {columns:each}.",
    "thoughts_taken_off": _thoughts_taken_off,
    "pictures_not_read": (
        "{n:example} {n:has|have} contexts that are pictures (a file name, an address, or the "
        "data itself). No judge reads pictures, so what needs their text is undefined."
    ),
    "contexts_are_pictures": "the contexts are pictures, which no judge reads",
    "ids_and_texts": (
        "Ids of contexts stand beside texts: {columns:each}. The ids were read as relevant "
        "contexts, the texts as evidence."
    ),
    "contexts_in_meta": "Contexts were read from the metadata: {columns:each}.",
    "contexts_of_tools": "The results of these tools were read as contexts: {columns:each}.",
    "objects_as_texts": lambda facts: (
        f"JSON objects were read as texts: {facts['columns']:each}. If you mean one field of "
        f"them, give its path: {argument('columns', {'FIELD': '$.COLUMN.KEY'})}."
    ),
    "contexts_joined": (
        "Text that may be several contexts was read as one: {columns:each}. If it is "
        "several, separated by a mark such as | or ;, write them as a JSON list."
    ),
    "no_contexts_in_prompts": (
        "{n:conversation} {n:has|have} no contexts, so retrieval is not measured: contexts are "
        "read from fields, metadata and results of tools, never from a prompt."
    ),
    "answers_structured": _answers_structured,
    "answers_are_json": (
        "{n:answer} {n:is|are} JSON, such as an object or a number, and {n:is|are} judged as "
        "written."
    ),
    "read_as_windows": (
        "{file} is not in UTF-8. It was read as Windows-1252 (Western European): {words:list}. If "
        "these look wrong, save it as UTF-8."
    ),
    "no_field": _no_field,
    "ids_repeat": (
        "Ids repeat over systems: an id is the question's, and an example is ID/SYSTEM.[ But "
        "{differing:id} {differing:stands|stand} for other questions in other systems, {first} "
        "first: if they are other questions, give each its own id, for systems are compared "
        "question by question.]"
    ),
    "alias": "{alias} is {metric} here: {meaning}.",
    "not_the_metric": _not_the_metric,
    "like_a_label": _like_a_label,
    "ratings": _ratings,
    "no_single_values": "left out, no single values.",
    "free_text": "left out, more than {most} different texts, or long ones.",
    "no_cell_filled": "no cell of {columns:or} is filled.",
    "rows_without_label": "{n:,} of {rows:,} rows {n:holds|hold} no label.",
    "labels_by_system": "ids repeat over systems: a label is of the example ID/SYSTEM.",
    "two_labels_of_one": _two_labels,
    "labels_not_used": (
        "{n:label} of {source} {n:is|are} not used: no such {lacks} in the data ({examples:list}"
        "[ and {more:,} more])."
    ),
    # Why a label does not count although nobody discarded it.
    "two_labels": "two labels by one annotator",
    "same_twice": "the same label twice",
    "no_example": "no such example",
    "no_context": "no such context",
}


def _words_in_contexts(facts: Facts) -> str:
    places = [
        f"{noun}{'s' * (',' in numbers)} {numbers.replace(',', ' and ')}"
        for noun, numbers in (("context", facts.get("contexts")), ("turn", facts.get("turns")))
        if numbers
    ]
    if places:
        first = f"{facts['n']} of {facts['words']} content words in {' and '.join(places)}"
    elif facts["words"] == "1":
        first = "its one content word is not in the contexts"
    else:
        first = f"none of {facts['words']} content words in the contexts"
    return first + told(
        "[; aligned {aligned}][; new number {numbers}][; new name {names}][; {against:words}]",
        facts,
    )


# Words that were not found, how well the vectors match, and a number that is another.
MATCH = "[; not {lost}][; aligned {aligned}][; {other_number} is not its number]"

EVIDENCE_SENTENCES: Mapping[str, Sentence] = {
    "words_in_contexts": _words_in_contexts,
    "no_contexts_to_read": "no contexts",
    "no_words_to_look_for": "no content words to look for",
    "context_says": "the context says {word}",
    "only_one_denies": "only one of the two denies",
    "words_of_reference": "{n} of {words} words of the reference" + MATCH,
    "words_in_reference": "{n} of {words} words in the reference" + MATCH,
    "nothing_beyond_question": "nothing beyond the question",
    "reference_without_words": "the reference holds no words",
    "opens_alike": "the answer opens with the same word",
    "opens_otherwise": "the answer opens with the other word",
    "does_not_open_with": "the answer does not open with {word}",
    "word_for_word": "word for word",
    "not_word_for_word": "not word for word",
    "question_words": "{n} of {words} question words" + MATCH,
    "question_without_words": "the question has no content words",
    "answer_is_empty": "the answer is empty",
    "whole_answer": "the whole answer is “{words}”",
    "it_says": "it says “{words}”",
    "it_asks": "it asks “{words}”",
    "no_sign_of_inability": "no sign of inability, refusal or a question back",
    "says_and_commits": "it says “{words}” and then commits to an answer",
    "says_and_names_nothing": "it says “{words}” and names nothing",
    "says_and_tells_more": "it says “{words}” and tells something else",
    "preface_then_answer": "a preface about being a language model, then an answer",
    "entailed": (
        "[contradiction {contradiction}, ]entailment {entailment} at best in {windows:window}"
    ),
    "nothing_to_read": "nothing to read",
    "nothing_retrieved": "nothing was retrieved",
    "empty_text": "an empty text resembles nothing",
    "follows_from": "follows from {ask}",
    "labels_left_open": "what the person left open follows from their other labels or from a rule",
    "follows_from_whole": "follows from a person's label of the whole answer",
}


LABEL_SENTENCES: Mapping[str, Sentence] = {
    "looked_at_again": (
        "labels are still coming: do not stop because this interval looks good; from {first:,} "
        "labels on ({n:,} so far) it holds at every look"
    ),
    "alike_so_far": (
        "labels are still coming: do not stop because this interval looks good; it will hold at "
        "every look once more labels differ from the most frequent one"
    ),
    "riskiest_first": (
        "the riskiest are labelled first, so until all are labelled this is of them and not of all"
    ),
    "left_open_so_far": (
        "people left {n:,} of {asked:,} open, perhaps not by chance: whatever their labels "
        "would be, the mean of all lies between {least} and {most}"
    ),
    "of_the_likelier": (
        "some were likelier to be labelled than others, such as those on which the judge is in "
        "doubt, so agreement is of these more than of all"
    ),
    "chances_known_in_part": (
        "with which probability it came to be labelled is known of some and not of others"
    ),
    "labelled_not_drawn": (
        "what is labelled was chosen, not drawn, so its share says nothing of all"
    ),
    "nothing_labelled": "nothing is labelled yet",
    "all_split": "people are split on every one",
    "labels_of_chosen": (
        "{queue}: its examples were chosen ({how}), not drawn, so a mean over its labels, or one "
        "that they correct, says nothing of all examples."
    ),
    "labels_of_riskiest": (
        "{queue}: the riskiest examples are labelled first. Until all are labelled, a mean over "
        "these labels, or one that they correct, says nothing of all examples."
    ),
    "queues_drawn_apart": (
        "The labels are those of the queue {queue} alone: it and {others} drew the same answers "
        "with different probabilities. ragstone calibrate RUN --labels labels.sqlite#QUEUE takes "
        "another queue."
    ),
    "labels_still_coming": (
        "{queue}: people have {n:item} still to label. The intervals hold if you look once; they "
        "mislead if you stop labelling when they look good."
    ),
}


DAY = 86_400.0


def moment(at: float, beside: float) -> str:
    """Return a time in UTC, with its day where the time told beside it is of another.

    >>> moment(1_700_000_000, 1_700_000_060), moment(1_700_000_000, 1_700_100_000)
    ('22:13', '22:13 on 14 November')
    """
    time, other = (datetime.fromtimestamp(each, UTC) for each in (at, beside))
    clock = f"{time:%H:%M}"
    if time.date() == other.date():
        return clock
    year = "" if time.year == other.year else f" {time.year}"
    return f"{clock} on {time.day} {time:%B}{year}"


def length(seconds: float) -> str:
    """Return a length of time in two figures.

    >>> [length(seconds) for seconds in (0.2, 45, 60, 5_280, 7_200, 200_000)]
    ['1 second', '45 seconds', '1 minute', '88 minutes', '2 hours', '2 days']
    """
    for unit, size, least in (("day", DAY, 2 * DAY), ("hour", 3_600, 7_200), ("minute", 60, 60)):
        if seconds >= least:
            return counted(round(seconds / size), unit)
    return counted(max(1, round(seconds)), "second")


def _where(facts: Facts) -> str:
    facet, equals, value = facts.get("slice", "").partition("=")
    return f" where {facet} is {value}" if equals else ""


def _metric(facts: Facts) -> str:
    metric = facts["metric"]
    check = metric.removeprefix("guard_").replace("_", " ")
    if not metric.startswith("guard_"):
        return check
    if check == "ok":
        return "the share that passes all checks"
    if check == "confidence":
        return "the guard's confidence"
    return f"the share that passes the check of {check}"


def _since(facts: Facts) -> str:
    return f"{moment(float(facts['since']), float(facts['noticed']))} UTC"


def _bar(facts: Facts) -> str:
    sign = "−" if facts.get("better") == "+" else "+"
    return told("{limit:.3f} " + sign + " {margin:.3f}" if "limit" in facts else "{bar:.3f}", facts)


def _deploy(facts: Facts) -> str:
    deploys = [line.partition(" ") for line in facts.get("deploys", "").splitlines()]
    noticed = float(facts["noticed"])
    names = [(name, moment(float(at), noticed)) for at, _, name in deploys]
    if len(names) == 1:
        return f" Deploy {names[0][0]} went out at {names[0][1]}."
    each = ", ".join(f"{name} ({clock})" for name, clock in names)
    return f" It may have begun with one of these deploys: {each}." if each else ""


def _unit(facts: Facts) -> str:
    return "conversation" if facts.get("unit") == "sessions" else "answer"


def _beyond_bar(facts: Facts) -> str:
    side = "below" if facts.get("better") == "+" else "above"
    late = length(float(facts["noticed"]) - float(facts["since"]))
    judged = format(facts["answers"], f"judged {_unit(facts)}")
    return (
        f"{_metric(facts)}{_where(facts)} has been {side} its bar since {_since(facts)}: "
        f"{facts['mean']:.3f} in {judged} (bar {_bar(facts)}). It was noticed {late} "
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
    failed = told("[ The judge failed on {missing:answer}]", facts)
    failed += told("[ ({said})].", facts) if failed else ""
    return (
        f"No {_unit(facts)}{_where(facts)} has got a score of {_metric(facts)} since "
        f"{_since(facts)}, though answers come in.{failed}"
    )


def _due(facts: Facts) -> str:
    return told("[ {due:answer} {due:waits|wait}.]", facts)


def _over(facts: Facts) -> str:
    fired, resolved = float(facts["fired"]), float(facts["resolved"])
    side = "below" if facts.get("better") == "-" else "above"
    why = {
        "recovered": f"its mean is {side} its bar again",
        "data_again": "data come again",
        "judging_again": "answers are judged again",
        "rule_changed": "its rule was changed or taken away",
        "by_hand": f"{facts.get('person') or 'somebody'} called it over",
    }.get(facts.get("over", ""), "it ended")
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


MONITOR_SENTENCES: Mapping[str, Sentence] = {
    "body_not_json": "it is no JSON",
    "not_otlp": "it is not what OTLP sends",
    "otlp_not_installed": "OTLP needs an extra: pip install 'ragstone[otlp]'",
    "bad_trace_id": "the trace's id is not 16 bytes, or all of them are zero",
    "bad_span_id": "a span's id is not 8 bytes, or all of them are zero",
    "absurd_time": "its times are not from 2000 to 2100, or it ends before it begins",
    "too_many_attributes": "it has more attributes than are taken in",
    "span_too_long": "it is longer than what is taken in",
    "too_many_in_body": "the request has more of them than are taken in at once",
    "name_too_long": "the name of its trace is longer than what is taken in",
    "unreadable_line": "the line cannot be read",
    "log_without_trace": "the log record does not say to which trace it belongs",
    "faulty_example": lambda facts: (
        f"{facts.get('field') or 'the record'}: expected {facts.get('expected', '')}, "
        f"got {facts.get('got', '')}"
    ),
    "judging_shed": "it waited {hours} hours for its turn to be judged, and was given up",
    "judging_failed": "judging it failed ({error})",
    "judging_died": "the process ended each time that it was judged",
    "no_bounds": "its values have no least and no greatest, which a band needs",
    "example_not_readable": "what is kept of it cannot be read",
    "rule_changed": "the rule has another metric, direction or bar now",
    "rule_gone": "the rule, or its slice, is watched no more",
    "judge_changed": "the judge was [{before}] and is [{after}] now",
}
