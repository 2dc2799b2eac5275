"""Examples: the records that are evaluated, and readers for every supported source.

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
"""

from ragstone.examples.example import Context, Example, Turn
from ragstone.examples.facts import LabelViolation, Rejected
from ragstone.examples.fingerprint import fingerprint_files
from ragstone.examples.formats import Format, formats
from ragstone.examples.labels import (
    Violation,
    answer_labels,
    context_labels,
    majority,
    violations,
)
from ragstone.examples.read import read, read_trec
from ragstone.examples.records import question_hash
from ragstone.examples.stream import Examples
from ragstone.examples.table import from_frame, to_frame
from ragstone.examples.write import as_record, write

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
