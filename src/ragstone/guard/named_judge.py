"""Named judge: from what a user calls a judge to what judges claims in time."""

from typing import TYPE_CHECKING

from ragstone.argument import argument
from ragstone.errors import InputError
from ragstone.judges.names import STRINGS

from .grounding import ClaimsJudge

if TYPE_CHECKING:
    from ragstone.run.named_models import Named


def open_claims_judge(judge: "Named | None") -> ClaimsJudge | None:
    """The judge of this name; None for the local judge by strings, which is always there.

    Raises:
        InputError: This judge cannot judge inside a request.
    """
    if judge is None or judge == STRINGS:
        return None
    raise InputError(f"{argument('judge', judge)} cannot judge inside a request; {STRINGS} can.")
