"""Notes: what of the data was read in another way than it looks, for those who read the numbers."""

from collections.abc import Iterator

from ragstone.argument import argument
from ragstone.examples.fields import NESTED
from ragstone.examples.problem import ascii_safe
from ragstone.examples.records import RecordReader

MOST_COLUMNS = 5


def notes_of(reader: RecordReader) -> Iterator[str]:
    """One line each: fields that were JSON text, and columns that look like a field."""
    spelled = {field: n for field, n in reader.spelled.items() if field not in NESTED}
    if spelled:
        fields = ", ".join(f"{field} ({_records(n)})" for field, n in spelled.items())
        yield f"JSON text was read as the lists that it spells: {fields}."
    for (column, field), n in reader.unread.most_common(MOST_COLUMNS):
        name = ascii_safe(column)
        yield (
            f"The column {name} is no field, and {_records(n)} with it "
            f"{'has' if n == 1 else 'have'} no {field}: did you mean {field}? "
            f"{argument('columns', {field: name})}"
        )


def _records(n: int) -> str:
    return "1 record" if n == 1 else f"{n:,} records"
