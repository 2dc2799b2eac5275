"""Data: the records that are evaluated, readers for every supported source, and sample data.

====================  =====================================================
Example               one question answered once by one system
Context, Turn         its parts
read, read_trec       open a data set; yields Examples
Examples              the stream: examples, faults, rejected, label violations
Rejected              a record that was left out, and why
LabelViolation        human labels that break a rule
labels                names, rules and types of human labels (a module)
formats, Format       what can be read, each with two lines of it
to_frame, from_frame  examples as a table and back
write, as_record      examples as a file, an example as JSON
fingerprint_files     32 hex digits that identify the content of files
question_hash         the id of a question that has none
====================  =====================================================

Demo data: 24 answers to 8 questions about Cornwall, by three systems.

Two questions of each type (Fact Retrieval, Complex Reasoning, Contextual
Summarize, Creative Generation) are answered by ``local_search``,
``basic_search`` and ``llm_with_context``, the last of which does not retrieve
but for one row. The references are true; faults are planted in contexts,
answers and labels, and ``meta.note`` says what and where. Five rows of
``local_search`` carry human labels.
"""

from pathlib import Path

from .example import Context, Example, Turn
from .examples import Examples
from .formats.catalogue import Format, formats
from .read import read, read_trec
from .read_facts import LabelViolation, Rejected
from .record_labels import Violation, answer_labels, context_labels, majority, violations
from .records import question_hash
from .write import as_record, fingerprint_files, from_frame, to_frame, write

__all__ = [
    "Context",
    "Example",
    "Examples",
    "Format",
    "LabelViolation",
    "Rejected",
    "Turn",
    "Violation",
    "answer_labels",
    "as_record",
    "context_labels",
    "fingerprint_files",
    "formats",
    "from_frame",
    "majority",
    "question_hash",
    "read",
    "read_trec",
    "to_frame",
    "violations",
    "write",
]


def cornwall() -> Path:
    """Return the path of the sample file, JSON Lines."""
    return Path(__file__).with_name("cornwall.jsonl")
