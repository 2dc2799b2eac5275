"""JSON Lines: one object a line."""

from collections.abc import Iterable, Iterator

from ragstone.examples.files import Meter, text_lines
from ragstone.examples.json_text import BadJsonError, decode
from ragstone.examples.problem import BadRow, Problem, shown
from ragstone.examples.source import FileSource, Row


class JsonLines(FileSource):
    """A .jsonl or .ndjson file. Blank lines are skipped; a line may be of any length."""

    def rows(self, meter: Meter) -> Iterator[Row]:
        return parsed(text_lines(self.path, meter))


def parsed(lines: Iterable[tuple[int | None, str | BadRow]]) -> Iterator[Row]:
    """The records in lines, given with their numbers."""
    for line, text in lines:
        if isinstance(text, BadRow):
            yield line, text
            continue
        text = text.strip()
        if not text:
            continue
        try:
            value = decode(text)
        except BadJsonError as error:
            yield line, BadRow(text, (error.problem,))
            continue
        if isinstance(value, dict):
            yield line, value
        else:
            yield line, BadRow(text, (Problem("", "an object", shown(value)),))
