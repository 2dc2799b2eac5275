"""Notes: fields and columns whose interpretation a reader of the results may not expect."""

from collections.abc import Iterator

from ragstone.examples.fields import NESTED
from ragstone.examples.problem import ascii_safe
from ragstone.examples.records import RecordReader
from ragstone.reason import reason

MOST_COLUMNS = 5


def notes_of(reader: RecordReader) -> Iterator[str]:
    """A reason each: fields that were JSON text, and columns that look like a field."""
    spelled = {field: n for field, n in reader.spelled.items() if field not in NESTED}
    if spelled:
        fields = "\n".join(f"{field}={n}" for field, n in spelled.items())
        yield reason("lists_spelled", fields=fields)
    for (column, field), n in reader.unread.most_common(MOST_COLUMNS):
        yield reason("no_field", column=ascii_safe(column), field=field, n=n)
