"""Data: the records that are evaluated, readers for every supported format, and a sample file.

Example               one answer of one system to one question
Context, Turn         a context of an example, and a turn of its history
read, read_trec       open a data set; return Examples
Examples              the examples of a data set, one by one, and facts about it
Rejected              a record that was left out, and why
LabelViolation        human labels that break a rule
answer_labels         the yes-or-no labels of an answer; context_labels of contexts
majority              the most frequent of several votes
violations            which rules the labels of an example break
formats, Format       the formats that can be read, each with an example
to_frame, from_frame  examples as a table and back
write, as_record      examples as a file, an example as JSON
fingerprint_files     32 hex digits that identify the content of files
question_hash         the id of a question that has none

``ragstone.data.cornwall()`` returns the path of a sample file: 24 answers by
three systems to 8 questions about Cornwall.

Two questions of each type (Fact Retrieval, Complex Reasoning, Contextual
Summarize, Creative Generation) are answered by ``local_search``,
``basic_search`` and ``llm_with_context``; the last retrieves for one row only.
The references are true. Faults are planted in contexts, answers and labels;
``meta.note`` says what they are and where. Five rows of
``local_search`` carry human labels.
"""

from pathlib import Path

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)


def cornwall() -> Path:
    """Return the path of the sample file, JSON Lines."""
    return Path(__file__).with_name("cornwall.jsonl")
