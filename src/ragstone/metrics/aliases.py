"""Aliases: other tools' names for our metrics, and what is nearest to names without a match.

A name that the other tool defines differently has a note on the difference. The names stand in
``aliases.json``.
"""

import json
from pathlib import Path

OWN = "A metric of your own is one function in a file: docs/own-metric.md."

_NAMES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
# The names that people use for things of their own, too: a column of labels with such a name is
# the user's, and so is a metric with such an alias.
EVERYDAY = frozenset(_NAMES["everyday"].split(", "))
# Words before and behind a name that do not change it.
BEFORE, BEHIND = (_NAMES[place].split(", ") for place in ("before", "behind"))
# Names that other tools use, each with the text form of the metric here and a note.
ALIASES: dict[str, tuple[str, str]] = {
    name: (metric, note) for names, metric, note in _NAMES["aliases"] for name in names.split(", ")
}
# Names that no metric here stands for, each with a sentence on what is nearest.
NEAREST: dict[str, str] = {
    name: sentence.replace("{own}", OWN)
    for names, sentence in _NAMES["nearest"]
    for name in names.split(", ")
}
# Words in other names, each with a sentence on what is nearest.
WORDS: dict[str, str] = {
    word: sentence.replace("{own}", OWN)
    for words, sentence in _NAMES["words"]
    for word in words.split(", ")
}
