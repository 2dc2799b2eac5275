"""Data: examples and labels that were not read the way they look."""

import json
from collections.abc import Mapping

from ragstone.core.messages import argument

from .facts import Facts, Sentence, and_more, count, counted, plain, several


def _lists_spelled(facts: Facts) -> str:
    return f"JSON text was read as the lists that it spells: {_each(facts, 'fields')}."


def _numbers_as_texts(facts: Facts) -> str:
    return f"Numbers were read as texts: {_each(facts, 'columns')}."


def _each(facts: Facts, name: str) -> str:
    """Fields or columns, each with the number of its records."""
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


SENTENCES: Mapping[str, Sentence] = {
    "lists_spelled": _lists_spelled,
    "numbers_as_texts": _numbers_as_texts,
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
