"""Judged run: a finished run as its judges left it, and what of it every overrule needs again."""

from collections.abc import Sequence
from functools import cached_property

import polars as pl

from ragstone.core.errors import UnknownName
from ragstone.run.folder import Folder
from ragstone.run.forms import Manifest
from ragstone.run.stored_shards import finished_judges

from .estimating import facets_of
from .read_rows import FewExamples, read_few


class JudgedRun:
    """A finished run, as ``run.json`` describes it at one moment.

    Args:
        folder: Of the run.
        form: What the run says of itself.
    """

    def __init__(self, folder: Folder, form: Manifest) -> None:
        self.folder = folder
        self.form = form
        self._last: tuple[tuple[str, ...], FewExamples] | None = None

    @cached_property
    def facets(self) -> pl.DataFrame:
        """What groups and clusters the examples, whatever is overruled."""
        return facets_of(self.folder, self.form.by, self.form.cluster)

    def few(self, examples: Sequence[str]) -> FewExamples:
        """These examples; the last are kept, for whoever overrules looks at one for a while.

        Raises:
            UnknownName: The run has none of them.
        """
        key, last = tuple(examples), self._last
        if last is not None and last[0] == key:
            return last[1]
        few = read_few(self.folder, key, finished_judges(self.form))
        if few.tables.examples.is_empty():
            ids = self.folder.read("examples", columns=["id"])["id"]
            raise UnknownName("example", key[0], ids, hint="ragstone show RUN lists some.")
        self._last = key, few
        return few
