"""Column names: parses ``--map FIELD=COLUMN`` for every command that reads a user's table."""

from collections.abc import Sequence

import typer


def column_names(pairs: Sequence[str]) -> dict[str, str]:
    """Name to column. The column stands behind the last ``=``, for ``ndcg(k=10)`` is a name too.

    >>> column_names(["answer=reply", "ndcg(k=10)=gain"])
    {'answer': 'reply', 'ndcg(k=10)': 'gain'}

    Raises:
        BadParameter: One that has no name or no column.
    """
    columns = {}
    for pair in pairs:
        name, equals, column = pair.rpartition("=")
        if not (equals and name.strip() and column.strip()):
            raise typer.BadParameter(f"{pair!r} is not FIELD=COLUMN.", param_hint="--map")
        columns[name.strip()] = column.strip()
    return columns
