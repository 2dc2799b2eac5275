"""Survey: reads all data before models are asked, so that faults in it cost nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.data import Example
from ragstone.judgements import Preference
from ragstone.metrics import Metric, wanted_topics


@dataclass(frozen=True, slots=True)
class Survey:
    """Facts about the data before anything is asked.

    Args:
        examples: Number of examples.
        answers: The answers of every system by question, where metrics compare them.
    """

    examples: int
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def look_through(
    examples: Iterable[Example], metrics: Sequence[Metric], *, known: int | None = None
) -> Survey:
    """Read all examples.

    Args:
        examples: The data.
        metrics: Some may compare the answers of several systems.
        known: How many examples there are, if these were looked through before; they are then
            read again only for what metrics compare.

    Raises:
        DataError: Records that cannot be read, all of them.
    """
    compared = any(topic.ask == Preference.name for topic in wanted_topics(metrics))
    if known is not None and not compared:
        return Survey(known)
    answers: dict[str, dict[str, str]] = {}
    count = 0
    for example in examples:
        count += 1
        if compared and example.answer is not None:
            answers.setdefault(example.question_id, {})[example.system] = example.answer
    return Survey(count, answers)
