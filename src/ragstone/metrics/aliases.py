"""Aliases: other tools' names for our metrics, and the nearest metric for names without a match.

A name that the other tool defines differently has a note on the difference. The names stand in
``aliases.json``.
"""

import json
from pathlib import Path

# The aliases that people use for things of their own, too: a metric or a column of labels with
# such a name is the user's.
EVERYDAY = frozenset({
    "coherence", "completeness", "conciseness", "correctness", "equals", "factuality", "hits",
    "relevance", "rouge", "rubrics", "similar", "success", "P", "R",
})  # fmt: skip

OWN = "A metric of your own is one function in a file: docs/own-metric.md."

_NAMES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
# Names that other tools use, each with the text form of the metric here and a note.
ALIASES: dict[str, tuple[str, str]] = {
    name: (metric, note) for name, (metric, note) in _NAMES["aliases"].items()
}
# Names that no metric here stands for, each with a sentence on what is nearest.
NEAREST: dict[str, str] = {
    name: sentence.replace("{own}", OWN) for name, sentence in _NAMES["nearest"].items()
}
