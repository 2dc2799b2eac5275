"""Demo data: 24 answers to 8 questions about Cornwall, by three systems.

Two questions of each type (Fact Retrieval, Complex Reasoning, Contextual
Summarize, Creative Generation) are answered by ``local_search``,
``basic_search`` and ``llm_with_context``, the last of which does not retrieve
but for one row. The references are true; faults are planted in contexts,
answers and labels, and ``meta.note`` says what and where. Five rows of
``local_search`` carry human labels.
"""

from pathlib import Path


def cornwall() -> Path:
    """The file of the demo data, JSON lines."""
    return Path(__file__).with_name("cornwall.jsonl")
