"""Kept example: an example as it was before it was written to the store."""

import json

from ragstone.core.errors import InputError
from ragstone.data import Example
from ragstone.data.json_text import Problem
from ragstone.data.records import RecordReader


def kept_example(record: str) -> Example:
    """The example of a record in the store.

    Raises:
        InputError: It is no record of ours.
    """
    problems: list[Problem] = []
    found = RecordReader({}, layout="ragstone").read(json.loads(record), 1, problems)
    if found is None:
        raise InputError(f"The example cannot be read: {problems[0]}.")
    return found
