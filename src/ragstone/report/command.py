"""Command: what to type next, ready to be pasted into a shell."""

import shlex
from collections.abc import Iterator

from ragstone.core.user_code import GIVEN
from ragstone.judgements import KINDS
from ragstone.metrics import read_metric


def command(*words: object, metric: str | None = None) -> str:
    """A ``ragstone`` command that also loads the user's own kinds.

    Args:
        words: The command's name and its arguments.
        metric: A metric that the command needs; its file is loaded, too, if it is the user's own.
    """
    return shlex.join(["ragstone", *map(str, words), *_own(metric)])


def _own(metric: str | None) -> Iterator[str]:
    options = {"--kinds": {kind.__module__ for kind in KINDS.values()}}
    if metric is not None:
        options["--metrics-from"] = {type(read_metric(metric)).__module__}
    for option, modules in options.items():
        for module, name in GIVEN.items():
            if module in modules:
                yield from (option, name)
