"""Notes: fields and columns whose interpretation a reader of the results may not expect."""

from collections.abc import Iterator

from ragstone.core.messages import reason
from ragstone.examples.facts import ReadFacts
from ragstone.examples.fields import NESTED
from ragstone.examples.files import Meter
from ragstone.examples.problem import ascii_safe

MOST_COLUMNS = 5


def notes_of(facts: ReadFacts) -> Iterator[str]:
    """A reason each: JSON text and numbers that were read otherwise, columns like a field."""
    spelled = {field: n for field, n in facts.spelled.items() if field not in NESTED}
    if spelled:
        fields = "\n".join(f"{field}={n}" for field, n in spelled.items())
        yield reason("lists_spelled", fields=fields)
    numbers = {" ".join(name.split()): n for name, n in facts.numbers.items() if n}
    if numbers:
        columns = "\n".join(f"{ascii_safe(name)}={n}" for name, n in numbers.items())
        yield reason("numbers_as_texts", columns=columns)
    for (column, field), n in facts.unread.most_common(MOST_COLUMNS):
        yield reason("no_field", column=ascii_safe(column), field=field, n=n)


def windows_notes(meter: Meter) -> Iterator[str]:
    """A reason for each file that was read as Windows-1252."""
    for path, words in (meter.windows or {}).items():
        yield reason("read_as_windows", file=ascii_safe(path.name), words="\n".join(words))
