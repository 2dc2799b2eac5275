"""Forgetting: items of examples that must be forgotten, with all that people said of them."""

from collections.abc import Sequence

from ragstone.core.database import Sql

OF_AN_ITEM = ("turns", "said", "decided", "tagged", "items")


def forget_items(run: Sql, examples: Sequence[str]) -> int:
    """Remove the items of all queues that show these examples; gives how many there were.

    Args:
        run: Within a transaction.
        examples: Their ids.
    """
    n = 0
    for example in examples:
        for queue, item in run("SELECT queue, item FROM items WHERE id = ?", example):
            for table in OF_AN_ITEM:
                run(f"DELETE FROM {table} WHERE queue = ? AND item = ?", queue, item)
            n += 1
    return n
