"""Command: what to type next, ready to be pasted into a shell."""

import shlex
from collections.abc import Iterator

from ragstone.judgements import KINDS
from ragstone.metrics import own_metrics
from ragstone.own_file import GIVEN


def command(*words: object, metrics: bool = False) -> str:
    """A ``ragstone`` command that also loads the user's own kinds.

    Args:
        words: The command's name and its arguments.
        metrics: Whether the command needs the user's own metrics, too.
    """
    return shlex.join(["ragstone", *map(str, words), *_own(metrics=metrics)])


def _own(*, metrics: bool) -> Iterator[str]:
    options = {"--kinds": {kind.__module__ for kind in KINDS.values()}}
    if metrics:
        options["--metrics-from"] = {type(one).__module__ for one in own_metrics().values()}
    for option, modules in options.items():
        for module, name in GIVEN.items():
            if module in modules:
                yield from (option, name)
