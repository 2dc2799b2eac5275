"""Programs that tests run in processes of their own, which begin with Ragstone imported."""

from typing import TYPE_CHECKING

from tests.scripts import script

if TYPE_CHECKING:
    from forks import COMMAND, Forked, end_of
else:
    _forks = script("forks")
    COMMAND, Forked, end_of = _forks.COMMAND, _forks.Forked, _forks.end_of

__all__ = ["COMMAND", "Forked", "end_of"]
